"""Laws of the query engine: what is known, what is asked, what the answers make of the labels."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs

from linkwise.choice.effort import EFFORTS
from linkwise.constraints import Constraints
from linkwise.evaluate import adjusted_rand_index
from linkwise.labelling.cluster_model import ClusterModel, Task
from linkwise.query import (
    STRATEGIES,
    Context,
    Known,
    Oracle,
    PreparedData,
    Question,
    Session,
    label_oracle,
    person,
    run,
)
from linkwise.query.cobras import Cobras, split
from linkwise.query.doubt import expected_error
from linkwise.query.examples import examples
from linkwise.query.gaussian_field import Field, label_changes, seen_too, variance_reduction
from linkwise.query.known import separate_sets
from linkwise.query.model import fit
from linkwise.query.neighbourhoods import neighbourhoods_of
from linkwise.query.oracles import OutOfBudget
from linkwise.query.session import moved
from linkwise.query.strategies import along
from linkwise.query.wider_questions import LabelQuestion, SetQuestion, entropy, in_or_out

ANSWERS = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([True, False, None])).filter(
        lambda answer: answer[0] != answer[1]
    ),
    max_size=25,
)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0])


def points(n=60, k=3, seed=0, std=1.5):
    angle = 2 * np.pi * np.arange(k) / k
    centres = 2.2 * k * np.column_stack((np.cos(angle), np.sin(angle)))
    return make_blobs(n, centers=centres, cluster_std=std, random_state=seed)


@pytest.fixture(autouse=True, scope="module")
def quickly():
    """Cluster with the least effort: the laws below hold for any."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("linkwise.query.prepared_data.effort_for", lambda n: "fast")
        yield


@pytest.fixture(scope="module")
def prepared(quickly):
    X, y = points()
    return PreparedData(X, seed=0), y


def links_of(answers):
    """Return answers (a, b, same) or (a, b, same, weight) as Constraints by row."""
    said = [(a, b, 1 if same else -1, *weight) for a, b, same, *weight in answers]
    return Constraints.from_table([(*row, 1.0)[:4] for row in said])


def known_of(answers):
    """Return what answers (a, b, same) make known; a later one about a pair replaces another."""
    last: dict = {}
    for a, b, same, *weight in answers:
        last.pop((min(a, b), max(a, b)), None)
        last[min(a, b), max(a, b)] = (same, *weight)
    told = [(*pair, *said) for pair, said in last.items()]
    return Known(
        links_of([answer for answer in told if answer[2] is not None]),
        [answer[:2] for answer in told if answer[2] is None],
    )


def consistent(answers):
    """Return the answers that no earlier one contradicts, each pair once, by brute force."""
    kept: dict = {}
    for a, b, same in answers:
        kept.pop((min(a, b), max(a, b)), None)
        kept[min(a, b), max(a, b)] = same
    found: list = []
    for (a, b), same in kept.items():
        if same is None:
            continue
        links = Constraints(
            [p[:2] for p in found if p[2]], [p[:2] for p in found if not p[2]]
        ).closure()
        if found and int(links.relation(a, b)) == (-1 if same else 1):
            continue
        found.append((a, b, same))
    return found


@settings(deadline=None, max_examples=60)
@given(ANSWERS)
def test_what_follows_is_the_closure(answers):
    known = known_of(answers)
    found = consistent(answers)
    closure = Constraints(
        [p[:2] for p in found if p[2]], [p[:2] for p in found if not p[2]]
    ).closure()
    names = {1: True, -1: False, 0: None}
    for a in range(8):
        for b in range(8):
            expected = True if a == b else names[int(closure.relation(a, b))]
            assert known.relation(a, b) is expected
            assert known.is_open(a, b) == (
                expected is None
                and (min(a, b), max(a, b)) not in known.unsure
                and not known.is_aside(a)
                and not known.is_aside(b)
            )


