"""A fit takes effect completely or not at all, wherever it is refused or interrupted."""

import warnings

import numpy as np
import pytest
from interrupt_parts import interrupt_everywhere, problem
from numpy.testing import assert_array_equal

import linkwise
from linkwise import CCSKL, Constraints
from linkwise.blocks import limits

NAMES = [*linkwise.estimators.__all__, "LinkClustering"]
every = pytest.mark.parametrize("name", NAMES)


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
