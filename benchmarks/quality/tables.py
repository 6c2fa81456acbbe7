"""The tables of the quality report, from its results alone."""

import statistics
from collections import Counter

from benchmarks.quality.entrants import CHOOSER, FOREST, OPEN, ZSCORED
from benchmarks.quality.protocol import BUDGETS, WRONG
from benchmarks.quality.standing import (
    COMPARED,
    best_of,
    best_single,
    by_set,
    difference,
    holm,
    of_kind,
    overall,
    reference,
)
from benchmarks.reports.document import Table
from benchmarks.reports.numbers import number, share

HINDSIGHT, HINDSIGHT_RAW = "best by hindsight", "best by hindsight, no +z"


def hindsight(results, scores):
    """Return {mark: {set: Best}}, with and, if there are any, without z-scored features."""
    every = [name for name in of_kind(results, "classical") if name in scores]
    raw = [name for name in every if not name.endswith(ZSCORED)]
    found = {HINDSIGHT: best_of(scores, every)} if every else {}
    return found | ({HINDSIGHT_RAW: best_of(scores, raw)} if raw and raw != every else {})


def with_marks(results, scores):
    """Return the scores of all methods that run in all settings, and of the upper marks."""
    names = [*of_kind(results, *COMPARED), FOREST]
    shown = {name: scores[name] for name in names if name in scores}
    for mark, best in hindsight(results, scores).items():
        shown[mark] = {data: value.score for data, value in best.items()}
    return shown


def at_budget(results, budget):
    """Return {method or mark: {set: score}} at one budget; hindsight chose over all budgets."""
    scores = by_set(results, budget=budget)
    shown = {name: rows for name, rows in scores.items() if name != OPEN}
    for mark, best in hindsight(results, by_set(results)).items():
        methods = {data: value.method for data, value in best.items()}
        shown[mark] = {d: scores[m][d] for d, m in methods.items() if d in scores.get(m, ())}
    return shown


def ranked(mean):
    """Return names by their mean, the highest first."""
    return sorted(mean, key=lambda name: (-mean[name], name))


def with_error(found):
    """Return a difference and its standard error in words."""
    if found is None:
        return ""
    error = "" if found.error != found.error else f" ± {found.error:.3f}"
    return f"{found.mean:+.3f}{error}"


def main_table(results):
    """Return the table of means."""
    scores = with_marks(results, by_set(results))
    mean = overall(scores)
    budgets = [overall(at_budget(results, budget)) for budget in BUDGETS]
    others = [overall(by_set(results, name)) for name in ("all", "kept", "seconds")]
    wrong = overall(with_marks(results, by_set(results, wrong=WRONG[1])))
    failed = Counter(r["method"] for r in results["records"] if "failed" in r)
    rows = []
    for name in ranked(mean):
        real = name in results["methods"] and name != FOREST
        columns = [share(at.get(name)) for at in budgets]
        columns += [share(mean[name]), share(wrong.get(name))]
        for column, show in zip(others, (share, share, number), strict=True):
            columns.append(show(column.get(name)) if real else "")
        rows.append([name, *columns, str(failed[name]) if failed[name] else ""])
    head = [
        "",
        *BUDGETS,
        "mean",
        f"{WRONG[1]:.0%} wrong",
        "all points",
        "kept",
        "seconds",
        "failed",
    ]
    return Table(head, rows)


def difference_table(results):
    """Return the table of the reference less each method."""
    scores, every = with_marks(results, by_set(results)), by_set(results, "all")
    base = reference(results, scores)
    found = {}
    for name in ranked(overall(scores)):
        gap = difference(scores[base], scores[name]) if name != base else None
        if gap is not None:
            found[name] = gap
    tested = [name for name in found if name in of_kind(results, *COMPARED)]
    p = dict(zip(tested, holm([found[name].p for name in tested]), strict=True))
    rows = []
    for name, gap in found.items():
        on_all = difference(every[base], every[name]) if name in tested else None
        counts = f"{gap.wins} / {gap.ties} / {gap.losses}"
        rows.append([name, with_error(gap), counts, number(p.get(name)), with_error(on_all)])
    return Table([f"{base} less", "untouched", "win / tie / loss", "p", "all points"], rows)