@settings(deadline=None, max_examples=60)
@given(ANSWERS, st.data())
def test_an_answer_undone_is_as_if_it_had_never_been(answers, data):
    one_by_one = Known()
    for answer in answers:
        one_by_one.tell(*answer)
    assert vars(one_by_one) == vars(known_of(answers))
    if one_by_one.n_answers:
        every = [*map(tuple, one_by_one.links.ends.tolist()), *one_by_one.unsure]
        a, b = data.draw(st.sampled_from(every))
        assert one_by_one.has(b, a)
        one_by_one.forget(a, b)
        assert not one_by_one.has(a, b)
        rest = [answer for answer in answers if set(answer[:2]) != {a, b}]
        assert vars(one_by_one) == vars(known_of(rest))
    again = Known(one_by_one.links, one_by_one.unsure)
    relations = [
        [k.relation(a, b) for a in range(8) for b in range(8)] for k in (one_by_one, again)
    ]
    assert relations[0] == relations[1]
    assert one_by_one.contradicted == again.contradicted


def test_when_links_conflict_the_heavier_wins():
    answers = [(0, 1, True), (1, 2, True), (0, 2, False, 5.0)]
    known = Known(links_of(answers))
    assert known.relation(0, 2) is False
    assert known.contradicted == [(1, 2)]
    one_by_one = Known()
    for answer in answers:
        one_by_one.tell(*answer)
    assert vars(one_by_one) == vars(known)
    known.tell(0, 2, False)  # said again, as an answer like the others
    assert known.relation(0, 2) is True


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(4, 7), st.booleans(), WEIGHTS)))
def test_weights_add_up_and_zero_says_nothing(answers):
    known = Known(links_of(answers))
    total: dict = {}
    for a, b, same, weight in answers:
        total[a, b, same] = total.get((a, b, same), 0) + weight
    merged = [(*key, weight) for key, weight in total.items() if weight > 0]
    assert vars(known) | {"links": None} == vars(Known(links_of(merged))) | {"links": None}
    one_by_one, distinct = Known(), {answer[:2]: answer for answer in answers}.values()
    for answer in distinct:
        one_by_one.tell(*answer)
    assert vars(one_by_one) == vars(Known(links_of(distinct)))


def test_any_weight_may_be_told_to_a_session():
    X, _ = points(20, 2)
    session = Session(X, n_clusters=2)
    session.tell(0, 1, True, weight=0.25)
    session.tell(0, 2, False, weight=3)
    session.tell(0, 3, True, weight=0)  # says nothing
    assert [*session.links] == [(0, 1, 1, 0.25), (0, 2, -1, 3.0)]
    session.tell(0, 1, False, weight=0.5)  # replaces what was said of the pair
    assert [*session.links] == [(0, 2, -1, 3.0), (0, 1, -1, 0.5)]
    for weight in (-1, np.nan, np.inf):
        with pytest.raises(ValueError, match="expected a finite number >= 0"):
            session.tell(0, 1, True, weight=weight)
    session.follow(Constraints([(4, 5), (5, 4), (6, 7)], must_weight=[1, 2, 0]), [(8, 9)])
    assert [*session.links] == [(4, 5, 1, 1.0), (5, 4, 1, 2.0)]
    assert session.unsure == [(8, 9)]
    with pytest.raises(ValueError, match="20 is not a row number"):
        session.follow(Constraints([(4, 20)]))
    with pytest.raises(ValueError, match="20 is no row"):
        session.follow(Constraints(), [(4, 20)])


def test_a_point_is_set_aside_after_two_answers_that_say_nothing():
    X, _ = points(30)
    session = Session(X, n_clusters=3)
    asked: dict = {}
    for _ in range(20):
        (question,) = session.ask()
        for row in question[:2]:
            asked[row] = asked.get(row, 0) + 1
        session.tell(question.a, question.b, None)
    assert max(asked.values()) == 2
    known = Known(Constraints([(0, 1)]), [(0, 2), (0, 3), (4, 2), (4, 3)])
    assert not known.is_aside(0)  # another answer is about it
    assert known.aside() == [2, 3, 4]
    known.forget(4, 2)
    assert known.aside() == [3]


def test_identical_rows_are_never_compared():
    X, _ = points(20, 2)
    X[10:] = X[:10]
    session = Session(X, n_clusters=2)
    for _ in range(25):
        (question,) = session.ask()
        assert (X[question.a] != X[question.b]).any()
        session.tell(question.a, question.b, None)
        if not session.ask():
            break


