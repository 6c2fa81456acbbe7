"""Generated texts on known topics.

The words of a text are drawn from a mixture: a vocabulary common to all texts, with Zipf's law, and
the words of its topic, which have the same law among themselves. Their lengths are log-normal. The
features are TF-IDF reduced to 30 singular directions, as users of text have them.
"""

import numpy as np
from scipy import sparse

from benchmarks.runs.points import tf_idf

TOPICS = ("topics-0", "topics-1", "topics-2")  # names of the sets; the number is the seed
ROWS, CLUSTERS, WORDS, COLUMNS = 600, 6, 2_000, 30
# k-means has an adjusted Rand index of .86 to .91 with these: clear clusters, no trivial ones
OWN_WORDS = 150  # of a topic
OWN_SHARE = 0.3  # of the words of a text that are drawn from those of its topic
LENGTH, SHORTEST = 40, 5  # words of a text


def word_probabilities(rng):
    """Return the probability of every word in a text of every topic, (CLUSTERS, WORDS)."""
    zipf = 1 / np.arange(1, WORDS + 1)
    P = np.tile((1 - OWN_SHARE) * zipf / zipf.sum(), (CLUSTERS, 1))
    for row in P:
        own = rng.choice(WORDS, OWN_WORDS, replace=False)
        row[own] += OWN_SHARE * zipf[own] / zipf[own].sum()
    return P


def topics(seed):
    """Return (X, y) of generated texts, (ROWS, COLUMNS) and (ROWS,)."""
    rng = np.random.default_rng(seed)
    P = word_probabilities(rng)
    y = rng.integers(CLUSTERS, size=ROWS)
    length = np.maximum(rng.poisson(LENGTH * rng.lognormal(0, 0.5, ROWS)), SHORTEST)
    counts = rng.multinomial(length, P[y])  # (ROWS, WORDS)
    return tf_idf(sparse.csr_matrix(counts), COLUMNS)[1], y
