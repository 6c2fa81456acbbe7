"""Laws of the papers' experiments."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

import numpy as np
import pytest
from bench_parts import in_this_process
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs

from benchmarks.__main__ import main
from benchmarks.arguments import PAPERS
from benchmarks.papers import ccskl, csc, images, kernel, lines, pictures, propagation, theme
from benchmarks.papers import protocol as rules
from benchmarks.papers import run as papers
from benchmarks.papers import series as shelves
from benchmarks.papers.ccskl_claims import ccskl_claims, time_claims
from benchmarks.papers.claims import ALL, MOST, Case, Claim
from benchmarks.papers.propagation_claims import line_claims
from benchmarks.papers.run import Options
from benchmarks.papers.series import FREE, LEAST, PAPER, Series, Shelf
from benchmarks.runs import cells as loop
from benchmarks.runs import points as sets
from benchmarks.runs.process import environment
from linkwise import Constraints
from linkwise.evaluate import clustering_error
from linkwise.plot import pyplot


def points(n=60, k=3, d=3, seed=0):
    X, y = make_blobs(n, n_features=d, centers=k, cluster_std=1.5, random_state=seed)
    return X, y


def test_the_nine_widths_are_those_of_two_even_ranges():
    expected = np.r_[np.linspace(0.1, 1, 5), np.linspace(1, 10, 5)[1:]]
    assert_allclose(rules.SIGMAS, expected)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_class_balanced_constraints_have_as_many_pairs_in_every_cell(k):
    y = np.arange(40) % k
    s = rules.balanced_number(7, k)
    links = rules.draw(y, s, np.random.default_rng(0), scheme="balanced")
    i, j, sign, _ = links.arrays()
    cells = np.sort(np.stack([y[i], y[j]]), axis=0)
    found = np.unique(cells, axis=1, return_counts=True)[1]
    assert_array_equal(found, np.full(k * (k + 1) // 2, 7))
    assert_array_equal(sign > 0, y[i] == y[j])


def test_a_rate_is_a_share_of_all_pairs():
    y = np.arange(30) % 3
    assert rules.pairs_at_rate(1.0, 30) == 435
    links = rules.draw(y, rules.pairs_at_rate(0.2, 30), np.random.default_rng(0))
    assert links.n_pairs == 87
    assert rules.draw(y, 10**6, np.random.default_rng(0)).n_pairs == 435  # all there are
    assert not rules.draw(y, 0, np.random.default_rng(0))


def test_constraints_of_a_training_part_touch_nothing_else():
    rng = np.random.default_rng(0)
    part = rules.split(100, 0.3, rng)
    assert part.sum() == 30
    i, j, *_ = rules.draw(np.arange(100) % 4, 200, rng, rows=part).arrays()
    assert part[i].all()
    assert part[j].all()


def test_random_numbers_belong_to_names():
    assert rules.seed_of("a", 1) == rules.seed_of("a", 1)
    assert len({rules.seed_of(name, number) for name in "ab" for number in range(5)}) == 10


def test_the_mean_of_starts_and_the_start_of_least_cost():
    y = np.array([0, 0, 1, 1])
    good, bad = y, np.array([0, 1, 0, 1])
    links = Constraints([(0, 1)], [(0, 2)])
    found = rules.of_starts(y, ([bad, good], [2.0, 1.0]), links, clustering_error)
    assert (found["mean"], found["least"], found["kept"]) == (0.25, 0.0, 1.0)


def test_what_fails_is_an_outcome():
    def broken():
        raise ValueError("no such\nluck")

    assert rules.attempt(broken, method="m") == {
        "method": "m",
        "failed": "ValueError: no such luck",
    }


def test_stored_points_come_back_and_are_not_written_to(tmp_path):
    from scipy import sparse

    T = sparse.csr_matrix(np.eye(3))
    sets.store(tmp_path, "a", {"X": np.ones((3, 2)), "y": np.arange(3), "T": T})
    found = sets.stored(str(tmp_path), "a")
    assert_array_equal(found["T"].toarray(), np.eye(3))
    with pytest.raises(ValueError, match="read-only"):
        found["X"][0] = 2


def record(paper, name, part, draw, *rows):
    return {"paper": paper, "set": name, "part": part, "draw": draw, "rows": list(rows)}


def at_width(sigma, draw, mean, least, kept, at=12):
    row = {"method": "CCSKL", "at": at, "mean": mean, "least": least, "kept": kept}
    return record("ccskl", "iris", f"sigma {sigma:g}", draw, row)


def test_classes_choose_the_width_by_the_mean_over_draws_and_links_by_what_is_kept():
    records = [
        at_width(0.1, 0, 0.10, 0.3, 0.5), at_width(0.1, 1, 0.50, 0.3, 0.9),
        at_width(1.0, 0, 0.20, 0.2, 0.7), at_width(1.0, 1, 0.20, 0.1, 0.7),
    ]  # fmt: skip
    shelf = Shelf(shelves.ccskl_series(records))
    paper = shelf.get("ccskl", "iris", "CCSKL", PAPER, "error")
    assert (paper.mean, paper.chosen, paper.draws) == ((0.2,), (1.0,), 2)
    free = shelf.get("ccskl", "iris", "CCSKL", FREE, "error")
    assert free.mean == (0.25,)  # 0.2 in the first draw, 0.3 in the second
    least = shelf.get("ccskl", "iris", "CCSKL", LEAST, "error")
    assert_allclose(least.mean, 0.15)


def test_of_equals_links_choose_the_width_nearest_to_r_as_they_do_without_any():
    records = [at_width(s, 0, 0.5, s / 10, 0.8) for s in (0.1, 0.775, 3.25)]
    free = Shelf(shelves.ccskl_series(records)).get("ccskl", "iris", "CCSKL", FREE, "error")
    assert free.mean == (0.0775,)
    none = [at_width(s, 0, 0.5, s / 10, s, at=0) for s in (0.1, 1.0, 10.0)]
    free = Shelf(shelves.ccskl_series(none)).get("ccskl", "iris", "CCSKL", FREE, "error")
    assert free.mean == (0.1,)


def test_a_method_without_constraints_is_drawn_out_over_all_numbers():
    cut = {"method": "NCuts", "at": 0, "mean": 0.4, "least": 0.4}
    records = [at_width(1.0, 0, 0.2, 0.2, 1.0, at=s) for s in (12, 48)]
    records[0]["rows"] += [cut]
    shelf = Shelf(shelves.ccskl_series([*records[:1], record(*_key(records[1]), *_rows(records))]))
    found = shelf.get("ccskl", "iris", "NCuts", PAPER, "error")
    assert found.at == (0, 12, 48)
    assert found.mean == (0.4, 0.4, 0.4)


def _key(record):
    return record["paper"], record["set"], record["part"], 1


def _rows(records):
    return [row for r in records for row in r["rows"]]


@pytest.mark.parametrize(
    ("holding", "need", "verdict"),
    [(10, ALL, "reproduced"), (9, ALL, "reproduced"), (8, ALL, "partly"), (5, ALL, "partly"),
     (4, ALL, "not"), (6, MOST, "reproduced"), (5, MOST, "partly"), (2, MOST, "not")],
)  # fmt: skip
def test_the_verdict_follows_from_the_cases(holding, need, verdict):
    cases = tuple(Case(str(i), i < holding) for i in range(10))
    claim = Claim("p", "words", "", cases, need, "")
    assert claim.verdict == verdict
    assert claim.held() == f"{holding} of 10"


def test_without_cases_nothing_is_measured():
    assert Claim("p", "words", "", (), ALL, "").verdict == "not measured"


def errors(name, method, values, column=PAPER):
    at = tuple(range(0, 10 * len(values), 10))
    return Series("ccskl", name, method, column, "error", at, tuple(values), (0.0,) * len(at), 1)


def ccskl_shelf(own, rival):
    return Shelf(
        errors("usps", method, values)
        for method, values in (("CCSKL", own), ("SL", rival), ("SSKK", rival), ("CCSR", rival),
                               ("NCuts", (0.3, 0.3, 0.3)))
    )  # fmt: skip


def test_claims_turn_round_with_the_figures():
    better = ccskl_claims(ccskl_shelf((0.3, 0.1, 0.1), (0.3, 0.4, 0.4)), PAPER)
    worse = ccskl_claims(ccskl_shelf((0.3, 0.4, 0.4), (0.3, 0.1, 0.1)), PAPER)
    verdicts = {claim.words: claim.verdict for claim in better}
    others = {claim.words: claim.verdict for claim in worse}
    lowest = next(words for words in verdicts if "image sets CCSKL has the lowest" in words)
    assert (verdicts[lowest], others[lowest]) == ("reproduced", "not")
    falls = next(words for words in verdicts if "exploits" in words)
    assert (verdicts[falls], others[falls]) == ("reproduced", "not")
    worst = next(words for words in verdicts if "SSKK is worse" in words)
    assert (verdicts[worst], others[worst]) == ("reproduced", "not")
    assert verdicts[next(w for w in verdicts if "UCI sets" in w)] == "not measured"


def test_times_are_judged_as_ratios():
    quick = {m: [1.0, None] for m in ccskl.TIMED} | {"CCSKL": [0.5, 0.01], "CCSR": [2.0, 1.0]}
    assert [claim.verdict for claim in time_claims(quick)] == ["reproduced", "reproduced"]
    slow = quick | {"CCSKL": [3.0, 0.5]}
    assert [claim.verdict for claim in time_claims(slow)] == ["not", "not"]
    assert "100.0 times shorter" in time_claims(quick)[0].figures


def test_one_cell_of_the_table_of_equivalent_kernels_is_false():
    rows = lines.table()
    assert [row["holds"] for row in rows] == [False, True, True, True, True, True]
    assert (
        abs(rows[0]["exact"] - rows[0]["limit"]) < 1e-3 < abs(rows[0]["exact"] - rows[0]["paper"])
    )


def test_the_figures_on_a_line_show_what_the_paper_says():
    assert [claim.verdict for claim in line_claims()] == ["partly", *["reproduced"] * 3]


def test_links_of_an_image_hold_in_its_regions():
    for name, make in images.IMAGES.items():
        image = make()
        region = image.region.ravel()
        assert not image.links.resolve(n=len(region)).violated(region).any(), name
        assert_array_equal(image.brightness, make().brightness)
        assert image.brightness.min() >= 0
        assert image.brightness.max() <= 1


def test_a_cluster_counts_for_the_region_most_of_it_is_in():
    region = np.array([0, 0, 0, 1, 1, 1])
    assert images.right_share(region, np.array([0, 0, 1, 1, 1, 2])) == 5 / 6
    assert images.right_share(region, np.zeros(6, dtype=int)) == 0.5


def test_matrices_of_distances_survive_packing_and_have_contrast():
    X, y = points(40, 2, seed=3)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    view = {"side": 40, "bytes": ccskl.packed(D)}
    assert np.abs(pictures.unpacked(view) / 255 - D / D.max()).max() < 0.5 / 255 + 1e-9
    order = np.argsort(y, kind="stable")
    assert ccskl.contrast(D, y) > 1.5
    assert_allclose(ccskl.contrast(D, y), ccskl.contrast(D[order][:, order], y[order]))
    rows = ccskl.even_rows(y, 10)
    assert np.all(np.diff(y[rows]) >= 0)
    assert np.bincount(y[rows]).tolist() == [5, 5]


def job_of(paper, name, folder, part="curve", **more):
    return {"paper": paper, "set": name, "part": part, "draw": 0, "quick": True, "starts": 2,
            "folder": str(folder), **more}  # fmt: skip


def test_a_cell_of_ccskl_has_all_methods_and_is_the_same_twice(tmp_path):
    X, y = points(60, 3)
    sets.store(tmp_path, "iris", {"X": X, "y": y})
    job = job_of("ccskl", "iris", tmp_path, "sigma 1", sigma=1.0)
    found = ccskl.run(job)
    s = [rules.balanced_number(p, 3) for p in ccskl.numbers("iris", True)]
    assert [(r["method"], r["at"]) for r in found["rows"]] == [
        ("NCuts", 0), ("CCSKL", 0), ("SL", 0), ("SSKK", 0),
        *((m, at) for at in s[1:] for m in ("CCSKL", "SL", "SSKK", "CCSR")),
    ]  # fmt: skip
    assert not any("failed" in row for row in found["rows"])
    assert all(0 <= row["mean"] <= 1 for row in found["rows"])
    assert ccskl.run(job) == found
    default = ccskl.run(job_of("ccskl", "iris", tmp_path, "default"))
    assert [row["at"] for row in default["rows"]] == s


def test_the_paper_and_the_library_agree_on_the_embedding_of_ccskl():
    """The paper's configuration of the estimator is what the cells compute."""
    from linkwise import CCSKL
    from linkwise.embedding import spectral_basis
    from linkwise.graph import nearest_neighbours

    X, y = points(80, 2, seed=1)
    links = rules.draw(y, 30, np.random.default_rng(0), scheme="balanced")
    model = CCSKL(2, diagonal="paper", normalize_rows=False, random_state=0)
    model.fit(X, constraints=links)
    W = ccskl.graph(nearest_neighbours(X, ccskl.NEIGHBOURS), 1.0)
    F = spectral_basis(W, ccskl.VECTORS, np.random.default_rng(0)).vectors
    Z = ccskl.spectral_kernel(F, links)
    assert_allclose(Z @ Z.T, model.embedding_ @ model.embedding_.T, atol=1e-8)


