"""The tables of the quality report on all sets and methods, from its results alone."""

import statistics
from collections import Counter

from benchmarks.quality.entrants import CHOOSER, FOREST, OPEN, ZSCORED, entrants
from benchmarks.quality.protocol import LARGE, MEAN, SHARES, WHOLE, WRONG, form_of
from benchmarks.quality.standing import (
    COMPARED,
    best_of,
    best_single,
    by_set,
    counted,
    difference,
    holm,
    of_kind,
    overall,
    reference,
    with_wrong,
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
    """Return the scores of all methods but the open one, and of the upper marks."""
    names = of_kind(results, *COMPARED, "effort", "mark")
    shown = {name: scores[name] for name in names if name in scores}
    for mark, best in hindsight(results, scores).items():
        shown[mark] = {data: value.score for data, value in best.items()}
    return shown


def in_shares(results):
    """Return the sets whose budgets are shares of n in every form, not numbers."""
    sizes = {data["name"]: data["n"] for data in results["sets"]}
    return [name for name in counted(results) if sizes[name] <= LARGE]


def at_budget(results, budget):
    """Return {method or mark: {set: score}} at n/10 ... 2n; hindsight chose over all budgets.

    There is no hindsight where a method that it chose did not run.
    """
    sets = in_shares(results)
    scores = by_set(results, budget=budget, sets=sets)
    shown = {name: rows for name, rows in scores.items() if name != OPEN}
    for mark, best in hindsight(results, by_set(results, sets=sets)).items():
        methods = {data: value.method for data, value in best.items()}
        if all(data in scores.get(method, ()) for data, method in methods.items()):
            shown[mark] = {data: scores[method][data] for data, method in methods.items()}
    return shown


def form_words(name):
    """Return which rows of a large set a method takes."""
    known = entrants()
    if name not in known:
        return ""
    return "all" if known[name].whole else "sample"


def draws_of(results):
    """Return {method: number of draws with right answers at the budgets of the mean}."""
    told: dict = {}
    for record in results["records"]:
        if record["wrong"] == WRONG[0] and record["budget"] in MEAN:
            told.setdefault(record["method"], set()).add(record["draw"])
    return {name: len(draws) for name, draws in told.items()}


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
    budgets = {at: overall(at_budget(results, at)) for at in SHARES}
    budgets = {at: column for at, column in budgets.items() if column}
    others = [overall(by_set(results, name)) for name in ("all", "kept", "seconds")]
    wrong = overall(with_marks(results, by_set(results, wrong=WRONG[1])))
    failed = Counter(r["method"] for r in results["records"] if "failed" in r)
    draws = draws_of(results)
    rows = []
    for name in ranked(mean):
        real = name in results["methods"] and name not in of_kind(results, "mark")
        columns = [share(at.get(name)) for at in budgets.values()]
        columns += [share(mean[name]), share(wrong.get(name))]
        for column, show in zip(others, (share, share, number), strict=True):
            columns.append(show(column.get(name)) if real else "")
        columns += [form_words(name), str(draws.get(name, ""))]
        rows.append([name, *columns, str(failed[name]) if failed[name] else ""])
    head = ["", *budgets, "mean", f"{WRONG[1]:.0%} wrong", "all points", "kept", "seconds",
            "rows", "draws", "failed"]  # fmt: skip
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
        {data["name"] for data in results["sets"]
         if data["counted"] and data["development"] == development}
        for development in (True, False)
    ]  # fmt: skip
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
    """Return the table of what wrong answers cost, over the draws that have them."""
    results = with_wrong(results)
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
    found = open_rows(results)
    free: dict = {}
    told: dict = {}
    for budget in MEAN[::-1]:  # the largest that the open method has run at
        scores = by_set(results, budget=budget, sets=[data["name"] for data, *_ in found])
        for name, value in scores.get(OPEN, {}).items():
            free.setdefault(name, value)
            told.setdefault(name, scores.get(CHOOSER, {}).get(name))
    rows = [
        [data["name"], str(data["k"]), " ".join(map(str, ks)), f"{near:.0%}",
         share(free.get(data["name"])), share(told.get(data["name"]))]
        for data, ks, near in found
    ]  # fmt: skip
    return Table(["", "classes", "found", "within one", "untouched", "k told"], rows)


def set_table(results):
    """Return the table of sets."""
    every = [data["name"] for data in results["sets"] if not data["generated"]]
    scores = by_set(results, sets=every)
    base, single = reference(results, scores), best_single(results, scores)
    names = [name for name in dict.fromkeys((base, single, "KMeans", FOREST)) if name in scores]
    best = hindsight(results, scores).get(HINDSIGHT, {})
    rows = []
    for data in results["sets"]:
        name = data["name"]
        if name not in every:
            continue
        kind = "development" if data["development"] else "held out"
        sample = "" if form_of(data["n"], whole=False) == WHOLE else f"{data['sample']:,}"
        cells = [name, kind, f"{data['n']:,}", sample, f"{data['d']:,}", str(data["k"])]
        cells += [share(scores[method].get(name)) for method in names]
        cells += [share(best[name].score), best[name].method] if name in best else ["", ""]
        rows.append(cells)
    return Table(["", "", "n", "sample", "d", "k", *names, HINDSIGHT, "which"], rows)


def matrix(results):
    """Return the table of every method on every set."""
    sets = [data["name"] for data in results["sets"] if not data["generated"]]
    scores = with_marks(results, by_set(results, sets=sets))
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
