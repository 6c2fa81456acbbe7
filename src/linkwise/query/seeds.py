"""Labels to start from, as the answers suggest them.

Neighbourhoods, sets of points known to be apart, have classes of their own. From their points,
with y_i the class, every learner v with basis u predicts the labels of all points:

    (1)  w_v = argmin sum_i |u_vi w - y_i|^2 + s w^T diag(1/c_v - 1) w

with the strength s that predicts left-out y_i best, in closed form. The learners, and every plain
partition as one more (its clusters have the class of their seeds), are pooled with weights

    (2)  a_v ~ exp(B (l_v - max l)),   l_v the log-likelihood of left-out y_i

Clusters without a seed may be classes that no answer has shown yet: the largest ones get a seed.

O(r^2 m + r^3) for m seeds and r vectors.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from linkwise.class_models import ERROR, log_probabilities, predict_classes, trust
from linkwise.class_models.learners import HIGHEST, Smoother
from linkwise.constraints import Constraints
from linkwise.embedding.spectral import unit_rows
from linkwise.evaluate import adjusted_rand_index
from linkwise.query.known import Known, separate_sets
from linkwise.query.prepared_data import PreparedData

ASKED = 3  # nearest neighbourhoods a set must be apart from to be one itself
STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # s
SHARPNESS = 0.4  # B
CLUSTER = 0.97  # c of a partition: it is trusted nearly as much as a learner
DIRECTIONS = 20  # in which the middle of a cluster is searched; later ones are noise
COVERED = 0.5  # share of the points with answers that are seeds from which seeds are preferred
PREFERRED = 0.25, 10.0  # log-likelihood added for each answer, and at most
STRANGE = 15.0  # log-likelihood taken off labels unlike any partition, at most


class Start(NamedTuple):
    labels: np.ndarray  # (r,)
    score: float  # log-likelihood of answers that it has not seen
    classes: list[int]  # roots of the neighbourhoods


class Basis(NamedTuple):
    U: np.ndarray  # (r, m)
    penalty: np.ndarray  # (m,) 1/c - 1


def bases(learners: list[Smoother], partitions: list[np.ndarray], k: int) -> list[Basis]:
    """Return the Basis of every learner, and of every partition of the rows in k clusters."""
    found = []
    for one in learners:
        shrink = one.shrink[len(one.shrink) // 2].astype(np.float64)
        found.append(Basis(one.U, 1 / np.maximum(shrink, 1e-6) - 1))
    for labels in partitions:
        Z = np.eye(k)[labels]
        U = Z / np.sqrt(np.maximum(Z.sum(axis=0), 1))
        found.append(Basis(U, np.full(k, 1 / CLUSTER - 1)))
    return found


def left_out(
    U: np.ndarray, y: np.ndarray, penalty: np.ndarray, gram: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return w of Eq. (1) (m, k) and the predictions of y (s, k) without their own; gram: U^T U."""
    A = gram + np.diag(penalty)
    factor = cho_factor(A, check_finite=False)
    w = cho_solve(factor, U.T @ y, check_finite=False)
    h = np.einsum("ij,ji->i", U, cho_solve(factor, U.T, check_finite=False))[:, None]
    h = np.minimum(h, HIGHEST)
    return w, (U @ w - h * y) / (1 - h)


