"""The minima of several smooth functions at a time, by L-BFGS [1], on tensors.

With the last ``MEMORY`` steps s and changes of the gradient y as columns of S and Y, R the upper
triangle of S^T Y, D its diagonal, and c = s.y / y.y of the last step, the direction is

    (1)  H g = c g + S R^-T ((D + c Y^T Y) p - c Y^T g) - c Y p,    p = R^-1 S^T g

Every function takes a step of its own length: the whole one, or a shorter one as long as

    (2)  f(w - t H g) <= f(w) - DECREASE t g.H g

does not hold. A function whose step is refused only shortens it, while the others go on. So one
evaluation of all functions is one round, always of the same operations, and on a GPU it is recorded
once. The host looks once in ``ROUNDS`` rounds whether all functions have settled.

[1] Byrd, Nocedal & Schnabel, Representations of quasi-Newton matrices, Math. Program. 63, 1994.
"""

from typing import NamedTuple

import torch

MEMORY = 10  # steps that are remembered, as in SciPy
DECREASE = 1e-4  # as usual: any step that makes the function smaller will do
SHORTER = 0.3  # of a refused step
SHORTEST = 1e-6  # a step that is still refused ends the search: rounding hides any decrease
FLAT = 1e-5  # largest entry of the gradient at a minimum, as in SciPy
CURVED = 1e-10  # s.y / y.y below which a step tells nothing of the curvature
ROUNDS = 10  # between two looks at whether all functions have settled
REFUSED = 2  # rounds for every step that is wanted, at most: some are refused


class State(NamedTuple):
    """Where the search of b functions of v numbers stands."""

    w: torch.Tensor  # (b, v)
    f: torch.Tensor  # (b, 1)
    g: torch.Tensor  # (b, v)
    d: torch.Tensor  # (b, v) direction, - H g
    t: torch.Tensor  # (b, 1) length of the next step
    S: torch.Tensor  # (b, MEMORY, v) the last step is the last
    Y: torch.Tensor  # (b, MEMORY, v)
    taken: torch.Tensor  # (b, 1) steps
    done: torch.Tensor  # (b, 1) bool


def dot(a, b):
    """Return the products of rows, (b, 1)."""
    return torch.sum(a * b, dim=-1, keepdim=True)


def direction(g, S, Y):
    """Return - H g of Eq. (1), (b, v); without any step -g."""
    left, right = S @ Y.mT, Y @ Y.mT  # (b, MEMORY, MEMORY)
    D = torch.diagonal(left, dim1=1, dim2=2)
    empty = D == 0  # no step yet
    R = torch.triu(left) + torch.diag_embed(empty.to(g.dtype))
    last = right[:, -1:, -1]
    c = torch.where(last > 0, D[:, -1:] / torch.where(last > 0, last, 1), 1)  # (b, 1)
    Sg, Yg = S @ g[:, :, None], Y @ g[:, :, None]
    p = torch.linalg.solve_triangular(R, Sg, upper=True)
    inner = D[:, :, None] * p + c[:, :, None] * (right @ p - Yg)
    q = torch.linalg.solve_triangular(R.mT, inner, upper=False)
    return -(c * g + (S.mT @ q)[:, :, 0] - c * (Y.mT @ p)[:, :, 0])


def with_last(A, row, where):
    """Return A (b, MEMORY, v) with a row appended and the first dropped, where that is asked."""
    return torch.where(where[:, :, None], torch.cat([A[:, 1:], row[:, None]], dim=1), A)


def one_round(state, objective, settled, most):
    """Return the State after one evaluation of all functions."""
    w, f, g, d, t, S, Y, taken, done = state
    step = t * d
    f_new, g_new = objective(w + step)
    fine = (f_new <= f + DECREASE * dot(g, step)) & ~done  # Eq. (2)
    y = g_new - g
    S, Y = (
        with_last(A, a, fine & (dot(step, y) > CURVED * dot(y, y))) for A, a in ((S, step), (Y, y))
    )
    taken = taken + fine
    largest = torch.maximum(torch.maximum(f.abs(), f_new.abs()), torch.ones_like(f))
    ends = (f - f_new <= settled * largest) | (g_new.abs().amax(dim=1, keepdim=True) <= FLAT)
    done = done | (fine & ends) | (taken >= most) | (t < SHORTEST)
    w, g = torch.where(fine, w + step, w), torch.where(fine, g_new, g)
    d = torch.where(fine, direction(g, S, Y), d)
    t = torch.where(fine, 1, SHORTER * t)
    return State(w, torch.where(fine, f_new, f), g, d, t, S, Y, taken, done)


def minima(objective, W, *, steps, settled, repeated):
    """Return W (b, ...) at a minimum of each of b functions.

    Parameters
    ----------
    objective : function of W that returns the values (b,) and the gradients, as W
    W : tensor (b, ...), where the searches begin
    steps : int, of each search at most
    settled : float, relative decrease that ends a search
    repeated : function (step, state) -> function of a number of times, see `tensors.repeated`
    """
    shape = W.shape

    def flat(w):
        values, slopes = objective(w.view(shape))
        return values[:, None], slopes.reshape(len(w), -1)

    w = W.reshape(len(W), -1)
    f, g = flat(w)
    t = 1 / torch.clamp(torch.linalg.vector_norm(g, dim=1, keepdim=True), min=1)
    memory = torch.zeros((len(w), MEMORY, w.shape[1]), dtype=w.dtype, device=w.device)
    taken, done = torch.zeros_like(f), g.abs().amax(dim=1, keepdim=True) <= FLAT
    state = State(w, f, g, -g, t, memory, memory, taken, done)
    advance = repeated(lambda state: one_round(State(*state), flat, settled, steps), state)
    for _ in range(max(1, REFUSED * steps // ROUNDS)):
        state = State(*advance(ROUNDS))
        if bool(torch.all(state.done)):
            break
    return state.w.clone().view(shape)