def test_six_widths_give_their_mean_the_best_three_and_the_one_links_keep():
    fixed = [{"at": 5, "rand": r, "kept": k}
             for r, k in ((0.1, 1.0), (0.9, 0.5), (0.8, 1.0), (0.7, 0.2))]  # fmt: skip
    found = {row["method"]: row["rand"] for row in kernel.from_widths(fixed)}
    assert found[kernel.MEAN] == 0.625
    assert found[kernel.BEST] == 0.8
    assert found[kernel.BY_LINKS] == 0.8  # the widest of those that keep all


def test_the_optimal_kernel_parts_the_circles():
    found = kernel.circles()
    assert np.bincount(found["y"]).tolist() == [200, 200]
    radius = np.linalg.norm(found["X"], axis=1)
    assert radius[found["y"] == 0].max() < radius[found["y"] == 1].min()


def test_a_tenth_of_four_digits_and_the_test_speakers_are_taken():
    y = np.repeat(np.arange(10), 42)
    found = kernel.four_digits({"X": np.arange(420.0)[:, None], "y": y})
    assert len(found["y"]) == 17
    assert set(found["y"]) <= {0, 1, 2, 3}
    arrays = {"X": np.arange(22.0)[:, None], "y": np.arange(22) % 11, "is_test": np.arange(22) > 10}
    assert kernel.three_vowels(arrays)["X"].ravel().tolist() == [11, 12, 13]


