"""The report of the speed benchmark: ratios first, then the times they come from.

Every number is one of the results, rounded, or a quotient or difference of two.
"""

from benchmarks.reports.document import (
    NO_PICTURES,
    Heading,
    Picture,
    Table,
    Words,
    markdown_page,
)
from benchmarks.reports.numbers import gigabytes, number, share
from benchmarks.runs import machine
from benchmarks.speed.growth import fit_line

WANTED_RECALL = 0.98  # of a rival search: below it, a fast search proves little
SCALE_KEYS = (
    "graph_linked",
    "graph",
    "anchors_linked",
    "anchors",
    "spectral",
    "kmeans",
    "minibatch",
)
PAIRS = (  # ours, peer
    ("graph_linked", "spectral"),
    ("graph_linked", "kmeans"),
    ("anchors_linked", "spectral"),
    ("anchors_linked", "kmeans"),
    ("graph_linked", "search"),
)


def in_words(ratio):
    """Return a ratio of times, ours to the peer's, in words.

    >>> in_words(0.125), in_words(2)
    ('8.00 times faster', '2.00 times slower')
    """
    if ratio <= 1:
        return f"{number(1 / ratio)} times faster"
    return f"{number(ratio)} times slower"


def finished(results):
    """Return {(set, contestant): row} of the rows that have figures."""
    return {(r["set"], r["contestant"]): r for r in results["rows"] if r["runs"]}


def fastest(rows):
    """Return the row of least seconds, None if there is none."""
    return min(rows, key=lambda row: row["summary"]["seconds"], default=None)


def starting(done, name, start):
    """Return the rows of a data set whose contestants' keys start alike."""
    return [row for (at, key), row in done.items() if at == name and key.startswith(start)]


def good_hnsw(done, name):
    """Return the fastest row of hnswlib with the recall wanted, or else that of most recall."""
    rows = starting(done, name, "hnsw")
    enough = [row for row in rows if row["summary"]["recall"] >= WANTED_RECALL]
    return fastest(enough) or max(rows, key=lambda row: row["summary"]["recall"], default=None)


def comparisons(results):
    """Yield (set, our row, the peer's row) of all that are compared."""
    done = finished(results)
    for data in results["sets"]:
        name = data["name"]
        for ours, peer in PAIRS:
            if (name, ours) in done and (name, peer) in done:
                yield name, done[name, ours], done[name, peer]
        rivals = (
            ("anchors_linked", fastest(starting(done, name, "product"))),
            ("search", good_hnsw(done, name)),
            ("search", done.get((name, "brute"))),
        )
        for ours, rival in rivals:
            if (name, ours) in done and rival:
                yield name, done[name, ours], rival


def ratio_rows(results):
    """Return the table of ratios."""
    found = []
    for name, own, peer in comparisons(results):
        a, b = own["summary"], peer["summary"]
        ratio = a["seconds"] / b["seconds"]
        gain = ""
        measure = "adjusted_rand" if own["kind"] == "labels" else "recall"
        if a[measure] is not None and b[measure] is not None:
            gain = f"{a[measure] - b[measure]:+.3f} ({share(a[measure])})"
        found.append([
            name, own["name"], peer["name"], number(ratio), in_words(ratio), gain,
        ])  # fmt: skip
    return found


def refit_rows(results):
    """Return the table of warm refits."""
    found = []
    for row in finished(results).values():
        stages = row["summary"].get("stages") or {}
        if "warm refit" in stages:
            first = sum(s for name, s in stages.items() if name != "warm refit")
            again = stages["warm refit"]
            found.append([row["set"], row["name"], number(first), number(again),
                          number(again / first)])  # fmt: skip
    return found


def gain_rows(results):
    """Return the table of agreement with and without constraints."""
    done = finished(results)
    found = []
    for data in results["sets"]:
        for key in ("graph", "anchors"):
            plain, linked = (done.get((data["name"], f"{key}{e}")) for e in ("", "_linked"))
            if plain and linked:
                a, b = (row["summary"]["adjusted_rand"] for row in (plain, linked))
                found.append([data["name"], plain["name"], f"{data['pairs']:,}", share(a),
                              share(b), f"{b - a:+.3f}"])  # fmt: skip
    return found


def scale_sets(results):
    """Return the generated data sets of the commonest width, over which growth is taken."""
    made = [data for data in results["sets"] if data["generated"]]
    widths = [data["d"] for data in made]
    width = max(sorted(set(widths)), key=widths.count, default=None)
    return [data for data in made if data["d"] == width]


def scale_points(results, key):
    """Return (rows, seconds) of a contestant over the sets of `scale_sets`."""
    done = finished(results)
    found = sorted(
        (data["n"], done[data["name"], key]["summary"]["seconds"])
        for data in scale_sets(results)
        if (data["name"], key) in done
    )
    return [n for n, _ in found], [s for _, s in found]


def slopes(results):
    """Return {contestant: (rows, seconds, Line)} where there are two sizes at least."""
    found = {}
    for key in SCALE_KEYS:
        n, seconds = scale_points(results, key)
        if len(set(n)) > 1:
            found[key] = n, seconds, fit_line(n, seconds)
    return found


