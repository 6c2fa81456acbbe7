"""Random right corrections by hand, and what each changes.

A set is labelled as a project: its classes answer some questions, then corrections follow. Each is
drawn at random among the right ones that the clusters of the moment allow:

    move   up to MOST rows of one class, from a cluster where it is in the minority, to the cluster
           that has most of the class
    split  the rows of one class, off a cluster in which another class has more rows
    merge  two clusters whose largest class is the same
    group  up to MOST rows of one class, from several clusters

It is applied as the page applies it. Counted are the rows outside the clusters it names that
change their cluster, and the change of the adjusted Rand index with the classes. Nine of ten
corrections are undone again, and the rows whose cluster then differs from before are counted.
"""

import csv
import tempfile
from pathlib import Path
from statistics import mean, median

import numpy as np

from benchmarks.runs.output import say, write
from benchmarks.runs.points import read_set, set_names
from linkwise.evaluate import adjusted_rand_index
from linkwise.labelling import KEPT, ClusterModel, LabellingSession, act, open_project

ANSWERS = 20  # right answers before the corrections
KEEP = 10  # one correction of so many is kept, so that right ones remain; the others are undone
MOST = 10  # rows of a move or a group
MOST_ROWS = 2000  # of a set; more are left out, since a person corrects less
KINDS = ("move", "split", "merge", "group")


def table_of(labels, y):
    """Return the number of rows of every cluster and class, (clusters, classes)."""
    table = np.zeros((int(labels.max()) + 1, int(y.max()) + 1), dtype=np.int64)
    np.add.at(table, (labels, y), 1)
    return table


def drawn(kind, labels, y, rng):
    """Return (action, options, clusters named) of a right correction, None if there is none."""
    table = table_of(labels, y)
    top = table.argmax(axis=1)  # class of every cluster

    def some(rows, most=MOST):
        size = int(rng.integers(1, min(most, len(rows)) + 1))
        return np.sort(rng.choice(rows, size, replace=False)).tolist()

    if kind == "merge":
        pairs = [(a, b) for a in range(len(top)) for b in range(a) if top[a] == top[b]]
        if not pairs:
            return None
        first, second = map(int, pairs[rng.integers(len(pairs))])
        return "merge", {"first": first, "second": second}, [first, second]
    minor = [(c, z) for c, z in np.argwhere(table > 0).tolist() if z != top[c]]
    if kind == "move":
        minor = [(c, z) for c, z in minor if top[table[:, z].argmax()] == z]
    if kind == "group":
        minor = [(c, z) for c, z in minor if (table[:, z] > 0).sum() > 1]
    if not minor:
        return None
    c, z = minor[rng.integers(len(minor))]
    rows = np.flatnonzero((labels == c) & (y == z))
    if kind == "split":
        return "split", {"cluster": c, "rows": rows.tolist()}, [c]
    target = int(table[:, z].argmax())
    if kind == "move":
        return "move", {"rows": some(rows), "cluster": target}, [c, target]
    others = np.flatnonzero((labels != c) & (y == z))
    chosen = sorted({*some(rows), *some(others)})
    return "together", {"rows": chosen}, np.unique(labels[chosen]).tolist()


def together(labels, rows):
    """Return which two of some rows are in one cluster, as the first row of each one's cluster."""
    _, first, codes = np.unique(labels[rows], return_index=True, return_inverse=True)
    return first[codes]


def corrected(X, y, count, seed, folder):
    """Return records of corrections: kind, rows outside that change, change of agreement."""
    rng, path = np.random.default_rng(seed), Path(folder, "data.npy")
    np.save(path, X)
    settings = dict.fromkeys(KEPT) | {"k": int(y.max()) + 1, "seed": seed}
    items, journal = open_project(str(path), str(path.with_suffix(".linkwise")), settings)
    found = []
    with journal:
        session = LabellingSession(items, journal, n_clusters=settings["k"])
        model = ClusterModel(items.X, seed=seed, n_clusters=settings["k"])
        while session.current.links.n_pairs < ANSWERS:
            model.follow(session.current.task)
            questions = model.questions(1)
            if not questions:
                break
            a, b, _ = questions[0]
            session.answer(a, b, bool(y[a] == y[b]))
        model.follow(session.current.task)
        labels = model.labels()
        for number in range(count):
            kind = KINDS[rng.integers(len(KINDS))]
            correction = drawn(kind, labels, y, rng)
            if correction is None:
                continue
            action, options, named = correction
            event, body, why = act(items, labels, action, options, session.current.links)
            session.append(event, body, why=why)
            model.follow(session.current.task)
            new = model.labels()
            rest = np.flatnonzero(~np.isin(labels, named))
            moved = int((together(labels, rest) != together(new, rest)).sum()) if len(rest) else 0
            gain = adjusted_rand_index(y, new) - adjusted_rand_index(y, labels)
            record = {"kind": kind, "outside": moved / len(y), "gain": float(gain), "trace": 0.0}
            if number % KEEP:
                session.undo()
                model.follow(session.current.task)
                record["trace"] = float((model.labels() != labels).mean())
            else:
                labels = new
            found.append(record)
    return found


def lines_of(records):
    """Return the table of records as lines of Markdown."""
    lines = [
        "| set | corrections | outside, median | outside, most | mean change of agreement | "
        "left by an undo, most |",
        "|---|---|---|---|---|---|",
    ]
    for name in [*dict.fromkeys(r["set"] for r in records), "all"]:
        of = [r for r in records if name in (r["set"], "all")]
        outside, gain = [r["outside"] for r in of], [r["gain"] for r in of]
        lines.append(
            f"| {name} | {len(of)} | {median(outside):.2%} | {max(outside):.2%} | "
            f"{mean(gain):+.4f} | {max(r['trace'] for r in of):.2%} |"
        )
    return lines


def run(out, data=None, sets=None, count=100, seed=0):
    """Run the benchmark; write corrections.md and corrections.csv to a folder, print the table."""
    records = []
    for name in sets or set_names(data):
        X, y = read_set(name, data)
        if len(X) > MOST_ROWS:
            say(f"{name}: more than {MOST_ROWS:,} rows; left out")
            continue
        y = np.unique(y, return_inverse=True)[1]
        with tempfile.TemporaryDirectory(prefix="linkwise-corrections-") as folder:
            X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
            records += [{"set": name} | one for one in corrected(X, y, count, seed, folder)]
        say(f"{name}: {sum(r['set'] == name for r in records)} corrections")
    if not records:
        raise ValueError("no right correction was possible; name other sets")
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    table = "\n".join(lines_of(records)) + "\n"
    write(out / "corrections.md", table)
    with (out / "corrections.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, list(records[0]))
        rows.writeheader()
        rows.writerows(records)
    print(table, end="")
