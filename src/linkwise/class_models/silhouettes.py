"""The number of clusters that the features alone suggest, by mean silhouettes [1].

[1] Rousseeuw, Silhouettes, J. Comput. Appl. Math. 20, 1987.
"""

import numpy as np
from sklearn.metrics import silhouette_score

from linkwise.arrays import namespace, to_host
from linkwise.blocks.rows import take_rows
from linkwise.class_models.partitions import view_k_means
from linkwise.class_models.views import WIDEST, scaled_among

SAMPLE = 1000  # points that the silhouette is averaged over: it takes all their distances
ROUNDING = 30  # times sqrt(d) eps: correlations that rounding leaves between principal components


def principal(X):
    """Tell whether the columns of X (n, d) are uncorrelated, as principal components are."""
    if not 2 <= X.shape[1] <= WIDEST:
        return False
    Z = X - namespace(X).mean(X, axis=0)
    R, length = to_host(Z.T @ Z), to_host(namespace(Z).linalg.norm(Z, axis=0))
    R = R / np.maximum(np.outer(length, length), np.finfo(R.dtype).tiny)
    np.fill_diagonal(R, 0)
    return bool(abs(R).max() < ROUNDING * np.sqrt(X.shape[1]) * np.finfo(R.dtype).eps)


def mean_silhouettes(views, numbers, *, seed):
    """Return {k: mean silhouette of k-means} in the scaled view, or as given if there is none.

    A number k of numbers is left out if k-means does not find k clusters.

    Principal components are used as given: scaled, the last of them, which are noise, would count
    as much as the first.
    """
    view = views[scaled_among(views)]
    if views[0].name == "given" and principal(views[0].X):
        view = views[0]
    rng = np.random.default_rng(seed)
    found = {}
    for k in numbers:
        labels = view_k_means(view, k, np.random.default_rng([seed, k, 0]))
        if int(labels.max()) + 1 == k < len(labels):
            drawn = np.random.RandomState(int(rng.integers(2**31))).permutation(len(labels))
            sample = take_rows(view.X, drawn[:SAMPLE]), take_rows(labels, drawn[:SAMPLE])
            found[k] = silhouette_score(*map(to_host, sample))
    return found
