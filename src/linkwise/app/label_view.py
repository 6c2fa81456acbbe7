"""What the label page shows, as JSON.

Texts of the data are made clean: no character changes the direction of writing or hides others. The
page shows them as plain texts.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from linkwise._wording import MARKS
from linkwise.labelling.items import fields_of
from linkwise.labelling.portraits import called, portraits
from linkwise.labelling.texts import clean, marked_words
from linkwise.query import SetQuestion
from linkwise.query.session import LAST

FIELDS = 30  # columns of a row that are shown; those that differ most come first
LINES = 20_000  # links drawn on the map; more would hide the points
HISTORY = 30  # events listed, the last ones
CONFLICT = 6  # pairs of a conflict that are named
LONGEST = 600  # characters of a text among several
RUNNERS_UP = 3  # numbers of clusters that are named beside the one chosen
NAMED = 4  # rows of an event that are listed with it


def question(page):
    """Return the question on the page, or None."""
    if page.asked is None:
        return None
    a, b, why, _ = page.asked
    fields = fields_of(page.items, a, b)
    order = sorted(range(len(fields)), key=lambda j: (not fields[j].is_text, -fields[j].apart, j))
    kept = sorted(order[:FIELDS])
    shown = []
    for j in kept:
        left, right = marked_words(fields[j])
        shown.append(
            {
                "name": clean(fields[j].name), "sign": fields[j].sign, "a": left, "b": right,
                "text": fields[j].is_text, "image": j == page.items.image,
            }
        )  # fmt: skip
    return {
        "a": a, "b": b, "names": [clean(page.items.name(row)) for row in (a, b)], "why": why,
        "fields": shown, "left": len(fields) - len(kept),
        "before": page.project.same_before(page.asked),
    }  # fmt: skip


def wider(page):
    """Return the question that tells more than the pair on the page, or None."""
    found = page.newest and page.newest.wider
    if not found or page.newest.number < page.number or page.current.again is not None:
        return None
    if isinstance(found, SetQuestion):
        return {"kind": "set", "rows": _with_content(page, found.rows), "why": found.reason}
    row, *anchors = _with_content(page, [found.row, *found.anchors])
    return {"kind": "label", "row": row, "anchors": anchors, "why": found.reason}


def _with_content(page, rows):
    """Return rows as in a list, with their whole texts, up to LONGEST characters."""
    text, cells = page.items.text, page.items.cells
    return [
        one
        | {"content": one["called"] if text is None else clean(cells[one["row"]][text])[:LONGEST]}
        for one in listed(page, rows)
    ]


def clusters(page, labels=None):
    """Return the clusters shown, or of some labels (n,): number, size, name."""
    labels = page.labels if labels is None else labels
    if labels is None:
        return []
    sizes = np.bincount(labels[labels >= 0])  # strays have no cluster
    state, row_of = page.current.state, page.project.row_of
    named = {row for name in state.names for row in name.rows}
    names = state.cluster_names({i: int(labels[row_of[i]]) for i in named})
    return [
        {"label": label, "size": int(size), "name": clean(names.get(label, ""))}
        for label, size in enumerate(sizes.tolist())
        if size
    ]


def about(page, labels):
    """Return what every cluster of some labels (n,) is about, with its examples."""
    names = {cluster["label"]: cluster["name"] for cluster in clusters(page, labels)}
    return [
        {
            "label": one.label, "size": one.size, "name": names.get(one.label, ""),
            "keywords": one.keywords, "columns": one.columns,
            "typical": listed(page, one.typical), "borderline": listed(page, one.borderline),
        }
        for one in portraits(page.items, labels)
    ]  # fmt: skip


def kept(page):
    """Return (links that hold in the clusters shown, all links)."""
    links = page.current.task.links
    if page.labels is None:
        return 0, 0
    broken = links.violated(page.labels, stray=-1) & (links.source != "hand")
    return int((~broken).sum()), links.n_pairs  # a correction holds, or a later one took it back


def outlook(page):
    """Return how far the answers have come; None if all that is known is of answers long ago."""
    found = page.outlook
    if found is None or page.number - found.number >= LAST:
        return None
    return found.progress._asdict()


def suspects(page):
    """Return the answers to review: event, words, rows, probability of being wrong."""
    links, wrong = page.suspected
    state, found = page.current.state, []
    columns = links.ends.tolist(), links.event.tolist(), wrong.tolist()
    for (a, b), number, probability in zip(*columns, strict=True):
        if state.counts_now(number):
            more = {"wrong": round(probability, 3), "a": a, "b": b}
            found.append(_listed(page, state.event(number)) | more)
    return found


def _listed(page, event):
    """Return an event: what it says, about which rows, who, when and why."""
    rows = [page.project.row_of[name] for name in event.rows[:NAMED]]
    return {
        "seq": event.seq, "kind": event.kind, "text": page.project.words(event),
        "rows": [{"row": row, "called": called(page.items, row)} for row in rows],
        "who": clean(event.who), "when": event.when, "why": clean(event.why),
    }  # fmt: skip


def view(page):
    """Return all that the page shows besides points and labels."""
    current, state = page.current, page.current.state
    last = state.active[-HISTORY:]
    running = page.done < page.number
    return {
        "title": Path(page.journal.path).name,
        "data": clean(Path(page.data).name),
        "used": clean(page.items.used),
        "n": page.n,
        "ids": page.items.ids is not None,
        "images": page.items.image is not None,
        "version": state.n_events,
        "run": page.run,
        "tick": page.tick,
        "ready": page.xy is not None,
        "failure": page.failure,
        "who": clean(page.journal.who),
        "people": [person._asdict() | {"who": clean(person.who)} for person in current.people],
        "counts": state.counts,
        "marks": {mark: list(current.task.marks.values()).count(mark) for mark in MARKS},
        "links": current.links.n_pairs,
        "kept": kept(page),
        "question": question(page),
        "wider": wider(page),
        "thinking": page.asked is None and running and not page.failure,
        "undo": page.project.words(state.event(state.target("undo"))) if last else None,
        "redo": page.project.words(current.redo) if current.redo else None,
        "mode": page.mode,
        "running": running,
        "refining": page.refining,
        "stale": page.labels is not None and page.shown < page.number,
        "labels": page.labels_version,
        "seen": page.seen,
        "key": page.key,
        "map": page.map_version,
        "map_follows": page.map_follows,
        "map_fault": clean(page.map_fault),
        "k": page.k,
        "runners_up": [] if page.newest is None else page.newest.runners_up[:RUNNERS_UP],
        "outliers": page.project.outliers,
        "strays": 0 if page.labels is None else int((page.labels < 0).sum()),
        "clusters": clusters(page),
        "outlook": outlook(page),
        "conflict": [_listed(page, event) for event in current.conflict_events],
        "conflict_words": clean(page.project.conflict_words(CONFLICT)),
        "suspects": suspects(page),
        "history": [_listed(page, event) for event in reversed(last)],
    }


def lines(page):
    """Return the links as int32 (m, 3): row, row, sign."""
    links = page.current.task.links
    return np.column_stack([links.ends, links.sign])[-LINES:].astype(np.int32)


def listed(page, rows):
    """Return rows with their names, labels, cells, and what they are in a line."""
    labels = page.labels
    return [
        {
            "row": row,
            "name": clean(page.items.name(row)),
            "label": None if labels is None else int(labels[row]),
            "mark": page.current.task.marks.get(row),
            "called": called(page.items, row),
            "cells": [_cell(cell) for cell in list(page.items.cells[row])[:FIELDS]],
        }
        for row in rows
    ]


class Wanted(NamedTuple):
    """Which rows are looked for: with a text in them, of a cluster, with a mark."""

    text: str = ""
    cluster: int | None = None
    mark: str | None = None


def find(page, wanted, start, count):
    """Return (rows, how many in all) of those Wanted."""
    rows = np.arange(page.n)
    if wanted.cluster is not None and page.labels is not None:
        rows = np.flatnonzero(page.labels == wanted.cluster)
    if wanted.mark is not None:
        marks = page.current.task.marks
        rows = np.array([row for row in rows.tolist() if marks.get(row) == wanted.mark], dtype=int)
    text = wanted.text.strip().lower()
    if text:
        rows = np.array([row for row in rows.tolist() if text in page.texts[row]], dtype=int)
    return rows[start : start + count].tolist(), len(rows)


def _cell(cell):
    text = cell if isinstance(cell, str) else f"{cell:.6g}"
    return clean(text)[:300]
