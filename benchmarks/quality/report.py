"""The report of the quality benchmark: the main figures first, then the tables behind them."""

import statistics

from benchmarks.quality.answers import (
    BETTER,
    PUBLISHED,
    against_evoc,
    at_least,
    effort_table,
    falls,
    few_draws,
    few_table,
    few_worst,
    growth_table,
    information_table,
    large_table,
    none_table,
    rises,
    signed,
    text_gap,
    text_rows,
    text_table,
    time_table,
)
from benchmarks.quality.entrants import CHOOSER, FOREST, LABELS_FOREST, LABELS_SVM
from benchmarks.quality.jobs import FEW_ENTRANTS
from benchmarks.quality.peers import EVOC
from benchmarks.quality.pictures import BUDGET, FEW_PICTURE, MOST_RANKED, RANKS
from benchmarks.quality.protocol import (
    HELD,
    LABELLED,
    LARGE,
    MEAN,
    NUMBERS,
    SAMPLE_ROWS,
    SHARES,
    WHOLE_ROWS,
    WRONG,
    in_words,
)
from benchmarks.quality.standing import (
    LEVEL,
    TIE,
    best_single,
    by_set,
    counted,
    difference,
    overall,
    reference,
    with_wrong,
)
from benchmarks.quality.tables import (
    HINDSIGHT,
    HINDSIGHT_RAW,
    difference_table,
    draws_of,
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
from benchmarks.quality.timing import REFERENCE
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
from benchmarks.reports.numbers import gigabytes, number, share
from benchmarks.runs import machine
from benchmarks.runs.points import TEXT_COLUMNS

FEW_CLASSES = 15
RULES = (
    "Agreement is the adjusted Rand index with the classes. In each draw no pair touches "
    f"{HELD:.0%} of the points; agreement is measured on these, unless a table says all points. "
    "Pairs are drawn uniformly among the others, and the classes answer them; all answers are "
    f"right, unless a table says wrong. For n points there are {', '.join(SHARES)} pairs; for more "
    f"than {LARGE:,} points there are {', '.join(map(in_words, NUMBERS))} instead. A mean without "
    f"a number of pairs is over {', '.join(MEAN[:3])}, or these three numbers. Means are over "
    "draws, then budgets, then sets."
)
FORMS = (
    f"Sets are whole, up to a fixed sample of {WHOLE_ROWS:,} rows, for the methods marked all in "
    f"the column rows. The others are too slow and get a fixed sample of {SAMPLE_ROWS:,} rows of "
    "larger sets, where the number of pairs follows from the sample. They run at "
    f"{', '.join(MEAN[:3])} only. Draws of pairs: {{draws}}."
)
METHODS = (
    "Every method runs at its defaults, is told the number of classes and gets the features as "
    "given, with +z those of mean 0 and variance 1. KMeans has 10 starts, 3 for more than "
    f"{LARGE:,} points; SpectralClustering takes the neighbour graph. {EVOC} takes no pairs; its "
    "noise joins the cluster of the nearest point. Text is TF-IDF reduced to "
    f"{TEXT_COLUMNS} columns. Pairs that contradict others are dropped where a method does not "
    "take them. A fit that raised an error or took more than {limit:g} s counts as agreement 0. "
    "Kept is the share of the given answers that the clusters keep. Seconds are of one thread "
    "beside others at work."
)
MARKS = (
    f"Upper marks: {HINDSIGHT} is the method of the library with the highest mean on each set, on "
    "features as given or standardised, which nobody can choose without the classes. The forest is "
    "given the classes of all points in a pair. "
    f"{LABELS_SVM} and {LABELS_FOREST} are given the same information as the pairs: s H(p) / H(y) "
    "labels of points drawn at random for s pairs, where p is the share of must-links and H(y) the "
    "entropy of the classes."
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
GROWTH = (
    "Means over the sets of at most "
    f"{LARGE:,} rows. The worst step is the largest fall, or the smallest rise, of any set from "
    "one number of pairs to the next, larger sets included."
)
LARGE_SETS = f"Agreement with {' / '.join(map(in_words, NUMBERS))} pairs."
PUBLISHED_FIGURES = (
    " The figures of SpherePair are published (NeurIPS 2025, Table 1): adjusted Rand index on the "
    "training rows, with as many pairs, but not the same ones."
)
NO_ANSWERS = (
    f"{EVOC} and KMeans have the better of their features as given and standardised. The last "
    "columns have the smallest number of pairs."
)
INFORMATION = (
    f"With the most pairs: {SHARES[-1]}, or {in_words(NUMBERS[-1])} for more than {LARGE:,} points."
)
FEW_ANSWERS = (
    "Agreement less that without answers, in the same draws: {draws} draws, on sets of at most "
    f"{SAMPLE_ROWS:,} rows and samples of larger ones: the mean over sets, and the set that loses "
    f"most, or gains least. Labels: all pairs of {LABELLED} rows of each class but one."
)
TEXTS = (
    "Generated texts on 6 topics (600 rows, 30 columns), and newsgroups "
    f"({SAMPLE_ROWS:,} rows, {TEXT_COLUMNS} columns)."
)
TIMES = (
    "Each fit has a process and the machine to itself, with all cores; pairs are drawn among all "
    "points. Seconds are the median, memory is the largest."
)
TIME_TITLE = "Time and memory"
EFFORTS = f"Over the sets of at most {SAMPLE_ROWS:,} rows, in the same draws."


def headline(results):
    """Return the tables of the main figures, one line each."""
    base = reference(results, by_set(results))
    found = [Table([base, ""], mean_lines(results, base))] if base is not None else []
    if CHOOSER in results["methods"]:
        found += [Table(["more answers, and none", ""], answer_lines(results)),
                  Table(["few answers, less none", "lowest mean over sets", "worst set"],
                        few_lines(results)),
                  Table(["time and memory", "seconds", f"to {REFERENCE}", "peak GB"],
                        time_lines(results))]  # fmt: skip
    return [part for part in found if part.rows]


def mean_lines(results, base):
    """Return the main figures of one method about means over sets."""
    scores = by_set(results)
    single, shown = best_single(results, scores), with_marks(results, scores)
    rows = [["mean agreement on untouched points", share(overall(scores)[base])]]
    for name, words in ((single, f"less the best single method, {single}"),
                        (HINDSIGHT, f"less the {HINDSIGHT}"),
                        (HINDSIGHT_RAW, f"less the {HINDSIGHT_RAW}"),
                        (FOREST, "less the forest given the classes")):  # fmt: skip
        if name in shown and name != base:
            rows.append([words, with_error(difference(scores[base], shown[name]))])
    paired = with_wrong(results)
    clean, spoilt = (by_set(paired, wrong=wrong).get(base) for wrong in WRONG)
    if clean and spoilt:
        rows.append([f"lost with {WRONG[1]:.0%} wrong", with_error(difference(clean, spoilt))])
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
    return rows


def answer_lines(results):
    """Return the main figures about more answers and about none."""
    rows = []
    steps, worst = rises(results, CHOOSER), falls(results, CHOOSER)
    if steps and worst:
        least = f"smallest rise of the mean over sets, {SHARES[0]} to {SHARES[-1]}"
        rows.append([least, signed(min(steps))])
        rows.append(["worst step of a set to more pairs", with_place(worst[0])])
    for mark, words in ((LABELS_SVM, LABELS_SVM), (BETTER, f"{BETTER} classifier")):
        some, of = at_least(results, mark)
        if of:
            rows.append([f"sets at least as good as {words}, most pairs", f"{some} of {of}"])
    images = [row for row in against_evoc(results) if row[0]["image"] and row[1] is not None]
    for place, words in ((2, "without answers"), (3, "with the fewest pairs")):
        gaps = [(row[place] - row[1], row[0]["name"]) for row in images if row[place] is not None]
        if gaps:
            gap, name = min(gaps)
            words = f"less {EVOC} {words}, worst of {len(gaps)} sets of pixels"
            rows.append([words, f"{signed(gap)} ({name})"])
    texts = [(text_gap(row), row[0]["name"], row[1]) for row in text_rows(results)]
    if texts:
        gap, name, budget = min(texts)
        words = "texts: less the better of KMeans and COPKMeans, worst"
        rows.append([words, f"{signed(gap)} ({name}, {budget} pairs)"])
    return rows


def few_lines(results):
    """Return the main figures about few answers."""
    rows = []
    for name in FEW_ENTRANTS:
        for wrong, words in ((False, "all right"), (True, "one in ten wrong")):
            found = few_worst(results, name, wrong=wrong)
            if found:
                rows.append([f"{name}, {words}", *map(with_place, found)])
    return rows


def time_lines(results):
    """Return the main figures about time."""
    return [
        [f"{t.data}, {t.pairs:,} pairs", number(t.seconds), number(t.ratio), gigabytes(t.peak)]
        for t in results["times"] if t.method == CHOOSER
    ]  # fmt: skip


def with_place(worst):
    """Return the worst figure and where it is."""
    return f"{signed(worst.value)} ({worst.words})"


def draws_in_words(draws):
    """Return how many draws methods, {name: draws}, have.

    >>> draws_in_words({"a": 3, "b": 1, "c": 1})
    '3 for 1 method, 1 for 2 methods'
    """
    counts = sorted(set(draws.values()), reverse=True)
    if len(counts) < 2:
        return "".join(map(str, counts))
    told = [(count, sum(d == count for d in draws.values())) for count in counts]
    return ", ".join(f"{count} for {of} method{'s' * (of > 1)}" for count, of in told)


def how(results):
    """Return the command, the machine and the rules."""
    return [
        Words(f"Made by `{results['command']}`. {machine.in_words(results['machine'])}"),
        Words(RULES),
        Words(FORMS.format(draws=draws_in_words(draws_of(results)))),
        Words(METHODS.format(limit=results["limit"])),
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
    times = [Words(TIMES), time_table(results)] if results["times"] else []
    if not results["records"]:
        only = [Heading(TIME_TITLE), *times] if times else []
        return [Words("No cell was run."), *absent, *only]
    base = reference(results, by_set(results))
    sets = len(counted(results))
    published = any(data["name"] in PUBLISHED for data in results["sets"])
    large = Words(LARGE_SETS + PUBLISHED_FIGURES * published)
    few = Words(FEW_ANSWERS.format(draws=few_draws(results)))
    sections = [
        (f"Means over {sets} set{'s' * (sets > 1)}", [main_table(results)]),
        ("Mean agreement against the number of pairs",
         [Picture(BUDGET, "mean agreement on untouched points against the number of pairs")]),
        ("More answers", [Words(GROWTH), growth_table(results)]),
        (f"Sets above {LARGE:,} rows", [large, large_table(results)]),
        ("No answers", [Words(NO_ANSWERS), none_table(results)]),
        ("The same information as labels", [Words(INFORMATION), information_table(results)]),
        ("Few answers", [few, Picture(FEW_PICTURE, "gain by a few answers"),
                         few_table(results)]),
        ("Texts", [Words(TEXTS), text_table(results)]),
        ("Wrong answers", [wrong_table(results)]),
        ("Efforts", [Words(EFFORTS), effort_table(results)]),
        (TIME_TITLE, times),
        ("Number of clusters not told", [open_table(results)]),
    ]  # fmt: skip
    if base is not None:
        sections[1:1] = [
            (f"{base} less each method", [Words(COMPARISON), difference_table(results)]),
            ("Ranks", [Picture(RANKS, "mean ranks of the methods over the sets"), Words(RANKING)]),
        ]
        sections.append(("Development sets and held-out sets", [
            Words("Rules were chosen with the development sets in view; the others had no part."),
            half_table(results),
        ]))  # fmt: skip
        sections.append(("Sets", [set_table(results)]))
    sections += [("Every method on every set", [matrix(results)]),
                 ("Failures", [failure_table(results)])]  # fmt: skip
    found = [*headline(results), *how(results), *absent]
    found += [Words(NO_PICTURES)] if results.get("no_pictures") else []
    for title, parts in sections:
        shown = [part for part in parts if shows(part, images)]
        if any(not isinstance(part, Words) for part in shown):
            found += [Heading(title), *shown]
    return found


def markdown(results, images):
    """Return the report as Markdown."""
    return markdown_page("Quality", blocks(results, images))


def html(results, images):
    """Return the report as one HTML page."""
    return html_page("Quality", blocks(results, images), images)
