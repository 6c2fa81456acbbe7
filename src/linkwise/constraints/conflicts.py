"""Find a small set of pairs that cannot all hold.

No pair can be left out of the set: the others could then all hold.

Three kinds of contradiction, each a question of shortest paths or cliques:

  any number of clusters   a cannot-link whose ends a chain of must-links joins;
                           the smallest has the shortest chain
  two clusters             a cycle with an odd number of cannot-links (Harary's
                           balance theorem): exact. In the double cover, where
                           each point v is two, v and v + n, a must-link joins
                           points of one sheet and a cannot-link crosses, such a
                           cycle through v is a path from v to v + n
  k clusters               k + 1 must-link components with cannot-links between
                           all of them, searched greedily (whether k clusters
                           suffice is graph colouring: None does not prove it)

Contradictions of the first two kinds are detected exactly, in O(m) time. The
smallest is found by two-sided breadth-first searches, each limited to the
length of the best so far. It is exact unless the searches exceed BUDGET; then
it is the best found. For k >= 3 clusters it need not be the smallest, which
would take the smallest clique. Pairs are codes 0..n-1, results are positions in the list
of pairs.
"""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwise._typing import Array
from linkwise.constraints.closure import component_pairs, components

if TYPE_CHECKING:
    from linkwise.constraints.pairs import Constraints

WORDS = 100_000  # pairs that an explanation goes through; only a group implies more
BUDGET = 2_000_000  # edges to visit, a second or two: an error message must not take longer


class Graph(NamedTuple):
    """Adjacency lists: v's neighbours are neighbour[start[v]:start[v + 1]], by edge[...]."""

    start: list[int]
    neighbour: list[int]
    edge: list[int]


def adjacency(n: int, ends: Array) -> Graph:
    """Return the undirected graph of edges (m, 2) on n points."""
    tail, head = ends.T.ravel(), ends[:, ::-1].T.ravel()  # each edge both ways
    order = np.argsort(tail, kind="stable")
    start = np.r_[0, np.cumsum(np.bincount(tail, minlength=n))]
    edge = order % max(len(ends), 1)
    return Graph(start.tolist(), head[order].tolist(), edge.tolist())


def shortest_path(graph: Graph, a: int, b: int, limit: float) -> tuple[list[int] | None, int]:
    """Return (edges of a shortest path a..b with at most limit edges, or None; edges visited)."""
    start, neighbour, edge = graph
    before = {a: (-1, -1)}, {b: (-1, -1)}  # point -> (the point before it, by which edge)
    fronts = [[a], [b]]
    depth = work = 0
    while fronts[0] and fronts[1] and depth < limit:
        side = int(len(fronts[0]) > len(fronts[1]))
        here, there = before[side], before[1 - side]
        grown = []
        for v in fronts[side]:
            work += start[v + 1] - start[v]
            for t in range(start[v], start[v + 1]):
                w = neighbour[t]
                if w not in here:
                    here[w] = v, edge[t]
                    if w in there:
                        return _trace(before[0], w)[::-1] + _trace(before[1], w), work
                    grown.append(w)
        fronts[side] = grown
        depth += 1
    return None, work


def _trace(before: dict[int, tuple[int, int]], v: int) -> list[int]:
    edges = []
    v, e = before[v]
    while e >= 0:
        edges.append(e)
        v, e = before[v]
    return edges


def smallest_path(
    graph: Graph, queries: Array, *, at_least: int, budget: int
) -> tuple[int, list[int]]:
    """Return (i, edges): the shortest of the shortest paths between queries (q, 2), which exist."""
    best: tuple[int, list[int]] = 0, []
    limit = np.inf
    for i, (a, b) in enumerate(queries.tolist()):
        path, work = shortest_path(graph, a, b, limit)
        if path is not None:
            best, limit = (i, path), len(path) - 1
        budget -= work + 10
        if limit < at_least or budget < 0:
            break
    return best


def contradicted(n: int, ends: Array, sign: Array) -> Array:
    """Return which pairs are cannot-links inside a must-link component, bool (m,)."""
    component = components(n, ends[sign > 0])
    return (sign < 0) & (component[ends[:, 0]] == component[ends[:, 1]])


