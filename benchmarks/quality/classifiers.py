"""Upper marks: classifiers that are told classes where the others are told pairs.

    forest           is given the classes of all points in a pair
    SVM:labels       RBF support vector machine, on features of mean 0 and variance 1
    forest:labels    a forest

The last two get the same information as the pairs: s answers with a share p of must-links carry at
most s H(p) bits, and a class H(y) bits, so that s pairs are worth

    (1)  s H(p) / H(y)

labels. They are drawn uniformly among the points that pairs may touch; at least one, at most all.
"""

import numpy as np

from benchmarks.quality.protocol import Found


def entropy(counts):
    """Return the entropy of shares proportional to counts, in bits.

    >>> float(entropy(np.array([2, 1, 1, 0])))
    1.5
    """
    share = counts[counts > 0] / counts.sum()
    return -np.sum(share * np.log2(share))


def labels_worth(y, sign):
    """Return how many labels carry the information of answers, Eq. (1); at least 1.

    Parameters
    ----------
    y : int array (n,), classes
    sign : array (s,), +1 for a must-link and -1 for a cannot-link
    """
    of_answers = entropy(np.array([(sign > 0).sum(), (sign < 0).sum()]))
    of_classes = entropy(np.bincount(y))
    return max(1, round(len(sign) * of_answers / of_classes)) if of_classes > 0 else 1


def classifier(name, seed):
    """Return an unfitted classifier."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.svm import SVC

    return RandomForestClassifier(random_state=seed) if name == "forest" else SVC(kernel="rbf")


def completed(X, y, rows, model):
    """Return the classes of some rows, and what a classifier trained on them predicts for others.

    Where all the rows have the same class, all points have it.
    """
    labels = np.full(len(y), y[rows[0]])
    labels[rows] = y[rows]
    if (y[rows] != y[rows[0]]).any():
        rest = np.setdiff1d(np.arange(len(y)), rows)
        labels[rest] = model.fit(X[rows], y[rows]).predict(X[rest])
    return labels


def touched_forest(task, _):
    """Give all points in a pair their class, and predict the rest by a forest trained on them."""
    a, b, *_ = task.links.resolve(n=len(task.X)).arrays()
    rows = np.union1d(a, b)
    return Found(completed(task.X, task.y, rows, classifier("forest", task.seed)))


def labelled(task, name):
    """Give as many points their class as the pairs are worth, and predict the rest."""
    sign = task.links.resolve(n=len(task.X)).arrays()[2]
    free = np.flatnonzero(~task.held)
    worth = min(labels_worth(task.y, sign), len(free))
    rows = np.random.default_rng(task.seed).permutation(free)[:worth]
    return Found(completed(task.X, task.y, rows, classifier(name, task.seed)))