def test_the_sign_that_links_choose_is_no_worse_than_the_second():
    X, y = points(60, 2, seed=2)
    links = rules.draw(y, 400, np.random.default_rng(0))
    W, rng = csc.weights(X, "wine"), np.random.default_rng(0)
    judge = csc.Judge(y, links, 2, 0)
    chosen = csc.signed(W, links, judge, rng, rule="links")
    printed = csc.signed(W, links, judge, rng, rule="second")
    assert chosen["kept"] >= printed["kept"]
    assert chosen["least"] > 0.95


def test_the_fixed_bound_of_fcsc_may_leave_too_few_vectors():
    W = np.ones((6, 6))
    links = Constraints([(0, 1)], [(2, 3)])  # eigenvalues above half of the largest: two
    assert csc.fixed_bound(W, links.resolve(n=6), 3) == {"feasible": 1}
    assert csc.fixed_bound(W, links.resolve(n=6), 4) == {"feasible": 0}


def test_texts_are_picked_evenly_and_none_is_empty():
    from scipy import sparse

    rng = np.random.default_rng(0)
    counts = rng.poisson(0.5, (90, 50))
    counts[::10] = 0
    arrays = {"X": sparse.csr_matrix(counts), "y": np.arange(90) % 3,
              "classes": np.array(["x", "y", "z"])}  # fmt: skip
    found = propagation.texts("z", "x")(arrays)
    assert np.bincount(found["y"]).tolist() == [27, 27]
    assert found["X"].shape == (54, propagation.TEXT_COLUMNS)
    assert_allclose(np.linalg.norm(found["X"], axis=1), 1)


