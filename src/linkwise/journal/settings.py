"""Settings that a project keeps, such as how its data are read.

A room that keeps some has a rule for each, {name: function (value) -> whether it can be one}.
"""

import os

from linkwise.journal.journal import read_project


def is_text(value):
    return isinstance(value, str)


def is_count(value, low=0, high=float("inf")):
    """Tell whether a value is a whole number low..high."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def kept_settings(project, path, rules):
    """Return the settings of a Project, None for others; refuse what no setting can be."""
    kept = {name: project.settings.get(name) for name in rules}
    for name, value in kept.items():
        if value is not None and not rules[name](value):
            raise ValueError(f"{path}: the setting {name} is damaged, {value!r}; take a copy of it")
    return kept


def project_settings(path, rules):
    """Return (settings, Project) of a project that may not be there yet: then none, and None."""
    if not (os.path.exists(path) and os.path.getsize(path)):
        return dict.fromkeys(rules), None
    project = read_project(path)
    return kept_settings(project, path, rules), project


def settled(given, kept):
    """Return the settings to use: those given, else those kept, else None."""
    return {name: kept[name] if given[name] is None else given[name] for name in kept}
