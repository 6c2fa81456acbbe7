"""Laws of the parts of the quality benchmark on few, many and no answers, texts and time."""

import numpy as np
import pytest
from bench_parts import cells_of, description, record, results_of
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs

from benchmarks.quality import answers, timing
from benchmarks.quality import run as quality
from benchmarks.quality.entrants import CHOOSER, FAST, LABELS_FOREST, LABELS_SVM, THOROUGH, entrants
from benchmarks.quality.estimate import estimate
from benchmarks.quality.jobs import CELLS, KEY, Plan, all_jobs
from benchmarks.quality.protocol import FEW, FEW_WRONG, LABELS, NONE, NUMBERS, SAMPLE, SHARES
from benchmarks.quality.report import draws_in_words, markdown
from benchmarks.quality.run import Options
from benchmarks.quality.timing import REFERENCE, Race, time_jobs, timings
from benchmarks.runs import cells as cell_files
from benchmarks.runs.cells import Cells

LARGE = 20_000


def scores(method, data, values, **more):
    """Return records of agreements, {budget: value or a list over draws}."""
    return [
        record(method, data, budget, draw, untouched=value, all=value, seconds=1.0, **more)
        for budget, found in values.items()
        for draw, value in enumerate(np.atleast_1d(found).tolist())
    ]


def table(text, title):
    """Return the part of a report under a heading."""
    return text.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_worst_step_is_of_any_set_and_the_means_are_of_sets_with_shares():
    a, b = [0.1, 0.3, 0.5, 0.7, 0.9], [0.3, 0.5, 0.45, 0.7, 0.9]
    records = scores(CHOOSER, "a", dict(zip(SHARES, a, strict=True)))
    records += scores(CHOOSER, "b", dict(zip(SHARES, b, strict=True)))
    records += scores(CHOOSER, "c", dict(zip(NUMBERS, [0.9, 0.8, 0.85], strict=True)))
    described = [description("a"), description("b"), description("c", LARGE)]
    results = results_of(records, described)
    found = answers.falls(results, CHOOSER)
    assert found[0].words == "c, 1,000 to 5,000"
    assert_allclose([found[0].value, found[1].value], [-0.1, -0.05])
    assert_allclose(answers.rises(results, CHOOSER), np.diff(np.mean([a, b], axis=0)))
    text = markdown(results, {})
    line = cells_of(table(text, "More answers"), CHOOSER)
    assert line[1:6] == [f"{x:.3f}" for x in np.mean([a, b], axis=0)]
    assert line[6:] == ["-0.100", "c, 1,000 to 5,000", "2 of 10"]
    assert cells_of(text, "worst step of a set to more pairs")[1] == "-0.100 (c, 1,000 to 5,000)"


def test_large_sets_have_their_numbers_of_pairs_and_published_figures():
    described = [description("mnist_train", LARGE, counted=False), description("s")]
    records = scores(CHOOSER, "mnist_train", {NONE: 0.5, "1000": 0.7, "5000": 0.8, "10000": 0.95})
    records += scores("KMeans", "mnist_train", {NONE: 0.4, **dict.fromkeys(NUMBERS, 0.4)})
    records += scores(CHOOSER, "s", dict.fromkeys(SHARES, 0.5))
    text = markdown(results_of(records, described), {})
    large = table(text, "Sets above 10,000 rows")
    assert cells_of(large, CHOOSER) == [CHOOSER, "0.700 / 0.800 / 0.950"]
    assert cells_of(large, "SpherePair, published")[1] == "0.830 / 0.920 / 0.940"
    assert "|  | mnist_train |" in large  # and no set of shares
    means = table(text, "Means over 1 set")
    assert cells_of(means, CHOOSER)[len(SHARES) + 1] == "0.500"  # mnist_train is beside


def test_evoc_enters_with_the_better_of_its_features():
    records = scores(CHOOSER, "digits", {NONE: 0.7, "n/10": 0.9, "n": 0.9})
    records += scores("EVoC", "digits", {NONE: 0.6}) + scores("EVoC+z", "digits", {NONE: 0.8})
    results = results_of(records, [description("digits", image=True)])
    text = markdown(results, {})
    line = cells_of(table(text, "No answers"), "digits")
    assert line[2:] == ["0.800", "", "0.700", "-0.100", "n/10", "0.900", "+0.100"]
    headline = cells_of(text, "less EVoC without answers, worst of 1 sets of pixels")
    assert headline[1] == "-0.100 (digits)"


