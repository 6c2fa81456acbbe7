"""The public interface is annotated, completely and truly."""

import inspect
import typing
from importlib import import_module

import pytest
from sklearn.datasets import load_iris

import linkwise
import linkwise.cli
from linkwise import Constraints
from tests.typing import public_interface

ROOMS = [
    "blocks", "choice", "constraints", "datasets", "estimators", "evaluate", "journal", "plot",
    "query", "saving", "tl",
]  # fmt: skip


def public_callables():
    """Yield name and object of all public functions, classes' methods and properties."""
    names = [(linkwise, name) for name in linkwise.__all__]
    names += [(linkwise.cli, "main"), (linkwise.cli, "run_command"), (linkwise.exceptions, "warn")]
    for room in ROOMS:
        module = import_module(f"linkwise.{room}")
        names += [(module, name) for name in module.__all__]
    for module, name in names:
        value = getattr(module, name)
        name = f"{module.__name__}.{name}"
        if inspect.isclass(value):
            yield from (
                (f"{name}.{part}", method)
                for part, method in methods(value)
                if method.__module__.startswith("linkwise")
            )
        elif callable(value):
            yield name, value


def methods(cls):
    """Yield name and function of the constructor, methods and properties of a class."""
    for name in dir(cls):
        if name.startswith("_") and name != "__init__":
            continue
        found = inspect.getattr_static(cls, name)
        if isinstance(found, property):
            found = found.fget
        if isinstance(found, classmethod | staticmethod):
            found = found.__func__
        if inspect.isfunction(found):
            yield name, found


CALLABLES = dict(public_callables())


@pytest.mark.parametrize("name", CALLABLES)
def test_public_callables_are_annotated_completely(name):
    function = CALLABLES[name]
    hints = typing.get_type_hints(function, localns={"Constraints": Constraints})
    bound = list(inspect.signature(function).parameters)
    wanted = [one for one in bound if one not in ("self", "cls")]
    assert set(hints) >= {*wanted, "return"}, f"{name}: {set(wanted) - set(hints)}"


def test_the_interface_is_looked_at_as_a_whole():
    some = {
        "linkwise.CCSKL.fit", "linkwise.CCSKL.__init__", "linkwise.ITML.transform", "linkwise.load",
        "linkwise.Constraints.ends", "linkwise.query.Session.ask",
        "linkwise.journal.Journal.answer",
    }  # fmt: skip
    assert some <= set(CALLABLES)
    assert len(CALLABLES) > 300


@pytest.mark.parametrize("name", [*linkwise.estimators.__all__, "LinkClustering"])
@pytest.mark.filterwarnings("ignore:NormalizedCuts does not use")
def test_fitted_attributes_have_types(name):
    X, y = load_iris(return_X_y=True)
    cls = getattr(linkwise, name)
    known = {"n_clusters": 3, "random_state": 0}
    model = cls(**{part: known[part] for part in known if part in cls._get_param_names()})
    links = {"constraints": linkwise.sample_pairs(y, 20, random_state=0)}
    model.fit(X, **(links if "constraints" in inspect.signature(cls.fit).parameters else {}))
    fitted = {part for part in vars(model) if part.endswith("_") and not part.startswith("_")}
    typed = {part for kind in cls.__mro__ for part in getattr(kind, "__annotations__", {})}
    assert fitted <= typed


def test_the_typed_example_runs(tmp_path):
    X, y = load_iris(return_X_y=True)
    links = public_interface.make_constraints(y, tmp_path)
    public_interface.cluster(X, y, links, tmp_path)
    public_interface.ask(X, y, tmp_path)
    assert sum(public_interface.work_in_blocks(X)) == pytest.approx(X.sum())
