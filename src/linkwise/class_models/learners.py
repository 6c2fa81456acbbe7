"""Class models that predict the label of a point without using the point's own label.

A smoother predicts soft labels q (n, k) by ridge regression in an orthonormal basis U (n, r):

    (1)  f = U diag(c) U^T q,   0 <= c <= 1
    (2)  f_i without q_i = (f_i - h_i q_i) / (1 - h_i),   h_i = sum_r c_r U_ir^2

Eq. (2) is exact. The strength of c is chosen on a grid: the one that predicts q best by Eq. (2).

    graph    eigenvectors of a neighbour graph with local scaling, c = 1/(1 + a (1 - mu))
    near     a Gaussian kernel on landmarks; width: three times the distance to the 7th neighbour
    wide     the same; width: the median distance
    linear   the columns
    island   near, in a layout of the graph (``embedding.manifold``), where clusters are islands

A Gaussian model has a mean for each class, and either a covariance for each class, shrunk towards
the common one ("full"), or the common covariance ("tied"), or for texts also one common variance of
all directions ("round"). It is fitted to two thirds of the points and predicts the rest, in turn.

O(n r k) for a smoother, O(n d^2 k) for a Gaussian model, a round. All of them place new points.
"""

from typing import NamedTuple

import numpy as np

from linkwise.arrays import door, namespace, to_host
from linkwise.blocks import run_blocks
from linkwise.blocks.rows import take_rows
from linkwise.class_models.views import scaled_among
from linkwise.embedding.manifold import layout
from linkwise.embedding.manifold import place as place_in_layout
from linkwise.embedding.spectral import Basis, extend, spectral_basis
from linkwise.graph.affinity import NeighbourAffinity
from linkwise.graph.laplacians import degrees

NEIGHBOURS = 10  # the default of the graph methods of the library
VECTORS = 80  # of a graph: spectral clustering uses k of them, smoothing uses all
LANDMARKS = 300  # quality against cost: a kernel takes O(n LANDMARKS^2)
NEAR = 3.0  # times the distance to the 7th neighbour; chosen on the development sets
GRAPH_GRID = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # from hardly any to heavy smoothing
RIDGE_GRID = (1e-3, 1e-2, 1e-1, 1.0, 10.0)  # for features of about unit size
HIGHEST = 0.95  # leverage; above, Eq. (2) divides by almost nothing and magnifies rounding
ISLAND_DIMENSIONS = 8  # two tore islands of pendigits apart; four and eight gave the same
MANY, MANY_LANDMARKS = 20_000, 600  # rows; more constraints can tell more details apart
DIRECTIONS = 30  # of the Gaussian models: a covariance of more needs more points than a class has
FOLDS = 3  # two thirds of the points are enough for a covariance, and three fits are cheap
SHRINKAGE = 2.0  # pseudo-points of the common covariance a dimension, for classes of few points
ROUNDS = 20  # of EM of a mixture: later ones move few points
TINY = np.finfo(np.float64).tiny
_NONE = np.zeros(0)  # a field that is filled in later


class GraphPlace(NamedTuple):
    """How a graph smoother places new points."""

    graph: NeighbourAffinity
    basis: Basis


class RidgePlace(NamedTuple):
    """How a ridge smoother places new points: K(x, landmarks) half or x / width, then the map."""

    landmarks: np.ndarray | None  # (l, d)
    width: float
    half: np.ndarray | None  # (l, p)
    centre: np.ndarray  # (p,)
    map: np.ndarray  # (p, r - 1)


class IslandPlace(NamedTuple):
    """How an island smoother places new points: in the layout of the graph, then as RidgePlace."""

    graph: NeighbourAffinity
    Y: np.ndarray  # (n, ISLAND_DIMENSIONS), the layout
    degree: float  # median degree of the graph
    ridge: RidgePlace


