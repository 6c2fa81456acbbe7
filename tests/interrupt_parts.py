"""Interrupts at chosen moments of a fit, for tests of what they leave behind."""

import copy
import inspect
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import Constraints
from linkwise.arrays import to_host

MOMENTS = (0.0, 0.25, 0.5, 0.75, 0.9)  # shares of the calls that a fit makes


def problem(rng, n):
    """Return two blobs of n points and constraints that fit them."""
    X = rng.standard_normal((n, 3)) + np.repeat([[0.0], [6.0]], n // 2, axis=0)
    links = Constraints([(0, 1), (n - 2, n - 1)], [(0, n - 1)])
    return X.astype(np.float64), links


def answer(model, X):
    """Return what a fitted model says of points."""
    if hasattr(model, "predict"):
        return to_host(model.predict(X))
    return to_host(model.transform(X) if hasattr(model, "transform") else model.labels_)


@contextmanager
def interrupted(after):
    """Raise KeyboardInterrupt at a call of a function of linkwise, counted from 0."""
    calls = 0

    def count(frame, event, _):
        nonlocal calls
        code = frame.f_code
        generator = code.co_flags & inspect.CO_GENERATOR  # Python ignores errors while it ends
        if event == "call" and "/linkwise/" in code.co_filename and not generator:
            calls += 1
            if calls > after:
                raise KeyboardInterrupt

    sys.setprofile(count)
    try:
        yield lambda: calls
    finally:
        sys.setprofile(None)


def interrupt_everywhere(action, model, X, moments=MOMENTS):
    """Interrupt an action on a model at several moments; the model must stay as it was."""
    before, said = dict(vars(model)), answer(model, X)
    counts = []
    for _ in range(3):  # the first run also fills caches, which takes more calls
        with interrupted(np.inf) as calls:
            action(copy.copy(model))
        counts.append(calls())
    for moment in moments:
        with pytest.raises(KeyboardInterrupt), interrupted(int(moment * (min(counts) - 1))):
            action(model)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is before[key] for key in before), moment
    assert_array_equal(answer(model, X), said)
