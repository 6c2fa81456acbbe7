"""Gaussian mixture whose hidden labels obey must-links and cannot-links [1].

Points joined by must-links form a chunklet c with one hidden label z_c, drawn once. Every other
constraint is an observation of two labels and may be wrong. Q_cd is the summed log-odds of the
constraints between c and d (negative for cannot-links). The posterior of the labels is

    (1)  p(z | X, constraints) ~ prod_c alpha_{z_c} prod_{i in c} f_{z_c}(x_i)
                                 prod_{c<d} exp(Q_cd [z_c = z_d])

EM increases l, the log of the sum of (1) over z. With the marginals q_cz, r_iz = q_{c z} for i in
c, and N_z = sum_i r_iz:

    (2)  alpha_z = mean_c q_cz,   mu_z = sum_i r_iz x_i / N_z
    (3)  S_z = (sum_i r_iz (x_i - mu_z)(x_i - mu_z)^T + N_z e I + v P) / (N_z + v)
    (4)  P = (mean_z S_z^-1)^-1

The ridge e and the shrinkage v towards a common P keep the covariances of few points from
collapsing. Both are part of the objective, so EM never decreases it: the ridge treats each point as
known up to noise of variance e (the mean of log N over it), and v acts like v pseudo-points of
covariance P in each cluster,

    (5)  log f_z(x) = log N(x; mu_z, S_z) - e/2 tr S_z^-1
    (6)  J = l - v/2 sum_z (tr P S_z^-1 - log det P S_z^-1 - d)

Chunklets that no constraint connects are independent. In a small connected component the sum over z
runs over all k^size labellings. In a larger one mean field replaces it: with
L_cz = log alpha_z + sum_{i in c} log f_z(x_i), the lower bound of l

    (7)  F = sum_cz q_cz (L_cz - log q_cz) + sum_{c<d} Q_cd sum_z q_cz q_dz

is increased by q_cz ~ exp(L_cz + sum_d Q_cd q_dz), for all c of one colour of a proper colouring at
a time. Chunklets of one colour are not connected, so F never decreases.

O(n k d^2) a pass, O(n (k + d) + k d^2) memory; "diag" O(n k d) and O(n (k + d)).

[1] Shental, Bar-Hillel, Hertz & Weinshall, Computing Gaussian mixture models with EM using
    equivalence constraints, NIPS 2003. The penalty that leads to (3) and (4) is an addition.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import logsumexp, softmax, xlogy

from linkwise.constraints.closure import components
from linkwise.partition.groups import choose_seeds, one_hot
from linkwise.partition.k_means import kmeans, nearest_centre

SWEEPS = 10  # of mean field in a pass: the next pass continues from there
SETTLED = 1e-4  # change of q that ends the sweeps, far below what changes a label
TINY = np.finfo(np.float64).tiny
TRIAL = 15  # passes of every start, enough to rank them; only the best continues


class Shape(NamedTuple):
    """The form of the covariances."""

    kind: str  # "full", "tied" (one covariance for all) or "diag"
    ridge: float  # e
    shrinkage: float  # v; not used by "tied"


class Gaussians(NamedTuple):
    """The parameters of a mixture."""

    alpha: np.ndarray  # (k,) mixing weights
    means: np.ndarray  # (k, d)
    covariances: np.ndarray  # (k, d, d), or their diagonals (k, d)
    common: np.ndarray  # P, (d, d) or (d,)


class Block(NamedTuple):
    """Connected components of one size t, whose labellings are enumerated."""

    nodes: np.ndarray  # (b, t) chunklets
    pairs: np.ndarray  # (b, k^t) sum of Q_cd [z_c = z_d] for every labelling
    digits: np.ndarray  # (t, k^t) the labellings


class Field(NamedTuple):
    """The chunklets by kind of inference."""

    lone: np.ndarray  # chunklets without constraints
    blocks: list  # of Block
    colours: list  # of (chunklets, their rows of Q): mean field


class MixtureFit(NamedTuple):
    """A fitted mixture."""

    model: Gaussians
    q: np.ndarray  # (g, k) marginals of the chunklets
    labels: np.ndarray  # (g,) a most probable joint labelling; with mean field, approximately
    bound: float  # J, Eq. (6), or F in place of l
    n_iter: int
    converged: bool


def whitener(S):
    """Return W with W W^T = S^-1, and log det W; S is (d, d), or a diagonal (d,)."""
    if S.ndim == 1:
        return 1 / np.sqrt(S), -0.5 * np.log(S).sum()
    C = np.linalg.cholesky(S)
    return solve_triangular(C, np.eye(len(C)), lower=True).T, -np.log(np.diag(C)).sum()


def log_density(X, model, ridge):
    """Return log f, Eq. (5), (n, k)."""
    n, d = X.shape
    out = np.empty((n, len(model.means)))
    for z, (mean, S) in enumerate(zip(model.means, model.covariances, strict=True)):
        W, log_det = whitener(S)
        Y = (X - mean) * W if W.ndim == 1 else (X - mean) @ W
        out[:, z] = -0.5 * np.einsum("ij,ij->i", Y, Y)
        out[:, z] += log_det - 0.5 * (d * np.log(2 * np.pi) + ridge * np.sum(W**2))
    return out


def penalty(model, shape):
    """Return the last term of Eq. (6), >= 0."""
    if shape.kind == "tied" or shape.shrinkage == 0:
        return 0.0
    P, total = model.common, 0.0
    common = whitener(P)[1]
    for S in model.covariances:
        W, log_det = whitener(S)
        trace = np.sum(P * W**2) if P.ndim == 1 else np.sum((P @ W) * W)
        total += trace - 2 * (log_det - common) - len(P)
    return 0.5 * shape.shrinkage * total


def _inverse(S):
    return 1 / S if S.ndim == 1 else np.linalg.inv(S)


def maximise(X, q, chunk, shape, common=None):
    """Return the Gaussians of marginals q (g, k) of the chunklets, Eqs. (2) to (4).

    ``chunk`` (n,) is the chunklet of every point. ``common`` is P of the previous pass; if it is
    None, the pooled covariance is used.
    """
    kind, ridge, shrinkage = shape
    alpha, R = q.mean(axis=0), q[chunk]  # Eq. (2)
    N = R.sum(axis=0) + TINY
    means = R.T @ X / N[:, None]  # Eq. (2)
    means[N == TINY] = X.mean(axis=0)  # of no point: then no origin of the units matters
    d = X.shape[1]
    scatter = np.empty((len(N), d) if kind == "diag" else (len(N), d, d))
    for z, mean in enumerate(means):
        Y = X - mean
        scatter[z] = R[:, z] @ Y**2 if kind == "diag" else (R[:, z] * Y.T) @ Y
    eye = np.ones(d) if kind == "diag" else np.eye(d)
    P = scatter.sum(axis=0) / N.sum() + ridge * eye
    if kind == "tied":
        return Gaussians(alpha, means, np.broadcast_to(P, scatter.shape), P)
    P = P if common is None else common
    column = N.reshape(-1, *[1] * eye.ndim)
    S = (scatter + column * ridge * eye + shrinkage * P) / (column + shrinkage)  # Eq. (3)
    if shrinkage:
        P = _inverse(np.mean([_inverse(s) for s in S], axis=0))  # Eq. (4)
    return Gaussians(alpha, means, S, P)


def _colour_classes(Q, nodes):
    """Return the nodes in classes without an entry of Q inside, by first fit."""
    colour = np.full(Q.shape[0], -1)
    for v in nodes.tolist():
        taken = set(colour[Q.indices[Q.indptr[v] : Q.indptr[v + 1]]].tolist())
        colour[v] = next(c for c in range(len(taken) + 1) if c not in taken)
    return [np.flatnonzero(colour == c) for c in range(colour.max(initial=-1) + 1)]


def build_field(Q, k, limit):
    """Return the Field of constraints Q (g, g), csr, symmetric, zero diagonal.

    Components with at most ``limit`` labellings are enumerated.
    """
    part = components(Q.shape[0], np.stack(Q.nonzero(), axis=1))
    size = np.bincount(part)
    first, order = np.cumsum(size) - size, np.argsort(part, kind="stable")
    blocks, large = [], size > 1
    for t in np.unique(size[large]):
        if float(max(k, 2)) ** t > limit:  # a single label has one labelling of any size
            break
        large &= size != t
        nodes = order[first[size == t][:, None] + np.arange(t)]
        a, b = np.triu_indices(t, 1)
        digits = np.indices((k,) * t).reshape(t, -1)
        between = np.asarray(Q[nodes[:, a].ravel(), nodes[:, b].ravel()]).reshape(len(nodes), -1)
        blocks.append(Block(nodes, between @ (digits[a] == digits[b]), digits))
    classes = _colour_classes(Q, np.flatnonzero(large[part]))
    lone = np.flatnonzero(size[part] == 1)
    return Field(lone, blocks, [(nodes, Q[nodes]) for nodes in classes])


def _joint(L, block):
    """Return the log of Eq. (1) for every component and labelling, (b, k^t)."""
    return block.pairs + sum(L[block.nodes[:, a]][:, digit] for a, digit in enumerate(block.digits))


def infer(L, field, q):
    """Return the marginals (g, k) and l, or F of Eq. (7); mean field starts from q."""
    q, k = q.copy(), L.shape[1]
    q[field.lone] = softmax(L[field.lone], axis=1)
    value = logsumexp(L[field.lone], axis=1).sum()
    for block in field.blocks:
        E, t = _joint(L, block), len(block.digits)
        value += logsumexp(E, axis=1).sum()
        p = softmax(E, axis=1).reshape(-1, *[k] * t)
        for a in range(t):
            q[block.nodes[:, a]] = p.sum(axis=tuple(b + 1 for b in range(t) if b != a))
    for _ in range(SWEEPS if field.colours else 0):
        change = 0.0
        for nodes, rows in field.colours:
            new = softmax(L[nodes] + rows @ q, axis=1)
            change = max(change, np.abs(new - q[nodes]).max())
            q[nodes] = new
        if change < SETTLED:
            break
    for nodes, rows in field.colours:
        own = q[nodes]
        value += np.sum(own * (L[nodes] + 0.5 * (rows @ q)) - xlogy(own, own))  # Eq. (7)
    return q, float(value)


def decode(L, field, q):
    """Return labels (g,) that no change of a single chunklet makes more probable."""
    labels, k = q.argmax(axis=1), L.shape[1]
    for block in field.blocks:
        labels[block.nodes] = block.digits[:, _joint(L, block).argmax(axis=1)].T
    moved = True
    while moved:
        moved = False
        for nodes, rows in field.colours:
            E = L[nodes] + rows @ np.eye(k)[labels]
            own = E[np.arange(len(nodes)), labels[nodes]]
            better = E.max(axis=1) > own + 1e-9  # more than rounding, or the loop might not end
            labels[nodes[better]] = E[better].argmax(axis=1)
            moved |= bool(better.any())
    return labels


def first_marginals(X, k, groups, n_init, rng):
    """Yield q (g, k) for every start: first from the chunklets, if any, then by k-means."""
    H = one_hot(groups.of, len(groups.size))
    for start in range(n_init):
        if start == 0 and len(groups.size) < len(X):
            seeds = choose_seeds(groups, k, rng, greedy=True)
            labels = nearest_centre(X, groups.means()[seeds])
        else:
            labels = kmeans(X, k, n_init=1, rng=rng, announce=False).labels
        yield H @ np.eye(k)[labels] / groups.size[:, None]


def climb(X, q, groups, field, shape, *, common=None, max_iter, tol):
    """Return the MixtureFit that EM reaches from marginals q; ``common`` as in `maximise`."""
    H = one_hot(groups.of, len(groups.size))
    bound, converged, n_iter = -np.inf, False, 0
    while n_iter < max_iter and not converged:
        n_iter += 1
        model = maximise(X, q, groups.of, shape, common)
        L = H @ log_density(X, model, shape.ridge) + np.log(np.maximum(model.alpha, TINY))
        q, value = infer(L, field, q)
        value -= penalty(model, shape)  # Eq. (6)
        converged = abs(value - bound) < tol * len(X)
        bound, common = value, model.common
    return MixtureFit(model, q, decode(L, field, q), bound, n_iter, converged)


def fit_mixture(X, k, groups, Q, shape, *, limit, n_init=10, max_iter=200, tol=1e-4, rng):
    """Return the MixtureFit of largest J, Eq. (6), among several starts.

    Parameters
    ----------
    X : float64 array (n, d)
    k : int <= n
    groups : Groups, the chunklets, including single points
    Q : csr_array (g, g), symmetric, the log-odds of Eq. (1) between chunklets
    shape : Shape
    limit : int, largest number of labellings of a component that is enumerated
    n_init : int, starts; each runs for a few passes, and the best one to its end
    max_iter : int, passes
    tol : float, change of J per point at which passes stop
    rng : numpy Generator
    """
    field = build_field(Q, k, limit)
    trial = min(TRIAL, max_iter)
    best = max(
        (
            climb(X, q, groups, field, shape, max_iter=trial, tol=tol)
            for q in first_marginals(X, k, groups, n_init, rng)
        ),
        key=lambda fit: fit.bound,
    )
    if best.converged or trial == max_iter:
        return best
    rest = climb(
        X, best.q, groups, field, shape,
        common=best.model.common, max_iter=max_iter - trial, tol=tol,
    )  # fmt: skip
    return rest._replace(n_iter=trial + rest.n_iter)
