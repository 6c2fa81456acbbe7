"""Assign groups to clusters so that no cannot-link is inside one: graph colouring with costs.

The groups are the vertices of a graph, the cannot-links its edges, and the k clusters the colours.
cost (g, k) is the cost of a group in a cluster. Whether k > 2 colours suffice is NP-hard, so three
methods are tried in turn, each slower and more reliable than the one before:

  greedy   the group with the fewest free clusters goes first (DSATUR [1]; ties: most edges, then
           largest regret), into its cheapest free cluster. Succeeds if every group has fewer than
           k edges. O(edges log edges)
  repair   single moves from the labels of greedy, each breaking the fewest edges; moving back is
           forbidden for a while (TabuCol [2])
  search   DSATUR with backtracking, up to the names of the clusters, in each connected part that
           remains after vertices of fewer than k edges are removed repeatedly. Proves
           infeasibility if there is no colouring

The last two stop at a bound. Whether a colouring exists is then unknown.

[1] Brelaz, New methods to color the vertices of a graph, CACM 22, 1979.
[2] Hertz & de Werra, Using tabu search techniques for graph coloring, Computing 39, 1987.
"""

import heapq

import numpy as np
from scipy import sparse

from linkwise.constraints.closure import components

MOVES = 100, 20_000  # of `repair`, for each group and in all: at most about a second
NODES = 20_000  # of `search`: at most a few seconds
TABU = 10, 0.6  # moves for which a move back is forbidden: drawn below, and more per group in
#                 conflict, as Galinier & Hao (J. Comb. Optim. 3, 1999) propose


def neighbours(n, edges):
    """Return for each of n points the list of its neighbours."""
    near: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges.tolist():
        near[a].append(b)
        near[b].append(a)
    return near


def proper(labels, edges):
    """Tell whether no edge has both ends in one cluster."""
    return not np.any(labels[edges[:, 0]] == labels[edges[:, 1]])


def greedy(cost, near):
    """Return labels (g,) by DSATUR; a group without a free cluster takes its cheapest."""
    n = len(cost)
    prefer = np.argsort(cost, axis=1, kind="stable").tolist()
    cost = cost.tolist()
    taken = [0] * n  # clusters that a neighbour has, as bits
    label = [-1] * n

    def key(v):
        free = [c for c in prefer[v] if not taken[v] >> c & 1][:2]
        regret = cost[v][free[1]] - cost[v][free[0]] if len(free) == 2 else 0.0
        return -taken[v].bit_count(), -len(near[v]), -regret, v, taken[v]

    heap = [key(v) for v in range(n)]
    heapq.heapify(heap)
    while heap:
        *_, v, seen = heapq.heappop(heap)
        if label[v] >= 0 or seen != taken[v]:
            continue  # there is a newer entry
        c = next((c for c in prefer[v] if not taken[v] >> c & 1), prefer[v][0])
        label[v] = c
        for u in near[v]:
            if label[u] < 0 and not taken[u] >> c & 1:
                taken[u] |= 1 << c
                heapq.heappush(heap, key(u))
    return np.array(label, dtype=np.int64)


def repair(labels, cost, edges, rng):
    """Return labels without an edge inside a cluster, starting from labels with some, or None."""
    n, k = cost.shape
    a, b = np.r_[edges, edges[:, ::-1]].T
    A = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(n, n))
    one_hot = np.eye(k)[labels]
    inside = A @ one_hot  # (g, k) neighbours in each cluster
    taste = cost - cost.min(axis=1, keepdims=True)
    taste = 0.5 * taste / max(taste.max(), 1e-300)  # less than one edge: only breaks ties
    labels, tabu = labels.copy(), np.zeros((n, k), dtype=np.int64)
    start, neighbour = A.indptr, A.indices
    every = np.arange(n)
    fewest = np.inf
    for move in range(min(MOVES[0] * n, MOVES[1])):
        own = inside[every, labels]
        broken = np.flatnonzero(own)
        if len(broken) == 0:
            return labels
        total = own.sum() / 2
        fewest = min(fewest, total)
        change = inside[broken] - own[broken, None]
        allowed = (tabu[broken] <= move) | (total + change < fewest)
        allowed[np.arange(len(broken)), labels[broken]] = False
        score = np.where(allowed, change + taste[broken], np.inf)
        score += 0.5 * rng.random(score.shape)
        row, c = np.unravel_index(np.argmin(score), score.shape)
        v = broken[row]
        old = labels[v]
        labels[v] = c
        tabu[v, old] = move + 1 + rng.integers(TABU[0]) + int(TABU[1] * len(broken))
        around = neighbour[start[v] : start[v + 1]]
        inside[around, old] -= 1
        inside[around, c] += 1
    return None


