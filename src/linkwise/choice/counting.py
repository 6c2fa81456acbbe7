"""How many clusters.

With enough answers: co-EM from the learnt similarity is run for every number, and the one is
taken under which answers of other folds are most likely. Else: the number of k-means clusters of
the largest mean silhouette [1]. Fewer than the answers force are not tried.

[1] Rousseeuw, Silhouettes, J. Comput. Appl. Math. 20, 1987.
"""

import numpy as np
from sklearn.metrics import silhouette_score

from linkwise.choice.combine import deal, judge
from linkwise.choice.starts import plain_partitions, similarity_start

GRID = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 26, 33, 40)
STALE = 3  # numbers in a row that are no better end the search
SILHOUETTE = 1000  # points
ENOUGH = 20  # answers to choose the number by
WIDEST = 500  # columns that are looked at for being principal components


def forced(links, most):
    """Return the least number of clusters in which all links can hold, as far as it is known.

    Cannot-links that must-links contradict hold in none, and do not count.
    """
    links, k = links.drop_conflicts()[0], 2
    while k < most and links.conflict(k) is not None:
        k += 1
    return k


def by_answers(views, learners, answers, *, least, most, folds, seed):
    """Return {k: log p of every answer (m,)} for the numbers of clusters that were tried."""
    found: dict = {}
    fold = deal(answers, folds, seed)

    def score(k):
        if k not in found:
            partitions = plain_partitions(views, learners, k, seed)
            start = similarity_start(partitions, learners, k, seed)
            found[k] = np.empty(len(fold))
            for number in range(folds):
                held = fold == number
                found[k][held] = judge(start, learners, k, answers, held, rounds=2)
        return found[k].mean()

    tried = sorted({min(max(k, least), most) for k in GRID})
    best, stale = tried[0], 0
    score(best)
    for k in tried[1:]:
        best, stale = (k, 0) if score(k) > score(best) else (best, stale + 1)
        if stale == STALE:
            break
    for k in (best - 2, best - 1, best + 1, best + 2):
        if least <= k <= most:
            score(k)
    return found


def principal(X):
    """Tell whether the columns of X (n, d) are uncorrelated, as principal components are."""
    if not 2 <= X.shape[1] <= WIDEST:
        return False
    Z = X - X.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    R = Z.T @ Z / np.maximum(np.outer(length, length), np.finfo(Z.dtype).tiny)
    np.fill_diagonal(R, 0)
    return bool(abs(R).max() < 30 * np.sqrt(X.shape[1]) * np.finfo(Z.dtype).eps)


def by_silhouette(views, *, least, most, seed):
    """Return {k: mean silhouette of k-means} in the last of the views that is no ranking.

    Principal components are left as given: scaled, the last of them, noise, would count as much as
    the first.
    """
    named = {view.name: view for view in views if view.name in ("given", "scaled")}
    view = list(named.values())[-1]
    if "given" in named and principal(named["given"].X):
        view = named["given"]
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(least, min(max(10, least), most) + 1):
        labels = plain_partitions([view], [], k, seed)[f"k-means, {view.name}"]
        if len(np.unique(labels)) == k < len(labels):
            size = min(SILHOUETTE, len(labels))
            found[k] = silhouette_score(
                view.X, labels, sample_size=size, random_state=int(rng.integers(2**31))
            )
    return found
