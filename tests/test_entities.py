"""Laws of entities from scored pairs, and of answers about sets."""

import gzip
import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from linkwise import Constraints, InfeasibleConstraints
from linkwise.cli import main
from linkwise.partition import resolve_entities, resolve_pairs
from linkwise.partition.entities import evidence
from linkwise.partition.k_means import by_appearance
from linkwise.tables.scored_pairs import read_scored_pairs


@st.composite
def records(draw, n_most=9):
    """The number of records, scored pairs, and sources."""
    n = draw(st.integers(2, n_most))
    row = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(row, row).filter(lambda p: p[0] < p[1]), unique=True))
    score = draw(st.lists(st.sampled_from([0.05, 0.3, 0.6, 0.75, 0.9, 1.0]),
                          min_size=len(pairs), max_size=len(pairs)))  # fmt: skip
    source = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    return n, pairs, score, np.array(source)


@given(records())
def test_no_two_records_of_a_source_are_together(problem):
    n, pairs, score, source = problem
    labels = resolve_entities(n, pairs, score, source=source)
    known = np.flatnonzero(source >= 0)
    assert len({(labels[i], source[i]) for i in known}) == len(known)


@given(records(), st.lists(st.integers(-1, 3), min_size=9, max_size=9))
def test_groups_of_constraints_are_kept_as_sources_and_as_listed_pairs_are(problem, more):
    n, pairs, score, source = problem
    links = Constraints.from_groups(source)
    assert_array_equal(
        resolve_entities(n, pairs, score, links=links),
        resolve_entities(n, pairs, score, source=source),
    )
    both = links + Constraints.from_groups(more[:n])
    labels = resolve_entities(n, pairs, score, links=both)
    assert not both.violations(labels)
    assert_array_equal(labels, resolve_entities(n, pairs, score, cannot=both.listed().cannot_link))


@given(records(), st.data())
def test_must_links_and_cannot_links_hold(problem, data):
    n, pairs, score, _ = problem
    row = st.integers(0, n - 1)
    drawn = data.draw(st.lists(st.tuples(row, row).filter(lambda p: p[0] != p[1]), max_size=4))
    cut = data.draw(st.integers(0, len(drawn)))
    links = Constraints(drawn[:cut], drawn[cut:])
    if links.conflict() is not None:
        with pytest.raises(InfeasibleConstraints, match="contradicts must-links"):
            resolve_entities(n, pairs, score, must=drawn[:cut], cannot=drawn[cut:])
        return
    labels = resolve_entities(n, pairs, score, must=drawn[:cut], cannot=drawn[cut:])
    assert not links.violated(labels).any()


@given(records(), st.randoms())
def test_the_order_of_the_pairs_is_irrelevant(problem, random):
    n, pairs, score, source = problem
    order = random.sample(range(len(pairs)), len(pairs))
    rng = np.random.default_rng(0)
    score = np.array(score) + 0.01 * rng.random(len(pairs)) - 0.01  # no ties
    first = resolve_entities(n, pairs, np.clip(score, 0, 1), source=source)
    again = resolve_entities(
        n, [pairs[i][::-1] for i in order], np.clip(score, 0, 1)[order], source=source
    )
    assert_array_equal(first, again)


@given(records(6))
def test_no_merge_of_two_clusters_would_add_evidence(problem):
    n, pairs, score, source = problem
    labels, w = resolve_entities(n, pairs, score, source=source), evidence(score, 0.5)
    for a in range(labels.max() + 1):
        for b in range(a):
            inside = source[(labels == a) | (labels == b)]
            inside = inside[inside >= 0]
            between = sum(
                w[p] for p, ends in enumerate(pairs) if {labels[i] for i in ends} == {a, b}
            )
            assert between <= 1e-9 or len(set(inside.tolist())) < len(inside)


@given(records(), st.integers(1, 9))
def test_a_number_of_entities_is_reached_or_reported(problem, k):
    n, pairs, score, source = problem
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if k > n:
            with pytest.raises(InfeasibleConstraints, match="ask for at most"):
                resolve_entities(n, pairs, score, source=source, n_entities=k)
            return
        labels = resolve_entities(n, pairs, score, source=source, n_entities=k)
    found = labels.max() + 1
    assert found == k or (found > k and told)
    known = np.flatnonzero(source >= 0)
    assert len({(labels[i], source[i]) for i in known}) == len(known)


