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

from typing import NamedTuple

import numpy as np

from linkwise.arrays import door, namespace, to_host
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
SETS = (  # kinds of learners that make a feature set
    ("graph", "near", "island"), ("graph",), ("near",), ("island",), ("wide",), ("linear",),
)  # fmt: skip


class FeatureSet(NamedTuple):
    """Features of some learners, put together, and how to make them for new points."""

    name: str
    learners: tuple  # numbers of the learners
    columns: tuple  # for each, the columns of its basis
    scales: tuple  # for each, what these are multiplied by
    centre: np.ndarray  # (c,)
    basis: np.ndarray | None  # (c, r)


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


def feature_set(learners, kinds):
    """Return (FeatureSet, z) of the learners of some kinds, None if there are none."""
    chosen = [v for v, one in enumerate(learners) if one.name in kinds]
    if not chosen:
        return None
    present = [kind for kind in kinds if any(learners[v].name == kind for v in chosen)]
    columns, scales = [], []
    for v in chosen:
        one = learners[v]
        same = sum(learners[other].name == one.name for other in chosen) * len(present)
        c = to_host(one.shrink[STRENGTH])
        leading = np.sort(np.argsort(-c, kind="stable")[:FROM_EACH])
        columns.append(leading)
        scales.append(np.sqrt(c[leading] * len(one.U) / same).astype(np.float32))
    bare = FeatureSet(
        " and ".join(present), tuple(chosen), tuple(columns), tuple(scales),
        np.zeros(sum(map(len, columns)), dtype=np.float32), None,
    )  # fmt: skip
    Z = features(bare, [one.U if hasattr(one, "U") else None for one in learners])[:, 1:]
    centre = namespace(Z).mean(Z, axis=0)
    Z = Z - centre
    found = bare._replace(centre=to_host(centre))
    if Z.shape[1] > FEATURES:
        vectors = door(Z).eigh(Z.T @ Z)[1]
        basis = door(Z).cast(namespace(Z).flip(vectors[:, -FEATURES:], axis=1), "float32")
        found = found._replace(basis=to_host(basis))
        Z = Z @ basis
    return found, _with_constant(Z)


def feature_sets(learners):
    """Return [(FeatureSet, z)] of SETS, as far as there are learners for them."""
    return [found for kinds in SETS if (found := feature_set(learners, kinds)) is not None]


def start_weights(Z, labels, k):
    """Return W_0 (r, k) of Eq. (4), of NumPy."""
    Y = SURE * (np.eye(k, dtype=np.float32) - np.float32(1 / k))
    Y = door(Z).asarray(Y, Z)[labels]
    A = to_host(Z.T @ Z / len(Z)).astype(np.float64)
    A[np.diag_indices_from(A)] += RIDGE
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
    to_i, to_j = (tools.sums_at(to_host(end), points, z) for end in (i, j))
    toward = xp.where(must, -c, c)

    def objective(w):
        p = _probabilities(z, w)
        p_i, p_j = p[i], p[j]
        s = tools.row_products(p_i, p_j)
        likely = e + (1 - 2 * e) * xp.where(must, s, 1 - s)
        slope = toward * (1 - 2 * e) / likely  # derivative of the loss by s
        g = to_i(slope[:, None] * p_j) + to_j(slope[:, None] * p_i)
        g = p * (g - xp.sum(g * p, axis=1, keepdims=True))
        lost = xp.sum(xp.reshape(c * xp.log(likely), (z.shape[0], -1)), axis=1)
        return -lost + _held(w, W_0, penalty), _slope(z, g, w, W_0, penalty)

    return tools.minima(objective, W, steps=STEPS, settled=SETTLED)


def fit_labels(z, q, W, W_0, *, penalty):
    """Return the minima W (b, r, k) of Eq. (6) for labels q (b u, k), starting from W."""
    tools, xp = door(z), namespace(z)

    def objective(w):
        g = tools.cast(z @ tools.cast(w, z), "float64")
        g = xp.reshape(g, (-1, g.shape[2]))
        g = g - xp.max(g, axis=1, keepdims=True)
        p = xp.exp(g)
        total = xp.sum(p, axis=1, keepdims=True)
        lost = xp.sum(xp.reshape(q * (g - xp.log(total)), (z.shape[0], -1)), axis=1)
        return -lost + _held(w, W_0, penalty), _slope(z, p / total - q, w, W_0, penalty)

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
