"""Rows in parts, and rows on a Dask cluster: the same sums and labels as in one process."""

import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import (
    CCSKL,
    Constraints,
    ExhaustivePropagation,
    PropagatedSpectralClustering,
    SignedSpectralClustering,
    SpectralLearning,
    SpectralRegularization,
)
from linkwise.blocks import cluster, usage
from linkwise.blocks import parts as part_files
from linkwise.blocks.parts import in_blocks, open_parts
from linkwise.blocks.passes import tree_sum
from linkwise.blocks.rows import slices_of
from linkwise.graph import anchors
from linkwise.partition import k_means

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask, which starts and ends processes

N, SIZE = 2000, 300


def points(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=N)
    centres = np.array([[0, 0, 0], [6, 0, 0], [0, 6, 0]])
    return (centres[y] + rng.normal(size=(N, 3))).astype(np.float32), y


def links_of(y, count=30, seed=1):
    return Constraints.sample(y, n_pairs=count, random_state=seed)


def write_npy(folder, X, size=SIZE):
    for i, a in enumerate(range(0, len(X), size)):
        np.save(folder / f"part-{i:03}.npy", X[a : a + size])
    return str(folder / "part-*.npy")


def write_parquet(folder, X, size=SIZE, ids=None):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i, a in enumerate(range(0, len(X), size)):
        table = {f"x{j}": X[a : a + size, j] for j in range(X.shape[1])}
        if ids is not None:
            table["id"] = ids[a : a + size]
        pq.write_table(pa.table(table), folder / f"part-{i:03}.parquet", row_group_size=100)
    return str(folder / "part-*.parquet")


def anchored(kind=CCSKL, **options):
    params = {"n_anchors": 60}
    return kind(3, affinity="anchors", affinity_params=params, random_state=0, **options)


