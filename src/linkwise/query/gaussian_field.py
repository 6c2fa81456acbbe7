"""How much the label of a point would tell about the others.

Labels are a Gaussian field in the basis U (n, r) of the graph that counts most, with the penalty
diag(1/c - 1) of its smoother, seen at the points with answers, L:

    (1)  A = diag(1/c - 1) + U_L^T U_L            C = U A^-1 U^T, the covariance now
    (2)  t_x = sum_j d_j C_xj^2 / (1 + C_xx)      variance that the label of x removes,
                                                  d_j the doubt about the label of j
    (3)  f_j + C_xj (e_z - f_x) / (1 + C_xx)      the field if x is seen to be of class z

(2) is V-optimality [1] weighted by doubt. C is never formed: O(n r^2).

[1] Ji & Han, A variance minimization criterion to active learning on graphs, AISTATS 2012.
"""

from typing import NamedTuple

import numpy as np

from linkwise.query.model import Context

LEAST = 1e-3  # penalty, so that constant vectors have a finite variance


class Field(NamedTuple):
    U: np.ndarray  # (r, m) the rows of the model in the basis
    inverse: np.ndarray  # A^-1 (m, m)


def field_of(context: Context) -> Field:
    """Return the Gaussian field of a context."""
    model, data = context.model, context.data
    shrink = data.graphs[model.graph].shrink[model.strength].astype(np.float64)
    U = data.in_basis(model.graph)[model.rows].astype(np.float64)
    seen = U[np.searchsorted(model.rows, np.array(model.known.touched(), dtype=np.intp))]
    A = np.diag(1 / np.maximum(shrink, 1e-6) - 1 + LEAST) + seen.T @ seen  # Eq. (1)
    return Field(U, np.linalg.inv(A))


def seen_too(field: Field, i: int) -> Field:
    """Return the field when the label of row i is seen as well."""
    b = field.inverse @ field.U[i]
    return field._replace(inverse=field.inverse - np.outer(b, b) / (1 + field.U[i] @ b))


def variance_reduction(field: Field, doubt: np.ndarray) -> np.ndarray:
    """Return t of Eq. (2), (r,), for doubts (r,)."""
    V = field.U @ field.inverse
    own = np.einsum("ij,ij->i", V, field.U)
    B = (field.U * doubt[:, None]).T @ field.U
    return np.einsum("ij,ij->i", V @ B, V) / (1 + own)


def label_changes(field: Field, q: np.ndarray, i: int, most: int) -> float:
    """Return the share of rows whose label is expected to change if that of row i is seen, Eq. (3).

    The ``most`` likeliest classes of the row are looked at.
    """
    c = field.U @ (field.inverse @ field.U[i])
    step = c / (1 + c[i])
    now = np.argmax(q, axis=1)
    total = 0.0
    for z in np.argsort(-q[i], kind="stable")[:most]:
        new = q - step[:, None] * q[i]
        new[:, z] += step
        total += q[i, z] * np.mean(np.argmax(new, axis=1) != now)
    return total
