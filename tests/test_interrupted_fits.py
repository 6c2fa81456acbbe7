"""A fit takes effect completely or not at all, wherever it is refused or interrupted."""

import copy
import inspect
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import linkwise
from linkwise import CCSKL, Constraints
from linkwise.blocks import limits

NAMES = [*linkwise.estimators.__all__, "LinkClustering"]
every = pytest.mark.parametrize("name", NAMES)
MOMENTS = (0.0, 0.25, 0.5, 0.75, 0.9)  # shares of the calls that a fit makes


def problem(rng, n):
    """Return two blobs of n points and constraints that fit them."""
    X = rng.standard_normal((n, 3)) + np.repeat([[0.0], [6.0]], n // 2, axis=0)
    links = Constraints([(0, 1), (n - 2, n - 1)], [(0, n - 1)])
    return X.astype(np.float64), links


def made(name):
    """Return an unfitted estimator with the smallest fit that passes all stages."""
    options = {"LinkClustering": {"effort": "fast"}, "ManifoldLayout": {"n_steps": 3}}.get(name, {})
    Estimator = getattr(linkwise, name)
    if "random_state" in Estimator._get_param_names():
        options = options | {"random_state": 0}
    return Estimator(**options) if name in NO_CLUSTERS else Estimator(2, **options)


NO_CLUSTERS = {"ManifoldLayout", "ConstrainedPCA", "ConstrainedLPP", "ITML"}


def fitted(model, X, links):
    """Fit a model, with constraints if it takes them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NormalizedCuts says that it does not use constraints
        if isinstance(model, linkwise.ManifoldLayout):
            return model.fit(X)
        return model.fit(X, constraints=links)


def answer(model, X):
    """Return what a fitted model says of points."""
    if hasattr(model, "predict"):
        return model.predict(X)
    return model.transform(X) if hasattr(model, "transform") else model.labels_


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


def interrupt_everywhere(action, model, X):
    """Interrupt an action on a model at several moments; the model must stay as it was."""
    before, said = dict(vars(model)), answer(model, X)
    counts = []
    for _ in range(3):  # the first run also fills caches, which takes more calls
        with interrupted(np.inf) as calls:
            action(copy.copy(model))
        counts.append(calls())
    for moment in MOMENTS:
        with pytest.raises(KeyboardInterrupt), interrupted(int(moment * (min(counts) - 1))):
            action(model)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is before[key] for key in before), moment
    assert_array_equal(answer(model, X), said)


@every
def test_an_interrupted_fit_leaves_the_model_as_it_was(name, rng):
    (A, first), (B, second) = problem(rng, 40), problem(rng, 26)

    def fit(model):
        fitted(model, B, second)

    interrupt_everywhere(fit, fitted(made(name), A, first), A + 0.01)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NO_CLUSTERS])
def test_an_interrupted_refit_leaves_the_model_as_it_was(name, rng):
    A, links = problem(rng, 40)

    def refit(model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.refit(Constraints([(0, 2)], [(1, 39), (3, 38)]))

    interrupt_everywhere(refit, fitted(made(name), A, links), A + 0.01)


def test_a_refused_fit_leaves_the_model_as_it_was(rng):
    (A, _), (B, _) = problem(rng, 40), problem(rng, 40)
    model = CCSKL(2, random_state=0).fit(A)
    said = model.predict(B)
    with pytest.raises(MemoryError), limits(memory="1 KB"):
        model.fit(B[::-1])
    assert_array_equal(model.predict(B), said)
    assert_array_equal(model.refit().predict(A), model.labels_)


@every
def test_a_failed_first_fit_leaves_no_model(name, rng):
    model = made(name)
    with pytest.raises(ValueError, match="NaN"):
        fitted(model, np.full((9, 3), np.nan), None)
    assert vars(model) == vars(made(name))
