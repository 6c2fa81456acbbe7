"""Laws of the Constraints object: what it holds, refuses, and how it is renamed."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.utils.validation import _num_samples

from linkwise.constraints import Constraints, Pair, as_constraints

laws = settings(deadline=None)


@st.composite
def constraints(draw, max_points=7, max_pairs=12, text=False):
    """A few signed, weighted pairs on a few points."""
    point = st.integers(0, max_points - 1)
    pair = st.tuples(point, point).filter(lambda p: p[0] != p[1])
    row = st.tuples(pair, st.sampled_from([1, -1]), st.sampled_from([0.5, 1.0, 2.0]))
    rows = draw(st.lists(row, max_size=max_pairs))
    name = (lambda i: f"p{i}") if text else int
    return Constraints.from_table([(name(a), name(b), s, w) for (a, b), s, w in rows])


@pytest.fixture
def links():
    return Constraints(must_link=[(0, 5), (3, 8)], cannot_link=[(9, 0)], cannot_weight=2)


def test_iteration_gives_plain_pairs(links):
    assert list(links) == [Pair(0, 5, 1, 1.0), Pair(3, 8, 1, 1.0), Pair(9, 0, -1, 2.0)]
    assert {type(v) for pair in links for v in pair} == {int, float}


def test_repr_counts_kinds(links):
    assert repr(links) == "Constraints(2 must-links, 1 cannot-link)"


def test_is_not_array_like(links):
    for name in ("__len__", "shape", "__array__", "__getitem__"):
        assert not hasattr(links, name)
    with pytest.raises(TypeError):
        _num_samples(links)


def test_nothing_can_be_changed(links):
    with pytest.raises(AttributeError):
        links.sign = None
    for array in (links.ids, links.pairs, links.sign, links.weight):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, copy.copy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_copies_are_equal_and_read_only(links, duplicate):
    twin = duplicate(links)
    assert twin == links
    assert not twin.weight.flags.writeable


def test_arguments_are_left_alone_and_may_be_read_only():
    pairs, weight = np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0])
    pairs.flags.writeable = weight.flags.writeable = False
    assert Constraints(pairs, must_weight=weight).n_must == 2
    loose = np.array([[0, 1]])
    links = Constraints(loose)
    loose[:] = 7
    assert links.must_link.tolist() == [[0, 1]]


@given(constraints(), st.randoms())
@laws
def test_order_of_pairs_and_ends_is_irrelevant_to_equality(links, random):
    rows = [(b, a, s, w) if random.random() < 0.5 else (a, b, s, w) for a, b, s, w in links]
    random.shuffle(rows)
    assert Constraints.from_table(rows) == links


def test_weight_sign_and_multiplicity_matter_to_equality():
    one = Constraints([(0, 1)])
    assert one != Constraints([(0, 1)], must_weight=2)
    assert one != Constraints(cannot_link=[(0, 1)])
    assert one != one + one
    assert one != Constraints([("0", "1")])
    assert one != "something else"


@given(constraints(), constraints())
@laws
def test_sum_lists_one_after_the_other(first, second):
    assert list(first + second) == list(first) + list(second)


@given(constraints())
@laws
def test_ids_are_exactly_those_that_occur(links):
    assert links.touched.tolist() == sorted({v for p in links for v in (p.a, p.b)})


@given(constraints())
@laws
def test_merged_adds_weights_of_repeated_pairs(links):
    total: dict = {}
    for a, b, s, w in links:
        key = (min(a, b), max(a, b), s)
        total[key] = total.get(key, 0) + w
    assert {(p.a, p.b, p.sign): p.weight for p in links.merged()} == total


@given(constraints())
@laws
def test_matrix_is_symmetric_and_comes_back(links):
    links = links.merged()
    both = {(p.a, p.b) for p in links if p.sign > 0} & {(p.a, p.b) for p in links if p.sign < 0}
    links = links.select([(p.a, p.b) not in both for p in links]) if links else links
    Q = links.matrix(7)
    assert_array_equal(Q.toarray(), Q.toarray().T)
    assert Constraints.from_matrix(Q) == links
    assert Constraints.from_matrix(sparse.triu(Q)) == links
    assert Constraints.from_matrix(Q.toarray()) == links


def test_opposite_weights_add_in_the_matrix():
    links = Constraints([(0, 1)], [(1, 0)], must_weight=3, cannot_weight=1)
    assert links.matrix(2).toarray().tolist() == [[0, 2], [2, 0]]


@given(constraints(text=True), st.permutations(range(7)))
@laws
def test_resolve_keeps_the_order_of_pairs(links, order):
    sample_id = [f"p{i}" for i in order]
    rows = links.resolve(sample_id, 7)
    assert [(sample_id[p.a], sample_id[p.b], p.sign, p.weight) for p in rows] == list(links)


@given(constraints(), st.permutations(range(7)))
@laws
def test_integers_meet_strings_as_text(links, order):
    as_text = [str(i) for i in order]
    assert list(links.resolve(as_text)) == list(links.resolve(order))
    assert list(links.restrict(as_text)) == list(links)


@given(constraints(), st.sets(st.integers(0, 6)))
@laws
def test_restrict_keeps_pairs_with_both_ends_inside(links, part):
    kept = links.restrict(sorted(part))
    assert list(kept) == [p for p in links if p.a in part and p.b in part]
    assert list(kept.resolve(sorted(part)).restrict(range(len(part)))) == list(
        kept.resolve(sorted(part))
    )


@given(constraints())
@laws
def test_row_numbers_resolve_to_themselves(links):
    assert list(links.resolve(n=7)) == list(links)


@given(constraints(), st.lists(st.integers(0, 2), min_size=7, max_size=7))
@laws
def test_violated_is_the_definition(links, labels):
    expected = [(labels[p.a] == labels[p.b]) != (p.sign > 0) for p in links]
    assert links.violated(labels).tolist() == expected


def test_no_pairs_are_left_of_text_ids():
    nothing = Constraints([("a", "b")]).restrict(["a"])
    assert nothing == Constraints()
    assert nothing.resolve(n=3).violated([0, 0, 1]).tolist() == []
    assert nothing.matrix(3).nnz == 0


@pytest.mark.parametrize(
    "pairs", [{(0, 1)}, iter([(0, 1)]), zip([0], [1], strict=True)], ids=["set", "iterator", "zip"]
)
def test_any_collection_of_pairs_will_do(pairs):
    assert Constraints(pairs) == Constraints([(0, 1)])


def test_weight_zero_says_nothing():
    links = Constraints([(0, 1)], [(0, 1), (1, 2)], cannot_weight=[0, 1])
    assert links.conflict() is None
    assert links.violated([0, 0, 1]).tolist() == [False, False, False]
    assert links.violated([0, 1, 1]).tolist() == [True, False, True]
    assert links.active().n_pairs == 2


def test_with_weight_replaces_weights(links):
    assert [p.weight for p in links.with_weight([1, 2, 3])] == [1, 2, 3]
    with pytest.raises(ValueError, match=r"weight: expected one weight or 3"):
        links.with_weight([1, 2])


def test_integral_floats_become_integers():
    links = Constraints(np.array([[0.0, 5.0]]), [(1, 2.0)])
    assert links.ids.dtype == np.int64
    assert list(links) == [Pair(0, 5, 1), Pair(1, 2, -1)]


def test_large_integers_stay_exact():
    big = 2**62 + 1
    assert next(iter(Constraints([(big, -big)])))[:2] == (big, -big)


@pytest.mark.parametrize(
    ("must", "error", "fragment"),
    [
        ([(0, 1), (2, 2)], ValueError, r"must_link\[1\]: 2 is paired with itself"),
        ([(0, 1), (0, 1.5)], ValueError, r"must_link\[1\]: 1.5 is not usable as an id"),
        ([(0, float("nan"))], ValueError, r"must_link\[0\]: an id is missing"),
        (np.array([[0, 1], [2, np.nan]]), ValueError, r"must_link\[1\]: an id is missing"),
        (np.array([[0, np.inf]]), ValueError, r"must_link\[0\]"),
        ([(0, None)], ValueError, "an id is missing"),
        ([("a", "")], ValueError, "an id is missing"),
        ([(0, True)], TypeError, "bool"),
        (np.array([[True, False]]), TypeError, "bool"),
        ([(0, "a")], TypeError, "integer and string ids are mixed"),
        ([(0, 2**70)], ValueError, "64-bit"),
        ([(0, b"a")], TypeError, "bytes"),
        ([(0, pd.NA)], TypeError, "integer or a string"),
        ([(0, 1, 2)], ValueError, r"shape \(m, 2\), got shape \(1, 3\)"),
        ([(0, 1), (2,)], ValueError, r"shape \(m, 2\)"),
        ((0, 1), ValueError, "one pair alone is written"),
        ("ab", TypeError, "must_link must be a list or an array, got 'ab'"),
        (5, TypeError, "must_link must be a list or an array, got 5"),
        (np.ma.masked_equal([[0, 9]], 9), ValueError, "an id is missing"),
    ],
)
def test_bad_ids_are_refused_by_name(must, error, fragment):
    with pytest.raises(error, match=fragment):
        Constraints(must)


def test_must_and_cannot_links_share_one_kind_of_id():
    with pytest.raises(TypeError, match="mixed"):
        Constraints([(0, 1)], [("a", "b")])


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, "heavy", [1, 2, 3], None])
def test_bad_weights_are_refused_by_name(weight):
    if weight is None:
        assert Constraints(must_weight=None).n_pairs == 0
        return
    with pytest.raises(ValueError, match="must_weight"):
        Constraints([(0, 1), (1, 2)], must_weight=weight)


@pytest.mark.parametrize(
    ("pairs", "options", "fragment"),
    [
        (
            [(0, 1), (2, 12)],
            {"n": 10},
            r"pair 1, \(2, 12\): 12 is not a row number of data with 10 rows",
        ),
        ([(-1, 2)], {"n": 10}, "-1 is not a row number"),
        ([(-1, 2)], {}, "-1 is not a row number"),
        ([("a", "b")], {"n": 10}, "'a' is a string, not a row number .*pass sample_id"),
        ([(0, 1), (5, 7)], {"sample_id": [0, 1, 2]}, r"pair 1, .*5 is not .*1 of 2.*restrict"),
        ([(0, 1)], {"sample_id": [0, 1, 0]}, "names 0 twice, at rows 0 and 2"),
        ([("a", "b")], {"sample_id": ["b", "a", "b"]}, "names 'b' twice, at rows 0 and 2"),
        ([(0, 1)], {"sample_id": [0, np.nan]}, r"sample_id\[1\]: an id is missing"),
        ([(0, 1)], {"sample_id": [0, 1], "n": 3}, "2 ids, the data have 3 rows"),
        ([(0, 1)], {"sample_id": [[0, 1]]}, "one id per row"),
    ],
)
def test_pairs_that_name_no_row_are_refused(pairs, options, fragment):
    with pytest.raises(ValueError, match=fragment):
        Constraints(pairs).resolve(**options)


def test_masks_of_the_wrong_length_are_refused(links):
    with pytest.raises(ValueError, match="3 pairs"):
        links.select([True])


FRAME = pd.DataFrame(
    {"weight": [1.0, 2.0], "id_b": [5, 9], "link": ["same", "Cannot-Link"], "id_a": 0}
)


@pytest.mark.parametrize(
    "given_as",
    [
        Constraints([(0, 5)], [(0, 9)], cannot_weight=2),
        [(0, 5, 1, 1), (0, 9, -1, 2)],
        [Pair(0, 5, 1), Pair(0, 9, -1, 2.0)],
        np.array([[0, 5, 1, 1], [0, 9, -1, 2]]),
        np.array([[0, 5, 1, 1], [0, 9, -1, 2]], dtype=float),
        {"must_link": [(0, 5)], "cannot_link": [(9, 0)], "cannot_weight": 2},
        {"id_a": [0, 0], "id_b": [5, 9], "kind": ["+1", "-1"], "weight": [1, 2]},
        FRAME,
        FRAME[["id_a", "id_b", "link", "weight"]].set_axis([*"wxyz"], axis=1),
        sparse.coo_array(([1.0, -2.0], ([0, 0], [5, 9])), shape=(10, 10)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_is_obviously_constraints_is_accepted(given_as):
    expected = Constraints([(0, 5)], [(0, 9)], cannot_weight=2)
    assert as_constraints(given_as) == expected


def test_nothing_is_no_constraints():
    for nothing in (None, [], {}, ([], []), np.empty((0, 3))):
        assert not as_constraints(nothing)
    assert list(Constraints().resolve(n=0)) == []
    assert Constraints() == Constraints.from_table([])


@pytest.mark.parametrize(
    "other",
    [3, "links.csv", np.zeros((5, 5)), [(0, 1)], {1, 2}, object()],
    ids=["number", "name", "matrix", "list", "set", "object"],
)
def test_anything_else_is_refused_with_a_list_of_what_is_accepted(other):
    with pytest.raises(TypeError, match="constraints must be a Constraints object"):
        as_constraints(other)


@pytest.mark.parametrize(
    ("table", "fragment"),
    [
        ([(0, 1, 1), (1, 2, 0)], "table row 1: kind must be .*got 0"),
        ([(0, 1, "mst")], "table row 0: kind must be .*got 'mst'"),
        ([(0, 1, True)], "table row 0: kind"),
        ([(0, 1, 1), (1, 2, True)], "table row 1: kind"),
        ([(0, 1, None)], "table row 0: kind"),
        (np.array([[0, 1, np.nan]]), "table row 0: kind"),
        ([(0, 0, 1)], "table row 0: 0 is paired with itself"),
        ([(0, 1, 1, -2)], "table row 0: weight must be finite"),
        ([(0, 1, 1, "x")], "table row 0: weight must be a number"),
        ([(0, 1, 1, None)], "table row 0: weight"),
        ([(0, 1)], "without id_a, id_b, kind"),
        ([0, 1, 1], "rows"),
        ({"id_a": [0], "id_b": [1]}, "without kind"),
        ({"id_a": [0], "id_b": [1, 2], "kind": [1]}, "differ in length"),
    ],
)
def test_bad_tables_are_refused_by_row(table, fragment):
    with pytest.raises(ValueError, match=fragment):
        Constraints.from_table(table)


@pytest.mark.parametrize(
    ("Q", "fragment"),
    [
        ([[1, 0], [0, 0]], r"Q\[0, 0\] is not zero"),
        ([[0, 1], [-1, 0]], r"not symmetric: \(0, 1\)"),
        ([[0, 1], [2, 0]], r"not symmetric: \(0, 1\)"),
        ([[0, np.nan], [0, 0]], r"Q\[0, 1\] = nan"),
        ([[0, 1, 1], [1, 0, 1]], "square"),
    ],
)
def test_bad_matrices_are_refused_by_entry(Q, fragment):
    for form in (np.array(Q, dtype=float), sparse.csr_matrix(np.array(Q, dtype=float))):
        with pytest.raises(ValueError, match=fragment):
            Constraints.from_matrix(form)


def test_constraints_never_change():
    links = Constraints([(0, 1)])
    for name in ("ids", "weight", "anything"):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(links, name, 1)
    with pytest.raises(ValueError, match="read-only"):
        links.weight[0] = 2


def test_where_pairs_came_from_travels_with_them():
    links = Constraints([("a", "b"), ("b", "c")], [("c", "d")])
    assert links.source.tolist() == ["given"] * 3
    assert links.event.tolist() == [0, 0, 0]
    told = links.with_source(["answer", "hand", "import"], [4, 5, 6])
    assert told.select([2, 1]).source.tolist() == ["import", "hand"]
    assert told.with_weight(2).event.tolist() == [4, 5, 6]
    assert (links + told).event.tolist() == [0, 0, 0, 4, 5, 6]
    assert told.resolve(["a", "b", "c", "d"]).source.tolist() == ["answer", "hand", "import"]
    assert pickle.loads(pickle.dumps(told)).event.tolist() == [4, 5, 6]
    assert told == links  # the same pairs
    with pytest.raises(
        ValueError, match="source must be one of given, answer, hand, taught, import"
    ):
        links.with_source("heaven")


def test_a_pair_said_twice_keeps_its_first_source():
    links = Constraints([(0, 1), (1, 0)]).with_source(["answer", "hand"], [1, 2])
    assert links.merged().source.tolist() == ["answer"]
    assert links.merged().event.tolist() == [1]


def test_a_data_frame_has_every_pair_and_is_read_back():
    links = Constraints(must_link=[("a", "b")], cannot_link=[("b", "c")], cannot_weight=[2.5])
    links = links.with_source(["hand", "answer"], [3, 4])
    frame = links.to_frame()
    assert list(frame.columns) == ["id_a", "id_b", "kind", "weight", "source", "event"]
    assert frame.to_dict("records")[1] == {
        "id_a": "b", "id_b": "c", "kind": "cannot", "weight": 2.5, "source": "answer", "event": 4,
    }  # fmt: skip
    assert as_constraints(frame) == links
    assert len(Constraints().to_frame()) == 0
