"""How many labels are wrong: an estimate that is calibrated over data sets.

Where the clusters of the data are not those that a person means, a model is sure of labels that are
wrong. The answers tell how far this is so. The estimate e combines

    d  the mean of 1 - max q over the points, q the probabilities of the model of the questions
    u  the share of the m answers that the partition without answers contradicts, with two answers
       more, a quarter of them contradicted: (contradicted + 1/2) / (m + 2)
    m / k, the answers for each of k clusters

    (1)  logit e = A + B logit d + C logit u - D log(1 + m / k)

A to D were fitted to the shares of wrong labels after 0 to 300 answers, right ones and with one in
ten wrong, on the sets of the benchmark of questions, each set with the same weight.
`python -m benchmarks queries` reports how far the estimate is from the truth.
"""

import numpy as np

from linkwise.constraints import Constraints

A, B, C, D = 1.12, 0.77, 0.28, 0.13  # fitted, see above
LEAST, MOST = 0.001, 0.3  # of d; beyond these it says nothing more, in the same fit


def share_contradicted(links: Constraints, plain: np.ndarray) -> float:
    """Return u: how far answers contradict the labels without answers (n,)."""
    return (float(links.violated(plain).sum()) + 0.5) / (links.n_pairs + 2)


def expected_error(d: float, u: float, m: int, k: int) -> float:
    """Return the expected share of wrong labels, Eq. (1); 0 if there is one cluster.

    >>> round(expected_error(0.05, 0.25, 0, 3), 2), round(expected_error(0.0, 0.1, 120, 3), 3)
    (0.19, 0.005)
    """
    if k < 2:
        return 0.0
    d = float(np.clip(d, LEAST, MOST))
    odds = A + B * np.log(d / (1 - d)) + C * np.log(u / (1 - u)) - D * np.log1p(m / k)
    return float(1 / (1 + np.exp(-odds)))