def seeded(
    found: list[Basis], seeds: np.ndarray, z: np.ndarray, k: int, real: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of all rows by Eqs. (1) and (2), and the same with seeds left out.

    Parameters
    ----------
    found : list of Basis
    seeds, z : int arrays (s,), places of the seeds and their classes
    k : int
    real : int, how many of the seeds are known by answers, the first ones
    """
    y = np.eye(k)[z]
    whole, blind, score = [], [], []
    for U, penalty in found:
        tried, at = [], U[seeds].astype(np.float64)
        gram = at.T @ at
        for s in STRENGTHS:
            w, out = left_out(at, y, s * penalty + 1e-6, gram)
            p = log_probabilities(out)
            tried.append((p[np.arange(real), z[:real]].sum(), w, p))
        best = max(tried, key=lambda each: each[0])
        score.append(best[0])
        whole.append(log_probabilities(U @ best[1]))
        blind.append(best[2])
    weight = np.exp(SHARPNESS * (np.array(score) - max(score)))  # Eq. (2)
    labels = np.argmax(np.tensordot(weight, np.array(whole), 1), axis=1)
    unseen = labels.copy()
    unseen[seeds] = np.argmax(np.tensordot(weight, np.array(blind), 1), axis=1)
    return labels, unseen


def unexplored(U: np.ndarray, labels: np.ndarray, seeds: np.ndarray, most: int) -> np.ndarray:
    """Return a point in the middle of each of the largest clusters without seeds."""
    size = np.bincount(labels)
    size[labels[seeds]] = 0
    found = []
    for c in np.argsort(-size, kind="stable")[:most]:
        if size[c] > 0:
            members = np.flatnonzero(labels == c)
            Z = unit_rows(U[members, :DIRECTIONS])
            found.append(members[np.argmax(Z @ Z.mean(axis=0))])
    return np.array(found, dtype=np.intp)


def agreement(labels: np.ndarray, k: int, answers: Constraints) -> float:
    """Return the log-likelihood of answers under labels, trusted as far as fits best."""
    return trust(labels, k, answers, ERROR)[1]


def spread(data: PreparedData, learners: list[Smoother], labels: np.ndarray, k: int) -> np.ndarray:
    """Return labels of the core extended to all rows, by the first learner."""
    if len(labels) == len(learners[0].U):
        return labels
    one, hot = data.learners[0], np.eye(k, dtype=np.float32)[labels]
    return np.argmax(predict_classes(one, len(one.shrink) // 2, hot, learners[0].U), axis=1)


def by_partition(partitions: list[np.ndarray], k: int, answers: Constraints) -> Start:
    """Return the Start from the partition that the answers support most."""
    score = [agreement(labels, k, answers) for labels in partitions]
    best = int(np.argmax(score))
    return Start(partitions[best], score[best], [])


def classes_of(data: PreparedData, known: Known, n_clusters: int | None, k: int) -> list[int]:
    """Return the roots of the neighbourhoods."""
    return separate_sets(known, n_clusters, E=data.positions(k), asked=ASKED)


def by_seeds(
    learners: list[Smoother],
    partitions: list[np.ndarray],
    rows: np.ndarray,
    known: Known,
    classes: list[int],
    k: int,
    answers: Constraints,
    plain: Start,
) -> Start | None:
    """Return the Start from neighbourhoods, None if there are fewer than two.

    Parameters
    ----------
    learners : list of Smoother at the rows
    partitions : list of labels of the rows
    rows : int array (r,)
    known : Known
    classes : list of roots
    k : int
    answers : Constraints on places in rows
    plain : Start from a partition
    """
    if len(classes) < 2:
        return None
    members = [known.members(root) for root in classes]
    z = np.repeat(np.arange(len(classes)), [len(each) for each in members])
    seeds, real = np.searchsorted(rows, np.concatenate(members)), len(z)
    more = unexplored(learners[0].U, plain.labels, seeds, k - len(classes))
    z = np.concatenate((z, len(classes) + np.arange(len(more))))
    seeds = np.concatenate((seeds, more))
    labels, unseen = seeded(bases(learners, partitions, k), seeds, z, k, real)
    score = agreement(unseen, k, answers)
    if real >= COVERED * len(known.touched()):
        # points asked about are those in doubt: a partition looks worse there than it is, and
        # labels from seeds do too; but an early wrong answer may have made one class of two
        score += min(PREFERRED[0] * answers.n_pairs, PREFERRED[1])
    score -= STRANGE * (1 - adjusted_rand_index(plain.labels, labels)) ** 2
    return Start(labels, score, classes)
