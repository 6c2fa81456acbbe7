"""A data file and its project: opened together, clustered, exported."""

import os
from typing import NamedTuple

import numpy as np

from linkwise._wording import counted
from linkwise.constraints.cluster_numbers import (
    as_n_clusters,
    is_n_clusters,
    most_clusters,
    next_best,
)
from linkwise.exceptions import warn
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
from linkwise.journal.journal import GROWN
from linkwise.journal.settings import (
    Rules,
    is_count,
    is_text,
    kept_settings,
    project_settings,
    settled,
)
from linkwise.labelling.cluster_model import Task, estimator, project_labels
from linkwise.labelling.edits import edits_of
from linkwise.labelling.items import NAME, read_items
from linkwise.labelling.kept_clusters import UNKNOWN, Kept, last_free
from linkwise.labelling.text_embeddings import from_project, named
from linkwise.query.prepared_data import teaching
from linkwise.tables import write_labels
from linkwise.tables.id_columns import NO_IDS
from linkwise.tables.preparation import MISSING


def are_texts(value):
    """Tell whether a setting is a list of texts."""
    return isinstance(value, list) and all(map(is_text, value))


READING: Rules = {  # settings that say how the data are read
    "id_column": is_text,
    "columns": are_texts,
    "text": is_text,
    "image": is_text,
    "embedding": is_text,
    "standardize": lambda value: isinstance(value, bool),
    "categories": are_texts,
    "ordered": lambda value: isinstance(value, dict) and all(map(are_texts, value.values())),
    "missing": lambda value: value in MISSING,
    "delimiter": is_text,
    "encoding": is_text,
    "sheet": is_text,
    "embed": is_text,
}
RULES: Rules = READING | {"k": is_n_clusters, "seed": is_count}
KEPT = tuple(RULES)  # settings of a project that the command line gives


