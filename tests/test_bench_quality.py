"""Laws of the quality benchmark."""

import json
import os
import re
import subprocess
import sys
import time
import types

import numpy as np
import pytest
from bench_parts import cells_of, description, record, results_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs

import linkwise
from benchmarks.__main__ import main
from benchmarks.quality import (
    classifiers,
    peers,
    pictures,
    protocol,
    standing,
    tables,
    texts,
)
from benchmarks.quality import entrants as methods
from benchmarks.quality import run as quality
from benchmarks.quality.cell import cell
from benchmarks.quality.entrants import (
    CHOOSER,
    FAST,
    FOREST,
    LABELS_FOREST,
    LABELS_SVM,
    OPEN,
    THOROUGH,
    Entrant,
    entrants,
)
from benchmarks.quality.jobs import CELLS, KEY, PARTS, Cut, Plan, all_jobs, keys
from benchmarks.quality.protocol import (
    FEW,
    FEW_WRONG,
    LABELS,
    MEAN,
    NONE,
    NUMBERS,
    SAMPLE,
    SHARES,
    TEXT,
    WHOLE,
    WRONG,
    Task,
    draw_pairs,
    suspicion_auc,
)
from benchmarks.quality.report import blocks, html, markdown
from benchmarks.quality.run import Options
from benchmarks.reports import document, figures
from benchmarks.runs import cells, pool
from benchmarks.runs import points as sets
from benchmarks.runs.cells import Cells, Clock
from benchmarks.runs.output import command_line
from benchmarks.runs.process import environment
from linkwise import sample_pairs
from linkwise.constraints import Pair

TROUBLE = """
import os, time
import numpy as np
from benchmarks.quality.protocol import Found

def double(job):
    if job == "die":
        os._exit(7)
    if job == "sleep":
        time.sleep(60)
    return 2 * job

def tick(path):
    for _ in range(600):
        with open(path, "a") as file:
            file.write("x")
        time.sleep(0.1)

def process(job):
    return os.getpid(), os.environ["OMP_NUM_THREADS"]

def fails(task, argument):
    raise ValueError("no such luck")

def sleeps(task, argument):
    if len(task.X) > 40:  # not on the points it is warmed up with
        time.sleep(60)
    return Found(np.zeros(len(task.X), dtype=int))

def first(task, argument):
    return Found((task.X[:, 0] > task.X[:, 0].mean()).astype(int))
"""