def test_neighbourhoods_are_apart_and_the_largest_come_first():
    known = Known(Constraints([(0, 1), (1, 2), (3, 4)], [(0, 3), (5, 0)]))
    assert [sorted(known.members(root)) for root in separate_sets(known)] == [[0, 1, 2], [3, 4]]
    known.tell(5, 4, False)
    assert [sorted(known.members(root)) for root in separate_sets(known)][2] == [5]
    assert len(separate_sets(known, 2)) == 2


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_question_has_an_answer_already(name):
    X, y = points(14, 3)
    session = Session(X, n_clusters=3, strategy=name)
    oracle = label_oracle(np.where(np.arange(14) % 7 == 0, -1, y))  # some it does not know
    seen = set()
    while questions := session.ask(3):
        assert len({frozenset(q[:2]) for q in questions}) == len(questions) <= 3
        for question in questions:
            assert isinstance(question, Question)
            assert question.reason.endswith((".", "?"))
            pair = frozenset(question[:2])
            assert len(pair) == 2
            assert pair not in seen
            seen.add(pair)
            assert session._known.is_open(question.a, question.b)
        question = questions[0]  # the others may follow from the answer
        seen -= {frozenset(q[:2]) for q in questions[1:]}
        session.tell(question.a, question.b, oracle([question[:2]])[0])
    known = session._known
    assert not any(known.is_open(a, b) for a in range(14) for b in range(a))
    assert session.progress().enough
    assert session.ask(5) == []


@pytest.mark.parametrize("name", STRATEGIES)
def test_asked_again_a_session_asks_the_same(name):
    X, y = points(40)
    session = Session(X, n_clusters=3, strategy=name)
    run(session, label_oracle(y, budget=12))
    asked = session.ask(4)
    assert session.ask(4) == asked
    again = Session(X, n_clusters=3, strategy=name)
    again.follow(session.links, session.unsure)
    assert again.ask(4) == asked
    assert_array_equal(again.labels, session.labels)
    question = asked[0]
    session.tell(question.a, question.b, True)
    session.forget(question.b, question.a)
    assert session.ask(4) == asked
    assert_array_equal(again.labels, session.labels)


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "random"])
def test_a_few_answers_find_clusters_that_are_there(name):
    X, y = points(90, 3, std=1.0)
    session = run(Session(X, n_clusters=3, strategy=name), label_oracle(y, budget=25))
    assert adjusted_rand_index(y, session.labels) > 0.95


def test_the_number_of_clusters_need_not_be_known():
    X, y = points(120, 5, std=0.7, seed=3)
    session = run(Session(X), label_oracle(y, budget=40))
    assert len(np.unique(session.labels)) == 5
    assert adjusted_rand_index(y, session.labels) > 0.9


def test_answers_that_cut_across_the_features_are_followed(monkeypatch):
    monkeypatch.setattr("linkwise.query.prepared_data.effort_for", lambda n: "balanced")
    X, _ = points(60, 2, std=0.5)
    y = np.random.default_rng(0).integers(2, size=60)  # nothing to do with X
    session = run(Session(X, n_clusters=2), label_oracle(y))
    assert session.ask() == []
    assert adjusted_rand_index(y, session.labels) > 0.9


def test_single_precision_lists_and_sparse_points_will_do():
    X, y = points(40)
    for data in (X.astype(np.float32), X.tolist(), sparse.csr_matrix(X), X.round().astype(int)):
        session = run(Session(data, n_clusters=3), label_oracle(y, budget=5))
        assert session.labels.shape == (40,)
    assert Session(X.astype(np.float32)).data.features.dtype == np.float32


@pytest.mark.parametrize("n", [2, 3, 5])
def test_few_points_and_equal_points_can_be_asked_about(n):
    for X in (np.zeros((n, 2)), np.arange(n)[:, None] * 1.0):
        for k in (None, 1, 2):
            session = run(Session(X, n_clusters=k), label_oracle(np.arange(n) % 2))
            assert session.ask() == []
            assert session.labels.shape == (n,)


