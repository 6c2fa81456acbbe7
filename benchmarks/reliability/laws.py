"""What every estimator must do on every problem.

A fit succeeds, or is refused in a sentence: by an error that linkwise raises itself. It leaks no
RuntimeWarning. What it found obeys the laws below. Laws that need another fit are tried in turn,
one for each problem.
"""

import inspect
import pickle
import tempfile
import traceback
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
from sklearn.base import clone

import linkwise
from linkwise import ConstraintWarning, ConvergenceWarning, InfeasibleConstraints

REFUSALS = (ValueError, TypeError, MemoryError)  # what linkwise raises with a sentence
FEW = {"effort": "fast", "n_init": 2, "n_starts": 2, "n_steps": 5}  # a fit of some milliseconds


class Broken(Exception):
    """A law that does not hold; the message says which."""


def law(holds, text):
    """Raise Broken unless a law holds."""
    if not holds:
        raise Broken(text)


def made(name, problem, seed=0):
    """Return the estimator of that name for a problem."""
    Estimator = getattr(linkwise, name)
    keep = {"raise", "drop", "keep"} if not Estimator.traits.hard else {"raise", "drop"}
    conflict = sorted(keep)[problem.number % len(keep)]
    asked = {"n_clusters": problem.k, "random_state": seed, "on_conflict": conflict} | FEW
    known = set(Estimator._get_param_names())
    return Estimator(**{key: value for key, value in asked.items() if key in known})


def fitted(model, X, links):
    """Fit a model, with constraints if it takes them; no warning but those of linkwise passes."""
    takes = "constraints" in inspect.signature(model.fit).parameters
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (ConstraintWarning, ConvergenceWarning):
            warnings.simplefilter("ignore", kind)
        return model.fit(X, constraints=links) if takes else model.fit(X)


def refused_in_words(error):
    """Tell whether linkwise, or scikit-learn's check of the input, raised an error."""
    if not isinstance(error, REFUSALS) or isinstance(error, np.linalg.LinAlgError):
        return False
    module = traceback.extract_tb(error.__traceback__)[-1].filename.replace("\\", "/")
    return "/linkwise/" in module or module.endswith(
        ("utils/validation.py", "_param_validation.py")
    )


def check_labels(model, problem):
    """Check the labels and the violations of a clusterer."""
    labels, links = model.labels_, problem.links
    n = problem.X.shape[0]
    law(labels.shape == (n,) and labels.dtype.kind == "i", "one integer label per row")
    most = getattr(model, "n_clusters_", None) or problem.k
    law(labels.min() >= 0 and labels.max() < most, "labels in range")
    law(set(labels) == set(range(labels.max() + 1)), "labels without gaps")
    known = links.active()
    broken = {(a, b, sign) for a, b, sign, _ in known if (labels[a] == labels[b]) != (sign > 0)}
    told = {(a, b, sign) for a, b, sign, _ in model.violations_}
    if getattr(model, "on_conflict", "keep") == "drop":
        law(told <= broken, "every violation is a pair not kept")
        dropped = {(a, b, sign) for a, b, sign, _ in known.drop_conflicts()[1]}
        law(broken - told <= dropped, "violations_ lists the pairs not kept")
    else:
        law(told == broken, "violations_ lists the pairs not kept")
    if model.traits.hard:
        law(not model.violations_, "a hard method keeps all constraints")
        if problem.consistent and known:
            closure = known.closure()
            a, b = np.triu_indices(n, 1)
            relation = closure.relation(a, b)
            together = labels[a] == labels[b]
            law(together[relation > 0].all(), "what must-links imply holds")
            law(not together[relation < 0].any(), "what cannot-links imply holds")


def check_prediction(model, problem):
    """Check what a fitted model says of points."""
    X = problem.X
    for ask in ("predict", "transform", "predict_proba"):
        if not hasattr(model, ask):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = getattr(model, ask)(X)
        law(np.all(np.isfinite(found)), f"{ask} gives numbers")
        if ask == "predict":
            law(np.array_equal(found, model.labels_), "predict gives fitted rows their labels")
        if ask == "predict_proba":
            law(np.allclose(found.sum(axis=1), 1, atol=1e-4), "probabilities sum to 1")


def result(model, X):
    """Return what to compare two models by."""
    return model.transform(X) if hasattr(model, "transform") else model.labels_


def same_seed(name, model, problem):
    """The same seed gives the same result."""
    again = fitted(made(name, problem), problem.X, problem.links)
    law(
        np.array_equal(result(model, problem.X), result(again, problem.X)), "same seed, same result"
    )


