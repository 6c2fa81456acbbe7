"""Class probabilities fitted to the constraints, from the labels of a start.

    (1)  p_i = softmax(z_i W)
    (2)  min_W  -sum_ij c_ij log(e + (1 - 2 e) r_ij) + l/2 |W - W_0|^2,   c the weights
    (3)  s_ij = p_i . p_j, the probability of "same";   r = s for must-links, else 1 - s

This is the likelihood of constraints of which a share e is wrong. It needs no label of any point
[1]. W_0 reproduces the start (4): without constraints the start stays as it is, few constraints
move it a little and near them, many a lot. Shrinking W to 0 instead, as usual, forgets the start,
and with few constraints nothing takes its place.

    (4)  W_0 = argmin_W  mean_i |z_i W - SURE (y_i - 1/k)|^2 + RIDGE |W|^2,   y_i the start's label

Eq. (2) looks at one constraint at a time. Where points have several, these tell more together:

    (5)  q = marginals of the labels given p and all constraints        (``beliefs``)
    (6)  min_W  -sum_i q_i . log p_i + l/2 |W - W_0|^2                  over constrained points

in turn, which is EM.

The features z are those of several smoothers (``learners``) side by side: their inner products are
the mean of the kernels. O(steps m r k) for m constraints and r features, whatever the number of
points; O(n r) to prepare.

[1] Hsu, Lv, Schlosser, Odom & Kira, Multi-class classification without multi-class labels, ICLR
    2019, for the likelihood.
"""

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from linkwise.arrays import door, namespace, to_host
from linkwise.blocks import run_blocks
from linkwise.class_models.beliefs import propagate

FROM_EACH = 150  # leading features of a smoother: the rest is shrunk to almost nothing
FEATURES = 200  # of a feature set: bounds the cost, O(m FEATURES k) a step
STRENGTH = 2  # index on a smoother's grid, its middle; the penalty l does the rest
STEPS = 60  # the minimum need not be exact: the next penalty starts from it
SETTLED = 1e-5  # relative change of the loss that ends the steps
EM_STEPS = 30  # of (6), which starts near its minimum
ROUNDS = 3  # of (5) and (6); on the development sets more changed nothing
CHAINED = 1.5  # constraints of a point on average; with fewer, (5) tells no more than Eq. (2)
SURE = 4.0  # logit of the start's own class: odds of 55
RIDGE = 0.1  # for the fit of the features to a start; features have about unit size
LEAST = 1e-6  # probability: constraints can overrule the features anywhere
KINDS = "graph", "near", "island", "wide", "linear"  # of learners that make a feature set
TOGETHER = "graph", "near", "island"  # that make another one


class FeatureSet(NamedTuple):
    """Features of some learners, put together, and how to make them for new points."""

    name: str
    learners: tuple  # numbers of the learners
    columns: tuple  # for each, the columns of its basis
    scales: tuple  # for each, what these are multiplied by
    centre: np.ndarray  # (c,)
    basis: np.ndarray | None  # (c, r)


class Features:
    """What a FeatureSet shows of the points to learn from.

    Attributes
    ----------
    described : FeatureSet
    Z : array (n, r), a constant first
    """

    def __init__(self, described, Z):
        self.described, self.Z = described, Z

    @cached_property
    def normal(self):
        """The matrix of Eq. (4), which is the same for every start; made when first used."""
        return normal_matrix(self.Z)


def features(found, bases):
    """Return z (n, r), a constant first, from the bases of all learners, a list of (n, r)."""
    tools = door(bases[found.learners[0]])
    parts = [
        _columns(bases[v], columns) * tools.asarray(scale, bases[v])
        for v, columns, scale in zip(found.learners, found.columns, found.scales, strict=True)
    ]
    Z = tools.cast(tools.beside(parts), "float32") - tools.asarray(found.centre, parts[0])
    Z = Z if found.basis is None else Z @ tools.asarray(found.basis, Z)
    return _with_constant(Z)


def _columns(U, numbers):
    return U[:, door(U).asarray(numbers, U)]


def _with_constant(Z):
    return door(Z).beside((namespace(Z).ones_like(door(Z).empty((len(Z), 1), Z)), Z))


def _leading(Z):
    """Return the leading directions of centred columns Z (n, c), (c, FEATURES); None of few."""
    if Z.shape[1] <= FEATURES:
        return None
    vectors = door(Z).eigh(Z.T @ Z)[1]
    return door(Z).cast(namespace(Z).flip(vectors[:, -FEATURES:], axis=1), "float32")