def test_points_beyond_the_core_are_placed_and_may_be_told_about(monkeypatch):
    monkeypatch.setattr("linkwise.query.prepared_data.MOST", 60)
    X, y = points(300, 3, std=1.0)
    session = Session(X, n_clusters=3)
    assert len(session.data.core) == 60
    outside = np.setdiff1d(np.arange(300), session.data.core)
    session.tell(outside[0], outside[1], y[outside[0]] == y[outside[1]])
    run(session, label_oracle(y, budget=25))
    assert adjusted_rand_index(y, session.labels) > 0.95


def test_many_points_are_corrected_at_once_and_refined_later(monkeypatch):
    monkeypatch.setitem(EFFORTS, "fast", EFFORTS["fast"]._replace(rows=100))
    X, y = points(300, 3, std=1.0)
    model = ClusterModel(X, n_clusters=3)
    links = Constraints(must_link=[(0, int(np.flatnonzero(y == y[0])[1]))]).resolve(n=300)
    model.follow(Task(links, [], [], 3))
    model.labels()
    more = links + Constraints(cannot_link=[(0, int(np.flatnonzero(y != y[0])[0]))])
    model.follow(Task(more.resolve(n=300), [], [], 3))
    quick, exact = model.quick_labels()
    assert not exact
    assert adjusted_rand_index(quick, model.labels()) > 0.95
    assert model.quick_labels()[1]


def test_wrong_use_is_refused_in_words():
    X, _ = points(10, 2)
    with pytest.raises(ValueError, match="strategy='nonsense'"):
        Session(X, strategy="nonsense")
    with pytest.raises(ValueError, match="n_clusters=11"):
        Session(X, n_clusters=11)
    session = Session(X)
    for answer, words in (
        ((0, 10, True), "10 is no row"),
        ((-1, 2, True), "-1 is no row"),
        ((3, 3, True), "named twice"),
        ((0, 1, "yes"), "same='yes'"),
    ):
        with pytest.raises(ValueError, match=words):
            session.tell(*answer)
    with pytest.raises(ValueError, match="no answer about rows 0 and 1"):
        session.forget(0, 1)
    with pytest.raises(ValueError, match="n=0"):
        session.ask(0)
    assert session.progress().answers == 0


def test_a_strategy_may_be_a_function():
    X, _ = points(10, 2)

    def first(context, n):
        assert isinstance(context, Context)
        return [Question(0, 1, "The first two.")] if context.known.is_open(0, 1) else []

    session = Session(X, strategy=first)
    assert session.ask() == [(0, 1, "The first two.")]
    session.tell(0, 1, None)
    assert session.ask()[0][:2] != (0, 1)  # what is left is drawn at random


def test_progress_counts_what_moved_and_ends():
    X, y = points(60, 3, std=0.5)
    session = Session(X, n_clusters=3)
    assert session.progress()[:2] == (0, 0.0)
    assert not session.progress().enough
    assert session.progress().left
    run(session, label_oracle(y), until_enough=True)
    done = session.progress()
    assert done.enough
    assert done.answers < 60
    assert done.left
    assert adjusted_rand_index(y, session.labels) == 1


def test_progress_is_the_same_whether_or_not_it_was_asked_before():
    X, y = points(60, 3, std=3.0)
    often, once = Session(X, n_clusters=3), Session(X, n_clusters=3)
    changed = []
    for number in range(25):
        (question,) = often.ask()
        same = bool(y[question.a] == y[question.b])
        for session in (often, once):
            session.tell(question.a, question.b, same)
        if number == 15:
            often.tell(0, 1, None)
            once.tell(0, 1, None)
        changed.append(often.progress().changed)
    assert often.progress() == once.progress()
    assert max(changed) > 0


def test_moved_does_not_depend_on_the_names_of_clusters():
    old = np.array([0, 0, 1, 1, 2, 2])
    assert moved(old, old + 7) == 0
    assert moved(old, np.array([4, 4, 4, 1, 0, 0])) == pytest.approx(1 / 6)