def core(near, k):
    """Return the vertices left after removing those of fewer than k edges, and the removed ones."""
    degree = [len(u) for u in near]
    gone = [v for v in range(len(near)) if degree[v] < k]
    away = [d < k for d in degree]
    for v in gone:  # the list grows in the loop
        for u in near[v]:
            degree[u] -= 1
            if degree[u] < k and not away[u]:
                away[u] = True
                gone.append(u)
    return [v for v in range(len(near)) if not away[v]], gone


def _backtrack(near, k, budget):
    """Return (labels of a connected graph or None, nodes of the search tree visited)."""
    n = len(near)
    count = np.zeros((n, k), dtype=np.int64)
    weight = max(len(u) for u in near) + 1
    key = np.array([len(u) for u in near])  # saturation * weight + degree; coloured: negative
    far = weight * (k + 2)
    label = np.full(n, -1)
    stack = [(int(np.argmax(key)), -1, 0)]  # point, the colour it has, colours used before it
    nodes = 0
    while stack and nodes < budget:
        v, c, used = stack.pop()
        if c >= 0:  # undo
            label[v] = -1
            key[v] += far
            for u in near[v]:
                count[u, c] -= 1
                key[u] -= weight * (count[u, c] == 0)
        free = np.flatnonzero(count[v, : min(used + 1, k)] == 0)
        c = next((int(f) for f in free if f > c), -1)
        if c < 0:
            continue
        nodes += 1
        label[v] = c
        key[v] -= far
        for u in near[v]:
            key[u] += weight * (count[u, c] == 0)
            count[u, c] += 1
        stack.append((v, c, used))
        if len(stack) == n:
            return label, nodes
        stack.append((int(np.argmax(key)), -1, max(used, c + 1)))
    return None, nodes


def search(n, edges, k, *, budget=NODES):
    """Return (labels (n,) or None, whether the result is proven)."""
    near = neighbours(n, edges)
    left, gone = core(near, k)
    label = np.full(n, -1)
    inside = np.full(n, -1)
    inside[left] = np.arange(len(left))
    kept = inside[edges][(inside[edges] >= 0).all(axis=1)]
    part = components(len(left), kept)
    for c in range(part.max(initial=-1) + 1):
        rows = np.flatnonzero(part == c)
        number = np.full(len(left), -1)
        number[rows] = np.arange(len(rows))
        found, nodes = _backtrack(
            neighbours(len(rows), number[kept[part[kept[:, 0]] == c]]), k, budget
        )
        if found is None:
            return None, nodes < budget
        label[np.array(left)[rows]] = found
        budget -= nodes
    for v in reversed(gone):
        taken = {label[u] for u in near[v]}
        label[v] = next(c for c in range(k) if c not in taken)
    return label, True


def colour(cost, edges, rng, *, exhaustive=True):
    """Return (labels (g,) or None, whether the result is proven) by greedy, repair and search."""
    labels = greedy(cost, neighbours(len(cost), edges))
    if proper(labels, edges):
        return labels, True
    repaired = repair(labels, cost, edges, rng)
    if repaired is not None:
        return repaired, True
    return search(len(cost), edges, cost.shape[1]) if exhaustive else (None, False)
