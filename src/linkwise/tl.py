"""Tools for AnnData objects in the style of scanpy: results go into the object.

    linkwise.tl.cluster(adata, links=..., n_clusters=8)
    scanpy.pl.umap(adata, color="linkwise")

A cell is called by its name in ``obs_names``. Nothing here imports anndata or scanpy.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils._tags import get_tags

from linkwise._typing import Array, RandomState
from linkwise.choice import LinkClustering
from linkwise.constraints import Constraints, as_constraints
from linkwise.constraints.convert import ConstraintsLike
from linkwise.estimators import ExhaustivePropagation
from linkwise.plot import PALETTE

__all__ = ["cluster", "links_of_labels"]

STRAY = "#bbbbbb"  # the colour of cells in no cluster
UNKNOWN = ("", "unknown", "unassigned", "nan", "none")  # categories that say nothing, in lower case


def links_of_labels(adata: Any, column: str, *, unknown: Iterable[Any] = UNKNOWN) -> Constraints:
    """Return the constraints of cells that marker genes, or a person, have given a label.

    Cells of one label belong together, and cells of two labels do not. Cells without a label say
    nothing.

    Parameters
    ----------
    adata : AnnData
    column : str, a column of ``obs``; a cell has no label where it is missing or `unknown`
    unknown : texts that stand for no label, in any case

    Returns
    -------
    Constraints by the names of the cells: a chain through each label and a cannot-link between
    each two labels, which imply all other pairs
    """
    if column not in adata.obs:
        raise ValueError(
            f"links={column!r}: adata.obs has no such column of labels; it has "
            f"{', '.join(map(str, adata.obs.columns)) or 'none'}. Links between cells are "
            "passed as Constraints"
        )
    nothing = {str(value).lower() for value in unknown}
    labels = [
        None if value is None or value != value or str(value).lower() in nothing else str(value)
        for value in adata.obs[column].astype(object)
    ]
    if len(set(labels) - {None}) < 1:
        raise ValueError(f"links={column!r}: no cell has a label in this column of adata.obs")
    return Constraints.from_labels(
        np.array(labels, dtype=object), pairs="spanning", sample_id=cell_names(adata)
    )


def cell_names(adata: Any) -> Array:
    """Return the names of the cells, distinct, (n,)."""
    names = np.array([str(name) for name in adata.obs_names], dtype=object)
    if len(set(names.tolist())) < len(names):
        raise ValueError(
            "adata.obs_names are not unique, so links cannot name cells; call "
            "adata.obs_names_make_unique()"
        )
    return names


def points_of(adata: Any, use_rep: str | None) -> tuple[Any, str]:
    """Return the points to cluster and their name: ``obsm[use_rep]``, or ``X``."""
    if use_rep is None:
        use_rep = "X_pca" if "X_pca" in adata.obsm else "X"
    if use_rep == "X":
        return adata.X, use_rep
    if use_rep not in adata.obsm:
        raise ValueError(
            f"use_rep={use_rep!r}: adata.obsm has {', '.join(adata.obsm) or 'nothing'}; name one "
            "of these or 'X', or compute it, for example by scanpy.pp.pca"
        )
    return np.asarray(adata.obsm[use_rep]), use_rep


def graph_of(adata: Any, neighbors_key: str | None, obsp: str | None) -> tuple[Any, str]:
    """Return the graph of neighbours and its name in ``obsp``."""
    if obsp is None:
        if neighbors_key not in adata.uns:
            raise ValueError(
                f"neighbors_key={neighbors_key!r}: adata.uns has no such key; compute the "
                "neighbours by scanpy.pp.neighbors"
            )
        obsp = adata.uns[neighbors_key].get("connectivities_key", "connectivities")
    if obsp not in adata.obsp:
        raise ValueError(
            f"adata.obsp has {', '.join(adata.obsp) or 'nothing'}, and no {obsp!r}; compute the "
            "neighbours by scanpy.pp.neighbors"
        )
    return adata.obsp[obsp], obsp


def default_estimator(graph: bool, n_clusters: Any, random_state: RandomState) -> Any:
    """Return the estimator of points, or of a graph."""
    if not graph:
        return LinkClustering(n_clusters, random_state=random_state)
    if n_clusters is None:
        raise ValueError(
            "n_clusters is needed to cluster a graph; without a graph, by use_rep, it is found"
        )
    return ExhaustivePropagation(n_clusters, affinity="precomputed", random_state=random_state)


def cluster(
    adata: Any,
    links: ConstraintsLike | str = None,
    *,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    n_clusters: int | tuple[int, int] | None = None,
    estimator: Any = None,
    key_added: str = "linkwise",
    random_state: RandomState = 0,
    copy: bool = False,
) -> Any:
    """Cluster cells under constraints, and write the clusters into the object.

    Parameters
    ----------
    adata : AnnData
    links : Constraints, or what `as_constraints` accepts, or str, or None
        Pairs of cells, by their names in ``obs_names``. A str names a column of ``obs`` with the
        labels of some cells, for example by marker genes; see `links_of_labels`.
    use_rep : str or None
        What to cluster: a key of ``obsm``, or "X". Default: "X_pca" if there is one, else "X".
    neighbors_key : str or None
        Cluster the graph of neighbours that ``uns[neighbors_key]`` names instead, as
        `scanpy.pp.neighbors` wrote it ("neighbors" by default there).
    obsp : str or None, a graph by its key in ``obsp``, in place of neighbors_key
    n_clusters : int, (least, most) or None
        Without a graph, None: found. A graph needs a number.
    estimator : a clusterer of linkwise, or None
        Default: `LinkClustering`, and `ExhaustivePropagation` for a graph. It is cloned. For a
        graph it needs ``affinity="precomputed"``; n_clusters and random_state are its own.
    key_added : str, the name of the result
    random_state : int, RandomState or None
    copy : bool, return a changed copy and leave the object alone

    Returns
    -------
    None, or with copy the AnnData. It has

    ``obs[key_added]`` : the cluster of each cell, categories "0", "1", ...; "-1" is in no cluster
    ``obs[key_added + "_probability"]`` : how probable it is, if the estimator says so
    ``uns[key_added]`` : parameters, and how many links were given and are broken
    ``uns[key_added + "_colors"]`` : a colour for each cluster, up to 16 of them
    """
    for name in ("obs", "obsm", "obsp", "uns", "obs_names"):
        if not hasattr(adata, name):
            raise TypeError(f"adata must be an AnnData object, got {type(adata).__name__}")
    graph = neighbors_key is not None or obsp is not None
    if graph and use_rep is not None:
        raise ValueError("use_rep names points and neighbors_key or obsp a graph: pass one of them")
    if estimator is not None and n_clusters is not None:
        raise ValueError("n_clusters goes with the default estimator: set it in estimator instead")
    names = cell_names(adata)
    pairs = links_of_labels(adata, links) if isinstance(links, str) else as_constraints(links)
    X, used = graph_of(adata, neighbors_key, obsp) if graph else points_of(adata, use_rep)
    if estimator is None:
        model = default_estimator(graph, n_clusters, random_state)
    else:
        model = clone(estimator)
        if get_tags(model).input_tags.pairwise != graph:
            wanted = 'affinity="precomputed" for a graph' if graph else "points, not a graph"
            raise ValueError(f"estimator={model}: it must take {wanted}")
    model.fit(X, constraints=pairs, sample_id=names)
    target = adata.copy() if copy else adata
    write(target, key_added, model)
    target.uns[key_added] = {
        "params": {
            "estimator": str(model),
            "obsp" if graph else "use_rep": used,
            **({"links": links} if isinstance(links, str) else {}),
        },
        "must_links": pairs.n_must,
        "cannot_links": pairs.n_cannot,
        "broken": len(model.violations_),
    }
    return target if copy else None


def write(adata: Any, key: str, model: Any) -> None:
    """Write the labels of a fitted model, their probabilities and colours into an AnnData."""
    import pandas

    labels = np.asarray(model.labels_)
    found = np.unique(labels)
    adata.obs[key] = pandas.Categorical(labels.astype(str), categories=found.astype(str))
    if hasattr(model, "probabilities_"):
        adata.obs[f"{key}_probability"] = np.asarray(model.probabilities_).max(axis=1)
    if len(found) <= len(PALETTE):
        colours = [STRAY if c < 0 else PALETTE[c % len(PALETTE)] for c in found.tolist()]
        adata.uns[f"{key}_colors"] = np.array(colours)
    else:
        adata.uns.pop(f"{key}_colors", None)  # scanpy has palettes for so many