def test_oracles_know_a_table_keep_a_budget_and_err_at_a_rate():
    y = np.array([0, 0, 1, -1])
    assert label_oracle(y)([(0, 1), (0, 2), (0, 3)]) == [True, False, None]
    oracle = label_oracle(y, budget=2)
    oracle([(0, 1), (1, 2)])
    assert oracle.left == 0
    with pytest.raises(OutOfBudget, match="1 questions, but only 0"):
        oracle([(0, 2)])
    pairs = [(a, b) for a in range(60) for b in range(a)]
    wrong = Oracle(lambda a, b: True, error=0.1, random_state=1)
    share = np.mean([not same for same in wrong(pairs)])
    assert 0.07 < share < 0.13
    assert wrong(pairs) == wrong([(b, a) for a, b in pairs])  # the same, whenever it is asked
    with pytest.raises(ValueError, match="error=2"):
        Oracle(lambda a, b: True, error=2)


@pytest.mark.parametrize("answer", ["no", "", float("nan"), 2, [True]])
def test_an_answer_that_is_neither_yes_nor_no_is_refused(answer):
    with pytest.raises(ValueError, match=r"the oracle answered .* about rows 0 and 1"):
        Oracle(lambda a, b: answer)([(0, 1)])
    assert label_oracle([0.0, np.nan, 0.0])([(0, 1), (0, 2)]) == [None, True]


def test_an_oracle_may_answer_in_batches_and_a_person_in_words():
    calls = []

    def batch(pairs):
        calls.append(len(pairs))
        return [a % 2 == b % 2 for a, b in pairs]

    assert Oracle(batch, batch=True)([(0, 2), (0, 1)]) == [True, False]
    assert calls == [2]
    with pytest.raises(ValueError, match="gave 0 answers to 1 questions"):
        Oracle(lambda pairs: [], batch=True)([(0, 1)])
    words = iter(["s", " Different ", "", "SAME"])
    assert person(lambda a, b: next(words))([(0, 1)] * 4) == [True, False, None, True]


def test_telling_equals_the_dense_formula():
    rng = np.random.default_rng(1)
    U, doubt = rng.standard_normal((12, 4)), rng.random(12)
    A = np.diag(rng.random(4) + 0.5)
    field = Field(U, np.linalg.inv(A))
    C = U @ np.linalg.inv(A) @ U.T
    assert_allclose(variance_reduction(field, doubt), (C**2 @ doubt) / (1 + np.diag(C)))
    more = seen_too(field, 5)
    assert_allclose(more.inverse, np.linalg.inv(A + np.outer(U[5], U[5])))
    assert variance_reduction(more, doubt)[5] < variance_reduction(field, doubt)[5]


def test_label_changes_count_what_one_label_would_move():
    field = Field(np.ones((4, 1)), np.array([[10.0]]))  # all points move together
    q = np.array([[0.6, 0.4]] * 4)
    step = 10 / 11
    assert np.argmax(q[0] + step * (np.array([0, 1]) - q[0])) == 1
    assert label_changes(field, q, 0, 2) == pytest.approx(0.4)  # with the probability of class 1


def test_points_alone_and_points_on_the_boundary_stand_out():
    v = np.concatenate((np.linspace(-1, -0.9, 20), [-0.05], np.linspace(0.9, 1, 20), [3.0]))
    found = along(v)
    assert set(np.argsort(-found)[:2]) <= {20, 41, 19}


def test_cobras_ends_with_the_truth_and_counts_no_cluster_in_advance(prepared):
    shapes, y = prepared
    procedure = Cobras(shapes.features, shapes.core, 0)
    generator = procedure.run()
    pair, asked = next(generator), 0
    while pair is not None:
        asked += 1
        try:
            pair = generator.send(bool(y[pair[0]] == y[pair[1]]))
        except StopIteration:
            pair = None
    assert adjusted_rand_index(y, procedure.labels(len(y))) == 1
    assert asked < 60 * 59 / 2


def test_a_split_keeps_every_point_once():
    X = np.random.default_rng(0).standard_normal((30, 2))
    parts = split(X, np.arange(30), 4, 0)
    assert_array_equal(np.sort(np.concatenate([part.members for part in parts])), np.arange(30))
    assert all(part.representative in part.members for part in parts)
    assert len(split(np.zeros((5, 2)), np.arange(5), 2, 0)) == 1


