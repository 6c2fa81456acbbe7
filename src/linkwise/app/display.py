"""What the label page shows, as JSON has it: read off a Hub.

Texts of the data are made clean, in which nothing turns the direction of writing or hides; the page
shows them as texts.
"""

from pathlib import Path

import numpy as np

from linkwise.labelling.fields import fields_of
from linkwise.labelling.texts import clean, differences, words

FIELDS = 30  # columns of a row
LINES = 20_000  # links drawn on the map
HISTORY = 30  # events listed
SAME = {True: "same", False: "different", None: "unsure"}


def told(event):
    """Return an event in words."""
    body = event.body
    if event.kind == "answer":
        return f"{clean(body['a'])} and {clean(body['b'])}: {SAME[body['same']]}"
    if event.kind == "link" and len(body["pairs"]) == 1:
        a, b, sign, _ = body["pairs"][0]
        return f"{clean(a)} {'with' if sign > 0 else 'not with'} {clean(b)}"
    if event.kind == "rename":
        return f"a cluster is called {clean(body['name'])!r}" if body["name"] else "a name removed"
    return clean(event.why) or event.kind


def words_of(field):
    """Return both values of a field as lists of [word, marked]."""
    a, b = words(field.a), words(field.b)
    if field.is_text:
        marks = differences(a, b)
    else:
        marks = [bool(field.apart)] * len(a), [bool(field.apart)] * len(b)
    return [[list(w) for w in zip(t, m, strict=True)] for t, m in zip((a, b), marks, strict=True)]


def question(hub):
    """Return the question on the page as JSON has it, or None."""
    if hub.asked is None:
        return None
    a, b, why = hub.asked
    fields = fields_of(hub.items, a, b)
    order = sorted(range(len(fields)), key=lambda j: (not fields[j].is_text, -fields[j].apart, j))
    kept = sorted(order[:FIELDS])
    again = hub.again()
    event = hub.state.undone[-1] if again is not None else None
    shown = []
    for j in kept:
        left, right = words_of(fields[j])
        shown.append(
            {
                "name": clean(fields[j].name), "sign": fields[j].sign, "a": left, "b": right,
                "text": fields[j].is_text, "image": j == hub.items.image,
            }
        )  # fmt: skip
    return {
        "a": a, "b": b, "names": [clean(hub.items.name(row)) for row in (a, b)], "why": why,
        "fields": shown, "left": len(fields) - len(kept),
        "before": SAME[event.body["same"]] if event else None,
    }  # fmt: skip


def clusters(hub):
    """Return the clusters shown: number, size, name."""
    if hub.labels is None:
        return []
    sizes = np.bincount(hub.labels)
    named = {row for name in hub.state.names for row in name.rows}
    label_of = {i: int(hub.labels[hub.row_of[i]]) for i in named}
    names = hub.state.cluster_names(label_of)
    return [
        {"label": label, "size": int(size), "name": clean(names.get(label, ""))}
        for label, size in enumerate(sizes.tolist())
        if size
    ]


def kept(hub):
    """Return (links that hold in the clusters shown, all links)."""
    told_pairs = [(a, b, s) for a, b, s in hub.answers if s is not None]
    if hub.labels is None or not told_pairs:
        return 0, 0
    table = np.array(told_pairs)
    together = hub.labels[table[:, 0]] == hub.labels[table[:, 1]]
    return int((together == table[:, 2]).sum()), len(table)


def suspects(hub):
    """Return the answers to look at again: event, words, probability."""
    event_of: dict = {}
    for a, b, sign, _, event in hub.state.pairs:
        event_of[frozenset((hub.row_of[a], hub.row_of[b])), sign] = event
    found = []
    for a, b, sign, wrong in hub.suspected:
        event = event_of.get((frozenset((a, b)), sign))
        if event is not None:
            row = _listed(event) | {"wrong": wrong, "a": a, "b": b}
            found.append(row)
    return found


def _listed(event):
    return {
        "seq": event.seq, "kind": event.kind, "text": told(event), "who": clean(event.who),
        "when": event.when, "why": clean(event.why),
    }  # fmt: skip


def view(hub):
    """Return all that the page shows besides points and labels, as JSON has it."""
    state = hub.state
    last, undone = state.active[-HISTORY:], state.undone
    outlook = hub.outlook
    running = hub.done < hub.number
    return {
        "title": Path(hub.journal.path).name,
        "data": clean(Path(hub.data).name),
        "used": clean(hub.items.used),
        "n": hub.n,
        "ids": hub.items.ids is not None,
        "images": hub.items.image is not None,
        "version": state.n_events,
        "run": hub.run,
        "tick": hub.tick,
        "ready": hub.xy is not None,
        "failure": hub.failure,
        "counts": state.counts,
        "links": hub.n_links,
        "kept": kept(hub),
        "question": question(hub),
        "thinking": hub.asked is None and running and not hub.failure,
        "undo": told(_last_counting(hub)) if last else None,
        "redo": told(undone[-1]) if undone else None,
        "mode": hub.mode,
        "running": running,
        "stale": hub.labels is not None and hub.shown < hub.number,
        "labels": hub.labels_version,
        "map": hub.map_version,
        "k": hub.k,
        "clusters": clusters(hub),
        "outlook": outlook and outlook._asdict(),
        "conflict": [_listed(event) for event in hub.conflict],
        "conflict_words": clean(hub.conflict_words),
        "suspects": suspects(hub),
        "history": [_listed(event) for event in reversed(last)],
    }


def _last_counting(hub):
    return hub.state.event(hub.state.target("undo"))


def lines(hub):
    """Return the links as int32 (m, 3): row, row, sign."""
    found = [(a, b, 1 if same else -1) for a, b, same in hub.answers if same is not None]
    return np.array(found[-LINES:], dtype=np.int32).reshape(-1, 3)


def listed(hub, rows):
    """Return rows as JSON has them."""
    labels = hub.labels
    return [
        {
            "row": row,
            "name": clean(hub.items.name(row)),
            "label": None if labels is None else int(labels[row]),
            "cells": [_cell(cell) for cell in list(hub.items.cells[row])[:FIELDS]],
        }
        for row in rows
    ]


def find(hub, text, cluster, start, count):
    """Return (rows, how many in all) with a text in them, and of a cluster."""
    rows = np.arange(hub.n)
    if cluster is not None and hub.labels is not None:
        rows = np.flatnonzero(hub.labels == cluster)
    text = text.strip().lower()
    if text:
        if hub._texts is None:
            hub._texts = [_whole_text(hub, row) for row in range(hub.n)]
        rows = np.array([row for row in rows.tolist() if text in hub._texts[row]], dtype=int)
    return rows[start : start + count].tolist(), len(rows)


def _whole_text(hub, row):
    cells = hub.items.cells[row]
    shown = [] if isinstance(cells, np.ndarray) else cells
    return " ".join([str(hub.items.name(row)), *map(str, shown)]).lower()


def _cell(cell):
    text = cell if isinstance(cell, str) else f"{cell:.6g}"
    return clean(text)[:300]