def refit_is_fit(name, model, problem):
    """A refit under the same constraints gives the labels of a fit."""
    if not hasattr(model, "refit"):
        return
    other = fitted(made(name, problem), problem.X, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other.refit(problem.links)
    law(np.array_equal(model.labels_, other.labels_), "refit equals fit")
    law(model.violations_ == other.violations_, "refit equals fit, violations_")


def files_keep_all(name, model, problem):
    """A model comes back from a file and from a pickle, and a clone fits the same."""
    X = problem.X
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.lwmodel"
        linkwise.save(model, path)
        loaded = linkwise.load(path)
    for back, how in ((loaded, "load"), (pickle.loads(pickle.dumps(model)), "pickle")):
        law(np.array_equal(result(back, X), result(model, X)), f"{how} gives the model back")
        if hasattr(model, "predict"):
            new = X[:3] * X.dtype.type(1 - 2**-10)  # larger ones may be refused
            law(np.array_equal(back.predict(new), model.predict(new)), f"{how} predicts the same")
    again = fitted(clone(model), X, problem.links)
    law(np.array_equal(result(again, X), result(model, X)), "a clone fits the same")


def clusters_by_content(X, labels):
    """Return the clusters as counts of distinct rows: equal rows may change places."""
    dense = X.toarray() if hasattr(X, "toarray") else X
    row = np.unique(dense, axis=0, return_inverse=True)[1].ravel()
    table = np.zeros((row.max() + 1, labels.max() + 1), dtype=int)
    np.add.at(table, (row, labels), 1)
    return sorted(map(tuple, table.T.tolist()))


def units_are_irrelevant(name, model, problem):
    """Points in other units have the same clusters; of equal rows either may be in one.

    Whole numbers make exact ties, which rounding decides: 10 is as near to 8 as to 12. So distinct
    points are tried again after they were moved a little.
    """
    if not (problem.ordinary and hasattr(model, "labels_")):
        return
    same = _same_in_other_units(name, model, problem)
    if not same and not hasattr(problem.X, "toarray"):
        X = problem.X
        if len(np.unique(X, axis=0)) == len(X):
            noise = np.random.default_rng(problem.number).standard_normal(X.shape)
            moved = problem._replace(X=(X + 1e-3 * X.std() * noise).astype(X.dtype))
            again = fitted(made(name, moved), moved.X, moved.links)
            same = _same_in_other_units(name, again, moved)
    law(same, "scale of the points is irrelevant")


def _same_in_other_units(name, model, problem):
    X = problem.X * problem.X.dtype.type(4)  # exact in binary
    other = fitted(made(name, problem), X, problem.links)
    return clusters_by_content(X, model.labels_) == clusters_by_content(X, other.labels_)


def failed_fits_change_nothing(name, model, problem):
    """A fit that is refused leaves the model as it was."""
    before = dict(vars(model))
    with suppress(*REFUSALS):
        fitted(model, np.full((4, problem.X.shape[1]), np.nan), None)
    law(all(vars(model)[key] is before[key] for key in before), "a refused fit changes nothing")


IN_TURN = (
    same_seed, refit_is_fit, files_keep_all, units_are_irrelevant, failed_fits_change_nothing,
)  # fmt: skip


def check_constraints(problem):
    """Check that consistent constraints are in no conflict, and others in a real one."""
    if problem.consistent:
        law(problem.links.conflict() is None, "no false conflict")
        return
    conflict = problem.links.conflict()
    if conflict is not None:
        law(conflict.conflict() is not None, "a conflict is one by itself")
        for at in range(conflict.n_pairs):
            rest = conflict.select(np.arange(conflict.n_pairs) != at)
            law(rest.conflict() is None, "no pair of a conflict can be left out")


def check(name, problem):
    """Check all laws of a problem.

    Returns
    -------
    outcome : "fitted" or "refused"

    Raises
    ------
    Broken, with the law that does not hold
    """
    check_constraints(problem)
    try:
        model = fitted(made(name, problem), problem.X, problem.links)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        law(refused_in_words(error), f"errors are sentences of linkwise, not {said[:200]}")
        false = isinstance(error, InfeasibleConstraints) and error.conflict is not None
        law(not (false and problem.consistent), f"no false conflict: {said[:200]}")
        law(len(said) < 700, "a refusal is a sentence")
        return "refused"
    try:
        if hasattr(model, "labels_"):
            check_labels(model, problem)
        check_prediction(model, problem)
        turn = problem.number // 21 + problem.number  # every shape meets every law
        IN_TURN[turn % len(IN_TURN)](name, model, problem)
    except Broken:
        raise
    except Exception as error:
        raise Broken(f"{type(error).__name__} after the fit: {str(error)[:200]}") from error
    return "fitted"