def is_outliers(value):
    """Tell whether a setting is a share of strays, or "auto"."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return value == "auto" or (number and 0 <= value < 1)


def outliers_of(settings):
    """Return the share of strays in the settings of a project, "auto" or None."""
    value = settings.get("outliers")
    if value is not None and not is_outliers(value):
        raise ValueError(f"the setting outliers of the project is damaged: {value!r}")
    return value


def n_clusters_of(settings):
    """Return the number of clusters in the settings of a project: int, (least, most) or None."""
    value = settings.get("k")
    if value is not None and not is_n_clusters(value):
        raise ValueError(f"the setting k of the project is damaged: {value!r}")
    return as_n_clusters(value)


def settings_of(path, given):
    """Return the settings to use: those given, else those of the project, else None."""
    kept, project = project_settings(path, RULES)
    if project is not None:
        kept = _as_kept(kept)
    if project and project.events:
        column = kept["id_column"] = id_column_of(project)
        if given["id_column"] not in (None, column):
            named = "row number" if column == NO_IDS else f"the column {column!r}"
            raise ValueError(
                f"{path} names rows by {named}; leave --id out, or begin another project"
            )
    return settled(given, kept)


def _as_kept(settings):
    """Return the settings of a project as its data are read by them.

    A project that does not name its columns of categories was made by an earlier version, which
    clustered by numbers alone. A function that makes points of texts is not run by its name in a
    project.
    """
    categories = [] if settings["categories"] is None else settings["categories"]
    embed = from_project(settings["embed"])
    return settings | {"categories": categories, "embed": embed, "k": n_clusters_of(settings)}


def vectors_file(path):
    """Return the file beside a project in which the vectors of its texts are kept."""
    return f"{path}.vectors.npz"


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
    most = most_clusters(k)
    if most is not None and most > n:
        raise ValueError(f"{rows}, too few for {most} clusters; ask for at most {n} by -k")


def read_by(data, settings, path):
    """Return the Items of a data file, read by the settings of a project."""
    reading = {name: settings.get(name) for name in READING}
    reading["standardize"] = bool(reading["standardize"])
    return read_items(data, vectors=vectors_file(path), **reading)


def open_project(data, path, settings, *, least=2, who=None):
    """Return (Items, Journal): the data, and the log of answers about them, created if new.

    Fewer than ``least`` rows are refused. ``who`` is the author of what is written, by default the
    user of this computer.
    """
    items = read_by(data, settings, path)
    check_count(data, len(items.X), least=least, k=settings["k"])
    described = describe(data, len(items.X), ids=items.ids is not None)
    journal = Journal(path, data=described, ids=items.ids, who=who)
    column = settings["id_column"] if items.recognised is None else items.recognised
    if os.path.isdir(data):
        column = NAME
    found = {
        "id_column": column,
        "categories": items.categories,
        "embed": named(settings.get("embed")),
    }
    try:
        journal.configure(**settings | found)
        note_growth(items, journal, settings)
    except BaseException:
        journal.close()
        raise
    return items, journal


def note_growth(items, journal, settings, labels=None):
    """Write the clusters of the rows before to the log, if the data have got more rows since.

    They are ``labels``, by default those of the first rows; then rows must have been added at the
    end.
    """
    n = journal.settings.get(GROWN)
    if n is None:
        return
    client = f"keep {journal.data.sha256[:32]}"
    state, ids = journal.state, items.ids[:n]
    if journal.sent(client) is None:
        outside = {row for event in state.active for row in event.rows}.difference(ids)
        if outside and labels is None:
            warn(
                f"{journal.data.name} has {min(outside)!r} after its first {n} rows, and it has "
                "answers: new rows go to the end; all clusters are found anew"
            )
        else:
            if labels is None:
                task = task_of(state, ids, n, settings["k"])
                labels = clusters_of(items.X[:n], task, settings).labels
            more = counted(len(items.X) - n, "new row")
            why = f"{more}; the {n} rows before keep their clusters"
            journal.append("keep", keep_body(labels, ids), why=why, client=client)
    journal.configure(**{GROWN: None})


def keep_body(labels, ids):
    """Return the body of the event that rows keep their clusters, labels (n,)."""
    rows: list[list[str]] = [[] for _ in range(int(labels.max()) + 2)]
    for name, label in zip(ids, labels.tolist(), strict=True):
        rows[label].append(name)  # strays, -1, come last
    return {"clusters": rows[:-1], "strays": rows[-1]}


class Found(NamedTuple):
    """The clusters of a project.

    Attributes
    ----------
    labels : int array (n,)
    runners_up : list of (int, float), other numbers of clusters with their scores, the best first
    """

    labels: np.ndarray
    runners_up: list[tuple[int, float]]


def clusters_of(X, task, settings):
    """Return the Found of a Task about points X (n, d), with the settings of its project."""
    if len(X) == 1:
        return Found(np.zeros(1, dtype=np.intp), [])
    model = estimator(len(X), task.n_clusters, settings["seed"] or 0)
    return Found(project_labels(model, X, task), model.runners_up_)


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


def task_of(state, ids, n, n_clusters, outliers=None):
    """Return the Task of a State about n rows: what counts, by row number."""
    row_of = {name: row for row, name in enumerate(range(n) if ids is None else ids)}
    links = state.constraints().resolve(ids, n=n).active()
    unsure = [(row_of[a], row_of[b]) for a, b in state.unsure]
    kept = kept_of(state, row_of, n_clusters, teaching(links).event)
    editing = [event for event in state.active if event.edits_labels]
    edits = [edit for event in editing for edit in edits_of(event, row_of)]
    marks = {row_of[name]: mark for name, mark in state.marks.items()}
    return Task(links, unsure, edits, n_clusters, marks, outliers, kept)


def kept_event(state):
    """Return the last `keep` event of a State that counts, or None."""
    return next((event for event in reversed(state.active) if event.kind == "keep"), None)


def kept_of(state, row_of, n_clusters, answers):
    """Return the Kept of the last `keep` event that counts, or None.

    ``answers`` (m,) are the numbers of the events of the answers that models learn from.
    """
    event = kept_event(state)
    if event is None:
        return None
    labels = np.full(len(row_of), UNKNOWN)
    for label, rows in enumerate([*event.body["clusters"], event.body["strays"]]):
        stray = label == len(event.body["clusters"])
        labels[[row_of[name] for name in rows]] = -1 if stray else label
    keeps = [event.seq for event in state.active if event.kind == "keep"]
    return Kept(labels, event.seq, most_clusters(n_clusters), last_free(keeps, answers))


def items_of(data, project, path, given=None):
    """Return the Items of a data file, read as a Project says; settings that are given go first."""
    settings = _as_kept(kept_settings(project, path, RULES))
    return read_by(data, settings | {"id_column": id_column_of(project)} | (given or {}), path)


def cluster(data, project, path):
    """Return (Items, Found): the rows of a data file clustered by the answers of a project."""
    items, settings = items_of(data, project, path), kept_settings(project, path, RULES)
    check_data(path, project.data, describe(data, len(items.X), ids=items.ids is not None))
    outliers = outliers_of(project.settings)
    k = as_n_clusters(settings["k"])
    task = task_of(project.state, items.ids, len(items.X), k, outliers)
    return items, clusters_of(items.X, task, settings)


def export(path, output, *, labels_of=None, log=False, agreement=False):
    """Write links, labels, the log of a project, or the agreement between people to a table.

    Return in words what was written.
    """
    project = read_project(path)
    if labels_of is not None:
        items, (labels, runners_up) = cluster(labels_of, project, path)
        label_of = {items.name(row): label for row, label in enumerate(labels.tolist())}
        names = project.state.cluster_names(label_of)
        write_labels(output, labels, items.ids, names, force=True)
        clusters, strays = counted(int(labels.max()) + 1, "cluster"), int((labels < 0).sum())
        apart = f"; {counted(strays, 'row')} in no cluster, label -1" if strays else ""
        others = f"; {next_best(runners_up)}" if runners_up else ""
        return f"{counted(len(labels) - strays, 'row')} in {clusters}{apart}{others}"
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
