"""Rows in blocks: sources, executors, samples, limits, progress, labels on their way to a file."""

import io
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from linkwise.blocks import LazyRows, Threads, executor, limits, open_rows, row_blocks, run_blocks
from linkwise.blocks.cost import check_cost, parse_size
from linkwise.blocks.progress import Progress
from linkwise.blocks.rows import content_sample, is_external, new_labels, read_block, take_rows


@pytest.mark.parametrize("n", [1, 7, 100_000])
def test_blocks_cover_every_row_once(n):
    rows = np.concatenate([np.arange(part.start, part.stop) for part in row_blocks(n, 40)])
    assert_array_equal(rows, np.arange(n))


@pytest.mark.parametrize("which", ["serial", "threads", Threads(3)])
def test_results_come_in_the_order_of_the_items(which):
    def slow_first(item):
        time.sleep(0.02 if item == 0 else 0)
        return item * item

    with executor(which):
        assert list(run_blocks(slow_first, range(30))) == [i * i for i in range(30)]


def test_an_error_in_a_block_stops_the_work():
    started = []

    def fail(item):
        started.append(item)
        if item == 3:
            raise RuntimeError("block 3")
        time.sleep(0.01)

    with pytest.raises(RuntimeError, match="block 3"):
        list(Threads(2).map(fail, range(1000)))
    assert len(started) < 50


def test_an_interrupt_stops_within_a_moment():
    def work(item):
        time.sleep(0.05)

    # a process in the background may have been told to ignore it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        list(Threads(2).map(work, range(1_000)))
    signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 5


def test_unknown_executors_are_named():
    with pytest.raises(ValueError, match="serial, threads; got 'cloud'"), executor("cloud"):
        pass


def test_a_file_name_opens_the_rows_of_the_file(tmp_path, rng):
    X = rng.standard_normal((50, 3)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    opened = open_rows(tmp_path / "X.npy")
    assert is_external(opened)
    assert_array_equal(read_block(opened, slice(3, 9)), X[3:9])
    assert_array_equal(take_rows(opened, [7, 2, 7]), X[[7, 2, 7]])
    with pytest.raises(FileNotFoundError, match=r"no such file"):
        open_rows(str(tmp_path / "Y.npy"))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "X.npy").read_bytes()[:300])
    with pytest.raises(ValueError, match="not a readable"):
        open_rows(str(tmp_path / "cut.npy"))


def test_what_was_written_to_a_memory_map_survives_reading_blocks(tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (100, 2))
    rows[:] = 7
    read_block(rows, slice(0, 10))
    assert (np.asarray(rows) == 7).all()
    private = np.memmap(tmp_path / "X.npy", np.float32, "c", offset=128, shape=(100, 2))
    private[:] = 5
    read_block(private, slice(0, 10))
    assert (np.asarray(private) == 5).all()


def test_lazy_rows_are_a_function_of_rows(rng):
    X = rng.standard_normal((70, 4))
    lazy = LazyRows(X, lambda rows: rows[:, :2] ** 2)
    assert lazy.shape == (70, 2)
    assert_array_equal(np.asarray(lazy), X[:, :2] ** 2)
    assert_array_equal(take_rows(lazy, [5, 1, 5]), X[[5, 1, 5], :2] ** 2)


def test_a_sample_does_not_depend_on_the_order_of_the_rows(rng):
    X = rng.standard_normal((1000, 3))
    p = rng.permutation(1000)
    mine = content_sample(X, 100, np.random.default_rng(0))
    other = content_sample(X[p], 100, np.random.default_rng(0))
    assert_array_equal(mine, p[other])
    assert len(set(mine)) == 100


def test_sparse_rows_are_read_taken_and_sampled_like_dense_ones(rng):
    X = rng.standard_normal((500, 6)) * (rng.random((500, 6)) < 0.5)
    S = sparse.csr_array(X)
    rows = content_sample(X, 40, np.random.default_rng(0))
    assert_array_equal(content_sample(S, 40, np.random.default_rng(0)), rows)
    assert_array_equal(take_rows(S, rows).toarray(), X[rows])
    assert_array_equal(take_rows(sparse.csc_matrix(X), rows).toarray(), X[rows])
    assert take_rows(S, rows, np.float32).dtype == np.float32
    assert_array_equal(read_block(S, slice(3, 9)).toarray(), X[3:9])


def test_repeated_rows_are_sampled_as_often_as_they_occur():
    X = np.repeat([[0.0], [1.0]], [900, 100], axis=0)
    chosen = X[content_sample(X, 100, np.random.default_rng(0)), 0]
    assert chosen.sum() == 10


def test_sizes_are_read():
    assert parse_size("2 GiB") == 2 * 2**30
    for wrong in ("many", "-1 GB", 0, True, None):
        with pytest.raises(ValueError, match="a size is a number of bytes"):
            parse_size(wrong)


def test_what_costs_too_much_is_refused_with_the_estimate():
    check_cost(10, memory=1e6, flops=1e3, instead="-")
    with limits(memory="1 MB"), pytest.raises(MemoryError, match=r"2\.0 MiB.*1\.0 MiB: use less"):
        check_cost(10, memory=2 * 2**20, instead="use less")
    with limits(seconds=1e-6), pytest.raises(TimeoutError, match="n_samples=10 takes about"):
        check_cost(10, memory=0, flops=1e15, instead="use less")
    with pytest.raises(ValueError, match="positive number; got -1"), limits(seconds=-1):
        pass


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_shows_rate_and_time_left_on_a_terminal_only(monkeypatch):
    for screen, shown in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setattr("linkwise.blocks.progress.DELAY", -1)
        monkeypatch.setattr("linkwise.blocks.progress.PAUSE", -1)
        with Progress("rows", 1000) as progress:
            time.sleep(0.01)
            progress.advance(250)
        text = screen.getvalue()
        assert ("rows:  25%" in text and "rows a second" in text and "left" in text) == shown
        assert text.endswith("\r") or not shown


def test_a_worker_process_shows_no_progress(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert Progress("rows", 1000).wanted
    monkeypatch.setattr("linkwise.blocks.progress.parent_process", lambda: "another process")
    assert not Progress("rows", 1000).wanted


def test_labels_reach_their_file_whole_or_not_at_all(tmp_path):
    path = tmp_path / "labels.npy"

    def fail():
        with new_labels(path, 5) as labels:
            labels[:] = 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(tmp_path.iterdir()) == []
    with new_labels(path, 5) as labels:
        labels[:] = np.arange(5)
    assert_array_equal(np.load(path), np.arange(5))
    for wrong, error, words in (
        (path, FileExistsError, "exists"),
        (tmp_path / "labels.csv", ValueError, "ends in .npy"),
        (tmp_path / "no" / "labels.npy", FileNotFoundError, "folder does not exist"),
    ):
        with pytest.raises(error, match=words), new_labels(wrong, 5):
            pass