def test_same_information_is_counted_at_the_most_pairs():
    described = [description("a"), description("b"), description("c", LARGE)]
    records = []
    for name, values in {CHOOSER: (0.9, 0.5, 0.8), LABELS_SVM: (0.8, 0.5, 0.9),
                         LABELS_FOREST: (0.7, 0.6, 0.7)}.items():  # fmt: skip
        for data, budget, value in zip("abc", ("2n", "2n", "10000"), values, strict=True):
            records += scores(name, data, {budget: value, "n": 0.1})
    results = results_of(records, described)
    counts = [answers.at_least(results, n) for n in (LABELS_SVM, LABELS_FOREST, answers.BETTER)]
    assert counts == [(2, 3), (2, 3), (1, 3)]
    text = table(markdown(results, {}), "The same information as labels")
    assert cells_of(text, "c")[1:] == ["10,000", "0.800", "0.900", "0.700", "-0.100"]
    assert "| 2 of 3 | 2 of 3 | 1 of 3 |" in text


def few_results():
    """Two sets, one of which has a sample: it gains, and loses as a whole, which does not count."""
    described = [description("small"), description("large", LARGE)]
    records = scores(CHOOSER, "small", {NONE: [0.5, 0.7], "1": [0.4, 0.7], LABELS: [0.6, 0.7]})
    records += scores(CHOOSER, "large", {NONE: 0.5, "1": 0.7, LABELS: 0.5}, form=SAMPLE)
    records += scores(CHOOSER, "large", {NONE: 0.9})
    records += scores(CHOOSER, "small", {"10": [0.4, 0.8]}, wrong=0.1)
    return results_of(records, described)


def test_few_answers_are_compared_with_none_in_the_same_draws_and_form():
    results = few_results()
    found = answers.few_differences(results, CHOOSER)
    assert_allclose(found["1", 0.0]["small"], -0.05)
    assert_allclose(found["1", 0.0]["large"], 0.2)
    assert_allclose(found["10", 0.1]["small"], 0, atol=1e-9)
    mean, worst = answers.few_worst(results, CHOOSER, wrong=False)
    assert_allclose([mean.value, worst.value], [0.025, -0.05])
    assert (mean.words, worst.words) == (LABELS, "small, 1")
    assert answers.few_worst(results, FAST, wrong=False) is None
    text = markdown(results, {})
    few = table(text, "Few answers")
    assert cells_of(few, "1")[1:] == ["+0.075", "-0.050 small"]
    assert cells_of(few, LABELS)[1] == "+0.025"
    assert cells_of(few, "10, 10% wrong")[1:] == ["+0.000", "+0.000 small"]
    settings = [*FEW, LABELS, *(f"{number}, 10% wrong" for number in FEW_WRONG)]
    assert [cells_of(few, words)[0] for words in settings] == settings
    headline = cells_of(text, f"{CHOOSER}, all right")
    assert headline[1:] == ["+0.025 (labels)", "-0.050 (small, 1)"]
    assert "2 draws" in table(text, "Few answers")


def test_texts_are_judged_by_the_better_of_two_methods():
    data = description("topics-0", text=True, generated=True, counted=False)
    records = scores("KMeans", "topics-0", {"0": 0.8, "80": 0.8})
    records += scores("COPKMeans", "topics-0", {"0": 0.7, "80": 0.9})
    records += scores(CHOOSER, "topics-0", {"0": 0.81, "80": 0.85})
    records += scores(CHOOSER, "s", dict.fromkeys(SHARES, 0.5))
    results = results_of(records, [data, description("s")])
    assert_allclose([answers.text_gap(row) for row in answers.text_rows(results)], [0.01, -0.05])
    text = markdown(results, {})
    assert cells_of(table(text, "Texts"), "topics-0", "80")[2:] == [
        "0.800", "0.900", "0.850", "-0.050",
    ]  # fmt: skip
    assert "topics-0" not in table(text, "Every method on every set")


def test_efforts_are_compared_on_the_draws_and_sets_that_all_have():
    records = scores(CHOOSER, "s", {"n": [0.5, 0.9]}) + scores(FAST, "s", {"n": [0.4, 0.9]})
    records += scores(THOROUGH, "s", {"n": 0.6}) + scores(CHOOSER, "t", {"n": 0.1})
    text = markdown(results_of(records, [description("s"), description("t")]), {})
    part = table(text, "Efforts")
    assert [cells_of(part, name)[4] for name in (FAST, CHOOSER, THOROUGH)] == [
        "0.400", "0.500", "0.600",
    ]  # fmt: skip


def test_wrong_answers_are_compared_in_the_draws_that_have_them():
    records = scores(CHOOSER, "s", {"n": [0.8, 0.2, 0.2]}) + scores(
        CHOOSER, "s", {"n": 0.7}, wrong=0.1
    )
    text = markdown(results_of(records, [description("s")]), {})
    assert cells_of(table(text, "Wrong answers"), CHOOSER)[1:4] == ["0.800", "0.700", "+0.100"]


