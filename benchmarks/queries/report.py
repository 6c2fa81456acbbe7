"""The report of the benchmark of questions: tables of the answers that each strategy needs."""

from itertools import pairwise
from statistics import mean

from benchmarks.queries.cell import ANSWERS, CHECKED, GOALS, MOST, OWN, PER_POINT, STEP
from benchmarks.reports.document import (
    NO_PICTURES,
    Heading,
    Picture,
    Table,
    Words,
    html_page,
    left_out_lines,
    markdown_page,
)
from benchmarks.reports.numbers import share
from benchmarks.runs import machine

CURVES = "queries-curves.svg"
DEFAULT, RANDOM, COBRAS = "default", "random", "cobras"
RULES = (
    "All answers are the answers to {per} n random pairs of n points, {most:,} at most, answered "
    "in the same way. Agreement is the adjusted Rand index with the classes over all "
    "points. A strategy needs as many answers as it takes until agreement is 90 % or 95 % of that "
    "with all answers, at two checkpoints in a row; if it never gets there, all answers count. "
    "Checkpoints grow by one {step}th, and the questions between two of them come in one batch "
    "(COBRAS: one by one). What closure implies is never asked. Every strategy is judged by the "
    "labels of the same model, which is told the number of classes; COBRAS by its own partition as "
    "well. Draws: {draws}. Means are over draws, then sets."
)
BINS = (0, 0.05, 0.1, 0.2, 0.3, 0.4, 1.01)  # of the expected share of wrong labels
DOUBT = (
    "The share of labels that a session expects to be wrong, and the share that is wrong, after "
    "0, 1, 5, 10, 20, 60, 120 and 300 answers; over all sets, draws and kinds of answers."
)
RATIO = (
    "Ratio: answers as a share of those that random pairs need on the same set, both means over "
    "draws. It is the mean over the sets where random pairs need any."
)


def column(goal):
    return f"to {goal:.0%}"


def methods(results):
    """Return the strategies that have run, the default first and random pairs last."""
    names = list(dict.fromkeys(r["method"] for r in results["records"]))
    rank = {DEFAULT: -1, COBRAS: 1, OWN: 2, RANDOM: 3}
    return sorted(names, key=lambda name: (rank.get(name, 0), name))


def kinds_of_answers(results):
    """Return the kinds of answers that have run, in the order of ANSWERS."""
    there = {record["answers"] for record in results["records"]}
    return [said for said in ANSWERS if said in there]


def needed(results, said, goal):
    """Return {method: {set: [answers of each draw]}}; all answers where the goal is not reached."""
    found: dict = {}
    for record in results["records"]:
        if record["answers"] == said and "failed" not in record:
            answers = record[column(goal)]
            answers = record["budget"] if answers is None else answers
            of_set = found.setdefault(record["method"], {}).setdefault(record["set"], {})
            of_set[record["draw"]] = answers
    return found


def ratios(found, method):
    """Return {set: mean answers / mean answers of random pairs}, where those need any."""
    out = {}
    for name, draws in found.get(method, {}).items():
        base = found.get(RANDOM, {}).get(name, {})
        both = sorted(set(draws) & set(base))
        if both and sum(base[draw] for draw in both):
            out[name] = sum(draws[d] for d in both) / sum(base[d] for d in both)
    return out


def missed(results, method, said, goal):
    """Return how often the goal was not reached, as text."""
    cells = [
        r for r in results["records"]
        if r["method"] == method and r["answers"] == said and "failed" not in r
    ]  # fmt: skip
    return f"{sum(r[column(goal)] is None for r in cells)} of {len(cells)}"


def main_table(results, said):
    """Return the table of means over sets."""
    head = [""]
    for goal in GOALS:
        head += [f"answers to {goal:.0%}", "ratio", "not reached"]
    tables = {goal: needed(results, said, goal) for goal in GOALS}
    rows = []
    for method in methods(results):
        row = [method]
        for goal, found in tables.items():
            if method not in found:
                break
            means = [mean(draws.values()) for draws in found[method].values()]
            ratio = ratios(found, method)
            row += [f"{mean(means):.0f}", f"{mean(ratio.values()):.2f}" if ratio else ""]
            row.append(missed(results, method, said, goal))
        else:
            rows.append(row)
    return Table(head, rows)


def set_table(results, said, goal):
    """Return the table of answers needed on every set."""
    found = needed(results, said, goal)
    names = [name for name in methods(results) if name in found]
    rows = []
    for data in results["sets"]:
        reference = [
            r["reference"]
            for r in results["records"]
            if r["set"] == data["name"] and r["answers"] == said and "reference" in r
        ]
        if not reference:
            continue
        row = [data["name"], f"{data['n']:,}", str(data["k"]), share(mean(reference))]
        for name in names:
            draws = found[name].get(data["name"])
            row.append(f"{mean(draws.values()):.0f}" if draws else "")
        rows.append(row)
    return Table(["", "n", "k", "agreement", *names], rows)