class Smoother(NamedTuple):
    """Ridge regression in an orthonormal basis, Eq. (1)."""

    name: str
    view: int  # the number of the view that it uses
    U: np.ndarray  # (n, r) float32
    shrink: np.ndarray  # (g, r), c of each strength
    leverage: np.ndarray  # (n, g), h
    place: GraphPlace | RidgePlace | IslandPlace


class Gaussian(NamedTuple):
    """A Gaussian distribution for each class."""

    name: str
    view: int
    basis: np.ndarray | None  # (r, d) leading directions of the view
    X: np.ndarray  # (n, d)
    fold: np.ndarray  # (n,) of 0..FOLDS - 1


def leverages(U, shrink):
    """Return h of Eq. (2), (n, g), for every strength of shrink (g, r), bounded."""
    return namespace(U).clip((U**2) @ shrink.T, None, HIGHEST)


def _smoother(name, view, U, shrink, place):
    """Return the Smoother of a basis U and of NumPy shrink (g, r)."""
    U = door(U).cast(U, "float32")
    shrink = door(U).asarray(np.asarray(shrink, dtype=np.float32), U)
    return Smoother(name, view, U, shrink, leverages(U, shrink), place)


def graph_smoother(Y, view, rng):
    """Return the smoother on the neighbour graph of points Y (n, d)."""
    graph = NeighbourAffinity(Y, min(NEIGHBOURS, len(Y) - 1), "local", distinct=True)
    W = door(graph.W).cast(graph.W, "float32")  # enough for smoothing, and twice as fast
    basis = spectral_basis(W, min(VECTORS, len(Y)), rng, order=graph.order)
    rough = np.clip(1 - to_host(basis.values), 0, None)
    shrink = 1 / (1 + np.multiply.outer(GRAPH_GRID, rough))
    return _smoother("graph", view, basis.vectors, shrink, GraphPlace(graph, basis))


def _kernel(D, width):
    """Return the Gaussian kernel of squared distances D; float32 is enough, and twice as fast."""
    return namespace(D).exp(door(D).cast(D / -width, "float32"))


def _features(place, Y):
    if place.landmarks is None:
        return Y / place.width
    return _kernel(door(Y).squared_distances(Y, place.landmarks), place.width) @ place.half


def _with_constant(C, n):
    """Return a constant column, of length 1 over n rows, before columns C."""
    column = namespace(C).full_like(door(C).empty((len(C), 1), C), n**-0.5)
    return door(C).beside((column, C))


def _ridge(name, view, F, place):
    """Return ridge regression on features F (n, p) and on a constant that is not penalised."""
    tools, xp = door(F), namespace(F)
    centre = xp.mean(F, axis=0)
    C = F - centre
    e, V = tools.eigh(C.T @ C)
    kept = e > 1e-7 * max(float(e[-1]), TINY)
    e, V = e[kept], V[:, kept] / xp.sqrt(e[kept])
    U = _with_constant(tools.cast(C, V) @ V, len(F))
    e = to_host(e)
    shrink = [np.concatenate(([1.0], e / (e + ridge))) for ridge in RIDGE_GRID]
    return _smoother(name, view, U, shrink, place._replace(centre=centre, map=V))


def kernel_smoother(Y, view, rng, *, wide):
    """Return ridge regression with a Gaussian kernel on landmarks among the points Y."""
    tools, xp = door(Y), namespace(Y)
    rows, most = np.arange(len(Y)), LANDMARKS if len(Y) <= MANY else MANY_LANDMARKS
    if len(Y) > most:
        rows = np.sort(rng.choice(len(Y), most, replace=False))
    D = tools.squared_distances(Y, take_rows(Y, rows))
    if wide:
        width = float(tools.median(xp.reshape(D, (-1,))))
    else:
        seventh = tools.kth_smallest(take_rows(D, rows), min(7, len(rows) - 1))
        width = NEAR**2 * float(tools.median(seventh))
    width = width or float(xp.max(D)) or 1.0
    K = _kernel(D, width)
    e, V = tools.eigh(take_rows(K, rows))
    kept = e > 1e-6 * e[-1]
    half = tools.cast(V[:, kept] / xp.sqrt(e[kept]), K)  # K half has the kernel as products
    place = RidgePlace(take_rows(Y, rows), width, half, _NONE, _NONE)
    return _ridge("wide" if wide else "near", view, K @ half, place)


