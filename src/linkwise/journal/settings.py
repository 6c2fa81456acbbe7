"""Settings that a project keeps, such as how its data are read.

Whoever keeps settings has a rule for each: {name: function (value) -> whether it is allowed}.
"""

import os
from collections.abc import Callable
from typing import Any

from linkwise.journal.file import FilePath
from linkwise.journal.journal import Project, read_project

Rules = dict[str, Callable[[Any], bool]]
Settings = dict[str, Any]


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_count(value: Any, low: int = 0, high: float = float("inf")) -> bool:
    """Tell whether a value is a whole number low..high."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def kept_settings(project: Project, path: FilePath, rules: Rules) -> Settings:
    """Return the settings of a Project, None where one is not set; refuse damaged ones."""
    kept = {name: project.settings.get(name) for name in rules}
    for name, value in kept.items():
        if value is not None and not rules[name](value):
            raise ValueError(f"{path}: the setting {name} is damaged, {value!r}; take a copy of it")
    return kept


def project_settings(path: FilePath, rules: Rules) -> tuple[Settings, Project | None]:
    """Return (settings, Project) of a file; without a file no settings, and None."""
    if not (os.path.exists(path) and os.path.getsize(path)):
        return dict.fromkeys(rules), None
    project = read_project(path)
    return kept_settings(project, path, rules), project


def settled(given: Settings, kept: Settings) -> Settings:
    """Return the settings to use: those given, else those kept, else None."""
    return {name: kept[name] if given[name] is None else given[name] for name in kept}