@pytest.fixture
def trouble(tmp_path, monkeypatch):
    """A module of functions that come to grief, which child processes find too."""
    (tmp_path / "grief.py").write_text(TROUBLE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import grief

    yield grief
    del sys.modules["grief"]


SETTINGS = [(budget, wrong) for wrong in WRONG for budget in MEAN[:3]]
MAIN = Plan(("main",), 1, 1)


def points(n=60, k=3, seed=0):
    return make_blobs(n, centers=k, cluster_std=1.5, random_state=seed)


@pytest.fixture
def folder(tmp_path):
    """A folder with two small sets."""
    where = tmp_path / "data"
    where.mkdir()
    for name, (n, k) in {"small": (60, 2), "large": (80, 3)}.items():
        X, y = points(n, k)
        np.savez(where / f"{name}.npz", X=X, y=y)
    return where


@pytest.mark.parametrize("n", [20, 61, 400])
def test_no_pair_touches_the_points_held_back(n):
    y = points(n)[1]
    for draw in range(3):
        found = draw_pairs("a", y, draw, "n", 0.0)
        assert found.held.sum() == round(0.3 * n)
        assert not found.held[found.ends].any()
        ends = {frozenset(pair) for pair in found.ends.tolist()}
        assert len(ends) == len(found.ends)  # no pair twice
        assert all(len(pair) == 2 for pair in ends)


def test_budgets_are_the_first_of_the_pairs_and_draws_differ():
    y = points(100)[1]
    whole = draw_pairs("a", y, 0, "2n", 0.0)
    budgets = ("0", "1", "n/10", "40", "n/4", "n", "2n", "10000")
    numbers = [len(draw_pairs("a", y, 0, budget, 0.0).ends) for budget in budgets]
    assert numbers == [0, 1, 10, 40, 25, 100, 200, 200]  # 200 were drawn
    for budget in budgets:
        part = draw_pairs("a", y, 0, budget, 0.1)
        assert_array_equal(part.ends, whole.ends[: len(part.ends)])
        assert_array_equal(part.held, whole.held)
        assert part.seed == whole.seed
    for other in (draw_pairs("a", y, 1, "2n", 0.0), draw_pairs("b", y, 0, "2n", 0.0)):
        assert not np.array_equal(other.held, whole.held)
        assert not np.array_equal(other.ends, whole.ends)


@pytest.mark.parametrize(("budget", "wrong"), SETTINGS)
def test_answers_are_right_except_for_the_share_turned_round(budget, wrong):
    y = points(100)[1]
    found = draw_pairs("a", y, 0, budget, wrong)
    assert found.flipped.sum() == round(wrong * len(found.ends))
    told = [(pair.a, pair.b, pair.sign) for pair in found.links]
    for (a, b, sign), ends, flipped in zip(told, found.ends, found.flipped, strict=True):
        assert {a, b} == set(ends)
        assert (sign > 0) == ((y[a] == y[b]) != flipped)


def test_few_points_have_fewer_pairs_than_asked_for():
    found = draw_pairs("a", np.array([0, 1, 0, 1]), 0, "n", 0.0)
    assert len(found.ends) == 3  # one point of four is held back


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_labels_leave_one_class_out(draw):
    y = points(60, 3)[1]
    found = draw_pairs("a", y, draw, LABELS, 0.0)
    touched = np.unique(found.ends)
    assert set(y[touched]) == {0, 1, 2} - {draw}
    assert len(touched) == 2 * protocol.LABELLED
    assert not found.held[touched].any()
    for pair in found.links:
        assert (pair.sign > 0) == (y[pair.a] == y[pair.b])


@pytest.fixture
def small_forms(monkeypatch):
    """Rules by which sets of some hundred rows are large."""
    monkeypatch.setattr(protocol, "WHOLE_ROWS", 400)
    monkeypatch.setattr(protocol, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(protocol, "LARGE", 200)


def test_a_set_is_whole_up_to_a_limit_and_has_a_fixed_sample(tmp_path, small_forms):
    X = np.arange(1000, dtype=np.uint16).reshape(-1, 1)
    np.savez(tmp_path / "big.npz", X=X, y=np.repeat(["b", "a"], 500))
    found = protocol.prepare("big", tmp_path)
    assert found.X.shape == (400, 1)
    assert found.X.dtype == np.float32  # differences of integers would wrap round
    whole, sample = (protocol.in_form(*found, form) for form in (WHOLE, SAMPLE))
    assert sample.X.shape == (100, 1)
    assert set(sample.X.ravel()) < set(whole.X.ravel())
    assert set(np.unique(found.y)) == set(np.unique(sample.y)) == {0, 1}
    data = protocol.describe("big", found)
    assert (data["n"], data["sample"], data["counted"]) == (400, 100, True)
    again = protocol.prepare("big", tmp_path)
    assert data["digest"] == protocol.describe("big", again)["digest"]
    other = found._replace(X=found.X + 1)
    assert data["digest"] != protocol.describe("big", other)["digest"]


def test_classes_that_a_sample_lacks_have_no_number():
    y = np.array([0, 1, 2, 2])
    found = protocol.in_form(np.ones((4, 1)), y, np.array([0, 2, 3]), SAMPLE)
    assert found.y.tolist() == [0, 1, 1]


def test_small_sets_have_one_form_and_large_sets_numbers_of_pairs():
    assert protocol.form_of(1500, whole=False) == WHOLE
    assert protocol.form_of(1501, whole=False) == SAMPLE
    assert protocol.form_of(1501, whole=True) == WHOLE
    assert protocol.budgets_of(10_000) == SHARES
    assert protocol.budgets_of(10_001) == NUMBERS
    assert len(draw_pairs("a", np.arange(10_001) % 3, 0, "10000", 0.0).ends) == 10_000


def test_texts_are_repeatable_and_their_topics_can_be_found():
    from sklearn.cluster import KMeans

    X, y = texts.topics(0)
    assert X.shape == (texts.ROWS, texts.COLUMNS)
    assert_array_equal(texts.topics(0)[0], X)
    assert not np.array_equal(texts.topics(1)[1], y)
    labels = KMeans(texts.CLUSTERS, n_init=3, random_state=0).fit_predict(X)
    assert 0.6 < linkwise.evaluate.adjusted_rand_index(y, labels) < 0.99
    found = protocol.describe("topics-0", protocol.prepare("topics-0", None))
    assert found["text"]
    assert not found["counted"]


def test_single_precision_stays(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((5, 2), dtype=np.float32), y=np.arange(5) % 2)
    assert protocol.prepare("a", tmp_path).X.dtype == np.float32


def test_counts_of_words_become_vectors_of_length_one(tmp_path):
    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(0.3, (40, 30)) + np.eye(40, 30, dtype=int))
    y = np.arange(40) % 4
    np.savez(
        tmp_path / "text.npz", data=counts.data.astype(np.int16), indices=counts.indices,
        indptr=counts.indptr, shape=counts.shape, y=y,
    )  # fmt: skip
    X, found, _ = protocol.prepare("text", tmp_path)
    assert X.shape == (40, 29)
    assert_allclose(np.linalg.norm(X[counts.getnnz(axis=1) > 0], axis=1), 1)
    assert_array_equal(found, y)


def test_sets_are_those_of_the_folder_or_of_scikit_learn(tmp_path):
    assert set(sets.set_names(None)) == {"iris", "wine", "wdbc", "digits"}
    for name in ("b", "a", "mnist_train", "mnist_test"):
        np.savez(tmp_path / f"{name}.npz", X=np.ones((2, 1)), y=[0, 1])
    assert sets.set_names(tmp_path) == ["a", "b", "mnist_test", "mnist_train"]
    assert not protocol.describe("mnist_train", protocol.prepare("a", tmp_path))["counted"]
    with pytest.raises(ValueError, match="is no folder"):
        sets.set_names(tmp_path / "nowhere")


def test_suspects_are_judged_by_their_order():
    drawn = draw_pairs("a", points(100)[1], 0, "n", 0.1)
    wrong = [(pair, 0.9) for pair, bad in zip(drawn.links, drawn.flipped, strict=True) if bad]
    right = [(pair, 0.2) for pair, bad in zip(drawn.links, drawn.flipped, strict=True) if not bad]
    swapped = [(Pair(p.b, p.a, p.sign, p.weight), q) for p, q in wrong]
    assert suspicion_auc(wrong + right, drawn) == 1
    assert suspicion_auc(swapped, drawn) == 1  # not listed is 0, either way round
    assert suspicion_auc([], drawn) == 0.5
    assert suspicion_auc(right, drawn) == 0
    assert suspicion_auc([], draw_pairs("a", points(100)[1], 0, "n", 0.0)) is None


def test_every_method_of_the_library_takes_part_raw_and_z_scored():
    found = entrants()
    for name in set(linkwise.estimators.__all__) - {CHOOSER, "ManifoldLayout"}:
        assert found[name].kind == "classical"
        assert found[f"{name}+z"].z
    assert not found["NormalizedCuts"].constrained
    assert {found[name].kind for name in ("KMeans", "SpectralClustering+z")} == {"plain"}
    assert f"{CHOOSER}+z" not in found
    assert "ManifoldLayout" not in found  # it takes no constraints
    assert found[LABELS_SVM].z
    names = {name.removesuffix("+z") for name, entrant in found.items() if entrant.whole}
    efforts = {CHOOSER, FAST, OPEN}
    assert names == {"CCSKL", "KMeans", "EVoC", *efforts, FOREST, LABELS_SVM, LABELS_FOREST}


@pytest.mark.filterwarnings("ignore")
def test_every_classical_method_runs_on_answers_that_contradict_each_other():
    X, y = points(60, 2)
    drawn = draw_pairs("a", y, 0, "n", 0.1)
    assert drawn.links.conflict() is not None
    hard = {"COPKMeans", "ConstrainedAgglomerative"}
    for name, entrant in methods.classical().items():
        if name not in hard:
            found = entrant.run(Task(X, 2, drawn.links, 0), entrant.argument)
            assert found.labels.shape == y.shape, name


def test_the_forest_is_told_the_classes_of_the_touched_points_alone():
    X, y = points(90)
    drawn = draw_pairs("a", y, 0, "n/4", 0.0)
    found = classifiers.touched_forest(Task(X, 3, drawn.links, 0, y), None).labels
    touched = np.unique(drawn.ends)
    assert_array_equal(found[touched], y[touched])
    lies = y.copy()
    rest = np.setdiff1d(np.arange(90), touched)
    lies[rest] = 0
    again = classifiers.touched_forest(Task(X, 3, drawn.links, 0, lies), None).labels
    assert_array_equal(again, found)


def test_pairs_are_worth_labels_by_their_entropy():
    y = np.repeat([0, 1, 2, 3], 25)  # 2 bits
    half = np.tile([1, -1], 20)  # 1 bit each
    assert classifiers.labels_worth(y, half) == 20
    assert classifiers.labels_worth(y, np.r_[np.ones(30), -np.ones(10)]) == round(40 * 0.81128 / 2)
    assert classifiers.labels_worth(y, -np.ones(40)) == 1  # no must-link tells nothing
    assert classifiers.labels_worth(np.zeros(9, dtype=int), half) == 1


@pytest.mark.parametrize("name", ["SVM", "forest"])
def test_a_classifier_knows_labels_of_points_not_held_back_alone(name):
    X, y = points(90)
    drawn = draw_pairs("a", y, 0, "n", 0.0)
    task = Task(X, 3, drawn.links, 0, y, drawn.held)
    found = classifiers.labelled(task, name).labels
    lies = np.where(drawn.held, (y + 1) % 3, y)  # the same entropy
    assert_array_equal(classifiers.labelled(task._replace(y=lies), name).labels, found)
    assert linkwise.evaluate.adjusted_rand_index(y, found) > 0.5


def test_the_svm_is_that_of_scikit_learn(monkeypatch):
    from sklearn.svm import SVC

    X, y = make_blobs(200, centers=4, cluster_std=3, n_features=5, random_state=0)
    monkeypatch.setattr(classifiers, "BLOCK", 70)
    expected = SVC().fit(X[:80], y[:80]).predict(X[80:])
    assert_array_equal(classifiers.svm(X[:80], y[:80], X[80:], 0), expected)


def test_a_classifier_with_labels_of_one_class_gives_all_points_that_class():
    X, y = points(30)
    links = linkwise.Constraints([(0, 1)])
    task = Task(X, 3, links, 0, y, np.zeros(30, dtype=bool))
    labels = classifiers.labelled(task, "SVM").labels
    assert len(set(labels)) == 1


def test_evoc_takes_the_layer_nearest_to_k_and_places_its_noise(monkeypatch):
    X = np.array([[0.0], [1.0], [10.0], [11.0], [2.0]])
    made = []

    class EVoC:
        def __init__(self, approx_n_clusters, random_state):
            made.append((approx_n_clusters, random_state))

        def fit(self, X):
            fine, coarse = [0, 1, 2, 3, -1], [0, 0, 1, 1, -1]
            self.cluster_layers_ = [np.array(fine), np.array(coarse)]
            return self

    monkeypatch.setitem(sys.modules, "evoc", types.SimpleNamespace(EVoC=EVoC))
    assert peers.evoc(Task(X, 2, None, 7), None).labels.tolist() == [0, 0, 1, 1, 0]
    assert peers.evoc(Task(X, 4, None, 7), None).labels.tolist() == [0, 1, 2, 3, 1]
    assert made == [(2, 7), (4, 7)]
    assert peers.noise_placed(X, np.full(5, -1)).tolist() == [0] * 5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_evoc_finds_what_is_easy_to_find():
    entrant = entrants()["EVoC"]
    if methods.missing(entrant):
        pytest.skip(methods.missing(entrant))
    X, y = make_blobs(300, centers=3, n_features=5, random_state=0)
    labels = entrant.run(Task(X, 3, None, 0), None).labels
    assert linkwise.evaluate.adjusted_rand_index(y, labels) > 0.8


class Chooser:
    """Stands for LinkClustering: it doubts the first answer, and finds four clusters."""

    def __init__(self, n_clusters=None, *, effort="balanced", random_state=None):
        self.n_clusters, self.effort = n_clusters, effort

    def fit(self, X, constraints, device=None):
        self.n_clusters_ = self.n_clusters or 4
        if self.effort == "fast":
            self.n_clusters_ = 2
        self.labels_ = np.arange(len(X)) % self.n_clusters_
        self.suspects_ = [(pair, 0.5) for pair in list(constraints)[:1]]
        return self


@pytest.fixture
def job(tmp_path):
    X, y = points()
    sets.store(tmp_path, "blobs", {"X": X, "y": y, "sample": np.arange(60)})

    def make(name, *settings):
        entrant = entrants()[name]
        found = all_jobs([description("blobs")], {name: entrant}, MAIN, tmp_path)[0]
        return found | ({"settings": list(settings)} if settings else {})

    return make


def settings_of(name, data=None, plan=MAIN, draw=0):
    """Return the settings of an entrant on a set, in the order of the jobs."""
    jobs = all_jobs([data or description("s")], {name: entrants()[name]}, plan, "")
    return [at for job in jobs if job["draw"] == draw for at in job["settings"]]


def test_what_a_chooser_finds_besides_labels_is_recorded(job, monkeypatch):
    monkeypatch.setattr(linkwise, CHOOSER, Chooser, raising=False)
    (told,) = cell(job(CHOOSER, ("n", 0.1)))
    assert 0 <= told["auc"] <= 1
    assert "k" not in told
    (clean,) = cell(job(CHOOSER, ("n", 0.0)))
    assert clean["auc"] is None
    (free,) = cell(job(OPEN, ("n", 0.0)))
    assert free["k"] == 4
    assert settings_of(OPEN) == [("n", 0.0)]
    (quick,) = cell(job(FAST, ("n", 0.0)))
    assert quick["all"] != clean["all"]
    (silent,) = cell(job(CHOOSER, (NONE, 0.0)))
    assert silent["kept"] is None


def test_a_method_that_sees_no_pairs_is_fitted_once_for_all_settings(job):
    found = cell(job("KMeans"))
    assert [(r["budget"], r["wrong"]) for r in found] == [
        *((budget, 0.0) for budget in (NONE, *SHARES)), *((budget, 0.1) for budget in MEAN[:3]),
    ]  # fmt: skip
    assert len({r["untouched"] for r in found}) == len({r["seconds"] for r in found}) == 1
    assert len({r["kept"] for r in found}) > 1


def test_a_large_set_is_whole_for_some_and_a_sample_for_others():
    large = description("s", 20_000)
    right = [(budget, 0.0) for budget in (NONE, *NUMBERS)]
    assert settings_of(CHOOSER, large) == right + [(budget, 0.1) for budget in NUMBERS]
    assert settings_of(LABELS_SVM, large) == right[1:]
    assert settings_of(OPEN, large) == [(NUMBERS[-1], 0.0)]
    assert settings_of("PCKMeans", large) == SETTINGS
    assert settings_of(THOROUGH, large) == SETTINGS[:3]
    forms = {
        name: all_jobs([large], {name: entrants()[name]}, MAIN, "")[0]["form"]
        for name in (CHOOSER, "CCSKL+z", "PCKMeans")
    }
    assert forms == {CHOOSER: WHOLE, "CCSKL+z": WHOLE, "PCKMeans": SAMPLE}
    beside = description("mnist_train", 20_000, counted=False)
    assert settings_of(CHOOSER, beside) == settings_of(CHOOSER, large)
    assert settings_of("PCKMeans", beside) == []


def test_slow_entrants_and_wrong_answers_have_a_third_of_the_draws():
    plan = Plan(("main",), 3, 5)
    assert settings_of("PCKMeans", plan=plan, draw=1) == []
    assert settings_of(CHOOSER, plan=plan, draw=2) == [(b, 0.0) for b in (NONE, *SHARES)]
    assert settings_of(CHOOSER, plan=plan, draw=3) == []
    assert settings_of("PCKMeans", plan=plan._replace(draws=6), draw=1) == SETTINGS


def test_few_answers_are_drawn_on_samples_and_no_cell_runs_twice():
    plan = Plan(("main", "few"), 1, 2)
    few = [(b, 0.0) for b in (NONE, *FEW, LABELS)] + [(b, 0.1) for b in FEW_WRONG]
    assert settings_of("CCSKL", plan=plan, draw=1) == few
    assert settings_of("PCKMeans", plan=plan, draw=1) == []
    found = settings_of(CHOOSER, plan=plan)
    assert sorted(set(found)) == sorted(found)
    assert set(few) < set(found)
    large = all_jobs([description("s", 2000)], {CHOOSER: entrants()[CHOOSER]}, plan, "")
    assert {at for job in large if job["form"] == SAMPLE for at in job["settings"]} == set(few)
    only = plan._replace(budgets=("n", "1"))
    assert settings_of(CHOOSER, plan=only) == [("n", 0.0), ("n", 0.1), ("1", 0.0)]


def test_texts_are_clustered_with_fixed_numbers_of_pairs():
    plan, data = (
        Plan(PARTS, 1, 1),
        description("topics-0", text=True, generated=True, counted=False),
    )
    for name in ("KMeans", "COPKMeans", CHOOSER):
        assert settings_of(name, data, plan) == [(budget, 0.0) for budget in TEXT]
    assert settings_of("CCSKL", data, plan) == []


def test_z_scored_entrants_do_not_depend_on_scales(tmp_path):
    X, y = points()
    figures = {}
    for name, scale in (("a", 1), ("b", 1000)):
        arrays = {"X": X * [1, scale], "y": y, "sample": np.arange(60)}
        sets.store(tmp_path, name, arrays)
        known = {"KMeans+z": entrants()["KMeans+z"]}
        (task,) = all_jobs([description(name)], known, MAIN, tmp_path)
        figures[name] = cell(task)[0]["all"]
    assert figures["a"] == figures["b"]


def test_an_error_is_a_record(job):
    found = cell(job("KMeans", ("n", 0.0)) | {"run": ("no.such.module", "f", None)})
    assert found[0]["failed"].startswith("ModuleNotFoundError")
    assert "untouched" not in found[0]


def test_means_are_over_draws_then_budgets_and_a_failure_is_zero():
    records = [
        record("A", "s", "n/4", 0, untouched=0.2, kept=0.5),
        record("A", "s", "n/4", 1, untouched=0.4, kept=0.5),
        record("A", "s", "n", 0, untouched=0.9, kept=0.6),
        record("A", "s", "n", 0, wrong=0.1, untouched=0.1, kept=0.1),
        record("B", "s", "n/4"),
        record("B", "s", "n", untouched=0.5, kept=1.0),
    ]
    results = {"means": standing.summary(records), "sets": [description("s")]}
    found = standing.by_set(results)
    assert_allclose(found["A"]["s"], (0.3 + 0.9) / 2)
    assert_allclose(found["B"]["s"], 0.25)
    assert standing.by_set(results, "kept")["B"]["s"] == 1  # of the fits that there are
    assert_allclose(standing.by_set(results, budget="n/4")["A"]["s"], 0.3)
    assert_allclose(standing.by_set(results, wrong=0.1)["A"]["s"], 0.1)


def test_differences_by_hand():
    own, other = {"a": 0.9, "b": 0.5, "c": 0.4, "d": 1.0}, {"a": 0.6, "b": 0.501, "c": 0.5}
    found = standing.difference(own, other)
    gap = np.array([0.3, -0.001, -0.1])
    assert_allclose(found.mean, gap.mean())
    assert_allclose(found.error, gap.std(ddof=1) / np.sqrt(3))
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)
    assert standing.difference(own, {"x": 1.0}) is None
    assert standing.difference(own, own).p == 1


