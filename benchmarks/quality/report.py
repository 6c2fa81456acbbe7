"""The report of the quality benchmark: the main figures first, then the tables behind them."""

import statistics

from benchmarks.quality.entrants import FOREST
from benchmarks.quality.pictures import BUDGET, MOST_RANKED, RANKS
from benchmarks.quality.protocol import BUDGETS, HELD, MOST_ROWS, WRONG
from benchmarks.quality.standing import (
    LEVEL,
    TIE,
    best_single,
    by_set,
    difference,
    overall,
    reference,
)
from benchmarks.quality.tables import (
    HINDSIGHT,
    HINDSIGHT_RAW,
    difference_table,
    failure_table,
    half_table,
    main_table,
    matrix,
    open_rows,
    open_table,
    set_table,
    with_error,
    with_marks,
    wrong_table,
)
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
from benchmarks.runs.points import TEXT_COLUMNS

FEW_CLASSES = 15
RULES = (
    "Agreement is the adjusted Rand index with the classes. Draws of pairs: {draws}. In each draw "
    f"no pair touches {HELD:.0%} of the points; agreement is measured on these, unless a table "
    f"says all points. Pairs are drawn uniformly among the others, {', '.join(BUDGETS)} of them "
    "for n points, and the classes answer them; all answers are right, unless a table says wrong. "
    f"Sets above {MOST_ROWS:,} rows are a fixed sample of {MOST_ROWS:,}; text is TF-IDF reduced to "
    f"{TEXT_COLUMNS} columns. Every method runs at its defaults, is told the number of classes and "
    "gets the features as given, with +z those of mean 0 and variance 1; scikit-learn's KMeans has "
    "10 starts, its SpectralClustering takes the neighbour graph. Pairs that contradict "
    "others are dropped where a method does not take them. Means are over draws, then budgets, "
    "then sets. A fit that raised an error or took more than {limit:g} s counts as agreement 0. "
    "Kept is the share of the given answers that the clusters keep. Seconds are of one thread "
    "beside others at work."
)
MARKS = (
    f"Upper marks: {HINDSIGHT} is the method of the library with the highest mean on each set, "
    "which nobody can choose without the classes; the forest is given the classes of all points in "
    "a pair."
)
COMPARISON = (
    f"Win and loss: by more than {TIE} on a set. p: Wilcoxon's signed-rank test over sets, "
    "Holm-corrected for the number of methods. ±: standard error over sets."
)
RANKING = (
    f"Mean rank over the sets, on untouched points, of at most {MOST_RANKED} methods, those of "
    "highest mean. A bar joins methods no two of which differ at "
    f"the level {LEVEL} by Wilcoxon's signed-rank test over sets, Holm-corrected for all pairs "
    "shown."
)


def headline(results):
    """Return the main figures, one line each."""
    scores = by_set(results)
    base, single = reference(results, scores), best_single(results, scores)
    shown = with_marks(results, scores)
    if base is None:
        return []
    rows = [["mean agreement on untouched points", share(overall(scores)[base])]]
    for name, words in ((single, f"less the best single method, {single}"),
                        (HINDSIGHT, f"less the {HINDSIGHT}"),
                        (HINDSIGHT_RAW, f"less the {HINDSIGHT_RAW}"),
                        (FOREST, "less the forest given the classes")):  # fmt: skip
        if name in shown and name != base:
            rows.append([words, with_error(difference(scores[base], shown[name]))])
    spoilt = by_set(results, wrong=WRONG[1]).get(base)
    if spoilt:
        rows.append(
            [f"lost with {WRONG[1]:.0%} wrong", with_error(difference(scores[base], spoilt))]
        )
    auc = overall(by_set(results, "auc", wrong=WRONG[1])).get(base)
    if auc is not None:
        rows.append(["area under the ROC curve of suspects", share(auc)])
    few = [row for row in open_rows(results) if row[0]["k"] <= FEW_CLASSES]
    if few:
        near = sum(near for *_, near in few) / len(few)
        often = sum(abs(statistics.median(k) - data["k"]) <= 1 for data, k, _ in few)
        rows.append([f"number of clusters within one of the truth, sets of at most {FEW_CLASSES} "
                     "classes, fits", f"{near:.0%}"])  # fmt: skip
        rows.append(["the same, sets by the median over draws", f"{often} of {len(few)}"])
    return [Table([base, ""], rows)]


def how(results):
    """Return the command, the machine and the rules."""
    draws = 1 + max(record["draw"] for record in results["records"])
    return [
        Words(f"Made by `{results['command']}`. {machine.in_words(results['machine'])}"),
        Words(RULES.format(draws=draws, limit=results["limit"])),
        Words(MARKS),
    ]


def shows(part, images):
    """Tell whether a block has anything to show."""
    if isinstance(part, Picture):
        return part.name in images
    return not isinstance(part, Table) or bool(part.rows)


def blocks(results, images):
    """Return the whole report as blocks, with the pictures that there are."""
    absent = [Words(line) for line in left_out_lines(results["missing"] | results["left_out"])]
    if not results["records"]:
        return [Words("No cell was run."), *absent]
    base = reference(results, by_set(results))
    sections = [
        ("Means over sets", [main_table(results)]),
        ("Mean agreement against the number of pairs",
         [Picture(BUDGET, "mean agreement on untouched points against the number of pairs")]),
        ("Wrong answers", [wrong_table(results)]),
        ("Number of clusters not told", [open_table(results)]),
    ]  # fmt: skip
    if base is not None:
        sections[1:1] = [
            (f"{base} less each method", [Words(COMPARISON), difference_table(results)]),
            ("Ranks", [Picture(RANKS, "mean ranks of the methods over the sets"), Words(RANKING)]),
        ]
        sections.append(("Sets looked at, and others", [
            Words("Rules were chosen with the development sets in view; the others had no part."),
            half_table(results),
        ]))  # fmt: skip
        sections.append(("Sets", [set_table(results)]))
    sections += [("Every method on every set", [matrix(results)]),
                 ("Failures", [failure_table(results)])]  # fmt: skip
    found = [*headline(results), *how(results), *absent]
    found += [Words(NO_PICTURES)] if results.get("no_pictures") else []
    for title, parts in sections:
        if all(shows(part, images) for part in parts):
            found += [Heading(title), *parts]
    return found


def markdown(results, images):
    """Return the report as Markdown."""
    return markdown_page("Quality", blocks(results, images))


def html(results, images):
    """Return the report as one HTML page."""
    return html_page("Quality", blocks(results, images), images)