def island_smoother(graph, rng):
    """Return the smoother with a near kernel in a layout of a graph smoother's graph."""
    affinity, basis = graph.place
    Y = layout(affinity.W, ISLAND_DIMENSIONS, rng, basis=basis, order=affinity.order)
    found = kernel_smoother(Y, graph.view, rng, wide=False)
    degree = float(door(Y).median(degrees(affinity.W)))
    return found._replace(name="island", place=IslandPlace(affinity, Y, degree, found.place))


def linear_smoother(Y, view):
    """Return ridge regression on the columns of Y."""
    xp = namespace(Y)
    width = float(xp.sqrt(xp.mean(door(Y).squared_norms(Y)))) or 1.0
    return _ridge("linear", view, Y / width, RidgePlace(None, width, None, _NONE, _NONE))


def gaussian_model(Y, view, shape, *, seed):
    """Return the Gaussian model of the leading directions of Y, of all if it is "round"."""
    basis, X = None, door(Y).cast(Y, "float64")
    if Y.shape[1] > DIRECTIONS and shape != "round":
        vectors = door(X).eigh(X.T @ X)[1]
        basis = namespace(X).flip(vectors[:, -DIRECTIONS:], axis=1)
        X = X @ basis
    fold = np.random.default_rng(seed).permutation(len(Y)) % FOLDS
    return Gaussian(shape, view, basis, X, door(X).asarray(fold, X))


def make_learners(views, kinds, seed):
    """Return the learners of some kinds on views.

    Parameters
    ----------
    views : list of View
    kinds : some of "graph", "island" (with "graph"), "near", "wide", "linear", "full", "tied", and
        "round", which is left out but for texts
    seed : int
    """

    def in_view(number):
        X, rng = views[number].X, np.random.default_rng([seed, number])
        found = []
        if "graph" in kinds:
            found.append(graph_smoother(X, number, rng))
        if "near" in kinds:
            found.append(kernel_smoother(X, number, rng, wide=False))
        if "wide" in kinds:
            found.append(kernel_smoother(X, number, rng, wide=True))
        if "linear" in kinds:
            found.append(linear_smoother(X, number))
        if "island" in kinds:
            found.append(island_smoother(found[0], rng))
        return found

    learners = [one for found in run_blocks(in_view, range(len(views))) for one in found]
    number = scaled_among(views)
    shapes = ("full", "tied", "round") if views[number].name == "cosines" else ("full", "tied")
    for shape in shapes:
        if shape in kinds:
            learners.append(gaussian_model(views[number].X, number, shape, seed=seed))
    return learners


def among(learners, kind):
    """Return the learners of a kind."""
    return [one for one in learners if one.name == kind]


def graphs_among(learners):
    """Return the smoothers on neighbour graphs."""
    return among(learners, "graph")


def without_own(smoother, q, strength):
    """Return f_i without q_i, Eq. (2), (n, k), for a strength of the grid."""
    U, h = smoother.U, smoother.leverage[:, strength, None]
    f = U @ (smoother.shrink[strength][:, None] * (U.T @ q))
    return (f - h * q) / (1 - h)


def best_strength(smoother, q, weight):
    """Return the strength of the grid that predicts q (n, k) with the least squared error."""
    errors = [
        float(namespace(q).sum(weight[:, None] * (without_own(smoother, q, g) - q) ** 2))
        for g in range(len(smoother.shrink))
    ]
    return int(np.argmin(errors))


