"""Generated texts on known topics.

The probabilities of words in a topic are drawn from a Dirichlet distribution whose mean is Zipf's
law. A text is of one topic, and the lengths of texts are log-normal. The features are TF-IDF
reduced to 30 singular directions, as users of text have them.
"""

import numpy as np
from scipy import sparse

from benchmarks.runs.points import tf_idf

TOPICS = ("topics-0", "topics-1", "topics-2")  # names of the sets; the number is the seed
ROWS, CLUSTERS, COLUMNS = 600, 6, 30
# k-means has an adjusted Rand index of .85 to .9 with these: clear clusters, no trivial ones
WORDS = 3_000
CONCENTRATION = 2.0  # of the Dirichlet distribution, a word: less makes topics differ more
LENGTH, SHORTEST = 100, 5  # words of a text


def topics(seed):
    """Return (X, y) of generated texts, (ROWS, COLUMNS) and (ROWS,)."""
    rng = np.random.default_rng(seed)
    zipf = 1 / np.arange(1, WORDS + 1)
    P = rng.dirichlet(CONCENTRATION * WORDS * zipf / zipf.sum(), CLUSTERS)  # (CLUSTERS, WORDS)
    y = rng.integers(CLUSTERS, size=ROWS)
    length = np.maximum(rng.poisson(LENGTH * rng.lognormal(0, 0.5, ROWS)), SHORTEST)
    counts = rng.multinomial(length, P[y])  # (ROWS, WORDS)
    return tf_idf(sparse.csr_matrix(counts), COLUMNS)[1], y