@given(records())
def test_a_table_with_ids_gives_the_entities_of_its_rows(problem):
    n, pairs, score, source = problem
    if not pairs:
        return
    names = [f"r{9 - i}" for i in range(n)]
    a, b = zip(*pairs, strict=True)
    of = {names[i]: int(source[i]) for i in range(n) if source[i] >= 0}
    found = resolve_pairs([names[i] for i in a], [names[i] for i in b], score, source=of)
    labels = resolve_entities(n, pairs, score, source=source)
    rows = [names.index(name) for name in found.ids.tolist()]
    assert_array_equal(by_appearance(labels[rows])[0], found.labels)


def test_links_of_a_table_name_ids_and_wrong_tables_are_refused():
    links = Constraints(must_link=[("a", "c")], cannot_link=[("a", "b")])
    found = resolve_pairs(["a", "b"], ["b", "c"], [0.9, 0.2], links=links)
    assert found.labels.tolist() == [0, 1, 0]
    for wrong, words in (
        ((["a"], ["b"], [1.5]), "not numbers from 0 to 1"),
        ((["a"], ["a"], [0.5]), "'a' is paired with itself"),
        ((["a"], ["b", "c"], [0.5]), "one of each for every pair"),
    ):
        with pytest.raises(ValueError, match=words):
            resolve_pairs(*wrong)


def test_ten_thousand_records_make_nine_thousand_entities():
    rng = np.random.default_rng(0)
    n, doubled = 10_000, 1000
    pairs = np.stack([np.arange(doubled), n - doubled + np.arange(doubled)], axis=1)
    wrong = np.stack([np.arange(n), (np.arange(n) + rng.integers(1, n, size=n)) % n], axis=1)
    score = np.r_[np.full(doubled, 0.9), np.full(len(wrong), 0.2)]
    source = np.repeat([0, 1], [n - doubled, doubled])  # 41 million pairs implied, none listed
    ids = np.arange(n)[::-1]
    links = Constraints.from_groups(source, sample_id=ids)
    assert links.n_cannot == 40_995_000
    found = resolve_pairs(*ids[np.r_[pairs, wrong]].T, score, links=links, n_entities=9000)
    assert found.labels.max() + 1 == 9000
    assert not links.resolve(found.ids, n=n).violations(found.labels)


def test_a_source_with_two_records_of_an_entity_is_refused():
    with pytest.raises(InfeasibleConstraints, match="another of its source"):
        resolve_entities(3, [(0, 1)], [0.9], source=[0, 0, 1], must=[(0, 1)])