def test_made_up_sets_have_two_classes_of_200():
    for name in propagation.SYNTHETIC:
        found = propagation.SETS[name].pick()
        assert np.bincount(found["y"]).tolist() == [200, 200], name
        assert_array_equal(found["X"], propagation.SETS[name].pick()["X"])


def test_colours_are_variables_that_a_picture_also_carries_alone():
    picture = pictures.circle_picture(pyplot())
    text = picture.decode()
    assert "var(--c0, #0b5fa5)" in text
    assert not re.findall(r"[: ]#0b5fa5(?!\))", text)
    ElementTree.fromstring(picture)
    alone = theme.alone(picture).decode()
    assert "prefers-color-scheme: dark" in alone
    assert alone.count("<svg") == 1
    ElementTree.fromstring(alone)


@pytest.fixture
def folder(tmp_path):
    """A folder with small sets under the names of the cSC paper."""
    where = tmp_path / "data"
    where.mkdir()
    for number, source in enumerate(csc.SETS.values()):
        X, y = points(24 + number, 2 if number < 2 else 3, d=4, seed=number)
        np.savez(where / f"{source.file}.npz", X=X, y=y)
    return where


def small(folder, out, **options):
    options = {"jobs": 1, "draws": 1} | options
    return papers.run(Options(paper="csc", data=str(folder), quick=True, **options), out)


