"""Errors and warnings of linkwise."""

import sys
import warnings
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.constraints import Constraints

INSIDE = {"linkwise", "sklearn", "joblib"}  # packages whose lines a warning does not name


class InfeasibleConstraints(ValueError):
    """The constraints cannot all hold.

    Attributes
    ----------
    conflict : Constraints or None
        Pairs that cannot hold together. None of them can be left out: the others could then all
        hold.
    """

    def __init__(self, message: str, conflict: "Constraints | None" = None) -> None:
        super().__init__(message)
        self.conflict = conflict

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.conflict)


class ConstraintWarning(UserWarning):
    """Constraints were changed, dropped or not used."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it converged, found fewer clusters than requested, or will mislead.

    The last is said of a graph that follows one-hot categories alone.
    """


class MissingExtra(ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; it comes with: pip install 'linkwise[{extra}]'"
        )
        self.package, self.extra = package, extra

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line of the user's code that called into the library.

    That line is the innermost one outside linkwise, scikit-learn and joblib: a warning out of a
    Pipeline names the call of the pipeline.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame) in INSIDE:
        frame = frame.f_back
    warnings.warn_explicit(
        message, category, frame.f_code.co_filename, frame.f_lineno,
        module=frame.f_globals.get("__name__", "__main__"),  # None would silence it
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )  # fmt: skip


def _package(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]
