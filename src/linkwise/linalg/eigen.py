"""The few largest eigenpairs of a symmetric matrix.

Small matrices are solved by LAPACK, larger ones by ARPACK's Lanczos iteration, which needs only
products S @ x: O(nnz m) time for a step, O(n m) memory. If eigenvalues are so close that it does
not converge, LAPACK is used up to ``LAPACK_LIMIT`` rows.

A Lanczos iteration is not reliable for repeated eigenvalues: started from one vector it sees one
direction of each eigenspace, and other copies enter only through rounding errors. On a graph of 15
components it returned 3 to 7 of the 15 eigenvalues 1, without an error. So eigenvectors that are
known in advance (``top``) are passed in: the iteration runs on S - 3 U U^T, where their eigenvalues
are -2 instead of 1, below the rest of the spectrum. Other repeated, or nearly repeated, eigenvalues
are found by probing: as long as a few steps on S without all found vectors show a larger
eigenvalue than the smallest one found, that vector is added and the search continues.

On a device, products with many vectors at a time cost little more than those with one: large
matrices are solved by ``subspace``, and small ones by LAPACK on the CPU.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from linkwise.arrays import PerKind, door, dtype_name, namespace, to_host
from linkwise.blocks.executors import one_thread
from linkwise.blocks.progress import Progress
from linkwise.exceptions import ConvergenceWarning, warn
from linkwise.linalg.subspace import EXTRA, RESIDUAL, ROUNDS, filtered_subspace

DENSE_LIMIT = 800  # rows; measured: LAPACK is as fast as ARPACK up to here, and misses nothing
LAPACK_LIMIT = 5000  # rows up to which LAPACK replaces an ARPACK run that does not converge
RESTARTS = 300  # of ARPACK before LAPACK is used
TOLERANCE = {"float32": 1e-4, "float64": 1e-9}  # relative, well above the rounding of each dtype
COARSE = 1e-6  # tolerance from WIDE rows on: nine digits would take twice the time
LEAST_PROBE, PROBE = 60, 3  # steps of a probe: at least 60, or one for every 3 products
WIDE = 20_000  # rows from which a wider Lanczos basis is faster


class Eigenpairs(NamedTuple):
    values: np.ndarray  # (m,), largest first
    vectors: np.ndarray  # (n, m), orthonormal columns


def fix_signs(V):
    """Return V with the entry of largest magnitude of every column made positive."""
    xp = namespace(V)
    largest = xp.argmax(xp.abs(V), axis=0)
    entry = xp.take_along_axis(V, largest[None, :], axis=0)
    return V * xp.where(entry < 0, -xp.ones_like(entry), xp.ones_like(entry))


def _deflated(S, U):
    """Return the function x -> S x - 3 U U^T x."""
    if not U.shape[1]:
        return lambda x: S @ x
    U_T = U.T  # once: of a sparse matrix it takes as long as a product
    return lambda x: S @ x - 3 * (U @ (U_T @ x))


def dense_eigenpairs(A, m):
    """Return the m largest eigenpairs of a symmetric array, smallest first; A is overwritten.

    LAPACK's quickest driver fails on some matrices with many equal eigenvalues, such as a multiple
    of the identity plus a constant. Divide and conquer, which computes all pairs, does not.
    """
    n, kept = len(A), A.copy()
    try:
        return linalg.eigh(A, subset_by_index=[n - m, n - 1], check_finite=False, overwrite_a=True)
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(kept, driver="evd", check_finite=False, overwrite_a=True)
        return values[n - m :], vectors[:, n - m :]


def _dense(S, U, m):
    A = S.toarray() if sparse.issparse(S) else np.array(S)
    if U.shape[1]:
        U = U.toarray() if sparse.issparse(U) else U
        A -= 3 * U @ U.T
    values, vectors = dense_eigenpairs(A, m)
    return Eigenpairs(values[::-1], vectors[:, ::-1])


def _lanczos(S, U, m, rng, tol=None):
    """Return the m largest eigenpairs of S - 3 U U^T, and how many products it took."""
    n = S.shape[0]
    if tol is None:
        tol = max(TOLERANCE[S.dtype.name], COARSE if n >= WIDE else 0)
    deflated, progress = _deflated(S, U), Progress("eigenvectors")

    def product(x):
        progress.advance()
        return deflated(x)

    counted = LinearOperator(S.shape, matvec=product, dtype=S.dtype)
    start = rng.standard_normal(n).astype(S.dtype)
    options = {"k": m, "which": "LA", "v0": start, "tol": tol}
    width = max((3 if n >= WIDE else 2) * m + 1, 20)
    few = RESTARTS if n <= LAPACK_LIMIT else None
    with progress:
        try:
            values, vectors = eigsh(counted, ncv=min(n, width), maxiter=few, **options)
        except ArpackNoConvergence:
            if few:
                return _dense(S, U, m), progress.done
            # a wider basis takes clustered eigenvalues together
            values, vectors = eigsh(counted, ncv=min(n, 6 * m + 60), maxiter=50 * n, **options)
    order = np.argsort(-values, kind="stable")
    return Eigenpairs(values[order], vectors[:, order]), progress.done


def largest_ritz_value(product, start, steps):
    """Return a lower bound of the largest eigenvalue, by some Lanczos steps from a vector.

    The vectors lose their orthogonality, which repeats Ritz values but does not raise the largest.
    """
    diagonal, beside = [], []
    before, v, norm = np.zeros_like(start), start / np.linalg.norm(start), 0.0
    for _ in range(steps):
        w = product(v) - v.dtype.type(norm) * before
        diagonal.append(float(v @ w))
        w -= v.dtype.type(diagonal[-1]) * v
        norm = float(np.linalg.norm(w))
        if norm <= np.finfo(v.dtype).eps:
            break
        beside.append(norm)
        before, v = v, w / v.dtype.type(norm)
    return linalg.eigvalsh_tridiagonal(diagonal, beside[: len(diagonal) - 1])[-1]


def _missed(S, U, found, rng, steps):
    """Return an eigenpair of S larger than the smallest one found, or None.

    A Ritz value is a lower bound of the largest eigenvalue, so a short iteration that ends above
    the smallest one found proves that an eigenvalue is missing.
    """
    known = np.hstack([U.toarray() if sparse.issparse(U) else U, found.vectors])
    start = rng.standard_normal(S.shape[0]).astype(S.dtype)
    start -= known @ (known.T @ start)
    floor = found.values[-1]
    margin = max(1e3 * np.finfo(S.dtype).eps, 1e-2 * (1 - floor))
    if largest_ritz_value(_deflated(S, known), start, steps) <= floor + margin:
        return None
    return _lanczos(S, known, 1, rng)[0]


def _blockwise(S, U, m, rng, tol=None):
    """Return the m largest eigenpairs of S on a device, without the vectors U of eigenvalue 1."""
    n = S.shape[0]
    accuracy = RESIDUAL[dtype_name(S)] if tol is None else tol**0.5
    start = door(S).standard_normal(rng, (n, min(n, m + EXTRA)), U)
    with one_thread(), Progress("eigenvectors") as progress:  # small problems are LAPACK's
        values, vectors, good = filtered_subspace(
            S, U, start, m, accuracy=accuracy, progress=progress.advance
        )
    if not good:
        warn(
            f"the eigenvectors did not reach a residual of {accuracy:g} in {ROUNDS} rounds",
            ConvergenceWarning,
        )
    return values, vectors


@PerKind
def largest_eigenpairs(S, m, *, top=None, rng, tol=None):
    """Return the m largest eigenpairs of a symmetric matrix.

    Parameters
    ----------
    S : (n, n) symmetric array or sparse array, float32 or float64
    m : int, 1 <= m <= n
    top : (n, c) array or sparse array or None
        Orthonormal eigenvectors known to belong to the eigenvalue 1, which must be the
        largest. They come first in the result, in their order.
    rng : numpy Generator, for the start vector
    tol : float or None, relative accuracy of the eigenvalues (None: by dtype)

    Returns
    -------
    Eigenpairs, signs fixed so that the largest entry of each vector is positive
    """
    n = S.shape[0]
    U = sparse.csc_array((n, 0), dtype=S.dtype) if top is None else top
    U = U[:, :m]
    c = U.shape[1]
    known = U.toarray() if sparse.issparse(U) else np.asarray(U)
    rest = Eigenpairs(np.empty(0, S.dtype), np.empty((n, 0), S.dtype))
    if m > c and (n <= DENSE_LIMIT or m > n // 4):
        rest = _dense(S, U, m - c)
    elif m > c:
        rest, products = _lanczos(S, U, m - c, rng, tol)
        steps = max(LEAST_PROBE, products // PROBE)
        while (more := _missed(S, U, rest, rng, steps)) is not None:
            values = np.append(rest.values, more.values)
            keep = np.argsort(-values, kind="stable")[: m - c]
            rest = Eigenpairs(values[keep], np.hstack([rest.vectors, more.vectors])[:, keep])
    values = np.concatenate([np.ones(c, S.dtype), rest.values])
    return Eigenpairs(values, fix_signs(np.hstack([known, rest.vectors])))


@largest_eigenpairs.of_tensors
def _largest_eigenpairs_of_tensors(S, m, *, top=None, rng, tol=None):
    tools, xp, n = door(S), namespace(S), S.shape[0]
    U = tools.empty((n, 0), S) if top is None else top[:, :m]
    c = U.shape[1]
    if n <= DENSE_LIMIT or m > n // 4:
        found = largest_eigenpairs(to_host(S), m, top=to_host(U), rng=rng, tol=tol)
        return Eigenpairs(*(tools.asarray(np.ascontiguousarray(A), S) for A in found))
    values, vectors = np.ones(c), U
    if m > c:
        more, found = _blockwise(S, U, m - c, rng, tol)
        values, vectors = np.append(values, more), xp.concat([U, found], axis=1)
    return Eigenpairs(tools.asarray(values, S, S.dtype), fix_signs(vectors))