def test_labels_do_not_depend_on_the_order_of_consistent_answers(prepared):
    shapes, y = prepared
    rng = np.random.default_rng(2)
    pairs = rng.integers(60, size=(20, 2))
    answers = [(int(a), int(b), bool(y[a] == y[b])) for a, b in pairs if a != b]
    labels = shapes.cluster(links_of(answers), 3).labels
    backwards = shapes.cluster(links_of(answers[::-1]), 3).labels
    assert adjusted_rand_index(labels, backwards) == 1


def test_one_wrong_answer_does_not_bring_clusters_together(prepared):
    shapes, y = prepared
    a, b = int(np.argmax(y == 0)), int(np.argmax(y == 1))
    links = Constraints([(a, b)])
    for z, hub in ((0, a), (1, b)):
        links += Constraints([(hub, int(i)) for i in np.flatnonzero(y == z)[1:6]])
    labels = shapes.cluster(links, 3).labels
    assert adjusted_rand_index(y, labels) > 0.8


@pytest.mark.parametrize("k", [1.5, True, 0, 99, "3"])
def test_a_number_of_clusters_is_a_whole_number_of_them(k):
    with pytest.raises(ValueError, match=r"n_clusters=.*whole number in 1\.\.20"):
        Session(np.random.default_rng(0).normal(size=(20, 2)), n_clusters=k)


def test_an_oracle_has_a_label_for_every_row():
    with pytest.raises(ValueError, match=r"y has 3 labels, none for row 7"):
        label_oracle([0, 1, 0])([(0, 7)])


def test_a_marked_row_is_not_asked_about_and_a_stray_is_in_no_cluster(prepared):
    data, y = prepared
    session = Session(data.X, n_clusters=3)
    before = session.labels
    marked = {}
    for mark in ("unclear", "stray"):
        (question,) = session.ask()
        session.mark(question.a, mark)
        marked[question.a] = mark
    assert session.marks == marked
    assert_array_equal(
        np.flatnonzero(session.labels < 0), [a for a in marked if marked[a] == "stray"]
    )
    for _ in range(15):
        (question,) = session.ask()
        assert not {question.a, question.b} & set(marked)
        session.tell(question.a, question.b, y[question.a] == y[question.b])
    assert session.progress().answers == 17
    again = Session(data.X, n_clusters=3)
    again.follow(session.links, marks=marked)
    assert again.ask() == session.ask()
    for row in marked:
        session.mark(row, None)
    session.follow(Constraints())
    assert_array_equal(session.labels, before)
    with pytest.raises(ValueError, match="expected one of unclear, stray"):
        session.mark(0, "odd")
    with pytest.raises(ValueError, match="60 is no row"):
        session.mark(60, "stray")


def test_the_second_row_of_a_question_is_typical_and_changes(prepared):
    data, y = prepared
    session = Session(data.X, n_clusters=3)
    shown = []
    for _ in range(40):
        (question,) = session.ask()
        shown.append(question.b)
        session.tell(question.a, question.b, y[question.a] == y[question.b])
    late = np.array(shown[15:])
    assert len(set(late.tolist())) >= 6  # two or more for each of three clusters
    away = np.linalg.norm(data.X - np.array([data.X[y == z].mean(axis=0) for z in y]), axis=1)
    for z in range(3):
        assert away[late[y[late] == z]].max() < np.quantile(away[y == z], 0.9)


def test_examples_are_members_and_the_typical_ones_lie_further_inside(prepared):
    data, _ = prepared
    session = Session(data.X, n_clusters=3)
    session.mark(0, "stray")
    labels, found = session.labels, session.examples(4)
    assert sorted(found) == [0, 1, 2]
    for label, (typical, borderline) in found.items():
        assert (labels[typical + borderline] == label).all()
        assert not set(typical) & set(borderline)
        X = session.data.features
        means = np.array([X[labels == z].mean(axis=0) for z in range(3)])
        away = np.linalg.norm(X[:, None] - means, axis=2)
        gap = np.delete(away, label, axis=1).min(axis=1) - away[:, label]
        assert gap[typical].min() > gap[borderline].max()