def test_the_command_line_finds_entities(tmp_path, capsys):
    table = tmp_path / "pairs.csv"
    table.write_text("id_a,id_b,score,list_a,list_b\na,b,0.9,x,y\nb,c,0.8,y,x\nc,d,0.1,x,y\n")
    out = tmp_path / "entities.csv"
    words = ["dedupe", str(table), "-o", str(out), "--force", "--json"]
    assert main([*words, "--source", "list"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["entities"] == 3
    assert out.read_text().replace('"', "").split() == ["id,label", "a,0", "b,0", "c,1", "d,2"]
    (tmp_path / "links.csv").write_text("id_a,id_b,kind\na,b,cannot\n")
    assert main([*words, "--source", "list", "--links", str(tmp_path / "links.csv")]) == 0
    assert out.read_text().replace('"', "").split() == ["id,label", "a,0", "b,1", "c,1", "d,2"]
    (tmp_path / "links.jsonl").write_text('{"apart": ["a", "b", "d"]}\n')
    assert main([*words, "--links", str(tmp_path / "links.jsonl")]) == 0
    assert out.read_text().replace('"', "").split() == ["id,label", "a,0", "b,1", "c,1", "d,2"]
    capsys.readouterr()
    for wrong, fault in (("a,a,0.5,x,x", "with itself"), (",e,0.5,x,y", "line 3: an id is empty"),
                         ("a,e,2,x,y", "from 0 to 1"),
                         ("a,e,0.5,z,y", "another source")):  # fmt: skip
        table.write_text(f"id_a,id_b,score,list_a,list_b\na,b,0.9,x,y\n{wrong}\n")
        assert main([*words, "--source", "list"]) == 3
        assert fault in capsys.readouterr().err
    assert main([*words, "--source", "nothing"]) == 3


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".csv.gz", ".parquet", ".xlsx"])
def test_pairs_are_read_from_every_table(suffix, tmp_path):
    path = str(tmp_path / f"pairs{suffix}")
    ids = ["007", "7", str(2**53 + 1), str(2**53)]
    rows = [
        (ids[0], ids[1], 0.9, "x", "y"),
        (ids[2], ids[3], 1.0, "x", ""),
        (ids[1], ids[2], 0, "y", "x"),
    ]
    names = ["id_a", "id_b", "score", "list_a", "list_b"]
    if suffix in (".parquet", ".xlsx"):
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow" if suffix == ".parquet" else "openpyxl")
        frame = pd.DataFrame(rows, columns=names)
        frame.to_parquet(path) if suffix == ".parquet" else frame.to_excel(path, index=False)
    elif suffix == ".jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
        (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    else:
        mark = "\t" if suffix == ".tsv" else ","
        text = "\n".join(mark.join(map(str, row)) for row in [names, *rows])
        raw = text.encode()
        (tmp_path / f"pairs{suffix}").write_bytes(gzip.compress(raw) if "gz" in suffix else raw)
    found = read_scored_pairs(path, "list")
    assert found.ids == ids
    assert found.pairs.tolist() == [[0, 1], [2, 3], [1, 2]]
    assert found.score.tolist() == [0.9, 1.0, 0.0]
    assert found.source.tolist() == [0, 1, 0, -1]
    assert read_scored_pairs(path).source is None


def test_ids_of_scored_pairs_in_a_typed_file_may_be_large_numbers(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    ids = [2**53, 2**53 + 1]
    path = str(tmp_path / "pairs.parquet")
    pd.DataFrame({"id_a": ids[:1], "id_b": ids[1:], "score": [1]}).to_parquet(path)
    assert read_scored_pairs(path).ids == [str(name) for name in ids]


@pytest.mark.parametrize("name", ["pairs.npy", "pairs.h5ad", "pairs.txt", "pairs"])
def test_pairs_in_another_file_are_refused(name, tmp_path):
    (tmp_path / name).write_text("id_a,id_b,score\na,b,1\n")
    with pytest.raises(ValueError, match="expected a table of pairs"):
        read_scored_pairs(str(tmp_path / name))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sets(st.integers(0, 9), min_size=1), st.sets(st.integers(0, 9)))))
def test_answers_about_sets_say_what_all_their_pairs_say(drawn):
    answers = [(sorted(shown), sorted(shown & odd)) for shown, odd in drawn]
    must, cannot = [], []
    for shown, odd in answers:
        inside = [i for i in shown if i not in odd]
        if len(inside) > 1:
            must += [(a, b) for a in inside for b in inside if a < b]
            cannot += [(a, b) for a in inside for b in odd]
    every, found = Constraints(must, cannot), Constraints.from_sets(answers)
    assert (found.conflict() is None) == (every.conflict() is None)
    if every.conflict() is None:
        a, b = np.meshgrid(np.arange(10), np.arange(10))
        assert_array_equal(found.closure().relation(a, b), every.closure().relation(a, b))


def test_answers_about_sets_are_checked():
    with pytest.raises(ValueError, match="'z' is not among the members"):
        Constraints.from_sets([(["a", "b"], ["z"])])
    with pytest.raises(ValueError, match="listed twice"):
        Constraints.from_sets([(["a", "a"], [])])
    assert Constraints.from_sets([(["a", "b", "c"], ["b", "c"])]).n_pairs == 0


def test_the_command_line_reads_sets_and_groups(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 8, axis=0) + rng.normal(size=(24, 2))
    lines = (f"r{i:02d},{x:.3f},{y:.3f}" for i, (x, y) in enumerate(X))
    (tmp_path / "data.csv").write_text("id,x,y\n" + "\n".join(lines) + "\n")
    links = tmp_path / "links.jsonl"
    links.write_text(
        '{"members": ["r00", "r01", "r02", "r08"], "strangers": ["r08"]}\n'
        '{"apart": ["r00", "r09", "r20"]}\n'
    )
    line = ["fit", str(tmp_path / "data.csv"), "--links", str(links), "--effort", "fast", "--json"]
    assert main([*line, "-k", "2-4", "-o", str(tmp_path / "labels.csv")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["links"]["must"] == 2
    assert report["links"]["cannot"] == 4
    assert report["violations"] == []
    assert {3, 4} == {report["k"], *(one["k"] for one in report["runners_up"])}
    assert main(["check", str(links)]) == 0
    assert "links: 6 (must 2, cannot 4" in capsys.readouterr().out
