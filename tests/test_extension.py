"""Laws of new rows in a clustering that exists."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from linkwise import (
    CCSKL,
    Constraints,
    COPKMeans,
    InfeasibleConstraints,
    LinkClustering,
    load,
    save,
)
from linkwise.choice.extension import free_rows, match_clusters, staying
from linkwise.cli import main
from linkwise.evaluate import adjusted_rand_index
from linkwise.journal import Journal, describe


def three_blobs(n=90):
    return make_blobs(n, 3, centers=[[0, 0, 0], [9, 9, 9], [-9, 9, -9]], random_state=0)


def fitted(X, n_clusters=3, **options):
    return LinkClustering(n_clusters, effort="fast", random_state=0).fit(X, **options)


X, y = three_blobs()


@given(st.data())
def test_a_row_is_free_if_it_is_new_or_joined_to_a_further_constraint(data):
    n_old, n = 6, 9
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=6))
    pairs = [(a, b) for a, b in pairs if a != b]
    fresh = data.draw(st.integers(0, len(pairs)))
    free = set(free_rows(n_old, n, Constraints(pairs), fresh).tolist())
    reached = {row for pair in pairs[len(pairs) - fresh :] for row in pair}
    while True:
        more = reached | {row for pair in pairs if reached & set(pair) for row in pair}
        if more == reached:
            break
        reached = more
    assert free == reached | set(range(n_old, n))


@given(st.permutations(range(4)), st.integers(0, 2))
def test_clusters_that_are_the_same_are_matched_whatever_their_numbers(order, more):
    labels = np.repeat(np.arange(4), 5)
    found = np.array(order)[labels]
    columns = match_clusters(found, labels, 4 + more, 4)
    assert_array_equal(columns[:4], order)
    assert sorted(columns) == list(range(4 + more))


def test_the_cluster_of_before_becomes_likelier():
    soft = np.array([[0.5, 0.5], [0.6, 0.4], [0.3, 0.7]])
    q = staying(soft, np.array([1, 0]))
    assert q[0, 1] > 0.5
    assert q[1, 0] > 0.6
    assert_array_equal(q[2], soft[2])


@pytest.mark.parametrize("step", [10, 60])  # without and with models learnt again
def test_without_further_constraints_no_old_row_moves(step):
    model = fitted(X[:30])
    before = model.labels_.copy()
    model.extend(X[30 : 30 + step])
    assert_array_equal(model.labels_[:30], before)
    assert model.moves_ == []
    assert adjusted_rand_index(y[: 30 + step], model.labels_) == 1
    assert model.probabilities_.shape == (30 + step, 3)
    assert_array_equal(model.predict(X[: 30 + step]), model.labels_)


def test_a_further_constraint_moves_only_rows_that_it_is_connected_with():
    earlier = Constraints([(0, int(np.flatnonzero(y == y[0])[1]))])
    model = fitted(X[:60], constraints=earlier)
    before = model.labels_.copy()
    other = int(np.flatnonzero(y[:60] != y[0])[0])
    model.extend(X[60:70], constraints=Constraints([(0, other), (0, 61)]).with_weight(50))
    moved = np.flatnonzero(model.labels_[:60] != before)
    assert {move.sample for move in model.moves_} == set(moved.tolist())
    assert set(moved.tolist()) <= set(earlier.ids.tolist()) | {other}
    assert len(moved)
    for move in model.moves_:
        assert move.because
        assert "must be with" in move.reason()
        assert (move.before, move.after) == (before[move.sample], model.labels_[move.sample])


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 1000))
def test_hard_constraints_all_hold_after_each_step(seed):
    links = Constraints.sample(y, 40, random_state=seed)
    last = links.ends.max(axis=1)
    model = LinkClustering(3, effort="fast", respect="hard", random_state=0)
    model.fit(X[:40], constraints=links.select(last < 40))
    model.extend(X[40:60], constraints=links.select((last >= 40) & (last < 60)))
    model.extend(X[60:], constraints=links.select(last >= 60))
    assert model.violations_ == []
    assert not links.violated(model.labels_).any()


def test_new_rows_found_a_new_cluster_with_the_next_number_if_the_number_is_open():
    two = np.flatnonzero(y < 2)
    model = fitted(X[two], n_clusters=(2, 6))
    assert model.n_clusters_ == 2
    before = model.labels_.copy()
    new = X[y == 2]
    links = Constraints(cannot_link=[(0, 60), (int(np.flatnonzero(y[two] != y[two[0]])[0]), 60)])
    model.extend(new, constraints=links + Constraints(cannot_link=[tuple(links.ids[:2])]))
    assert model.n_clusters_ == 3
    assert set(model.labels_[60:].tolist()) == {2}
    assert_array_equal(model.labels_[:60], before)


def test_a_hard_constraint_that_cannot_hold_leaves_the_model_as_it_was():
    model = LinkClustering(2, effort="fast", respect="hard", random_state=0).fit(X[:40])
    before, labels = dict(vars(model)), model.labels_.copy()
    with pytest.raises(InfeasibleConstraints):
        model.extend(X[40:50], constraints=Constraints(cannot_link=[(0, 1), (1, 45), (0, 45)]))
    assert vars(model).keys() == before.keys()
    assert_array_equal(model.labels_, labels)


def test_ids_name_old_and_new_rows():
    names = np.array([f"p{i}" for i in range(90)], dtype=object)
    model = fitted(X[:60], sample_id=names[:60])
    model.extend(X[60:], sample_id=names[60:], constraints=Constraints([("p0", "p70")]))
    with pytest.raises(ValueError, match="'p3' is the id of an old row"):
        model.extend(X[:1], sample_id=["p3"])
    with pytest.raises(ValueError, match="pass one id per new row"):
        model.extend(X[:1])
    with pytest.raises(ValueError, match="ids were passed"):
        fitted(X[:60]).extend(X[60:], sample_id=names[60:])


def test_a_model_from_a_file_extends_as_the_model_itself(tmp_path):
    model = fitted(X[:60])
    save(model, tmp_path / "m.lwmodel")
    again = load(tmp_path / "m.lwmodel")
    links = Constraints([(0, 70)])
    assert_array_equal(
        again.extend(X[60:], constraints=links).labels_,
        model.extend(X[60:], constraints=links).labels_,
    )
    save(model, tmp_path / "grown.lwmodel")
    assert_array_equal(load(tmp_path / "grown.lwmodel").labels_, model.labels_)


@pytest.mark.parametrize("method", [CCSKL, COPKMeans])
def test_other_methods_refuse_new_rows_in_words(method):
    with pytest.raises(TypeError, match="LinkClustering"):
        method(2).extend(X)


def test_the_number_of_clusters_stays_in_its_range():
    model = fitted(X, n_clusters=(4, 6))
    assert 4 <= model.n_clusters_ <= 6
    assert [k for k, _ in model.runners_up_] != []
    scores = [score for _, score in model.runners_up_]
    assert scores == sorted(scores, reverse=True)
    apart = Constraints.from_groups(np.r_[np.zeros(5), np.full(85, -1)])
    assert fitted(X, n_clusters=(2, 6), constraints=apart).n_clusters_ >= 5


@settings(deadline=None, max_examples=6)
@given(st.integers(2, 4), st.integers(0, 3), st.integers(2, 5))
def test_the_number_of_clusters_is_in_its_range_and_as_large_as_groups_force(low, more, apart):
    group = np.r_[np.zeros(apart), np.full(len(X) - apart, -1)]
    links = Constraints.from_groups(group)
    model = fitted(X, n_clusters=(low, low + more), constraints=links)
    assert max(low, min(apart, low + more)) <= model.n_clusters_ <= low + more
    tried = [model.n_clusters_, *(k for k, _ in model.runners_up_)]
    assert len(set(tried)) == len(tried)
    assert all(low <= k <= low + more for k in tried)


@pytest.mark.parametrize("wrong", [(1, 3), (4, 3), (2, 3, 4), (2, 2.5), (2, 200)])
def test_a_range_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="n_clusters="):
        fitted(X, n_clusters=wrong)


def test_rows_are_added_by_the_command_line(tmp_path, capsys):
    def table(name, rows):
        lines = [f"p{i},{','.join(map(str, X[i].round(3)))}" for i in rows]
        (tmp_path / name).write_text("id,a,b,c\n" + "\n".join(lines) + "\n")
        return str(tmp_path / name)

    first, more = table("first.csv", range(60)), table("more.csv", range(60, 90))
    model, out = str(tmp_path / "m.lwmodel"), str(tmp_path / "labels.csv")
    assert main(["fit", first, "-k", "2-4", "--effort", "fast", "--save", model, "-o", out]) == 0
    before = (tmp_path / "labels.csv").read_text().splitlines()
    (tmp_path / "links.csv").write_text("id_a,id_b,kind\np0,p61,cannot\n")
    grown = ["fit", more, "--into", model, "--links", str(tmp_path / "links.csv"), "--force"]
    capsys.readouterr()
    assert main([*grown, "-o", out, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["new"] == 30
    after = (tmp_path / "labels.csv").read_text().splitlines()
    moved = {move["id"] for move in report["moves"]}
    assert [line for line in before if line.split(",")[0] not in moved] == [
        line for line in after[:61] if line.split(",")[0] not in moved
    ]
    assert len(after) == 91
    assert main(["fit", more, "--into", model, "-o", "-"]) == 3  # the ids are old ones
    assert "is the id of an old row" in capsys.readouterr().err
    assert main(["fit", more, "--into", more, "-o", "-"]) == 3
    assert main(["fit", more, "--into", model, "-k", "3"]) == 2


def test_a_project_opens_again_when_rows_with_ids_were_added(tmp_path):
    def opened(ids, name="points.csv"):
        file = tmp_path / name
        file.write_text("id,x\n" + "".join(f"{one},{len(one)}\n" for one in ids))
        data = describe(file, len(ids), ids=True)
        return Journal(tmp_path / "points.linkwise", data=data, ids=ids)

    with opened(["a", "b", "c"]) as journal:
        journal.answer("a", "b", True)
    with pytest.warns(UserWarning, match="has 1 row more"):
        opened(["a", "b", "c", "d"]).close()
    with opened(["a", "b", "c", "d"]) as journal:
        journal.answer("a", "d", False)
        assert journal.state.constraints().n_pairs == 2
    for other in (["a", "b", "c", "e", "f"], ["a", "b", "c"]):  # d is gone
        with pytest.raises(ValueError, match="has changed"):
            opened(other)
    with pytest.raises(ValueError, match="name that file"):
        opened(["a", "b", "c", "d", "e"], name="other.csv")
