"""Constrained spectral embedding for K-way clustering (Wacquet et al. 2013): figures 1 to 4.

Accuracy and Rand index against the rate of constraints, 0 to 20 % of all pairs, drawn uniformly.
Raw features; Gaussian weights with w_ii = 1 and sigma^2 the mean variance of a feature, for faces
local scaling.

    cSC           gamma = .5; two clusters by the sign of the second vector, as printed
    cSC, by links the same with that of the first two signs that keeps more constraints, which is
                  label-free; the same as cSC for more than two clusters
    SC            no constraints
    SL            1 and 0 written into the weights
    FCSC          two clusters: alpha = .5 lambda_max vol; more: the authors' K-way bound
    cPCA, cLPP    95 % of the variance, 10 neighbours, then k-means
    cSC, defaults the library's SignedSpectralClustering(), on its neighbour graph
"""

from collections.abc import Callable

import numpy as np

from benchmarks.papers.protocol import (
    Source,
    attempt,
    draw,
    job_of,
    kept_share,
    of_starts,
    of_untouched,
    pairs_at_rate,
    rng_of,
    seed_of,
    single_starts,
)
from benchmarks.runs.points import floating, stored
from linkwise.embedding import (
    constrained_lpp,
    constrained_pca,
    flexible_embedding,
    flexible_problem,
    mix_constraints,
    principal_axes,
    spectral_basis,
    two_way_labels,
    unit_rows,
)
from linkwise.estimators import SignedSpectralClustering
from linkwise.evaluate import accuracy, rand_index
from linkwise.graph import GaussianAffinity, NeighbourAffinity, degrees, normalise
from linkwise.kernel import impose

NAME = "csc"
METHODS = ("cSC", "SC", "SL", "FCSC", "cPCA", "cLPP")
FREE, DEFAULT = "cSC, by links", "cSC, defaults"
BOUNDS = ("FCSC, fixed bound, w_ii = 1", "FCSC, fixed bound, w_ii = 0")
GAMMA, VARIANCE, NEIGHBOURS = 0.5, 0.95, 10
RATES, QUICK_RATES = (0, 1, 2, 5, 10, 15, 20), (0, 1, 5, 20)  # % of all pairs
FACES = ("yale", "orl")
SETS = {
    "hepatitis": Source("hepatitis", "hepatitis"),
    "ionosphere": Source("ionosphere", "ionosphere"),
    "wine": Source("wine", "wine"),
    "dermatology": Source("dermatology", "dermatology"),
    "glass": Source("glass", "glass"),
    "ecoli": Source("ecoli", "ecoli"),
    "yale": Source("Yale faces", "yale_32x32"),
    "orl": Source("ORL faces", "orl_32x32"),
}


def jobs(sets, effort):
    """Return the jobs of the sets, {name: description}."""
    return [
        job_of(
            NAME, name, "curve", number, effort, 300 + data["n"] ** 2 // 50, starts=effort.starts
        )
        for name, data in sets.items()
        for number in range(effort.draws)  # 10 in the paper
    ]


def weights(X, name):
    """Return the affinity of the paper, unit diagonal."""
    sigma = "local" if name in FACES else float(np.sqrt(X.var(axis=0).mean()))
    return GaussianAffinity(X, sigma).W


def dimensions(X):
    """Return how many axes hold 95 % of the variance, at least 2 where there are as many."""
    held = np.cumsum(principal_axes(X).variance)
    enough = 1 + int(np.count_nonzero(held[:-1] < VARIANCE * held[-1] * (1 - 1e-12)))
    return min(max(2, enough), *X.shape)


def projected(X, links, method):
    """Return the points along the directions of cPCA or cLPP."""
    d = dimensions(X)
    if method == "cPCA":
        found = constrained_pca(X, *links.arrays())
    else:
        W = NeighbourAffinity(X, NEIGHBOURS, "r").W
        found = constrained_lpp(X, W, links.matrix(len(X)), d, variance=VARIANCE)
    return (X - found.mean) @ found.components[:d].T