def feature_set(learners, kind):
    """Return (FeatureSet, z) of the learners of a kind, None if there are none."""
    chosen = [v for v, one in enumerate(learners) if one.name == kind]
    if not chosen:
        return None
    columns, scales = [], []
    for v in chosen:
        c = to_host(learners[v].shrink[STRENGTH])
        leading = np.sort(np.argsort(-c, kind="stable")[:FROM_EACH])
        columns.append(leading)
        n = len(learners[v].U)
        scales.append(np.sqrt(c[leading] * n / len(chosen)).astype(np.float32))
    zero = np.zeros(sum(map(len, columns)), dtype=np.float32)
    bare = FeatureSet(kind, tuple(chosen), tuple(columns), tuple(scales), zero, None)
    Z = features(bare, [getattr(one, "U", None) for one in learners])[:, 1:]
    centre = namespace(Z).mean(Z, axis=0)
    Z = Z - centre
    basis = _leading(Z)
    found = bare._replace(centre=to_host(centre), basis=basis if basis is None else to_host(basis))
    return found, _with_constant(Z if basis is None else Z @ basis)


def together(sets):
    """Return (FeatureSet, z) of several sets side by side, each of the same weight.

    Its directions are those of the leading ones of each set: the others hardly count, and finding
    them would take most of the time of a fit of some thousand points.
    """
    share = np.float32(len(sets) ** -0.5)
    parts = [one for one, _ in sets]
    Z = door(sets[0][1]).beside([share * Z[:, 1:] for _, Z in sets])
    basis = block_diag(*(np.eye(len(p.centre)) if p.basis is None else p.basis for p in parts))
    basis, leading = basis.astype(np.float32), _leading(Z)
    if leading is not None:
        basis, Z = basis @ to_host(leading), Z @ leading
    found = FeatureSet(
        name=" and ".join(one.name for one in parts),
        learners=sum((one.learners for one in parts), ()),
        columns=sum((one.columns for one in parts), ()),
        scales=tuple(share * scale for one in parts for scale in one.scales),
        centre=share * np.concatenate([one.centre for one in parts]),
        basis=basis,
    )
    return found, _with_constant(Z)


def feature_sets(learners):
    """Return a list of Features: the kinds of TOGETHER in one, and each of KINDS there is."""
    of_kind = run_blocks(partial(feature_set, learners), KINDS)
    found = [one for one in of_kind if one is not None]
    beside = [one for one in found if one[0].name in TOGETHER]
    found = [together(beside), *found] if len(beside) > 1 else found
    return [Features(described, Z) for described, Z in found]


def normal_matrix(Z):
    """Return Z^T Z / n + RIDGE I, (r, r), of NumPy."""
    A = to_host(Z.T @ Z / len(Z)).astype(np.float64)
    A[np.diag_indices_from(A)] += RIDGE
    return A


def start_weights(Z, labels, k, normal=None):
    """Return W_0 (r, k) of Eq. (4), of NumPy; ``normal`` is the normal matrix of Z, if known."""
    Y = SURE * (np.eye(k, dtype=np.float32) - np.float32(1 / k))
    Y = door(Z).asarray(Y, Z)[labels]
    A = normal_matrix(Z) if normal is None else normal
    return np.linalg.solve(A, to_host(Z.T @ Y / len(Z)))


def class_probabilities(Z, W):
    """Return p of Eq. (1), (n, k), for weights W of NumPy."""
    tools = door(Z)
    return tools.softmax(tools.cast(Z @ tools.asarray(W, Z, Z.dtype), "float64"))


class Fits(NamedTuple):
    """The constrained points of several fits and their constraints, for one search of all."""

    z: np.ndarray  # (b, u, r), zeros where a fit has fewer points or features
    sizes: list  # number of points of each
    links: list  # of Constraints on the points of each, for Eq. (5)
    i: np.ndarray  # (b m,) numbers of points, of all fits on end
    j: np.ndarray
    must: np.ndarray  # (b m,) bool
    weight: np.ndarray  # (b m,), 0 where a fit has fewer constraints