def must_path_conflict(n: int, ends: Array, sign: Array, *, budget: int = BUDGET) -> Array | None:
    """Return a cannot-link and a shortest must-link path between its ends, or None."""
    clash = np.flatnonzero(contradicted(n, ends, sign))
    if not len(clash):
        return None
    must = np.flatnonzero(sign > 0)
    direct = listed_both_ways(n, ends[must], ends[clash])
    clash = clash[np.argsort(~direct, kind="stable")]
    graph = adjacency(n, ends[must])
    i, path = smallest_path(graph, ends[clash], at_least=1 if direct.any() else 2, budget=budget)
    return np.r_[must[path], clash[i]]


def listed_both_ways(n: int, must: Array, cannot: Array) -> Array:
    """Return which cannot-links are must-links as well, bool."""
    must, cannot = np.sort(must, axis=1), np.sort(cannot, axis=1)
    return np.isin(cannot[:, 0] * n + cannot[:, 1], must[:, 0] * n + must[:, 1])


def double_cover(n: int, ends: Array, sign: Array) -> Array:
    """Return the edges (2 m, 2) of the double cover on 2 n points."""
    crossing = (sign < 0) * n
    a, b = ends.T
    return np.stack([np.r_[a, a + n], np.r_[b + crossing, (b + n - crossing)]], axis=1)


def is_contradictory(n: int, ends: Array, sign: Array, *, two: bool = False) -> bool:
    """Tell whether pairs contradict each other: with any number of clusters, or with two."""
    if not two:
        return bool(contradicted(n, ends, sign).any())
    component = components(2 * n, double_cover(n, ends, sign))
    return bool((component[:n] == component[n:]).any())


def odd_cycle_conflict(n: int, ends: Array, sign: Array, *, budget: int = BUDGET) -> Array | None:
    """Return a cycle with an odd number of cannot-links, or None: two clusters suffice."""
    cover = double_cover(n, ends, sign)
    component = components(2 * n, cover)
    cannot = ends[sign < 0]
    direct = listed_both_ways(n, ends[sign > 0], cannot)
    source = cannot[np.argsort(~direct, kind="stable"), 0]  # every such cycle has a cannot-link
    source = source[component[source] == component[source + n]]
    if not len(source):
        return None
    source = np.array(list(dict.fromkeys(source.tolist())))
    graph = adjacency(2 * n, cover)
    queries = np.stack([source, source + n], axis=1)
    _, path = smallest_path(graph, queries, at_least=2 if direct.any() else 3, budget=budget)
    walk = [e % len(ends) for e in path]
    # A walk out and back along a handle uses the handle twice; the cycle is the rest.
    times = Counter(walk)
    return np.array([e for e in walk if times[e] == 1])


def clique_conflict(
    n: int, ends: Array, sign: Array, n_clusters: int, *, budget: int = BUDGET
) -> Array | None:
    """Return pairs that keep n_clusters + 1 components pairwise apart, or None if none was found.

    The pairs are a cannot-link for each two components, and the must-link paths
    inside each component that join the ends of its cannot-links.
    """
    must, cannot = np.flatnonzero(sign > 0), np.flatnonzero(sign < 0)
    component = components(n, ends[must])
    clique = greedy_clique(component_pairs(component, ends[cannot]), n_clusters + 1, budget)
    if clique is None:
        return None
    cannot = cannot[np.isin(component[ends[cannot]], clique).all(axis=1)]
    sides = np.sort(component[ends[cannot]], axis=1)
    _, which = np.unique(sides[:, 0] * n + sides[:, 1], return_inverse=True)
    cannot = cannot[np.argsort(which, kind="stable")]

    used = np.zeros(n, dtype=bool)
    chosen = []
    for links in np.split(
        cannot, np.cumsum(np.bincount(which))[:-1]
    ):  # between two components; ends in use already need no further must-link
        link = links[np.argmax(used[ends[links]].sum(axis=1))]
        used[ends[link]] = True
        chosen.append(link)

    graph = adjacency(n, ends[must])
    joined: list[int] = []
    for c in clique:
        inside = np.flatnonzero(used & (component == c)).tolist()
        joined += joining_edges(graph, inside)
    return np.r_[must[joined], chosen].astype(np.int64)


