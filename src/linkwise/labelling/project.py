"""A data file and its project: opened together, clustered, exported."""

import os

import numpy as np

from linkwise._wording import counted
from linkwise.journal import (
    Journal,
    check_data,
    describe,
    read_project,
    read_table,
    write_agreement,
    write_links,
    write_log,
)
from linkwise.journal.settings import (
    is_count,
    is_text,
    kept_settings,
    project_settings,
    settled,
)
from linkwise.labelling.cluster_model import Task, estimator, project_labels
from linkwise.labelling.edits import edits_of
from linkwise.labelling.items import NAME, read_items
from linkwise.tables import write_labels
from linkwise.tables.id_columns import NO_IDS

RULES = {
    "id_column": is_text,
    "columns": lambda value: isinstance(value, list) and all(map(is_text, value)),
    "text": is_text,
    "image": is_text,
    "embedding": is_text,
    "k": lambda value: is_count(value, 1),
    "seed": is_count,
    "standardize": lambda value: isinstance(value, bool),
}
KEPT = tuple(RULES)  # settings of a project


def settings_of(path, given):
    """Return the settings to use: those given, else those of the project, else None."""
    kept, project = project_settings(path, RULES)
    if project and project.events:
        column = kept["id_column"] = id_column_of(project)
        if given["id_column"] not in (None, column):
            named = "row number" if column == NO_IDS else f"the column {column!r}"
            raise ValueError(
                f"{path} names rows by {named}; leave --id out, or begin another project"
            )
    return settled(given, kept)


def id_column_of(project):
    """Return the column by which a Project names rows, or "none" for row numbers.

    A project that does not say was made by an earlier version, which named rows by number unless
    a .npz file had an array `id`.
    """
    column = project.settings.get("id_column")
    if column is None:
        return NO_IDS if project.data.named_by == "row" else "id"
    return column


def check_count(data, n, *, least, k):
    """Refuse n rows if they are fewer than least, or than the clusters."""
    rows = f"{data} has {counted(n, 'row')}"
    if n < least:
        raise ValueError(f"{rows}; there is nothing to compare it with")
    if k is not None and k > n:
        raise ValueError(f"{rows}, too few for {k} clusters; ask for at most {n} by -k")


def _items(data, settings):
    """Return the Items of a data file, read by the settings of a project."""
    reading = {
        name: settings[name] for name in ("id_column", "columns", "text", "image", "embedding")
    }
    return read_items(data, standardize=bool(settings["standardize"]), **reading)


def open_project(data, path, settings, *, least=2, who=None):
    """Return (Items, Journal): the data, and the log of answers about them, created if new.

    Fewer than ``least`` rows are refused. ``who`` is the author of what is written, by default the
    user of this computer.
    """
    items = _items(data, settings)
    check_count(data, len(items.X), least=least, k=settings["k"])
    described = describe(data, len(items.X), ids=items.ids is not None)
    journal = Journal(path, data=described, ids=items.ids, who=who)
    column = settings["id_column"] if items.recognised is None else items.recognised
    if os.path.isdir(data):
        column = NAME
    try:
        journal.configure(**settings | {"id_column": column})
    except BaseException:
        journal.close()
        raise
    return items, journal


def import_table(path, items, journal):
    """Add a table of links, labels or a log to a project; return in words what was added."""
    before = journal.state.n_events
    try:
        drafts = read_table(path, journal, ids=items.ids)
        journal.extend(drafts)
    except ValueError as error:
        place = "" if str(error).startswith(str(path)) else f"{path}: "
        raise ValueError(f"{place}{error}") from error
    new = journal.state.n_events - before
    if not new:
        return f"{path}: nothing new; all of it is in the project already"
    links = counted(journal.state.constraints().n_pairs, "link")
    return f"{path}: {counted(new, 'event')} added; the project has {links} now"


def task_of(state, ids, n, n_clusters):
    """Return the Task of a State about n rows: what counts, by row number."""
    row_of = {name: row for row, name in enumerate(range(n) if ids is None else ids)}
    links = state.constraints().resolve(ids, n=n).active()
    unsure = [(row_of[a], row_of[b]) for a, b in state.unsure]
    editing = [event for event in state.active if event.edits_labels]
    edits = [edit for event in editing for edit in edits_of(event, row_of)]
    marks = {row_of[name]: mark for name, mark in state.marks.items()}
    return Task(links, unsure, edits, n_clusters, marks)


def items_of(data, project, path):
    """Return the Items of a data file, read as a Project says."""
    settings = kept_settings(project, path, RULES) | {"id_column": id_column_of(project)}
    return _items(data, settings)


def cluster(data, project, path):
    """Return (Items, labels): the rows of a data file clustered by the answers of a project."""
    items, settings = items_of(data, project, path), kept_settings(project, path, RULES)
    check_data(path, project.data, describe(data, len(items.X), ids=items.ids is not None))
    if len(items.X) == 1:
        return items, np.zeros(1, dtype=np.intp)
    model = estimator(len(items.X), settings["k"], settings["seed"] or 0)
    return items, project_labels(
        model, items.X, task_of(project.state, items.ids, len(items.X), settings["k"])
    )


def export(path, output, *, labels_of=None, log=False, agreement=False):
    """Write links, labels, the log of a project, or the agreement between people to a table.

    Return in words what was written.
    """
    project = read_project(path)
    if labels_of is not None:
        items, labels = cluster(labels_of, project, path)
        label_of = {items.name(row): label for row, label in enumerate(labels.tolist())}
        names = project.state.cluster_names(label_of)
        write_labels(output, labels, items.ids, names, force=True)
        clusters, strays = counted(int(labels.max()) + 1, "cluster"), int((labels < 0).sum())
        apart = f"; {counted(strays, 'row')} in no cluster, label -1" if strays else ""
        return f"{counted(len(labels) - strays, 'row')} in {clusters}{apart}"
    if log:
        write_log(output, project)
        return counted(len(project.events), "event")
    if agreement:
        write_agreement(output, project.state)
        people = project.state.people
        said = "" if any(p.shared for p in people) else "; no two of them answered the same pair"
        return f"{'1 person' if len(people) == 1 else f'{len(people)} people'} answered{said}"
    write_links(output, project.state)
    links, unsure = project.state.constraints(), counted(len(project.state.unsure), "answer")
    left_out = f'; {unsure} "unsure": only in the log, --log' if project.state.unsure else ""
    return f"{counted(links.n_pairs, 'link')}{left_out}"