def checks(results, said=None):
    """Return {(set, draw, answers): checks of the default strategy}, of one kind of answers."""
    return {
        (r["set"], r["draw"], r["answers"]): r["checks"]
        for r in results["records"]
        if "checks" in r and said in (None, r["answers"])
    }


def changes(results, said):
    """Return the change of agreement against that without answers, after CHECKED answers."""
    by_set: dict = {}
    for (name, *_), found in checks(results, said).items():
        for goal, (_, agreement, *_) in zip(CHECKED, found[1:], strict=False):
            by_set.setdefault(goal, {}).setdefault(name, []).append(agreement - found[0][1])
    if not by_set:
        return []
    rows = []
    for goal, sets in by_set.items():
        means = {name: mean(draws) for name, draws in sets.items()}
        worst = min(means, key=lambda name: means[name])
        least = f"{means[worst]:+.3f} ({worst})"
        rows.append([str(goal), f"{mean(means.values()):+.3f}", least, str(len(means))])
    head = ["answers", "mean change of agreement", "least, of a set", "sets"]
    return [Words("The default strategy against the partition without answers."), Table(head, rows)]


def reliability(results):
    """Return the reliability curve of the expected share of wrong labels."""
    pairs = [(one[3], one[2]) for found in checks(results).values() for one in found]
    rows = []
    for low, high in pairwise(BINS):
        within = [pair for pair in pairs if low <= pair[0] < high]
        if within:
            expected, wrong = (mean(column) for column in zip(*within, strict=True))
            rows.append([f"{low:.0%} to {min(high, 1):.0%}", str(len(within)),
                         share(expected), share(wrong), f"{wrong - expected:+.3f}"])  # fmt: skip
    if not rows:
        return []
    head = ["expected", "checks", "expected, mean", "wrong labels, mean", "difference"]
    return [Heading("Share in doubt"), Words(DOUBT), Table(head, rows)]


def headline(results):
    """Return the main figures: the answers that the default strategy needs."""
    rows = []
    for words in kinds_of_answers(results):
        found = needed(results, words, GOALS[0])
        ratio = ratios(found, DEFAULT)
        if ratio:
            value = f"{mean(ratio.values()):.2f}"
            rows.append([f"{words}: answers of random pairs that {DEFAULT} needs", value])
        for other in (COBRAS, OWN):
            both = [
                (mean(found[DEFAULT][name].values()), mean(found[other][name].values()))
                for name in found.get(DEFAULT, {})
                if name in found.get(other, {})
            ]
            if both:
                fewer, more = sum(a < b for a, b in both), sum(a > b for a, b in both)
                rows.append([f"{words}: sets where {DEFAULT} needs fewer, more than {other}",
                             f"{fewer}, {more} of {len(both)}"])  # fmt: skip
    return [Table([f"to {GOALS[0]:.0%}", ""], rows)] if rows else []


def how(results):
    """Return the command, the machine and the rules."""
    draws = 1 + max((record["draw"] for record in results["records"]), default=0)
    made = f"Made by `{results['command']}`. {machine.in_words(results['machine'])}"
    rules = RULES.format(per=PER_POINT, most=MOST, step=STEP, draws=draws)
    return [Words(made), Words(rules), Words(RATIO)]


def failure_table(results):
    """Return the table of runs that failed."""
    rows = [
        [r["method"], r["set"], str(r["draw"]), r["answers"], r["failed"]]
        for r in results["records"] if "failed" in r
    ]  # fmt: skip
    return Table(["", "set", "draw", "answers", "why"], rows)


def blocks(results, images):
    """Return the whole report as blocks, with the pictures that there are."""
    absent = [Words(line) for line in left_out_lines(results["left_out"])]
    if not results["records"]:
        return [Words("No cell was run."), *absent]
    found = [*headline(results), *how(results), *absent]
    found += [Words(NO_PICTURES)] if results.get("no_pictures") else []
    if CURVES in images:
        found.append(Picture(CURVES, "agreement against answers, mean over sets"))
    found += reliability(results)
    for said in kinds_of_answers(results):
        found += [Heading(f"Answers: {said}"), main_table(results, said)]
        found += changes(results, said)
        for goal in GOALS:
            found += [Words(f"Answers to {goal:.0%} on each set; agreement is that with all."),
                      set_table(results, said, goal)]  # fmt: skip
    failures = failure_table(results)
    return found + ([Heading("Failures"), failures] if failures.rows else [])


def markdown(results, images):
    """Return the report as Markdown."""
    return markdown_page("Questions", blocks(results, images))


def html(results, images):
    """Return the report as one HTML page."""
    return html_page("Questions", blocks(results, images), images)