def half_table(results):
    """Return the table of means on the sets that rules were chosen on, and on the others."""
    scores = with_marks(results, by_set(results))
    base = reference(results, scores)
    halves = [
        {data["name"] for data in results["sets"] if data["development"] == development}
        for development in (True, False)
    ]
    mean = [overall(scores, half) for half in halves]
    order = ranked(overall(scores))
    rows = []
    for name in order:
        cells = [name]
        for half, values in zip(halves, mean, strict=True):
            parts = [{d: v for d, v in scores[key].items() if d in half} for key in (base, name)]
            gap = difference(*parts) if name != base else None
            cells += [share(values.get(name)), with_error(gap)]
        rows.append(cells)
    own, rest = (len(half) for half in halves)
    head = ["", f"development, {own} sets", f"{base} less it"]
    return Table([*head, f"held out, {rest} sets", f"{base} less it"], rows)


def wrong_table(results):
    """Return the table of what wrong answers cost."""
    clean, spoilt = (with_marks(results, by_set(results, wrong=wrong)) for wrong in WRONG)
    kept, auc = (overall(by_set(results, name, wrong=WRONG[1])) for name in ("kept", "auc"))
    mean = overall(spoilt)
    rows = []
    for name in ranked(mean):
        gap = difference(clean[name], spoilt[name]) if name in clean else None
        rows.append([name, share(overall(clean).get(name)), share(mean[name]), with_error(gap),
                     share(kept.get(name)), share(auc.get(name))])  # fmt: skip
    none, some = (f"{wrong:.0%} wrong" for wrong in WRONG)
    return Table(["", none, some, "lost", f"kept of {some}", "area under ROC of suspects"], rows)


def open_rows(results):
    """Return [(set, k found in rising order, share within one)] of fits that were not told k."""
    told: dict = {}
    for record in results["records"]:
        if "k" in record:
            told.setdefault(record["set"], []).append(record["k"])
    found = []
    for data in results["sets"]:
        given = sorted(told.get(data["name"], ()))
        if given:
            near = sum(abs(k - data["k"]) <= 1 for k in given) / len(given)
            found.append((data, given, near))
    return found


def open_table(results):
    """Return the table of numbers of clusters found."""
    free = by_set(results, budget="n").get(OPEN, {})
    told = by_set(results, budget="n").get(CHOOSER, {})
    rows = [
        [data["name"], str(data["k"]), " ".join(map(str, found)), f"{near:.0%}",
         share(free.get(data["name"])), share(told.get(data["name"]))]
        for data, found, near in open_rows(results)
    ]  # fmt: skip
    return Table(["", "classes", "found", "within one", "untouched", "k told"], rows)


def set_table(results):
    """Return the table of sets."""
    scores = by_set(results)
    base, single = reference(results, scores), best_single(results, scores)
    names = [name for name in dict.fromkeys((base, single, "KMeans", FOREST)) if name in scores]
    best = hindsight(results, scores).get(HINDSIGHT, {})
    rows = []
    for data in results["sets"]:
        name = data["name"]
        cells = [name, "yes" if data["development"] else "", f"{data['n']:,}", f"{data['d']:,}",
                 str(data["k"])]  # fmt: skip
        cells += [share(scores[method].get(name)) for method in names]
        cells += [share(best[name].score), best[name].method] if name in best else ["", ""]
        rows.append(cells)
    return Table(["", "development", "n", "d", "k", *names, HINDSIGHT, "which"], rows)


def matrix(results):
    """Return the table of every method on every set."""
    scores = with_marks(results, by_set(results))
    sets = [data["name"] for data in results["sets"]]
    rows = [
        [name, *(share(scores[name].get(data)) for data in sets)]
        for name in ranked(overall(scores))
    ]
    return Table(["", *sets], rows)


def failure_table(results):
    """Return the table of failures, one line for each method and its commonest sentence."""
    told: dict = {}
    for record in results["records"]:
        if "failed" in record:
            told.setdefault(record["method"], []).append(record)
    rows = []
    for name, records in told.items():
        sets = list(dict.fromkeys(record["set"] for record in records))
        words = statistics.mode(record["failed"] for record in records)
        rows.append([name, str(len(records)), " ".join(sets), words])
    return Table(["", "cells", "sets", "most often"], rows)
