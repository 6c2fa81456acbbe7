"""Cells in AnnData objects: the clusters, their colours and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import Constraints, COPKMeans, ExhaustivePropagation, sample_pairs
from linkwise.tl import cluster, links_of_labels

anndata = pytest.importorskip("anndata")


@pytest.fixture
def cells(blobs):
    """Points of the blobs as cells, with a graph, and labels of a few of them."""
    from scipy import sparse

    X, y = blobs
    near = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    graph = sparse.csr_matrix(np.exp(-near / np.median(near)))
    adata = anndata.AnnData(X.copy())
    adata.obs_names = [f"cell{i}" for i in range(len(X))]
    adata.obsm["X_pca"] = X.copy()
    adata.obsp["connectivities"] = graph
    adata.uns["neighbors"] = {"connectivities_key": "connectivities"}
    marked = np.array([f"type {c}" for c in y], dtype=object)
    marked[20:] = "Unknown"
    adata.obs["marker"] = marked
    return adata, y


def by_name(adata, links):
    names = np.array(adata.obs_names, dtype=object)
    a, b, sign, _ = links.arrays()
    return Constraints.from_table({"id_a": names[a], "id_b": names[b], "kind": sign})


def test_links_name_cells(cells):
    adata, y = cells
    links = by_name(adata, sample_pairs(y, 30, random_state=0))
    k = int(y.max()) + 1
    cluster(adata, links, estimator=COPKMeans(k, random_state=0), key_added="found")
    labels = adata.obs["found"]
    assert labels.dtype == "category"
    assert list(labels.cat.categories) == [str(c) for c in range(k)]
    ids = list(adata.obs_names)
    assert not links.resolve(ids).violated(labels.cat.codes.to_numpy()).any()
    about = adata.uns["found"]
    assert (about["must_links"], about["cannot_links"]) == (links.n_must, links.n_cannot)
    assert about["broken"] == 0
    assert about["params"]["use_rep"] == "X_pca"
    assert len(adata.uns["found_colors"]) == k


def test_labels_by_marker_genes_are_links(cells):
    adata, y = cells
    links = links_of_labels(adata, "marker")
    assert set(links.ids) == set(adata.obs_names[:20])
    labels = np.where(np.arange(len(y)) < 20, y, -1)
    assert links == by_name(adata, Constraints.from_labels(labels, pairs="spanning"))
    adata.obs["marker"] = adata.obs["marker"].where(adata.obs["marker"] != "Unknown")
    adata.obs["marker"] = adata.obs["marker"].astype("category")
    assert links_of_labels(adata, "marker") == links
    k = int(y.max()) + 1
    cluster(adata, "marker", estimator=COPKMeans(k, random_state=0))
    assert not links.resolve(list(adata.obs_names)).violated(adata.obs["linkwise"].cat.codes).any()
    assert adata.uns["linkwise"]["params"]["links"] == "marker"


@pytest.mark.parametrize("named", [{"neighbors_key": "neighbors"}, {"obsp": "connectivities"}])
def test_a_graph_gives_what_the_estimator_gives(cells, named):
    adata, y = cells
    links, k = sample_pairs(y, 40, random_state=0), int(y.max()) + 1
    cluster(adata, by_name(adata, links), n_clusters=k, **named)
    model = ExhaustivePropagation(k, affinity="precomputed", random_state=0)
    model.fit(adata.obsp["connectivities"], constraints=links)
    assert_array_equal(adata.obs["linkwise"].astype(int), model.labels_)
    assert adata.uns["linkwise"]["params"]["obsp"] == "connectivities"


def test_the_default_finds_the_number_of_clusters_and_probabilities(cells):
    adata, y = cells
    links = by_name(adata, sample_pairs(y, 40, random_state=0))
    given = adata.copy()
    found = cluster(adata, links, copy=True)
    assert len(found.obs["linkwise"].cat.categories) == y.max() + 1
    assert found.obs["linkwise_probability"].between(0, 1).all()
    assert "linkwise" not in adata.obs
    assert_array_equal(adata.obsm["X_pca"], given.obsm["X_pca"])


def test_the_result_goes_through_a_file(cells, tmp_path):
    adata, y = cells
    cluster(adata, "marker", estimator=COPKMeans(int(y.max()) + 1, random_state=0))
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert_array_equal(again.obs["linkwise"], adata.obs["linkwise"])
    assert_array_equal(again.uns["linkwise_colors"], adata.uns["linkwise_colors"])
    assert again.uns["linkwise"]["params"] == adata.uns["linkwise"]["params"]


def test_many_clusters_leave_the_colours_to_scanpy(cells):
    adata, _ = cells
    adata.uns["linkwise_colors"] = np.array(["#000000"])  # of an earlier result
    cluster(adata, estimator=COPKMeans(17, random_state=0))
    assert "linkwise_colors" not in adata.uns


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"links": "cell_type"}, "adata.obs has no such column of labels; it has marker"),
        ({"links": ([("cell0", "cell999")], [])}, "cell999"),
        ({"use_rep": "X_scvi"}, "use_rep='X_scvi': adata.obsm has X_pca"),
        ({"use_rep": "X_pca", "obsp": "connectivities"}, "pass one of them"),
        ({"neighbors_key": "other"}, "adata.uns has no such key"),
        ({"obsp": "distances"}, "adata.obsp has connectivities, and no 'distances'"),
        ({"obsp": "connectivities"}, "n_clusters is needed to cluster a graph"),
        ({"estimator": COPKMeans(2), "n_clusters": 3}, "set it in estimator instead"),
        ({"estimator": COPKMeans(2), "obsp": "connectivities"}, 'affinity="precomputed" for a'),
    ],
)
def test_what_cannot_be_used_is_refused(cells, options, message):
    adata, _ = cells
    with pytest.raises(ValueError, match=message):
        cluster(adata, **options)
    assert list(adata.obs) == ["marker"]


def test_only_anndata_with_unique_names_is_taken(cells):
    adata, _ = cells
    with pytest.raises(TypeError, match="must be an AnnData object, got ndarray"):
        cluster(adata.X)
    adata.obs_names = ["a"] * adata.n_obs
    with pytest.raises(ValueError, match="obs_names_make_unique"):
        cluster(adata, n_clusters=2)


@pytest.mark.filterwarnings("ignore::Warning")  # of scanpy about other libraries
def test_scanpy_draws_the_clusters_of_blood_cells(tmp_path):
    """The data that scanpy ships: links from labels of one cell in ten, its graph, its plots."""
    scanpy = pytest.importorskip("scanpy")
    from sklearn.metrics import adjusted_rand_score

    adata = scanpy.datasets.pbmc68k_reduced()
    truth = adata.obs["bulk_labels"].astype(str).to_numpy()
    some = np.random.default_rng(0).choice(adata.n_obs, 70, replace=False)
    adata.obs["marker"] = None
    adata.obs.iloc[some, adata.obs.columns.get_loc("marker")] = truth[some]
    k = len(set(truth))
    cluster(adata, "marker", neighbors_key="neighbors", n_clusters=k)
    cluster(adata, neighbors_key="neighbors", n_clusters=k, key_added="plain")
    others = np.setdiff1d(np.arange(adata.n_obs), some)
    linked, plain = (
        adjusted_rand_score(truth[others], adata.obs[key].iloc[others])
        for key in ("linkwise", "plain")
    )
    assert linked > plain + 0.05
    figure = scanpy.pl.umap(adata, color="linkwise", show=False, return_fig=True)
    figure.savefig(tmp_path / "umap.png")
    scanpy.tl.rank_genes_groups(adata, "linkwise", method="t-test")
    assert set(adata.uns["rank_genes_groups"]["names"].dtype.names) == set(
        adata.obs["linkwise"].cat.categories
    )