def quickly(monkeypatch):
    """Run cells in this process, and draw no pictures."""
    monkeypatch.setattr(loop, "outcomes", in_this_process)
    monkeypatch.setattr(papers, "pictures", lambda *_, **__: {})


@pytest.mark.slow
def test_results_are_the_same_after_a_kill_and_on_more_processes(folder, tmp_path, monkeypatch):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    results = small(folder, whole, jobs=2)
    assert not results["failures"]
    line = [sys.executable, "-m", "benchmarks", "papers", "--paper", "csc", "--quick",
            "--draws", "1", "--jobs", "1", "--data", str(folder), "--out", str(killed)]  # fmt: skip
    process = subprocess.Popen(line, env=environment(), stderr=subprocess.DEVNULL)
    cells, deadline = killed / papers.CELLS, time.monotonic() + 300
    try:
        while not cells.exists() or '"part"' not in cells.read_text():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = cells.read_text().count('"part"')
    assert 0 < done < 8
    cells.write_text(cells.read_text()[:-25])  # the last line was being written
    quickly(monkeypatch)
    small(folder, killed)
    expected = (whole / "papers.json").read_text()
    assert (killed / "papers.json").read_text() == expected
    assert len(json.loads(expected)["series"]) > 8

    page = (whole / "papers.html").read_text()
    for number in (1, 2, 3, 4):
        assert f"<h3>Figure {number}: " in page
        assert (whole / f"papers-csc-{number}.svg").exists()
    assert page.count("<svg") == 4
    assert "<script" not in page
    assert 'src="' not in page
    assert "prefers-color-scheme: dark" in page
    names = re.findall(r' id="([^"]*)"', page)
    assert len(set(names)) == len(names)
    for claim in results["claims"]:
        assert claim.verdict in page
    stored = json.loads(expected)
    assert [c["verdict"] for c in stored["claims"]] == [c.verdict for c in results["claims"]]
    assert str(folder) not in expected + page

    with pytest.raises(ValueError, match="by other rules; name another folder"):
        papers.run(Options(paper="csc", data=str(folder), draws=1), whole)


