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

BLOCK = 4096  # points whose kernel with the labelled ones is held at a time


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


def forest(X, y, others, seed):
    """Return the classes of others by a forest trained on X, y."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed).fit(X, y).predict(others)


def svm(X, y, others, _):
    """Return the classes of others by scikit-learn's SVC at its defaults, trained on X, y.

    Kernel matrices are made here, block by block: by matrix products, which SVC itself does not
    use and which take a tenth of the time on many columns.
    """
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC
    from sklearn.utils import gen_batches

    spread = X.shape[1] * X.var()
    gamma = 1 / spread if spread > 0 else 1.0  # SVC's gamma="scale"
    model = SVC(kernel="precomputed").fit(rbf_kernel(X, gamma=gamma), y)
    blocks = gen_batches(len(others), BLOCK)
    return np.concatenate([model.predict(rbf_kernel(others[b], X, gamma=gamma)) for b in blocks])


CLASSIFIERS = {"forest": forest, "SVM": svm}


def completed(X, y, rows, name, seed):
    """Return the classes of some rows, and what a classifier trained on them predicts for others.

    Where all the rows have the same class, all points have it.
    """
    labels = np.full(len(y), y[rows[0]])
    labels[rows] = y[rows]
    rest = np.setdiff1d(np.arange(len(y)), rows)
    if (y[rows] != y[rows[0]]).any() and len(rest):
        labels[rest] = CLASSIFIERS[name](X[rows], y[rows], X[rest], seed)
    return labels


def touched_forest(task, _):
    """Give all points in a pair their class, and predict the rest by a forest trained on them."""
    a, b, *_ = task.links.resolve(n=len(task.X)).arrays()
    return Found(completed(task.X, task.y, np.union1d(a, b), "forest", task.seed))


def labelled(task, name):
    """Give as many points their class as the pairs are worth, and predict the rest."""
    sign = task.links.resolve(n=len(task.X)).arrays()[2]
    free = np.flatnonzero(~task.held)
    worth = min(labels_worth(task.y, sign), len(free))
    rows = np.random.default_rng(task.seed).permutation(free)[:worth]
    return Found(completed(task.X, task.y, rows, name, task.seed))