def fits_of(points, links, every=None):
    """Return the Fits of several features (u, r).

    Parameters
    ----------
    points : list of (u, r)
    links : list of Constraints on their rows
    every : list of Constraints with further pairs that follow from them, for Eq. (2), or None
    """
    every = links if every is None else every
    tools, z = door(points[0]), door(points[0]).stacked(points)
    (b, u, _), m = z.shape, max(one.n_pairs for one in every)
    ends, sign, weight = np.zeros((2, b, m), dtype=np.int64), np.ones((b, m)), np.zeros((b, m))
    for number, one in enumerate(every):
        ends[:, number, : one.n_pairs] = one.ends.T
        sign[number, : one.n_pairs], weight[number, : one.n_pairs] = one.sign, one.weight
    ends += u * np.arange(b)[:, None]
    i, j = (tools.asarray(end.ravel(), z) for end in ends)
    must = tools.asarray(sign.ravel() > 0, z)
    return Fits(
        z, [len(one) for one in points], list(links), i, j, must, tools.asarray(weight.ravel(), z)
    )


def _probabilities(z, w):
    """Return p of Eq. (1) of every fit, (b u, k)."""
    tools = door(z)
    g = tools.cast(z @ tools.cast(w, z), "float64")
    return tools.softmax(namespace(g).reshape(g, (-1, g.shape[2])))


def _slope(z, g, w, W_0, penalty):
    """Return the gradient (b, r, k), from that by the logits, g (b u, k)."""
    xp, tools = namespace(z), door(z)
    g = xp.reshape(tools.cast(g, z), (z.shape[0], z.shape[1], -1))
    return xp.swapaxes(z, 1, 2) @ g + penalty * (w - W_0)


def _held(w, W_0, penalty):
    """Return the last term of Eq. (2), (b,)."""
    return 0.5 * penalty * namespace(w).sum((w - W_0) ** 2, axis=(1, 2))


def fit_pairs(fits, W, W_0, *, error, penalty):
    """Return local minima W (b, r, k) of Eq. (2), starting from W.

    Parameters
    ----------
    fits : Fits
    W, W_0 : arrays (b, r, k)
    error : float in (0, 1/2), e
    penalty : float > 0, l
    """
    z, _, _, i, j, must, c = fits
    tools, xp, e = door(z), namespace(z), error
    points = z.shape[0] * z.shape[1]
    partner_sums = tools.partner_sums(to_host(i), to_host(j), points, z)
    toward = xp.where(must, -c, c)

    def objective(w):
        p = _probabilities(z, w)
        s = tools.row_products(tools.rows_at(p, i), tools.rows_at(p, j))
        likely = e + (1 - 2 * e) * xp.where(must, s, 1 - s)
        slope = toward * (1 - 2 * e) / likely  # derivative of the loss by s
        g = partner_sums(slope, p)
        g = p * (g - tools.row_products(g, p)[:, None])
        lost = xp.sum(xp.reshape(c * xp.log(likely), (z.shape[0], -1)), axis=1)
        return -lost + _held(w, W_0, penalty), _slope(z, g, w, W_0, penalty)

    return tools.minima(objective, W, steps=STEPS, settled=SETTLED)


def fit_labels(z, q, W, W_0, *, penalty):
    """Return the minima W (b, r, k) of Eq. (6) for labels q (b u, k), starting from W."""
    tools, xp = door(z), namespace(z)

    def objective(w):
        g = tools.cast(z @ tools.cast(w, z), "float64")
        log_p = tools.log_softmax(xp.reshape(g, (-1, g.shape[2])))
        likely = xp.sum(xp.reshape(q * log_p, (z.shape[0], -1)), axis=1)
        return -likely + _held(w, W_0, penalty), _slope(z, xp.exp(log_p) - q, w, W_0, penalty)

    return tools.minima(objective, W, steps=EM_STEPS, settled=SETTLED)


def refine(fits, W, W_0, *, error, penalty):
    """Return W (b, r, k) after some rounds of Eqs. (5) and (6).

    Only fits whose points have several constraints change.
    """
    z, tools, xp = fits.z, door(fits.z), namespace(fits.z)
    both = zip(fits.links, fits.sizes, strict=True)
    chained = [2 * one.n_pairs > CHAINED * size for one, size in both]
    if not any(chained):
        return W
    changes = tools.asarray(np.array(chained), W)[:, None, None]
    for _ in range(ROUNDS):
        evidence = xp.log(xp.clip(_probabilities(z, W), LEAST, None))
        evidence = xp.reshape(evidence, (z.shape[0], z.shape[1], -1))
        beliefs = [
            propagate(to_host(g), one, error).q  # Eq. (5)
            for g, one in zip(evidence, fits.links, strict=True)
        ]
        q = tools.asarray(np.concatenate(beliefs), W)
        W = xp.where(changes, fit_labels(z, q, W, W_0, penalty=penalty), W)
    return W
