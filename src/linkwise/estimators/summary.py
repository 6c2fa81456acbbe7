"""What a notebook shows of a fitted estimator: its clusters, the links kept, and a small map.

It stands below the diagram of scikit-learn, as HTML without scripts or files of its own. The map is
the plane of the two largest principal components of at most SHOWN points: O(SHOWN d) time.
"""

from html import escape
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from linkwise._typing import Array, Floats
from linkwise._wording import counted
from linkwise.arrays import to_host
from linkwise.blocks.rows import on_cluster, take_rows

# Paul Tol's "muted" scheme, then "bright" for more than nine
PALETTE = (
    "#332288", "#88CCEE", "#44AA99", "#117733", "#999933", "#DDCC77", "#CC6677", "#882255",
    "#AA4499", "#777777", "#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377",
)  # fmt: skip
STRAY = "#bbbbbb"  # of points in no cluster
SHOWN = 500  # points on the map
LISTED = 8  # clusters and broken links that are listed
WIDTH, HEIGHT, EDGE = 260, 170, 8  # of the map


def colour(label: int) -> str:
    """Return the colour of a cluster; -1 is no cluster."""
    return STRAY if label < 0 else PALETTE[label % len(PALETTE)]


def plane(X: Any) -> Floats:
    """Return points (m, d) in the plane of their two largest principal components, (m, 2)."""
    X = X if sparse.issparse(X) else X - X.mean(axis=0)
    U, s, _ = randomized_svd(X, 2, random_state=0)
    both = np.zeros((X.shape[0], 2))
    both[:, : len(s)] = U * s
    return both


def map_svg(X: Any, labels: Array) -> str:
    """Return a map of at most SHOWN points, coloured by cluster."""
    rows = np.unique(np.linspace(0, len(labels) - 1, SHOWN).astype(np.int64))
    xy = plane(to_host(take_rows(X, rows)).astype(np.float64))
    low, high = np.percentile(xy, [1, 99], axis=0)
    unit = np.clip((xy - low) / np.where(high > low, high - low, 1), 0, 1)
    at = EDGE + unit * [WIDTH - 2 * EDGE, HEIGHT - 2 * EDGE]
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="{colour(c)}"/>'
        for (x, y), c in zip(at.tolist(), labels[rows].tolist(), strict=True)
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="map of the clusters" '
        f'style="background:#fafafa;border:1px solid #ddd;border-radius:4px">{dots}</svg>'
    )


def cluster_bars(labels: Array) -> str:
    """Return the sizes of the largest clusters as bars."""
    found, size = np.unique(labels, return_counts=True)
    order = np.argsort(-size, kind="stable")
    bars = "".join(
        f'<div style="display:flex;align-items:center;gap:6px;line-height:1.5">'
        f'<span style="width:3.6em;text-align:right">{"in none" if c < 0 else c}</span>'
        f'<span style="display:inline-block;height:9px;width:{max(100 * n / size.max(), 1):.0f}px;'
        f'background:{colour(c)}"></span>{n:,}</div>'
        for c, n in zip(found[order[:LISTED]].tolist(), size[order[:LISTED]].tolist(), strict=True)
    )
    more = len(found) - LISTED
    return bars + (f"<div>and {counted(more, 'smaller cluster')}</div>" if more > 0 else "")


def links_text(model: Any) -> str:
    """Return how many links are kept, and which are not."""
    must, cannot = getattr(model, "_n_links", (0, 0))
    total, broken = must + cannot, model.violations_
    if not total:
        return "no links"
    kinds = f"({must:,} must, {cannot:,} cannot)"
    kept = f"{total - len(broken):,} of {counted(total, 'link')} kept {kinds}"
    if not broken:
        return kept
    lines = [
        f"{pair.a} and {pair.b} are {'apart' if pair.sign > 0 else 'together'}"
        for pair in broken[:LISTED]
    ]
    more = [f"and {len(broken) - LISTED:,} more"] if len(broken) > LISTED else []
    items = "".join(f"<li>{escape(line)}</li>" for line in lines + more)
    return f"<details><summary>{kept}</summary>broken:<ul>{items}</ul></details>"


def summary(model: Any) -> str:
    """Return the HTML about a fitted clusterer; "" for one that is not, or far away."""
    labels, X = getattr(model, "labels_", None), getattr(model, "_fit_X", None)
    if labels is None or X is None or on_cluster(X) is not None:
        return ""
    labels = np.asarray(to_host(labels))
    clusters = len(np.unique(labels[labels >= 0]))
    head = f"{counted(len(labels), 'point')} in {counted(clusters, 'cluster')}"
    return (
        '<div class="linkwise-summary" style="display:flex;flex-wrap:wrap;gap:16px;margin:8px 0;'
        'font-family:sans-serif;font-size:13px">'
        f"{map_svg(X, labels)}"
        f"<div><div><b>{head}</b></div>{cluster_bars(labels)}"
        f'<div style="margin-top:6px">{links_text(model)}</div></div></div>'
    )


class FittedSummary:
    """Adds the summary of a fitted clusterer to scikit-learn's diagram of it."""

    def _summary(self) -> str:
        return summary(self)

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + self._summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        output: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in output:
            output["text/html"] += self._summary()
        return output
