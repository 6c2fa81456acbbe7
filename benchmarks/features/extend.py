"""New rows in ten steps, beside one fit of all rows.

The rows of a set come in a random order, a tenth at a time, each tenth with its share of right
answers about the rows so far. The first tenth is clustered, the others are added to the clusters:
of a model by `extend`, or of a project by `linkwise fit --into`. Compared is one fit of all rows
with all these answers. A row is right if its class is the largest in its cluster; kept right is the
share of the right rows that a step leaves right.
"""

import contextlib
import io
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.runs.output import say
from benchmarks.runs.points import read_set
from linkwise import LinkClustering, sample_pairs
from linkwise.cli import main
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


def ends_of(n):
    """Return the number of rows after every step, (STEPS,)."""
    return np.linspace(0, n, STEPS + 1).astype(int)[1:]


class GrowingModel(contextlib.AbstractContextManager):
    """A LinkClustering that gets more rows of X (n, d)."""

    def __init__(self, X, k, seed):
        self.X, self.model = X, LinkClustering(k, effort="fast", random_state=seed)

    def __exit__(self, *_):
        pass

    def add(self, start, end, links):
        """Add rows start..end with further answers; return (labels, number of old rows moved)."""
        if start == 0:
            return self.model.fit(self.X[:end], constraints=links).labels_, 0
        model = self.model.extend(self.X[start:end], constraints=links)
        return model.labels_, len(model.moves_)


class GrowingProject(contextlib.AbstractContextManager):
    """A project of `linkwise label`, in a temporary folder, that gets more rows of X (n, d)."""

    def __init__(self, X, k, seed):
        self.X, self.folder = X, tempfile.TemporaryDirectory()
        self.options = ["-k", str(k), "--seed", str(seed)]

    def __exit__(self, *_):
        self.folder.cleanup()

    def _file(self, name):
        return str(Path(self.folder.name, name))

    def _write_rows(self, name, start, end):
        with open(self._file(name), "w") as file:
            file.write(",".join(["id", *(f"x{j}" for j in range(self.X.shape[1]))]) + "\n")
            for i in range(start, end):
                file.write(",".join([f"r{i}", *map(repr, self.X[i].tolist())]) + "\n")

    def _write_links(self, links):
        with open(self._file("links.csv"), "w") as file:
            file.write("id_a,id_b,kind\n")
            for a, b, sign, _ in links:
                file.write(f"r{a},r{b},{'must' if sign > 0 else 'cannot'}\n")

    def _run(self, *line):
        """Run a command of linkwise; return what it prints."""
        out, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
            failed = main(list(line))
        if failed:
            raise RuntimeError(told.getvalue())
        return out.getvalue()

    def _labels(self):
        return np.loadtxt(
            self._file("labels.csv"), delimiter=",", skiprows=1, usecols=1, dtype=int, ndmin=1
        )

    def add(self, start, end, links):
        """Add rows start..end with further answers; return (labels, number of old rows moved)."""
        data, project, output = map(self._file, ("data.csv", "data.linkwise", "labels.csv"))
        self._write_links(links)
        if start == 0:
            self._write_rows("data.csv", 0, end)
            self._run("label", data, *self.options, "--import", self._file("links.csv"))
            self._run("export", project, "--labels", data, "-o", output)
            return self._labels(), 0
        self._write_rows("more.csv", start, end)
        line = ["fit", self._file("more.csv"), "--into", project, "-o", output, "--force", "--json"]
        report = json.loads(self._run(*line, "--links", self._file("links.csv")))
        return self._labels(), len(report["moves"])


def grow(y, steps, growing):
    """Return (labels, share kept right at each step, moves, seconds of each step)."""
    labels, start, kept, seconds, moves = np.zeros(0, int), 0, [], [], 0
    for end, links in zip(ends_of(len(y)).tolist(), steps, strict=True):
        before = right_rows(labels, y[:start]) if start else np.zeros(0, dtype=bool)
        began = time.perf_counter()
        labels, moved = growing.add(start, end, links)
        seconds.append(time.perf_counter() - began)
        if start:
            still = right_rows(labels, y[:end])[:start]
            kept.append(float((still & before).sum() / before.sum()))
        start, moves = end, moves + moved
    return labels, kept, moves, seconds


def run(data, sets, rows, pairs, seed, project):
    """Print one line for each set."""
    say("set           rows  one fit  ten steps  kept right: least  moved  s fit  s steps  s most")
    for name in sets:
        X, y = read_set(name, data)
        order = np.random.default_rng(seed).permutation(len(X))[:rows]
        X, y = np.asarray(X[order], dtype=float), np.unique(y[order], return_inverse=True)[1]
        k = int(y.max()) + 1
        steps = answers(y, ends_of(len(X)), int(pairs * len(X) / STEPS), seed)
        kind = GrowingProject if project else GrowingModel
        with kind(X, k, seed) as once, kind(X, k, seed) as often:
            began = time.perf_counter()
            whole, _ = once.add(0, len(X), sum(steps[1:], steps[0]))
            fit = time.perf_counter() - began
            labels, kept, moves, seconds = grow(y, steps, often)
        say(
            f"{name:<12} {len(X):>5}  {adjusted_rand_index(y, whole):7.3f}  "
            f"{adjusted_rand_index(y, labels):9.3f}  {min(kept):17.3f}  {moves:>5}  {fit:5.1f}  "
            f"{sum(seconds):7.1f}  {max(seconds):6.1f}"
        )