def _densities(X, q, X_new, shape):
    """Return log densities (m, k), class weights included, of a Gaussian model of X, labels q."""
    tools, xp = door(X), namespace(X)
    d = X.shape[1]
    size, q = xp.sum(q, axis=0), tools.cast(q, X)
    mean = (q.T @ X) / (size[:, None] + 1e-9)
    if shape == "round":
        variance = float(xp.sum(q * tools.squared_distances(X, mean))) / (len(X) * d)
        far, volume = tools.squared_distances(X_new, mean) / max(variance, TINY), 0.0
    else:
        L = _factors(X, q, mean, size, shape)
        far, volume = tools.mahalanobis(X_new, mean, L), xp.sum(xp.log(tools.diagonal(L)), axis=1)
    freedom = size + d  # heavy tails for a class of few points
    return xp.log(size + 1) - volume - 0.5 * freedom * xp.log1p(far / freedom)


def _factors(X, q, mean, size, shape):
    """Return the Cholesky factors of the covariances, (k, d, d), or of the common one (1, d, d)."""
    tools, xp = door(X), namespace(X)
    d = X.shape[1]
    scatter = tools.class_scatters(X, q, mean)  # (k, d, d)
    common = xp.sum(scatter, axis=0) / len(X)
    ridge = 1e-4 * xp.clip(xp.sum(tools.diagonal(common)) / d, TINY, None)
    common = common + ridge * tools.asarray(np.eye(d), X)
    if shape == "tied":
        return xp.linalg.cholesky(common[None])
    weight = SHRINKAGE * d
    return xp.linalg.cholesky((scatter + weight * common) / (size[:, None, None] + weight))


def across_folds(model, q):
    """Return class probabilities (n, k), each point by the model of the other folds."""
    out = door(q).empty(q.shape, q, "float64")
    for fold in range(FOLDS):
        rest = model.fold != fold
        out[~rest] = _densities(model.X[rest], q[rest], model.X[~rest], model.name)
    return door(out).softmax(out)


def mixture(model, labels, k):
    """Return labels (n,) after ROUNDS of EM of a Gaussian model from labels (n,)."""
    tools = door(labels)
    q = tools.asarray(np.eye(k), labels)[labels]
    for _ in range(ROUNDS):
        q = tools.softmax(_densities(model.X, q, model.X, model.name))
    return namespace(q).argmax(q, axis=1)


def graph_of(learner):
    """Return the neighbour graph in which a learner places new points, None if there is none."""
    place = None if isinstance(learner, Gaussian) else learner.place
    return place.graph if isinstance(place, GraphPlace | IslandPlace) else None


def island_positions(learner, Y, near=None):
    """Return new points Y, prepared by an island smoother's view, in its layout."""
    P, _ = learner.place.graph.rows(Y) if near is None else near
    return place_in_layout(learner.place.Y, P, learner.place.degree, np.random.default_rng(0))


def coordinates(learner, Y, near=None):
    """Return new points Y, prepared by the learner's view, in the learner's basis, (m, r).

    near : Rows of Y in the learner's graph, if they are known
    """
    if isinstance(learner, Gaussian):
        X = door(Y).cast(Y, "float64")
        return X if learner.basis is None else X @ learner.basis
    where = learner.place
    if isinstance(where, GraphPlace):
        return extend(where.basis, *(where.graph.rows(Y) if near is None else near))
    if isinstance(where, IslandPlace):
        Y, where = island_positions(learner, Y, near), where.ridge
    C = door(Y).cast(_features(where, Y) - where.centre, where.map) @ where.map
    return _with_constant(C, len(learner.U))


def predict_classes(learner, strength, q, U):
    """Return class predictions (m, k) for new points with coordinates U, from labels q (n, k)."""
    if isinstance(learner, Gaussian):
        return door(U).softmax(_densities(learner.X, q, U, learner.name))
    weights = learner.shrink[strength][:, None] * (learner.U.T @ q)
    return U @ door(U).cast(weights, U)
