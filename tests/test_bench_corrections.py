"""The benchmark of corrections: what is drawn is right, and what is counted is what changed."""

import numpy as np
import pytest

from benchmarks.corrections.run import KINDS, drawn, together
from benchmarks.corrections.run import run as measured


@pytest.mark.parametrize("kind", KINDS)
def test_corrections_are_right(kind):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    labels = np.where(rng.random(60) < 0.3, rng.integers(4, size=60), y)
    labels[40:50] = 3
    action, options, named = drawn(kind, labels, y, rng)
    rows = options.get("rows", [])
    assert len(set(y[rows])) <= 1
    assert set(labels[rows]) <= set(named)
    if action == "merge":
        tops = [np.bincount(y[labels == c]).argmax() for c in (options["first"], options["second"])]
        assert tops[0] == tops[1]
    assert drawn(kind, y, y, rng) is None  # nothing is wrong


def test_rows_change_if_their_neighbours_do_and_not_if_numbers_do():
    labels, rows = np.array([0, 0, 1, 1, 2]), np.arange(5)
    np.testing.assert_array_equal(together(labels, rows), together(2 - labels, rows))
    assert (together(labels, rows) != together(np.array([0, 1, 1, 1, 2]), rows)).any()


def test_a_report_says_that_corrections_are_local(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    np.savez(tmp_path / "near.npz", X=rng.normal(size=(40, 2)) + 1.5 * y[:, None], y=y)
    monkeypatch.setattr("benchmarks.corrections.run.ANSWERS", 3)
    measured(tmp_path / "out", data=tmp_path, count=12)
    assert capsys.readouterr().out == (tmp_path / "out" / "corrections.md").read_text()
    line = (tmp_path / "out" / "corrections.md").read_text().splitlines()[-1]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[0] == "all"
    assert int(cells[1]) > 0
    assert (cells[2], cells[3], cells[5]) == ("0.00%", "0.00%", "0.00%")
