"""What linkwise raises and warns."""


class InfeasibleConstraints(ValueError):
    """The constraints cannot all hold.

    Attributes
    ----------
    conflict : Constraints or None
        A smallest set of pairs found that cannot hold together.
    """

    def __init__(self, message, conflict=None):
        super().__init__(message)
        self.conflict = conflict

    def __reduce__(self):
        return type(self), (str(self), self.conflict)


class ConstraintWarning(UserWarning):
    """Something happened to constraints that the user should know of."""


class ConvergenceWarning(UserWarning):
    """An iteration ended before it reached its tolerance."""


class MissingExtra(ImportError):
    """An optional dependency is not installed."""

    def __init__(self, package, extra):
        super().__init__(
            f"{package} is not installed; it comes with: pip install 'linkwise[{extra}]'"
        )
        self.package, self.extra = package, extra

    def __reduce__(self):
        return type(self), (self.package, self.extra)