def test_numbers_of_draws_are_in_the_report():
    assert draws_in_words({"a": 3, "b": 3}) == "3"
    records = scores(CHOOSER, "s", {"n": [0.8, 0.2, 0.2]}) + scores("CCSKL", "s", {"n": 0.7})
    text = markdown(results_of(records, [description("s")]), {})
    assert "Draws of pairs: 3 for 1 method, 1 for 1 method." in text
    assert cells_of(table(text, "Means over 1 set"), CHOOSER)[-2] == "3"


@pytest.fixture
def blob_sets(tmp_path):
    where = tmp_path / "data"
    where.mkdir()
    X, y = make_blobs(60, centers=2, cluster_std=0.5, random_state=0)
    np.savez(where / "digits.npz", X=X, y=y)
    return where


@pytest.mark.slow
def test_times_are_of_fresh_processes_and_are_kept(blob_sets, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(timing, "RACES", (Race("digits", 9, ("KMeans", REFERENCE), 1),))
    known = entrants()
    chosen = {name: known[name] for name in ("KMeans", REFERENCE)}
    options = Options(data=str(blob_sets), draws=1, jobs=1, parts=("time",))
    out = tmp_path / "out"
    results = quality.run(options, out, chosen)
    kmeans, spectral = results["times"]
    assert (kmeans.method, kmeans.pairs, kmeans.turns) == ("KMeans", 9, 1)
    assert spectral.ratio == 1
    assert_allclose(kmeans.ratio, kmeans.seconds / spectral.seconds)
    assert kmeans.agreement > 0.9
    assert kmeans.peak > 1e7
    text = (out / "quality.md").read_text()
    assert "No cell was run." in text
    assert cells_of(table(text, "Time and memory"), "digits", "9", REFERENCE)[4] == "1.00"
    capsys.readouterr()
    assert quality.run(options, out, chosen)["times"] == results["times"]
    assert "time:" not in capsys.readouterr().err


def test_methods_take_turns_and_a_failure_has_no_time():
    jobs = time_jobs([description("digits")], {n: entrants()[n] for n in (CHOOSER, "KMeans")}, "")
    assert [(job["turn"], job["method"]) for job in jobs] == [
        (turn, name) for turn in range(3) for name in (CHOOSER, "KMeans")
    ]
    failed = {"set": "digits", "pairs": 200, "method": CHOOSER, "turn": 0, "failed": "no"}
    assert timings([failed]) == []


def test_the_plan_counts_what_is_left_and_runs_nothing(blob_sets, tmp_path, capsys):
    known = entrants()
    chosen = {name: known[name] for name in ("PCKMeans", "KMeans")}
    out = tmp_path / "out"
    options = Options(data=str(blob_sets), draws=1, jobs=1, parts=("main",))
    assert quality.run(options._replace(plan=True), out, chosen) is None
    err = capsys.readouterr().err
    assert "7 fits to do, 0 cells done before" in err
    assert "main: 7 fits; 7 of them by methods that have not run, of unknown time" in err
    assert not (out / "quality.md").exists()
    cells = Cells(out / CELLS, KEY)
    cells.add(record("PCKMeans", "digits", "n", untouched=0.5, seconds=2.0))
    quality.run(options._replace(plan=True), out, chosen)
    err = capsys.readouterr().err
    assert "main: 6 fits; about 10 s on 1 processes; 1 of them by methods" in err


def test_the_time_of_a_method_on_another_set_grows_with_its_rows():
    known = {"PCKMeans": entrants()["PCKMeans"]}
    described = [description("a", 100), description("b", 300)]
    jobs = all_jobs(described, known, Plan(("main",), 1, 1), "")
    found = estimate(jobs, [record("PCKMeans", "a", "n", seconds=1.0)], described)
    assert found.fits == 12
    assert_allclose(found.seconds, 6 * 1 + 6 * 3)
    assert found.unknown == 0


def test_a_run_has_all_parts(blob_sets, tmp_path, monkeypatch):
    from bench_parts import in_this_process

    monkeypatch.setattr(cell_files, "outcomes", in_this_process)
    known = entrants()
    chosen = {name: known[name] for name in ("CCSKL", "KMeans", "COPKMeans")}
    options = Options(data=str(blob_sets), draws=1, jobs=1, parts=("few", "text"),
                      sets=("digits", "topics-0"))  # fmt: skip
    results = quality.run(options, tmp_path / "out", chosen)
    told = {(r["set"], r["method"], r["budget"], r["wrong"]) for r in results["records"]}
    assert ("digits", "CCSKL", LABELS, 0.0) in told
    assert ("digits", "CCSKL", "40", 0.1) in told
    assert ("topics-0", "COPKMeans", "80", 0.0) in told
    assert not any("failed" in r for r in results["records"])
    assert "## Few answers" in (tmp_path / "out" / "quality.md").read_text()