class Judge:
    """Scores partitions of a set under constraints."""

    def __init__(self, y, links, starts, seed):
        self.y, self.links, self.starts, self.seed = y, links, starts, seed
        self.k = int(y.max()) + 1

    def labels(self, labels):
        """Return the figures of one partition."""
        y, links = self.y, self.links
        found = {"kept": kept_share(labels, links), **of_untouched(y, labels, links)}
        right = accuracy(y, labels)
        return found | {"mean": right, "least": right, "rand": rand_index(y, labels)}

    def rows(self, Z):
        """Return the figures of k-means on rows: the mean of starts, and that of least inertia."""
        runs, costs = single_starts(Z, self.k, self.starts, self.seed)
        found = of_starts(self.y, (runs, costs), self.links, accuracy)
        return found | {"rand": rand_index(self.y, runs[int(np.argmin(costs))])}


def signed(W, links, judge, rng, *, rule):
    """Return the figures of cSC; for two clusters by the second sign, or by the links."""
    k, n = judge.k, len(W)
    mixed = mix_constraints(W, links.matrix(n), GAMMA) if links else W
    V = spectral_basis(mixed, k, rng).vectors
    if k > 2:
        return judge.rows(unit_rows(V))
    if rule == "second" or not links:
        return judge.labels((V[:, 1] > 0).astype(np.int64))
    return judge.labels(two_way_labels(V, lambda labels: np.sum(~links.violated(labels)))[0])


def flexible(W, links, judge):
    """Return the figures of FCSC."""
    k = judge.k
    found = flexible_embedding(
        flexible_problem(W, links.matrix(len(W))), k, bound=0.5 if k == 2 else "kway"
    )
    if k == 2:
        return judge.labels((found.vectors[:, 0] > 0).astype(np.int64))
    return judge.rows(found.vectors * (1 - found.costs))


def fixed_bound(W, links, k):
    """Return whether the paper's bound of FCSC leaves the K - 1 vectors that K clusters need.

    As many are feasible as D^-1/2 Q D^-1/2 has eigenvalues above half of its largest.
    """
    values = np.linalg.eigvalsh(normalise(links.matrix(len(W)), degrees(W)).toarray())
    return {"feasible": int(np.count_nonzero(values > values[-1] / 2) >= k - 1)}


def run(job):
    """Return the record of a job: every method at every rate."""
    arrays, name, number = stored(job["folder"], job["set"]), job["set"], job["draw"]
    X, y = floating(arrays["X"]), arrays["y"]
    n, k, rows = len(X), int(y.max()) + 1, []
    W = weights(X, name)
    affinities = dict(zip(BOUNDS, (W, W - np.diag(np.diagonal(W))), strict=True))
    for rate in QUICK_RATES if job["quick"] else RATES:
        names = (NAME, name, number, rate)
        links = draw(y, pairs_at_rate(rate / 100, n), rng_of(*names))
        judge, seed = Judge(y, links, job["starts"], seed_of(*names)), seed_of(*names, "default")
        rng = rng_of(*names, "basis")
        i, j, sign, _ = links.arrays()

        def default(links=links, seed=seed, judge=judge):
            model = SignedSpectralClustering(k, random_state=seed)
            return judge.labels(model.fit_predict(X, constraints=links))

        learn: dict[str, Callable] = {
            "cSC": lambda c=links, q=judge, g=rng: signed(W, c, q, g, rule="second"),
            FREE: lambda c=links, q=judge, g=rng: signed(W, c, q, g, rule="links"),
            DEFAULT: default,
            "SL": lambda q=judge, g=rng, e=(i, j, sign): q.rows(
                unit_rows(spectral_basis(impose(W, *e), k, g).vectors)
            ),
            "cPCA": lambda c=links, q=judge: q.rows(projected(X, c, "cPCA")),
            "cLPP": lambda c=links, q=judge: q.rows(projected(X, c, "cLPP")),
        }
        if rate:
            learn["FCSC"] = lambda c=links, q=judge: flexible(W, c, q)
            if k > 2:
                for kind, weight in affinities.items():
                    learn[kind] = lambda c=links, w=weight: fixed_bound(w, c, k)
        else:
            learn["SC"] = lambda q=judge, g=rng: q.rows(unit_rows(spectral_basis(W, k, g).vectors))
        rows += [attempt(function, method=method, at=rate) for method, function in learn.items()]
    return {"rows": rows}