def joining_edges(graph: Graph, points: list[int]) -> list[int]:
    """Return the edges of a tree of shortest paths from the first of some points to the others."""
    start, neighbour, edge = graph
    first, *others = points
    before, front, missing = {first: (-1, -1)}, [first], set(others)
    while missing and front:
        grown = []
        for v in front:
            for t in range(start[v], start[v + 1]):
                w = neighbour[t]
                if w not in before:
                    before[w] = v, edge[t]
                    grown.append(w)
        missing -= set(grown)
        front = grown
    return list(dict.fromkeys(e for other in others for e in _trace(before, other)))


def greedy_clique(edges: Array, size: int, budget: int) -> list[int] | None:
    """Return the points of a clique of the given size, or None if greedy search finds none."""
    for _ in range(50):  # members have size - 1 neighbours; a few rounds remove most others
        degree = np.bincount(edges.ravel(), minlength=1)
        keep = (degree[edges] >= size - 1).all(axis=1)
        if keep.all():
            break
        edges = edges[keep]
    near: dict[int, set[int]] = {}
    for a, b in edges.tolist():
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    for v in sorted(near, key=lambda v: -len(near[v])):
        clique, candidates = [v], near[v]
        while len(clique) < size <= len(clique) + len(candidates) and budget > 0:
            few = len(candidates) <= 200  # then looking one step ahead is cheap
            inside = {u: len(near[u] & candidates) if few else len(near[u]) for u in candidates}
            u = max(inside, key=lambda u: inside[u])
            clique.append(u)
            budget -= len(candidates) * (len(candidates) if few else 1)
            candidates = candidates & near[u]
        if len(clique) == size:
            return clique
        if budget <= 0:
            return None
    return None


def find_conflict(
    n: int, ends: Array, sign: Array, n_clusters: int | None = None, *, budget: int = BUDGET
) -> Array | None:
    """Return positions of pairs that cannot all hold (in n_clusters clusters), or None."""
    if n_clusters is not None and n_clusters < 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    if n_clusters == 1:
        cannot = np.flatnonzero(sign < 0)
        return cannot[:1] if len(cannot) else None
    if n_clusters == 2:
        return odd_cycle_conflict(n, ends, sign, budget=budget)
    found = must_path_conflict(n, ends, sign, budget=budget)
    if found is None and n_clusters is not None:
        found = clique_conflict(n, ends, sign, n_clusters, budget=budget)
    return found


def explain(
    conflict: "Constraints", *, shown: int = 10, called: Callable[[Any], Any] | None = None
) -> str:
    """Return pairs as a sentence: "b must be with c, c must be with d, but b cannot be with d".

    ``called`` says what an id is called; by default it is the id itself.
    """
    if conflict.n_pairs > WORDS:  # of a group: one of its pairs says as much
        names = [str((called or str)(name)) for name in conflict.ids[: shown // 2].tolist()]
        return f"no two of {len(conflict.ids)} can be together: {', '.join(names)}, ..."
    pairs = list(conflict)
    must = [(p.a, p.b) for p in pairs if p.sign > 0]
    cannot = [(p.a, p.b) for p in pairs if p.sign < 0]
    parts = (
        _phrases(_chained(must), "must be with", "must-links", shown, called or str),
        _phrases(_chained(cannot), "cannot be with", "cannot-links", shown, called or str),
    )
    return ", but ".join(part for part in parts if part)


def _chained(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Turn pairs around so that each begins where the one before it ended."""
    pairs = list(pairs)
    if len(pairs) > 1 and pairs[0][0] in pairs[1] and pairs[0][1] not in pairs[1]:
        pairs[0] = pairs[0][::-1]
    for i in range(1, len(pairs)):
        if pairs[i][1] == pairs[i - 1][1]:
            pairs[i] = pairs[i][::-1]
    return pairs


def _phrases(
    pairs: list[tuple[Any, Any]], verb: str, noun: str, shown: int, called: Callable[[Any], Any]
) -> str:
    text = [f"{called(a)} {verb} {called(b)}" for a, b in pairs]
    if len(text) > shown:
        half = shown // 2
        text[half:-half] = [f"... ({len(text) - 2 * half} more {noun}) ..."]
    return ", ".join(text)