@pytest.mark.slow
def test_a_missing_set_is_skipped_with_a_line(folder, tmp_path, monkeypatch, capsys):
    def nothing(name):
        raise FileNotFoundError("no network")

    monkeypatch.setattr("linkwise.datasets.fetch", nothing)
    quickly(monkeypatch)
    for source in csc.SETS.values():
        if source.file != "wine":
            (folder / f"{source.file}.npz").unlink()
    (folder / "glass.npz").write_bytes(b"PK")
    results = small(folder, tmp_path / "out", draws=1)
    said = capsys.readouterr().err
    assert "skipped: csc/ecoli: there is no ecoli.npz; see linkwise datasets\n" in said
    assert said.count("skipped: ") == 7
    assert results["skipped"]["csc/glass"].startswith("glass: ")
    page = (tmp_path / "out" / "papers.html").read_text()
    assert "Skipped: ecoli: there is no ecoli.npz" in page
    assert "not measured" in page  # the claims about faces
    assert {s.set for s in results["series"]} == {"wine"}

    once = (tmp_path / "out" / "papers.json").read_text()
    small(folder, tmp_path / "out", draws=2)
    assert (tmp_path / "out" / "papers.json").read_text() != once
    small(folder, tmp_path / "out", draws=1)  # what a longer run left does not enter
    assert (tmp_path / "out" / "papers.json").read_text() == once


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.array([[np.nan], [1.0]]), [0, 1], "NaN"),
        (np.ones((2, 1)), [0, 0], "fewer than two classes"),
        (np.ones((3, 1)), [0, 1], "expected"),
    ],
)
def test_a_set_that_is_no_set_is_refused_in_words(tmp_path, X, y, words):
    np.savez(tmp_path / "wine.npz", X=X, y=y)
    with pytest.raises(ValueError, match=words):
        papers.points_of(csc.SETS["wine"], {}, tmp_path)


def test_classes_may_have_any_names(tmp_path):
    np.savez(tmp_path / "mnist_test.npz", X=np.eye(12), y=[str(i % 6) for i in range(12)])
    found = papers.points_of(ccskl.SETS["mnist04"], {}, tmp_path)
    assert_array_equal(found["y"], [0, 1, 2, 3, 4] * 2)
    assert found["X"].shape == (10, 12)


def test_the_command_refuses_what_it_cannot_do(tmp_path, capsys):
    assert tuple(papers.PAPERS) == PAPERS
    assert main(["papers", "--paper", "none", "--out", str(tmp_path)]) == 2
    assert "ccskl" in capsys.readouterr().err
    line = ["papers", "--data", str(tmp_path / "no"), "--out", str(tmp_path / "out")]
    assert main(line) == 3
    assert "is no folder" in capsys.readouterr().err


def test_every_figure_of_the_papers_has_a_picture_and_a_heading():
    from benchmarks.papers import report

    found = pictures.drawings(Shelf([]), matrices={}, segmented={}, papers=list(PAPERS))
    assert set(found) == set(report.FIGURES)
    assert all(os.path.splitext(name)[1] == ".svg" for name in found)
