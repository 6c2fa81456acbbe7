"""Laws of the tree of a clustering: nested levels that keep the constraints."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, is_valid_linkage, linkage
from sklearn.datasets import load_iris, make_blobs

from linkwise import (
    ConstrainedAgglomerative,
    Constraints,
    InfeasibleConstraints,
    LinkClustering,
    load,
    save,
)
from linkwise.cli import main
from linkwise.partition import link_tree
from linkwise.partition.k_means import by_appearance


@st.composite
def clusterings(draw, most=12):
    """Points, labels with a stray now and then, and constraints, some of them broken."""
    n = draw(st.integers(2, most))
    X = draw(arrays(float, (n, 2), elements=st.integers(-9, 9)))
    labels = draw(arrays(np.int64, n, elements=st.integers(-1, 3)))
    labels[0] = max(labels[0], 0)
    labels[labels >= 0] = by_appearance(labels[labels >= 0])[0]
    ends = draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2), max_size=8))
    ends = [pair for pair in ends if pair[0] != pair[1]]
    must = draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends)))
    table = [(a, b, 1 if one else -1) for (a, b), one in zip(ends, must, strict=True)]
    return X, labels, Constraints.from_table(table) if table else Constraints()


def levels(tree):
    return {k: tree.cut(k) for k in range(tree.n_roots, tree.n_leaves + 1)}


def nested(fine, coarse):
    """Whether every cluster of the finer labels is in one of the coarser ones."""
    return len({*zip(fine.tolist(), coarse.tolist(), strict=True)}) == len(set(fine.tolist()))


def kept_by(labels, links):
    broken = links.violated(labels)
    strays = (labels[links.ends] < 0).any(axis=1)
    return links.select(~broken & ~strays)


def check_laws(tree, labels):
    found = levels(tree)
    for k, cut in found.items():
        assert set(cut[labels >= 0].tolist()) == set(range(k))
        assert_array_equal(cut < 0, labels < 0)
        if k < tree.n_leaves:
            assert nested(found[k + 1], cut)
    k = len(set(labels[labels >= 0].tolist()))
    assert_array_equal(found[k], labels)
    assert (np.diff(tree.heights) >= 0).all()
    return found


@given(clusterings())
def test_levels_are_nested_and_keep_what_the_labels_keep(problem):
    X, labels, links = problem
    kept = kept_by(labels, links)
    tree = link_tree(X, labels, links)
    for cut in check_laws(tree, labels).values():
        assert not kept.violated(cut).any()


@given(clusterings())
def test_the_tree_ends_only_where_cannot_links_keep_all_clusters_apart(problem):
    X, labels, links = problem
    tree = link_tree(X, labels, links)
    apart = kept_by(labels, links).cannot_link
    top = tree.cut(tree.n_roots)
    between = {frozenset(pair) for pair in top[apart].tolist()}
    assert len(between) == tree.n_roots * (tree.n_roots - 1) // 2


@settings(max_examples=30)
@given(arrays(float, (9, 2), elements=st.integers(-99, 99), unique=True))
def test_without_constraints_and_with_one_cluster_it_is_wards_tree(X):
    X = X + np.random.default_rng(0).random(X.shape)  # no ties
    tree = link_tree(X, np.zeros(9, dtype=int))
    Z = linkage(X, "ward")
    assert_allclose(tree.linkage()[:, 2:], Z[:, 2:])
    for k in range(1, 10):
        same = fcluster(Z, k, "maxclust")
        assert nested(tree.cut(k), same)
        assert nested(same, tree.cut(k))


@given(clusterings(), st.integers(2, 6))
def test_small_clusters_as_leaves_keep_the_laws(problem, leaves):
    X, labels, links = problem
    if leaves >= (labels >= 0).sum():
        return
    tree = link_tree(X, labels, links, leaves=leaves)
    for cut in check_laws(tree, labels).values():
        assert not kept_by(labels, links).violated(cut).any()


@given(clusterings())
def test_the_merges_are_a_linkage_of_scipy(problem):
    X, labels, links = problem
    tree = link_tree(X, labels, links)
    Z = tree.linkage()
    if tree.n_leaves == 1:
        assert Z.shape == (0, 4)
        return
    assert is_valid_linkage(Z)
    assert Z[-1, 3] == tree.n_leaves
    assert np.isinf(Z[:, 2]).sum() == tree.n_roots - 1
    for k in range(tree.n_roots, tree.n_leaves):
        assert_array_equal(Z[: tree.n_leaves - k, :2], tree.children[: tree.n_leaves - k])


def test_more_than_5000_rows_have_1000_leaves_at_most():
    X, y = make_blobs(6000, 4, centers=5, random_state=0)
    links = Constraints.sample(y, 300, random_state=0)
    tree = link_tree(X, y, links)
    assert 900 <= tree.n_leaves <= 1000
    for k in (3, 5, 17, 400):
        if k >= tree.n_roots:
            assert not links.violated(tree.cut(k)).any()
    assert_array_equal(by_appearance(tree.cut(5))[0], by_appearance(y)[0])
    assert len(set(link_tree(X, y, links, leaves=2000).cut(1500).tolist())) == 1500


def test_sparse_rows_and_dense_ones_have_like_trees():
    X, y = make_blobs(60, 3, centers=4, random_state=1)
    dense, thin = link_tree(X, y), link_tree(sparse.csr_array(X), y)
    for k in (1, 2, 4):
        assert_array_equal(dense.cut(k), thin.cut(k))


iris = load_iris().data
few = Constraints(must_link=[(0, 60), (1, 2)], cannot_link=[(0, 1), (50, 120)])


def test_the_tree_of_a_link_clustering_has_its_labels_as_one_level(tmp_path):
    model = LinkClustering(3, effort="fast", random_state=0).fit(iris, constraints=few)
    assert model.tree_ is model.tree_
    for cut in check_laws(model.tree_, model.labels_).values():
        assert not kept_by(model.labels_, few).violated(cut).any()
    save(model, tmp_path / "m.lwmodel")
    again = load(tmp_path / "m.lwmodel")
    for mine, theirs in zip(model.tree_, again.tree_, strict=True):
        assert_allclose(mine, theirs)
    first = model.tree_
    model.refit(few + Constraints(cannot_link=[(0, 149)]))
    assert model.tree_ is not first
    assert len(model.extend(iris[:3] + 0.01).tree_.cut(5)) == 153
    check_laws(model.tree_, model.labels_)


def test_strays_are_in_no_cluster_at_any_level():
    model = LinkClustering(3, effort="fast", outliers=0.1, random_state=0).fit(iris)
    check_laws(model.tree_, model.labels_)
    assert_array_equal(model.tree_.cut(20) < 0, model.labels_ < 0)


def test_agglomerative_clustering_has_the_same_kind_of_tree(tmp_path):
    links = Constraints(must_link=[(0, 60), (1, 2)], cannot_link=[(0, 1)])
    model = ConstrainedAgglomerative(4).fit(iris, constraints=links)
    for cut in check_laws(model.tree_, model.labels_).values():
        assert not links.violated(cut).any()
    assert (model.tree_.n_roots, model.tree_.n_leaves) == (4, 148)
    save(model, tmp_path / "m.lwmodel")
    assert_array_equal(load(tmp_path / "m.lwmodel").tree_.cut(9), model.tree_.cut(9))


def test_a_level_that_cannot_be_is_refused_in_words():
    tree = link_tree(iris, np.arange(150) % 3, Constraints(cannot_link=[(0, 1), (1, 2), (0, 2)]))
    with pytest.raises(InfeasibleConstraints, match="ends at 3 clusters, which cannot-links keep"):
        tree.cut(2)
    for wrong in (0, 151):
        with pytest.raises(ValueError, match=r"expected 1\.\.150, the leaves of the tree"):
            tree.cut(wrong)


def written(tmp_path, X):
    path = tmp_path / "points.csv"
    np.savetxt(path, X, delimiter=",")
    return path


@pytest.mark.parametrize("method", ["link-clustering", "ccskl", "cop-kmeans", "agglomerative"])
def test_fit_writes_one_column_a_level(tmp_path, capsys, method):
    path, out = written(tmp_path, iris), tmp_path / "labels.csv"
    options = ["--effort", "fast"] if method == "link-clustering" else []
    command = ["fit", str(path), "-k", "3", "--method", method, *options, "--levels", "12,3,5"]
    assert main([*command, "-o", str(out)]) == 0
    assert "levels: 3, 5, 12" in capsys.readouterr().err
    assert out.read_text().splitlines()[0] == "row,label,level_3,level_5,level_12"
    _, label, three, five, twelve = np.loadtxt(out, delimiter=",", skiprows=1, dtype=int).T
    assert_array_equal(label, three)
    assert nested(twelve, five)
    assert nested(five, three)
    assert main([*command, "-o", str(tmp_path / "labels.npy"), "--quiet"]) == 0
    assert np.load(tmp_path / "labels.npy").shape == (150, 4)


def test_fit_says_where_cannot_links_end_the_merges(tmp_path, capsys):
    path, links, out = written(tmp_path, iris), tmp_path / "links.csv", tmp_path / "labels.csv"
    links.write_text("a,b,kind\n0,60,cannot\n60,120,cannot\n0,120,cannot\n")
    command = ["fit", str(path), "-k", "3", "--effort", "fast", "--links", str(links)]
    command += ["-o", str(out)]
    assert main([*command, "--levels", "2"]) == 4
    assert "the tree ends at 3 clusters" in capsys.readouterr().err
    assert not out.exists()
    assert main([*command, "--levels", "6", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["levels"], report["tree_ends_at"]) == ([6], 3)
    assert main([*command, "--levels", "six"]) == 2
    assert main([*command, "--levels", "900", "--force"]) == 3


def test_levels_go_with_new_rows(tmp_path):
    path, model = written(tmp_path, iris[::2]), tmp_path / "m.lwmodel"
    command = ["fit", str(path), "-k", "3", "--effort", "fast", "--save", str(model)]
    assert main([*command, "-o", str(tmp_path / "a.csv")]) == 0
    more, out = written(tmp_path, iris[1::2]), tmp_path / "b.csv"
    assert main(["fit", str(more), "--into", str(model), "--levels", "2,9", "-o", str(out)]) == 0
    found = np.loadtxt(out, delimiter=",", skiprows=1, dtype=int)
    assert found.shape == (150, 4)
    assert nested(found[:, 3], found[:, 2])


def test_a_dendrogram_has_a_line_for_every_merge():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib.figure import Figure

    from linkwise.plot import draw_tree

    links = Constraints(cannot_link=[(0, 60)])
    model = LinkClustering(3, effort="fast", random_state=0).fit(iris, constraints=links)
    axes = Figure().add_subplot()
    draw_tree(axes, model.tree_, 12, levels=(3, 6), title="iris")
    merges = [line for line in axes.lines if len(line.get_xdata()) == 4]
    assert len(merges) == 12 - model.tree_.n_roots
    shown = [int(text.get_text()) for text in axes.get_xticklabels()]
    assert sum(shown) == 150
    draw_tree(Figure().add_subplot(), link_tree(iris[:2], np.array([0, 1])), 30)