@given(st.floats(0, 1), st.floats(0.01, 0.99), st.integers(0, 500), st.integers(2, 20))
def test_doubt_falls_with_answers_and_grows_with_contradictions(d, u, m, k):
    found = expected_error(d, u, m, k)
    assert 0 < found < 1
    assert expected_error(d, u, m + 10, k) < found
    assert expected_error(d, min(u + 0.005, 0.995), m, k) > found
    assert expected_error(min(d + 0.1, 1), u, m, k) >= found
    assert expected_error(d, u, m, 1) == 0


def test_answers_that_contradict_the_partition_raise_the_doubt(prepared):
    data, y = prepared
    sure, unsure = (Session(data.X, n_clusters=3) for _ in range(2))
    for a in range(0, 40, 2):
        same = bool(y[a] == y[a + 1])
        sure.tell(a, a + 1, same)
        unsure.tell(a, a + 1, same if a % 4 else not same)
    assert unsure.progress().expected > 1.2 * sure.progress().expected


def test_a_cluster_of_one_row_has_one_typical_row():
    found = examples(np.array([[0.0], [1], [9]]), np.array([0, 0, 1]))
    assert found[1] == ([2], [])
    assert examples(np.zeros((2, 1)), np.array([-1, -1])) == {}


def answered(session, y, question):
    """Answer a question of any kind rightly; return how many rows were looked at."""
    if isinstance(question, SetQuestion):
        kept = question.rows[0]
        session.tell_set(question.rows, [r for r in question.rows if y[r] != y[kept]])
    elif isinstance(question, LabelQuestion):
        like = [a for a in question.anchors if y[a] == y[question.row]]
        session.tell_label(question.row, question.anchors, like[0] if like else None)
    else:
        session.tell(question.a, question.b, y[question.a] == y[question.b])


def test_wider_questions_are_asked_when_they_tell_more_and_answers_are_links():
    X, y = points(90, 4, std=3.0)
    session = Session(X, n_clusters=4)
    kinds = set()
    for _ in range(12):
        question = session.ask_widely()
        kinds.add(type(question))
        answered(session, y, question)
    assert kinds & {LabelQuestion, SetQuestion}
    assert not session.links.violated(y).any()
    assert session.context.known.contradicted == []
    assert adjusted_rand_index(y, session.labels) > 0.6


def test_a_label_and_a_set_mean_the_pairs_that_they_say(prepared):
    session = Session(prepared[0].X, n_clusters=3)
    session.tell_label(0, [3, 5], 5)
    session.tell_label(1, [3, 5], None)
    session.tell_set([10, 11, 12, 13], [12])
    known = session.context.known
    assert known.relation(0, 5) is True
    assert [known.relation(1, a) for a in (3, 5)] == [False, False]
    assert [known.relation(10, b) for b in (11, 13)] == [True, True]
    assert [known.relation(12, b) for b in (10, 11, 13)] == [False] * 3
    with pytest.raises(ValueError, match="expected one of the anchors"):
        session.tell_label(0, [3, 5], 4)
    with pytest.raises(ValueError, match="at least one of them left"):
        session.tell_set([1, 2], [1, 2])


def test_more_doubt_makes_a_wider_question_worth_more():
    assert entropy(np.full(4, 0.25)) == 2
    p = np.linspace(0.5, 1, 6)
    assert (np.diff(in_or_out(p)) < 0).all()
    assert in_or_out(np.array(0.5)) == 1


def test_answers_unsure_are_counted_for_each_point_as_they_come_and_go():
    rng = np.random.default_rng(0)
    known = Known(unsure=[(3, 1), (1, 3), (1, 2)])
    for a, b, same in rng.integers(0, [6, 6, 4], (300, 3)).tolist():
        if a == b:
            continue
        if same == 3:
            known.forget(a, b)
        else:
            known.tell(a, b, [True, False, None][same])
        known = known.copy()
        expected = Counter(point for pair in known.unsure for point in pair)
        assert known.unsure_of == expected