@pytest.fixture(scope="module")
def client():
    """Return a client of a cluster of two worker processes."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=None
        ) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    """Return (X, links, pattern, model) of a fit to parts in this process."""
    X, y = points()
    pattern = write_npy(tmp_path_factory.mktemp("parts"), X)
    links = links_of(y)
    return X, links, pattern, anchored().fit(pattern, constraints=links)


def test_a_sum_follows_one_tree_whatever_adds_it_up():
    assert tree_sum("abcdefg", "({}{})".format) == "(((ab)(cd))((ef)g))"


def test_parts_are_one_table(tmp_path):
    X, _ = points()
    for pattern in (write_npy(tmp_path, X), write_parquet(tmp_path, X)):
        rows = open_parts(pattern)
        assert rows.shape == X.shape
        assert rows.dtype == X.dtype
        assert_array_equal(rows[:], X)
        assert_array_equal(rows[np.array([3, 299, 300, 1999])], X[[3, 299, 300, 1999]])


def test_blocks_never_reach_over_the_end_of_a_part(tmp_path, monkeypatch):
    monkeypatch.setattr(part_files, "BLOCK", 128)
    X, _ = points()
    rows = open_parts(write_npy(tmp_path, X))
    assert rows.bounds[:4].tolist() == [0, 128, 256, 300]
    assert_array_equal(np.concatenate([rows[part] for part in slices_of(rows.bounds)]), X)
    assert {b for b, _ in in_blocks(np.arange(N), rows.bounds)} == set(range(len(rows.pieces)))


def test_a_part_with_other_columns_is_named(tmp_path):
    X, _ = points()
    pattern = write_npy(tmp_path, X)
    np.save(tmp_path / "part-003.npy", X[:10, :2])
    with pytest.raises(ValueError, match=r"part-003.npy has 2 columns of float32, and .*3 columns"):
        anchored().fit(pattern)


@pytest.mark.parametrize("tasks", [4, 1])  # a block for each task, and two of the 7
def test_the_cluster_gives_the_sums_and_labels_of_one_process(client, serial, tasks, monkeypatch):
    monkeypatch.setattr(cluster, "TASKS", tasks)
    _, links, pattern, here = serial
    there = anchored().fit(pattern, constraints=links)
    G, G_there = here.affinity_matrix_.G, there.affinity_matrix_.G
    assert abs(G - G_there).max() <= 1e-10 * abs(G).max()
    assert there.labels_.chunks == ((*[SIZE] * 6, 200),)
    assert_array_equal(there.labels_.compute(), here.labels_)
    assert there.violations_ == here.violations_
    assert there.predict(pattern) is there.labels_


def test_chunks_of_an_array_are_blocks(client, serial):
    import dask.array as da

    X, links, _, here = serial
    lazy = da.from_array(X, chunks=(SIZE, 2))
    there = anchored().fit(lazy, constraints=links)
    assert_array_equal(there.labels_.compute(), here.labels_)
    placed = there.predict(lazy[::-1].rechunk((500, 3)))
    assert placed.chunks == ((500,) * 4,)
    assert_array_equal(placed.compute(), here.predict(X[::-1].copy()))
    assert_array_equal(there.predict(X[:50]), here.predict(X[:50]))


def test_a_frame_gets_a_series_with_its_index(client):
    import dask.dataframe as dd
    import pandas as pd

    X, y = points()
    names = np.array([f"row {i}" for i in range(N)], dtype=object)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(name=names)
    links = links_of(y)
    by_name = Constraints(
        must_link=[(names[a], names[b]) for a, b in links.must_link],
        cannot_link=[(names[a], names[b]) for a, b in links.cannot_link],
    )
    frame = dd.from_pandas(table, npartitions=4)
    there = anchored().fit(frame, constraints=by_name, sample_id="name")
    assert there.labels_.npartitions == 4
    labels = there.labels_.compute()
    assert_array_equal(labels.index, table.index)
    import dask.array as da

    array = da.from_array(X, chunks=(500, 3))
    same = anchored().fit(array, constraints=by_name, sample_id=da.from_array(names, chunks=700))
    assert_array_equal(same.labels_.compute(), labels)
    assert set(there.violations_) == set(same.violations_)


def test_an_id_of_two_rows_and_an_unknown_id_are_refused(client, tmp_path):
    X, _ = points()
    ids = np.arange(N)
    ids[1500] = 7
    pattern = write_parquet(tmp_path, X, ids=ids)
    with pytest.raises(ValueError, match="7 twice, at rows 7 and 1500"):
        anchored().fit(pattern, constraints=([(7, 9)], []), sample_id="id")
    with pytest.raises(ValueError, match="-5 is not in sample_id"):
        anchored().fit(pattern, constraints=([(9, -5)], []), sample_id="id")


def test_the_command_writes_a_part_of_labels_for_each_part_and_continues(
    client, tmp_path, monkeypatch, capsys
):
    import pyarrow.parquet as pq

    from linkwise.cli import main, parts

    monkeypatch.setattr(part_files, "BLOCK", 100)
    monkeypatch.setattr(cluster, "TASKS", 1)  # tasks of 8 blocks, from several parts
    X, y = points()
    ids = np.array([f"p{i}" for i in range(N)])
    (tmp_path / "rows").mkdir()
    pattern = write_parquet(tmp_path / "rows", X, ids=ids)
    links = links_of(y)
    lines = [f"{ids[p.a]},{ids[p.b]},{'must' if p.sign > 0 else 'cannot'}" for p in links]
    (tmp_path / "links.csv").write_text("\n".join(["id_a,id_b,kind", *lines]) + "\n")
    command = ["fit", pattern, "--links", str(tmp_path / "links.csv"), "-k", "3", "--anchors", "60"]

    def labels(folder):
        return [pq.read_table(path).to_pydict() for path in sorted(folder.iterdir())]

    assert main([*command, "-o", str(tmp_path / "here")]) == 0
    there = [*command, "--scheduler", client.scheduler.address, "-o", str(tmp_path / "there")]
    write = parts.write_on_cluster

    def interrupted(files, found, folder):
        write(files, found, folder)
        (folder / "part-004.parquet").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(parts, "write_on_cluster", interrupted)
    assert main(there) == 130
    assert not (tmp_path / "there").exists()
    monkeypatch.setattr(parts, "write_on_cluster", write)
    capsys.readouterr()
    assert main(there) == 0
    assert "cluster: 2 tasks, 0 of them done again" in capsys.readouterr().err
    assert labels(tmp_path / "there") == labels(tmp_path / "here")
    assert labels(tmp_path / "there")[0]["id"] == ids[:SIZE].tolist()
    assert main(there) == 2  # exists


@pytest.mark.parametrize(
    "kind",
    [
        SignedSpectralClustering,
        SpectralLearning,
        SpectralRegularization,
        PropagatedSpectralClustering,
        ExhaustivePropagation,
    ],
)
def test_other_methods_with_anchors_agree(client, serial, kind):
    _, links, pattern, _ = serial
    with_client = anchored(kind).fit(pattern, constraints=links)
    rows = open_parts(pattern)
    assert_array_equal(
        with_client.labels_.compute(), anchored(kind).fit(rows, constraints=links).labels_
    )


def peak_of(function):
    """Return the most bytes that a function held in this process."""
    gc.collect()
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_memory_of_the_client_does_not_grow_with_the_rows(client, tmp_path, monkeypatch):
    # samples below a fiftieth of the rows: others are drawn from a list of all row numbers
    monkeypatch.setattr(anchors, "LEAST", 1000)
    monkeypatch.setattr(k_means, "SAMPLE", 100)
    sizes, peaks, models = (500_000, 1_500_000), [], []
    for n in sizes:
        X = np.random.default_rng(0).standard_normal((n, 2), dtype=np.float32)
        (tmp_path / f"{n}").mkdir()
        pattern = write_npy(tmp_path / f"{n}", X, size=n // 4)
        peaks.append(peak_of(lambda: models.append(anchored().fit(pattern))))  # noqa: B023
    allowed = sizes[1] - sizes[0]  # a byte a row
    assert peaks[1] - peaks[0] < allowed
    of_labels = [peak_of(model.labels_.compute) for model in models]
    assert of_labels[1] - of_labels[0] > allowed


def tasks_of(client):
    return set(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)))


def assert_no_tasks_are_left(client, before):
    for _ in range(100):  # the scheduler forgets cancelled tasks in a moment
        if not tasks_of(client) - before:
            break
        time.sleep(0.2)
    assert not tasks_of(client) - before


def test_a_missing_part_and_bad_numbers_end_in_one_sentence(client, tmp_path):
    gc.collect()  # models of other tests
    before = tasks_of(client)
    X, _ = points()
    X[1234, 1] = np.nan
    pattern = write_npy(tmp_path, X)
    with pytest.raises(ValueError, match="row 1234, column 1 is nan"):
        anchored().fit(pattern)
    rows = open_parts(pattern)
    os.remove(tmp_path / "part-002.npy")
    from linkwise.blocks.cluster import rows_of_parts

    with pytest.raises(FileNotFoundError, match=r"part-002.npy is not there"):
        anchored().fit(rows_of_parts(rows, client))
    assert_no_tasks_are_left(client, before)


def test_an_interrupt_cancels_the_tasks(client, serial):
    gc.collect()
    before = tasks_of(client)
    rows = cluster.rows_of_parts(open_parts(serial[2]), client)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rows.then(lambda part, block: time.sleep(2)).keep("sleep")
    finally:
        signal.signal(signal.SIGINT, handler)
    assert_no_tasks_are_left(client, before)


def test_a_block_that_kills_its_workers_is_one_sentence(client, serial):
    def allow(failures, dask_scheduler=None):
        allowed, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return allowed

    rows = cluster.rows_of_parts(open_parts(serial[2]), client)
    allowed = client.run_on_scheduler(allow, 0)
    with pytest.raises(MemoryError, match=r"lost 1 worker with the same block.*smaller parts"):
        rows.then(lambda part, block: os._exit(1) if part.start == 0 else 0).keep("exit")
    client.run_on_scheduler(allow, allowed)
    client.wait_for_workers(2, timeout=120)


def test_a_killed_worker_changes_nothing(client, serial):
    _, links, pattern, here = serial
    pid = next(iter(client.run(os.getpid).values()))
    threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
    there = anchored().fit(pattern, constraints=links)
    assert_array_equal(there.labels_.compute(), here.labels_)


def test_a_worker_that_is_lost_while_it_is_asked_for_its_work_is_left_out(client):
    client.wait_for_workers(2, timeout=120)  # the test before may have killed one
    asked = usage.counts(client)
    gone = next(iter(client.run(os.getpid).values()))

    def broken(dask_worker=None):
        if os.getpid() == gone:
            raise ConnectionResetError("lost")
        return 7, {}

    run = client.run
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "run", lambda function, **options: run(broken, **options))
        assert usage.counts(client).moved == 7
    assert asked.moved >= 0


def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path, capsys, monkeypatch):
    from linkwise.cli import main, parts

    monkeypatch.setattr(parts, "WAIT", "1s")
    X, _ = points()
    pattern = write_npy(tmp_path, X)
    command = ["fit", pattern, "-k", "3", "--anchors", "60", "-o", str(tmp_path / "labels")]
    assert main([*command, "--scheduler", "tcp://127.0.0.1:9"]) == 3
    assert "no scheduler answers there" in capsys.readouterr().err
    assert not (tmp_path / "labels").exists()


@contextmanager
def separate_processes(folder):
    """Start a scheduler and a worker as processes; yield (scheduler, its address)."""
    file = folder / "scheduler.json"
    named = ["--no-dashboard", "--scheduler-file", str(file)]
    kinds = {"scheduler": ["--host", "127.0.0.1", "--port", "0"], "worker": ["--nthreads", "1"]}
    with ExitStack() as stack:
        started = []
        for kind, options in kinds.items():
            (folder / kind).mkdir()
            line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *named, *options]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = subprocess.Popen(line, cwd=folder / kind, **quiet)
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        while not file.exists():
            time.sleep(0.1)
        yield started[0], json.loads(file.read_text())["address"]


def test_a_scheduler_that_goes_away_is_one_sentence_and_leaves_no_labels(
    tmp_path, capsys, monkeypatch
):
    from linkwise.cli import main

    X, _ = points()
    pattern = write_npy(tmp_path, X)
    labels = tmp_path / "labels"
    command = ["fit", pattern, "-k", "3", "--anchors", "60", "-o", str(labels)]
    wait = cluster.ClusterRows._wait
    with separate_processes(tmp_path) as (scheduler, address):

        def gone(*arguments):
            scheduler.kill()
            wait(*arguments)

        monkeypatch.setattr(cluster.ClusterRows, "_wait", gone)
        assert main([*command, "--scheduler", address]) == 3
    said = capsys.readouterr().err
    assert f"the scheduler at {address} does not answer" in said
    assert "Traceback" not in said
    assert not labels.exists()


def test_methods_that_need_all_rows_refuse_a_cluster(client, serial, tmp_path):
    import dask.array as da

    from linkwise import PCKMeans, save

    lazy = da.from_array(serial[0], chunks=(500, 3))
    with pytest.raises(TypeError, match="PCKMeans reads all rows"):
        PCKMeans(3).fit(lazy)
    with pytest.raises(TypeError, match='affinity="anchors"'):
        CCSKL(3).fit(lazy)
    with pytest.raises(TypeError, match="out="):
        anchored().fit(lazy, out="labels.npy")
    with pytest.raises(TypeError, match="fitted to rows on a Dask cluster"):
        save(anchored().fit(lazy), tmp_path / "model.lwmodel")


def test_link_clustering_places_the_blocks_on_the_workers(client, tmp_path):
    import dask.array as da

    from linkwise import LinkClustering

    X, y = points()
    X, y = X[:600], y[:600]
    links = links_of(y, 40)
    here = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    lazy = da.from_array(X, chunks=(200, 3))
    there = LinkClustering(3, effort="fast", random_state=0).fit(lazy, constraints=links)
    assert_array_equal(there.labels_.compute(), here.labels_)
    np.testing.assert_allclose(there.probabilities_.compute(), here.probabilities_, atol=1e-6)
    assert there.violations_ == here.violations_
    assert_array_equal(there.predict(lazy + 0).compute(), there.predict(X))
    with pytest.raises(TypeError, match="outliers"):
        LinkClustering(3, outliers=0.1).fit(lazy)
    with pytest.raises(TypeError, match="extend"):
        there.extend(X)
