"""New rows in ten steps, beside one fit of all rows.

The rows of a set come in a random order, a tenth at a time, each tenth with its share of right
answers about the rows so far. The first tenth is fitted, the others extend the model. Compared is
one fit of all rows with all these answers. A row is right if its class is the largest in its
cluster; kept right is the share of the right rows that a step leaves right.
"""

import time

import numpy as np

from benchmarks.runs.output import say
from benchmarks.runs.points import read_set
from linkwise import LinkClustering, sample_pairs
from linkwise.evaluate import adjusted_rand_index

STEPS = 10


def right_rows(labels, y):
    """Return which rows have the largest class of their cluster, bool (n,)."""
    table = np.zeros((labels.max() + 1, y.max() + 1))
    np.add.at(table, (labels, y), 1)
    return table.argmax(axis=1)[labels] == y


def answers(y, ends, pairs, seed):
    """Return the answers of every step, a list of Constraints: about the rows so far."""
    return [
        sample_pairs(y[:end], pairs, random_state=STEPS * seed + step)
        for step, end in enumerate(ends.tolist())
    ]


def grow(X, y, steps, model):
    """Return (labels, share kept right at each step, moves, seconds of each step)."""
    ends = np.linspace(0, len(X), STEPS + 1).astype(int)[1:]
    kept, seconds, moves = [], [], 0
    for step, (end, links) in enumerate(zip(ends.tolist(), steps, strict=True)):
        start = 0 if step == 0 else int(ends[step - 1])
        before = right_rows(model.labels_, y[:start]) if step else np.zeros(0, dtype=bool)
        began = time.perf_counter()
        if step == 0:
            model.fit(X[:end], constraints=links)
        else:
            model.extend(X[start:end], constraints=links)
            still = right_rows(model.labels_, y[:end])[:start]
            kept.append(float((still & before).sum() / before.sum()))
            moves += len(model.moves_)
        seconds.append(time.perf_counter() - began)
    return model.labels_, kept, moves, seconds


def run(data, sets, rows, pairs, seed):
    """Print one line for each set."""
    say("set           rows  one fit  ten steps  kept right: least  moved  s fit  s steps  s most")
    for name in sets:
        X, y = read_set(name, data)
        order = np.random.default_rng(seed).permutation(len(X))[:rows]
        X, y = np.asarray(X[order], dtype=float), np.unique(y[order], return_inverse=True)[1]
        ends = np.linspace(0, len(X), STEPS + 1).astype(int)[1:]
        steps = answers(y, ends, int(pairs * len(X) / STEPS), seed)
        model = LinkClustering(int(y.max()) + 1, effort="fast", random_state=seed)
        began = time.perf_counter()
        whole = model.fit(X, constraints=sum(steps[1:], steps[0])).labels_
        once = time.perf_counter() - began
        labels, kept, moves, seconds = grow(X, y, steps, model)
        say(
            f"{name:<12} {len(X):>5}  {adjusted_rand_index(y, whole):7.3f}  "
            f"{adjusted_rand_index(y, labels):9.3f}  {min(kept):17.3f}  {moves:>5}  {once:5.1f}  "
            f"{sum(seconds):7.1f}  {max(seconds):6.1f}"
        )