@settings(deadline=None, max_examples=60)
@given(ANSWERS, st.lists(WEIGHTS, min_size=25, max_size=25))
def test_answers_added_one_by_one_are_as_if_all_were_given_at_once(answers, weights):
    known, told = Known(), []
    for (a, b, same), weight in zip(answers, weights, strict=False):
        known.add(a, b, same, weight)
        told += [] if same is None else [(a, b, same, weight)]
    at_once = Known(links_of(told), [answer[:2] for answer in answers if answer[2] is None])
    assert vars(known) == vars(at_once)
    assert_array_equal(known.unsure_pairs, np.array(list(known.unsure)).reshape(-1, 2))


def test_a_session_follows_more_answers_as_it_follows_them_all(prepared):
    X, y = points()
    session, again = Session(X), Session(X)
    rng = np.random.default_rng(0)
    links, unsure, marks = [], [], {}
    for step in range(60):
        a, b = rng.choice(len(X), 2, replace=False).tolist()
        if step % 3:
            links.append((a, b, bool(y[a] == y[b])))
        else:
            unsure.append((a, b))
        if step % 20 == 19:
            marks = {**marks, a: "unclear"}
            links.pop(0)  # as after an undo
        if step == 30:
            session.tell(0, 1, True)  # it is replaced
        session.follow(links_of(links), unsure, marks)
        again._followed = None
        again.follow(links_of(links), unsure, marks)
        assert vars(session._known) == vars(again._known)


def test_a_session_follows_arrays_of_unsure_pairs():
    session = Session(points()[0])
    for count in (2, 3):
        session.follow(Constraints(), np.array([(0, 1), (2, 3), (4, 5)])[:count])
    assert session.unsure == [(0, 1), (2, 3), (4, 5)]


def test_a_row_is_compared_with_no_neighbourhood_that_is_known_to_be_its_own_or_not(prepared):
    data, y = prepared
    rng = np.random.default_rng(0)
    for _ in range(5):
        pairs = [rng.choice(data.n, 2, replace=False).tolist() for _ in range(25)]
        unsure = [rng.choice(data.n, 2, replace=False).tolist() for _ in range(40)]
        known = Known(links_of([(a, b, bool(y[a] == y[b])) for a, b in pairs]), unsure)
        sets = neighbourhoods_of(Context(data, known, 3), 0, exact=True)
        said = {frozenset(pair) for pair in unsure}
        for z, members in enumerate(sets.members):
            for i, row in enumerate(sets.rows.tolist()):
                with_it = known.members(row)
                inside = any(row in others for others in sets.members)
                doubt = any(frozenset((a, b)) in said for a in with_it for b in members.tolist())
                open_ = known.relation(row, members[0]) is None and not doubt
                assert sets.free[i, z] == (open_ and not inside and not known.is_aside(row))


def test_answers_about_rows_that_are_not_learnt_from_leave_the_others_alone(monkeypatch):
    fast = EFFORTS["fast"]._replace(rows=40)
    monkeypatch.setitem(EFFORTS, "fast", fast)
    X, y = points(n=60)
    session = Session(X, n_clusters=3)
    sample = session.data.plain.models.rows
    left_out = np.setdiff1d(np.arange(60), sample)
    assert len(left_out) == 20
    before = session.ask(3)
    for a, b in pairwise([*left_out.tolist(), 59, 0, 58, 1]):
        if a != b:
            session.tell(a, b, bool(y[a] == y[b]))
            questions = session.ask(3)
            assert {row for question in questions for row in question[:2]} <= set(sample.tolist())
            session.ask_widely()
    for link in list(session.links):
        session.forget(*link[:2])
    assert session.ask(3) == before


def test_questions_after_many_answers_are_chosen_by_some_of_them(prepared, monkeypatch):
    data, y = prepared
    rng = np.random.default_rng(0)
    pairs = [rng.choice(data.n, 2, replace=False).tolist() for _ in range(300)]
    known = Known(links_of([(a, b, bool(y[a] == y[b])) for a, b in pairs]))
    every = fit(data, known, 3)
    monkeypatch.setattr("linkwise.query.model.RANKED", 30)
    monkeypatch.setattr("linkwise.query.model.LEARNT", 60)
    some = fit(data, known, 3)
    assert adjusted_rand_index(every.q.argmax(axis=1), some.q.argmax(axis=1)) > 0.95
    assert some.known.n_answers == known.n_answers
