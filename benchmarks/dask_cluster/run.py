"""CCSKL on a Dask cluster of two workers on this machine.

Points of a mixture of Gaussians are written in parts. ``linkwise fit`` clusters them in one process
and on a cluster: a scheduler and two workers, separate processes with their own folders, which
share the folder of parts and that of the labels. Printed are whether the labels are the same, byte
by byte, the CPU seconds of the process and of the workers, the peak memory of the client, and how
many runs with a worker killed at a random moment gave the same labels.

CPU seconds are printed twice. A first run has the start in them: imports, in the process and in
each worker. A second run on the same workers has not, and the imports of the process are measured
and subtracted. What workers use while they wait grows with the seconds, not with the rows; it is
measured, and the ratio is printed with it and without it.

Runs with a killed worker call the command in this process, which has imported all it needs.
"""

import filecmp
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path

import numpy as np

from benchmarks.runs.process import in_child, resident
from linkwise import MissingExtra
from linkwise.cli import main

CLUSTERS, LINKS, PER_PART = 10, 200, 250_000
WORKERS = 2
IDLE = 10  # seconds
LONGEST = 86_400  # seconds of a fit


def write_parts(folder, n, d, seed=0):
    """Write n points of a mixture in parts, and links; return the pattern of the parts."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(CLUSTERS, d)) * 1.5
    classes = []
    for i, start in enumerate(range(0, n, PER_PART)):
        y = rng.integers(CLUSTERS, size=min(PER_PART, n - start))
        X = rng.standard_normal((len(y), d), dtype=np.float32)
        X += centres[y].astype(np.float32)
        np.save(folder / f"part-{i:04}.npy", X)
        classes.append(y[:1000].copy())  # links name rows of the beginning of a part
    rows = rng.integers(len(classes[0]), size=(LINKS, 2))
    lines = [
        f"{a},{b},{'must' if classes[0][a] == classes[0][b] else 'cannot'}"
        for a, b in rows
        if a != b
    ]
    (folder.parent / "links.csv").write_text("\n".join(["id_a,id_b,kind", *lines]) + "\n")
    return str(folder / "part-*.npy")


def arguments(folder, pattern, output, options):
    """Return the arguments of linkwise."""
    return [
        "fit", pattern, "--links", str(folder / "links.csv"), "-k", str(CLUSTERS),
        "--anchors", "1000", "--json", "-o", str(output), *options,
    ]  # fmt: skip


def fit_here(line):
    """Run linkwise fit in this process; return its report, its CPU seconds and its seconds.

    The CPU seconds and the peak memory, in bytes, are those of the whole process.
    """
    began = time.perf_counter()
    with redirect_stdout(io.StringIO()) as printed:
        code = main(line)
    if code != 0:
        raise RuntimeError(f"linkwise fit ended with {code}")
    took, (_, peak) = time.perf_counter() - began, resident()
    report = json.loads(printed.getvalue())
    return {"report": report, "cpu": time.process_time(), "peak": peak, "seconds": took}


def fit_alone(line):
    """Run linkwise fit in a process of its own; return what `fit_here` returns there."""
    value, failed = in_child(fit_here, line, limit=LONGEST)
    if failed:
        raise RuntimeError(failed)
    return value


@contextmanager
def process(folder, *command):
    """Start a process in its own folder, and end it."""
    folder.mkdir()
    log = open(folder / "log", "w")  # noqa: SIM115
    started = subprocess.Popen([sys.executable, "-m", *command], cwd=folder, stdout=log, stderr=log)
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            started.kill()
        log.close()


@contextmanager
def cluster(folder):
    """Start a scheduler and workers; yield a client of it."""
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtra("distributed", "dask") from None
    file = folder / "scheduler.json"
    with ExitStack() as stack:
        start = stack.enter_context
        named = ["--no-dashboard", "--scheduler-file", str(file)]
        scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", *named]
        start(process(folder / "scheduler", *scheduler))
        for i in range(WORKERS):
            own = folder / f"worker-{i}"
            limits = ["--nthreads", "1", "--memory-limit", "4GiB", "--local-directory", str(own)]
            start(process(own, "distributed.cli.dask_worker", *named, *limits))
        while not file.exists():
            time.sleep(0.2)
        client = start(Client(scheduler_file=str(file), timeout="120s"))
        client.wait_for_workers(WORKERS, timeout=300)
        yield client


def same(left, right):
    """Tell whether two folders have the same files, byte by byte."""
    names = sorted(os.listdir(left))
    if names != sorted(os.listdir(right)):
        return False
    return not any(filecmp.cmpfiles(left, right, names, shallow=False)[1:])


def cpu_of_workers(client):
    """Return the CPU seconds of all workers so far."""
    return sum(client.run(time.process_time).values())


def start_up():
    """Return the CPU seconds in which a process imports what a fit needs."""
    code = "import time, linkwise.cli.parts; from linkwise import CCSKL; print(time.process_time())"
    return float(subprocess.check_output([sys.executable, "-c", code]))


def idle_rate(client):
    """Return the CPU seconds that all workers use in a second without work."""
    before, began = cpu_of_workers(client), time.perf_counter()
    time.sleep(IDLE)
    return (cpu_of_workers(client) - before) / (time.perf_counter() - began)


def kill_later(client, seconds):
    """Kill a random worker after some seconds; return the timer, and a list of those killed."""
    pid = random.choice(list(client.run(os.getpid).values()))
    killed = []

    def kill():
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    timer = threading.Timer(seconds, kill)
    timer.start()
    return timer, killed


def say_costs(rows, spent, waiting, alone):
    """Print the CPU seconds of the workers, of which they used some while they waited."""
    work = spent - waiting
    print(f"workers: {spent:.1f} CPU seconds, {work:.1f} without waiting", end="")
    print(f", which is {1e6 * work / rows:.2f} a million rows")
    if alone:
        ratios = f"{spent / alone:.2f} and {work / alone:.2f}"
        print(f"workers: {ratios} of the {alone:.1f} CPU seconds of one process")


def kill_workers(kills, client, folder, pattern, expected):
    """Fit until a worker was killed in ``kills`` runs; print how many had the expected labels."""
    options = "--scheduler", client.scheduler.address
    none = fit_here(arguments(folder, pattern, folder / "killed-none", options))
    seconds = none["seconds"]
    done = identical = runs = 0
    while done < kills:
        client.wait_for_workers(WORKERS, timeout=300)
        output = folder / f"killed-{runs}"
        runs += 1
        timer, killed = kill_later(client, random.Random(runs).uniform(0, seconds))
        found = fit_here(arguments(folder, pattern, output, options))
        timer.cancel()
        seconds = found["seconds"]  # of the last run: the machine may be more or less busy now
        if killed:
            done += 1
            identical += same(expected, output)
            again = found["report"]["cluster"]["again"]
            print(f"kill {done}: {identical} identical; {again} tasks again", flush=True)
        shutil.rmtree(output)
    print(f"{kills} runs with a killed worker: {identical} identical")


def run(rows, columns, kills, folder=None, no_serial=False):
    """Run the benchmark and print its figures.

    Parameters
    ----------
    no_serial : bool, whether to leave out the run in one process, with which labels are compared
    """
    with tempfile.TemporaryDirectory(dir=folder) as name:
        folder = Path(name)
        (folder / "parts").mkdir()
        pattern = write_parts(folder / "parts", rows, columns)
        print(f"{rows:,} x {columns} in parts of {PER_PART:,} rows", flush=True)
        alone, expected = 0.0, folder / "cluster-with"
        if not no_serial:
            expected = folder / "alone"
            found = fit_alone(arguments(folder, pattern, expected, ()))
            alone, seconds = found["cpu"], found["seconds"]
            print(f"one process: {alone:.1f} CPU seconds, {seconds:.1f} seconds", flush=True)
        with cluster(folder) as client:
            for start in ("with", "without"):
                idle = idle_rate(client)
                print(f"\n{WORKERS} workers, {start} their start; idle {idle:.3f} CPU a second")
                output, before = folder / f"cluster-{start}", cpu_of_workers(client)
                options = "--scheduler", client.scheduler.address
                found = fit_alone(arguments(folder, pattern, output, options))
                spent = cpu_of_workers(client) - before
                own = alone - start_up() if alone and start == "without" else alone
                print(f"labels {'identical' if same(expected, output) else 'DIFFERENT'}")
                say_costs(rows, spent, idle * found["seconds"], own)
                print(f"client: {found['cpu']:.1f} CPU seconds, peak {found['peak'] / 1e6:.0f} MB")
                words = found["report"]["cluster"]["words"]
                print(f"{found['seconds']:.1f} seconds; {words}", flush=True)
            if kills:
                kill_workers(kills, client, folder, pattern, expected)