def slope_rows(results):
    """Return the table of slopes, and of the last step."""
    names = {row["contestant"]: row["name"] for row in results["rows"]}
    return [
        [names[key], f"{n[0]:,}", f"{n[-1]:,}", f"{line.slope:.3f}",
         f"{number(n[-1] / n[-2])} times the rows, {number(s[-1] / s[-2])} times the time"]
        for key, (n, s, line) in slopes(results).items()
    ]  # fmt: skip


def row_of(row, data):
    """Return a contestant's line in the table of a data set."""
    s = row["summary"]
    if not s:
        return [row["name"], *[""] * 8, row["trouble"] or "not run"]
    spread = f"{number(s['fastest'])} ... {number(s['slowest'])}" if len(row["runs"]) > 1 else ""
    notes = [row["trouble"]] if row["trouble"] else []
    notes += sorted({text for run in row["runs"] for text in run["warnings"]})
    return [
        row["name"], number(s["seconds"]), spread, number(1e6 * s["seconds"] / data["n"]),
        share(s["adjusted_rand"]), share(s["adjusted_rand_untouched"]), share(s["kept"]),
        share(s["recall"]), f"{gigabytes(s['peak'])} ({gigabytes(s['peak'] - data['bytes'])})",
        "; ".join(notes),
    ]  # fmt: skip


def set_blocks(results, data):
    """Return the section of a data set."""
    rows = [row for row in results["rows"] if row["set"] == data["name"]]
    where = ", in a file" if data["in_file"] else ""
    size = f"{data['n']:,} rows, {data['d']} columns of float32 ({gigabytes(data['bytes'])} GB"
    head = ["", "seconds", "range", "µs a row", "agreement", "untouched", "kept", "recall",
            "peak GB (less data)", ""]  # fmt: skip
    return [
        Heading(data["name"], 3),
        Words(f"{size}{where}), {data['k']} clusters, {data['pairs']:,} constraints."),
        Table(head, [row_of(row, data) for row in rows if row["kind"] != "stages"]),
        *(stage_block(row, data) for row in rows if row["kind"] == "stages"),
    ]


def stage_block(row, data):
    """Return the table of the stages of a fit, or why there is none."""
    if not row["runs"]:
        return Words(f"{row['name']}: {row['trouble'] or 'not run'}")
    stages = row["summary"]["stages"]
    whole = sum(s for name, s in stages.items() if name != "warm refit")
    rows = []
    for name, seconds in stages.items():
        floor = data["floors"].get(name)
        ratio = number(seconds / floor) if floor else ""
        rows.append([name, number(seconds), f"{seconds / whole:.0%}", number(floor), ratio])
    return Table([row["name"], "seconds", "of the fit", "floor", "seconds / floor"], rows)


def how(results):
    """Return the command, the machine and the measures."""
    m, rates = results["machine"], results["rates"]
    more = [f"{m['memory'] / 1e9:.0f} GB of memory"] if m["memory"] else []
    more += [f"load {m['load']:.1f} at the start"] if m["load"] is not None else []
    measured = (
        f"Measured at the start: {rates['flops'] / 1e9:.0f} GF/s in a single precision product, "
        f"{rates['bytes'] / 1e9:.1f} GB/s in a copy."
    )
    return [
        Words(f"Made by `{results['command']}`."),
        Words(f"{machine.in_words(m, *more)}\n{measured}"),
        Words(
            f"Seconds are the median of {results['repeats']} runs (1 for rows in a file), each in "
            "a process of its own after a warm-up. Agreement is the adjusted Rand index with the "
            "classes. Untouched is the same on rows that no constraint names. Kept is the share of "
            "constraints that hold, also for methods that do not use them. Peak is all resident "
            "memory of the process, with interpreter and libraries. Constraints are spread evenly "
            "over classes and pairs of classes."
        ),
    ]


def blocks(results):
    """Return the whole report as blocks."""
    found = how(results)
    sections = (
        ("Ratios of seconds",
         ["data", "ours", "peer", "ours / peer", "", "agreement or recall less the peer's"],
         ratio_rows(results)),
        ("Warm refits: constraints are added to a fitted model",
         ["data", "", "fit, seconds", "refit", "refit / fit"], refit_rows(results)),
        ("What constraints add to agreement",
         ["data", "", "constraints", "without", "with", "gain"], gain_rows(results)),
        ("Growth: slope of log seconds against log rows",
         ["", "from", "to", "slope", "last step"], slope_rows(results)),
    )  # fmt: skip
    for title, head, rows in sections:
        found += [Heading(title), Table(head, rows)] if rows else []
    found += [Picture(name, name) for name in results["pictures"]]
    found += [Words(NO_PICTURES)] if results.get("no_pictures") else []
    found.append(Heading("Every run"))
    for data in results["sets"]:
        found += set_blocks(results, data)
    return found


def markdown(results):
    """Return the report as Markdown."""
    return markdown_page("Speed", blocks(results))
