"""The points in two dimensions, for the map of the page."""

import numpy as np

from linkwise.blocks.executors import one_thread

PERPLEXITY = 30  # the usual value of t-SNE
SAMPLE = 5000  # points that determine the directions of the quick map; more change them little


def filled(xy):
    """Return positions (n, 2) scaled to -1..1 along each axis, float32; outliers are clipped."""
    low, high = np.quantile(xy, [0.002, 0.998], axis=0)
    reach = np.maximum((high - low) / 2, 1e-9 * max(float(abs(xy).max()), 1.0))
    return np.clip((xy - (low + high) / 2) / reach, -1, 1).astype(np.float32)


def flat(E):
    """Return two principal coordinates of points E (n, r), each within -1..1, float32 (n, 2)."""
    E = np.asarray(E, dtype=np.float64)
    rng = np.random.default_rng(0)
    sample = E if len(E) <= SAMPLE else E[rng.choice(len(E), SAMPLE, replace=False)]
    centre = sample.mean(axis=0)
    _, _, V = np.linalg.svd(sample - centre, full_matrices=False)
    xy = (E - centre) @ V[:2].T
    if xy.shape[1] < 2:
        xy = np.hstack([xy, np.zeros((len(xy), 2 - xy.shape[1]))])
    return filled(xy)


def islands(E, core, start):
    """Return points E (n, r) in two dimensions by t-SNE, each within -1..1, float32 (n, 2).

    The layout of the core (c,) starts at positions start (n, 2); all other points lie at the mean
    of its nearest points. O(c log c) a step.
    """
    from sklearn.manifold import TSNE
    from sklearn.neighbors import NearestNeighbors

    layout = TSNE(
        init=start[core], perplexity=min(PERPLEXITY, (len(core) - 1) / 3), random_state=0, n_jobs=1
    )
    with one_thread():
        placed = layout.fit_transform(E[core].astype(np.float32))
    xy = np.empty((len(E), 2))
    xy[core] = placed
    rest = np.setdiff1d(np.arange(len(E)), core, assume_unique=True)
    if len(rest):
        search = NearestNeighbors(n_neighbors=3).fit(E[core])
        near = search.kneighbors(E[rest], return_distance=False)  # (rest, 3)
        xy[rest] = placed[near].mean(axis=1)
        spread = 0.01 * np.ptp(placed, axis=0)
        xy[rest] += np.random.default_rng(0).normal(scale=spread, size=(len(rest), 2))
    return filled(xy)