def test_hindsight_takes_the_best_method_of_each_set():
    scores = {"A": {"s": 0.9, "t": 0.1}, "B": {"s": 0.2, "t": 0.3}, "C": {"s": 1.0}}
    found = standing.best_of(scores, ["A", "B"])
    assert found == {"s": (0.9, "A"), "t": (0.3, "B")}


def test_ranks_put_the_best_first_and_part_what_always_differs():
    sets = [f"s{i}" for i in range(20)]
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, (4, 20))
    level = {"bad": 0.1, "good": 0.9, "same": 0.5, "equal": 0.5}
    scores = {
        name: dict(zip(sets, base + noise[i], strict=True))
        for i, (name, base) in enumerate(level.items())
    }
    found = standing.ranks(scores, list(level))
    assert (found.names[0], found.names[-1]) == ("good", "bad")
    assert_allclose(found.mean[[0, -1]], [1, 4])
    assert found.groups == [(1, 2)]  # only the two of the same level are joined
    assert_allclose(found.mean.sum(), 10)


def test_methods_that_never_differ_are_one_group():
    scores = {name: {f"s{i}": i / 10 for i in range(6)} for name in "abc"}
    assert standing.ranks(scores, ["a", "b", "c"]).groups == [(0, 2)]


def test_processes_stay_and_use_one_thread(trouble, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    found = [ended.value for ended in pool.outcomes(trouble.process, range(4), workers=1, limit=60)]
    assert len({pid for pid, _ in found}) == 1
    assert {threads for _, threads in found} == {"1"}
    assert os.getpid() not in {pid for pid, _ in found}
    assert os.environ["OMP_NUM_THREADS"] == "5"


@pytest.mark.slow
def test_a_process_that_dies_or_takes_too_long_is_an_outcome(trouble):
    started = time.monotonic()
    jobs = [1, "die", 2, "sleep", 3, 4]
    found = {e.job: e for e in pool.outcomes(trouble.double, jobs, workers=2, limit=3)}
    assert [found[job].value for job in (1, 2, 3, 4)] == [2, 4, 6, 8]
    assert "exit code 7" in found["die"].failed
    assert not found["die"].late
    assert "limit of 3 s" in found["sleep"].failed
    assert found["sleep"].late
    assert time.monotonic() - started < 50


@pytest.mark.slow
def test_a_process_leaves_with_the_one_that_started_it(trouble, tmp_path):
    script, ticks = tmp_path / "parent.py", tmp_path / "ticks"
    script.write_text(
        "import sys, grief\n"
        "from benchmarks.runs import pool\n"
        "if __name__ == '__main__':\n"
        "    list(pool.outcomes(grief.tick, [sys.argv[1]], workers=1, limit=60))\n"
    )
    parent = subprocess.Popen([sys.executable, str(script), str(ticks)], env=environment())
    try:
        wait_for(ticks.exists)
    finally:
        parent.kill()
        parent.wait()

    def still():
        size = ticks.stat().st_size
        time.sleep(1)
        return ticks.stat().st_size == size

    wait_for(still)


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_nothing_to_do_starts_no_process():
    assert list(pool.outcomes(None, [], workers=0, limit=1)) == []


def small_run(folder, out, chosen, parts=("main",), **options):
    options = Options(data=str(folder), draws=1, jobs=1, parts=parts, **options)
    return quality.run(options, out, chosen)


def without_seconds(results):
    return [{k: v for k, v in r.items() if k != "seconds"} for r in results["records"]]


@pytest.mark.slow
def test_a_benchmark_from_end_to_end(trouble, folder, tmp_path, capsys):
    known = entrants()
    chosen = {name: known[name] for name in ("PCKMeans", "PCKMeans+z", "KMeans", FOREST)}
    chosen["broken"] = Entrant(trouble.fails)
    np.savez(folder / "holes.npz", X=np.array([[np.nan], [1.0]]), y=[0, 1])
    np.savez(folder / "other.npz", Z=np.ones(3))
    (folder / "torn.npz").write_bytes(b"PK")
    out = tmp_path / "report"
    results = small_run(folder, out, chosen)

    right, all_of_them = len(SHARES), len(SHARES) + 4  # no answers, three wrong
    assert len(results["records"]) == 2 * (6 * 3 + all_of_them + right)
    images = {name: (out / name).read_bytes() for name in os.listdir(out) if name.endswith("svg")}
    assert sorted(images) == ["quality-budget.svg", "quality-ranks.svg"]
    text, page = ((out / name).read_text() for name in ("quality.md", "quality.html"))
    assert text == markdown(results, images)
    assert page == html(results, images)
    assert sorted(os.listdir(out)) == [
        "quality-budget.svg", CELLS, "quality-ranks.svg", "quality.html", "quality.json",
        "quality.md",
    ]  # fmt: skip

    ours = [r["untouched"] for r in results["records"]
            if (r["method"], r["wrong"]) == ("PCKMeans", 0)]  # fmt: skip
    assert len(ours) == 6
    means = text.split("Means over 2 sets")[1]
    assert cells_of(means, "PCKMeans")[6] == f"{np.mean(ours):.3f}"
    assert cells_of(means, "broken")[6] == "0.000"
    assert cells_of(means, "broken")[-1] == "12"
    assert "ValueError: no such luck" in text
    assert "Left out: holes: X has NaN or infinite values" in text
    assert "Left out: other: other.npz has no arrays X and y" in text
    assert "Left out: torn: " in text

    assert page.count("<svg") == 2
    names = re.findall(r' id="([^"]*)"', page)
    assert len(set(names)) == len(names)
    assert "<script" not in page
    assert 'src="' not in page

    stored = json.loads((out / "quality.json").read_text())
    assert len(stored["cells"]) == len(results["records"])
    columns = dict(zip(stored["columns"], stored["cells"][0], strict=True))
    first = results["records"][0]
    assert list(stored["methods"])[columns["method"]] == first["method"]
    assert stored["sets"][columns["set"]]["name"] == first["set"]
    assert columns["untouched"] == first.get("untouched")

    capsys.readouterr()
    again = small_run(folder, out, chosen)
    assert "0 fits to do" in capsys.readouterr().err
    assert again["records"] == results["records"]


@pytest.mark.slow
def test_figures_do_not_depend_on_the_number_of_processes_or_on_a_pause(folder, tmp_path):
    known = entrants()
    chosen = {name: known[name] for name in ("CCSKL", "COPKMeans", "KMeans", FOREST)}
    options = Options(data=str(folder), draws=1, parts=("main", "few"))
    one, two, parts = (tmp_path / name for name in ("one", "two", "parts"))
    expected = without_seconds(quality.run(options._replace(jobs=1), one, chosen))
    assert without_seconds(quality.run(options._replace(jobs=2), two, chosen)) == expected

    parts.mkdir()
    lines = (one / CELLS).read_text().splitlines(keepends=True)
    (parts / CELLS).write_text("".join(lines[:9]) + lines[9][:20])  # cut off while it was written
    assert without_seconds(quality.run(options._replace(jobs=1), parts, chosen)) == expected


@pytest.mark.slow
def test_what_was_cut_off_is_tried_again_with_a_longer_limit_only(trouble, folder, tmp_path):
    chosen = {"slow": Entrant(trouble.sleeps), "quick": Entrant(trouble.first)}
    run = {"folder": folder, "out": tmp_path / "out", "chosen": chosen, "sets": ("small",)}
    started = time.monotonic()
    first = small_run(**run, limit=2)
    assert time.monotonic() - started < 40  # it is tried with the fewest pairs alone
    words = [r["failed"] for r in first["records"] if r["method"] == "slow"]
    assert len(words) == 6
    assert sum("stopped after the limit of 2 s" in w for w in words) == 1
    assert sum("not tried" in w for w in words) == 5
    assert not any("failed" in r for r in first["records"] if r["method"] == "quick")
    assert small_run(**run, limit=1)["records"] == first["records"]
    again = small_run(**run, limit=3)
    words = [r["failed"] for r in again["records"] if r["method"] == "slow"]
    assert sum("stopped after the limit of 3 s" in w for w in words) == 1


def test_the_time_left_follows_from_the_work_done():
    clock = Clock("quality", 100)
    clock.done = 25
    assert clock.line(10) == "quality:  25%, 30 s left"


def test_a_method_cut_off_with_many_pairs_may_try_with_fewer():
    rows = {("s", WHOLE): 100, ("s", SAMPLE): 100, ("t", WHOLE): 100}
    cut = Cut([{"set": "s", "form": WHOLE, "method": "m", "budget": "n/2"}], rows)

    def task(budget, data="s", form=WHOLE):
        return {"set": data, "form": form, "method": "m", "settings": [(budget, 0.0)]}

    tried = [cut.rules_out(task(budget)) for budget in ("0", "40", *SHARES)]
    assert tried == [False, False, False, False, True, True, True]
    assert not cut.rules_out(task("n", "t"))
    assert not cut.rules_out(task("n", form=SAMPLE))


def test_cells_of_other_data_are_refused(tmp_path):
    cells = Cells(tmp_path / CELLS, KEY)
    cells.add_set({"name": "a", "digest": "x"})
    again = Cells(tmp_path / CELLS, KEY)
    again.add_set({"name": "a", "digest": "x"})
    with pytest.raises(ValueError, match=r"another a.*name another folder by --out"):
        again.add_set({"name": "a", "digest": "y"})


def test_an_interrupt_keeps_the_cells(folder, tmp_path, monkeypatch, capsys):
    def interrupted(run, jobs, **_):
        task = next(iter(jobs))
        key = dict(zip(KEY, keys(task)[0], strict=True))
        yield pool.Ended(task, [key | {"untouched": 0.5}])
        raise KeyboardInterrupt

    monkeypatch.setattr(cells, "outcomes", interrupted)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        small_run(folder, out, {"PCKMeans": entrants()["PCKMeans"]})
    assert "the same command goes on" in capsys.readouterr().err
    assert os.listdir(out) == [CELLS]
    assert len(Cells(out / CELLS, KEY).records) == 1


def fake_results(names, sets=("s", "t", "u"), settings=SETTINGS, **more):
    rng = np.random.default_rng(0)
    records = [
        record(name, data, budget, draw, wrong, untouched=rng.random(), all=0.5, kept=0.5,
               seconds=1.0)
        for name in names for data in sets for draw in range(2) for budget, wrong in settings
    ]  # fmt: skip
    return results_of(records, [description(d, development=d == "s", **more) for d in sets])


def test_the_report_compares_with_the_chooser_where_it_ran():
    results = fake_results([CHOOSER, "CCSKL", "CCSKL+z", "KMeans"])
    text = markdown(results, {})
    assert f"## {CHOOSER} less each method" in text
    scores = standing.by_set(results)
    gap = np.array([scores[CHOOSER][d] - scores["KMeans"][d] for d in "stu"])
    table = text.split("less each method")[1]
    error = gap.std(ddof=1) / np.sqrt(3)
    assert cells_of(table, "KMeans")[1] == f"{gap.mean():+.3f} ± {error:.3f}"
    best = [max(scores["CCSKL"][d], scores["CCSKL+z"][d]) for d in "stu"]
    assert cells_of(text, "best by hindsight")[4] == f"{np.mean(best):.3f}"
    raw = np.mean([scores["CCSKL"][d] for d in "stu"])
    assert cells_of(text, "best by hindsight, no +z")[4] == f"{raw:.3f}"
    halves = text.split("Development sets and held-out sets")[1]
    assert cells_of(halves, CHOOSER)[1] == f"{scores[CHOOSER]['s']:.3f}"
    without = markdown(fake_results(["CCSKL", "KMeans"]), {})
    assert "## CCSKL less each method" in without
    assert "no +z" not in without.split("## ")[1]


def test_hindsight_has_no_score_where_a_method_that_it_chose_did_not_run():
    records = [record("CCSKL", "s", budget, untouched=0.5) for budget in SHARES]
    records += [record("CCSKL", "t", budget, untouched=0.5) for budget in SHARES]
    records += [record("PCKMeans", "t", budget, untouched=0.9) for budget in MEAN[:3]]
    results = results_of(records, [description("s"), description("t")])
    assert tables.at_budget(results, "n/4")[tables.HINDSIGHT] == {"s": 0.5, "t": 0.9}
    assert tables.HINDSIGHT not in tables.at_budget(results, "2n")


def test_a_report_of_peers_alone_or_of_nothing_can_be_written():
    for names in (["KMeans"], ["peer:linkage"]):
        assert "Every method on every set" in markdown(fake_results(names), {})
    results = fake_results([]) | {"missing": {"A": "not here", "B": "gone", "C": "not here"}}
    assert len(blocks(results, {})) == 3
    assert "Left out: A, C: not here." in html(results, {})


def test_a_report_of_one_number_of_pairs_outside_the_mean_can_be_written():
    results = fake_results([CHOOSER, "KMeans", FOREST], settings=[("0", 0.0), ("n/10", 0.0)])
    text = markdown(results, dict(pictures.pictures(results)))
    assert all(f"| {name} |" in text for name in "stu")


def test_words_are_safe_in_both_pages():
    found = [document.Table(["", "x"], [["a|b", "<b> & `c`"]])]
    assert "a\\|b" in document.markdown_page("t", found)
    page = document.html_page("t", found, {})
    assert "&lt;b&gt; &amp; <code>c</code>" in page


def test_pictures_are_left_out_without_matplotlib(monkeypatch):
    from linkwise import MissingExtra

    def absent():
        raise MissingExtra("matplotlib", "plot")

    results = fake_results(["CCSKL", "KMeans"])
    assert len(dict(pictures.pictures(results))) == 2
    monkeypatch.setattr(figures, "pyplot", absent)
    assert dict(pictures.pictures(results)) == {}
    assert "No pictures" in markdown(results, {})


def test_a_peer_gets_pairs_without_contradictions_and_seeded_numbers(monkeypatch):
    given = []

    class PCKMeans:
        def __init__(self, n_clusters):
            self.k = n_clusters

        def fit(self, X, ml, cl):
            given.append((ml, cl, np.random.random()))  # noqa: NPY002
            self.labels_ = np.zeros(len(X), dtype=int)

    module = types.SimpleNamespace(PCKMeans=PCKMeans)
    monkeypatch.setitem(sys.modules, "active_semi_clustering", module)
    links = linkwise.Constraints([(0, 1), (1, 2)], [(0, 2), (0, 3)])
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    for _ in range(2):
        peers.semi_supervised(Task(np.ones((5, 2)), 2, links, 7), "PCKMeans")
    assert given[0] == given[1]
    assert given[0][:2] == ([(0, 1), (1, 2)], [(0, 3)])
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", peers.PEERS)
def test_peers_find_what_is_easy_to_find(name, blobs):
    entrant = entrants()[name]
    if methods.missing(entrant):
        pytest.skip(methods.missing(entrant))
    X, y = blobs
    links = sample_pairs(y, 120, random_state=0)
    found = entrant.run(Task(X, 3, links, 0), entrant.argument)
    assert protocol.score(y, found.labels, draw_pairs("a", y, 0, "n", 0.0))["all"] > 0.5


def test_who_cannot_run_is_left_out_with_the_reason(monkeypatch):
    assert methods.missing(Entrant(None, needs=("no_such_module",))) == (
        "no_such_module is not installed"
    )
    assert methods.missing(Entrant(None, needs=("linkwise", "Nobody"))) == "linkwise has no Nobody"
    monkeypatch.setattr(quality, "missing", lambda e: "gone" if e.kind == "plain" else None)
    running, absent = quality.chosen(Options(methods=("ccskl", "k-means", "KMeans+z"), raw=True))
    assert list(running) == ["CCSKL", FOREST]
    assert absent == {"KMeans": "gone"}


@pytest.mark.parametrize(
    ("line", "code", "fragment"),
    [
        ("--methods nobody --out x", 2, "--methods: expected some of CCSKL"),
        ("--parts most --out x", 2, "--parts most: expected some of main, few, text, time"),
        ("--budgets n/3 --out x", 2, "--budgets n/3: expected some of 0, 1"),
        ("--draws 0 --out x", 2, "whole number >= 1"),
        ("--jobs none --out x", 2, "whole number >= 1"),
        ("--quick", 2, "--out"),
        ("--sets nothing --out OUT", 3, "--sets nothing: expected some of iris"),
        ("--data nowhere --out OUT", 3, "is no folder"),
    ],
)
def test_a_wrong_argument_is_one_line(tmp_path, capsys, monkeypatch, line, code, fragment):
    monkeypatch.setattr(quality, "missing", lambda entrant: None)
    words = line.replace("OUT", str(tmp_path / "out")).split()
    assert main(["quality", *words]) == code
    err = capsys.readouterr().err
    assert fragment in err
    assert err.count("\n") == 1


def test_the_command_hands_its_options_on(monkeypatch):
    given = []
    monkeypatch.setattr(quality, "run", lambda options, out: given.append((options, out)))
    line = (
        "--data d --methods gaussian-mixture constrained-gaussian-mixture pck-means+z KMeans "
        "--sets a b --parts few time --budgets n/4 15 --draws 4 --quick --raw --right --jobs 3 "
        "--limit 9 --device cuda --plan --out there"
    )
    assert main(["quality", *line.split()]) == 0
    ((options, out),) = given
    chosen = ("ConstrainedGaussianMixture", "PCKMeans+z", "KMeans")
    assert options == Options("d", chosen, ["a", "b"], ["few", "time"], ["n/4", "15"], 4, True,
                              True, True, 3, 9, "cuda", True)  # fmt: skip
    assert out == "there"
    assert command_line("quality", options) == (
        "python -m benchmarks quality --data DIR "
        "--methods ConstrainedGaussianMixture PCKMeans+z KMeans "
        "--sets a b --parts few time --budgets n/4 15 --draws 4 --quick --raw --right --limit 9 "
        "--device cuda --plan --out DIR"
    )
