"""Run many jobs on a few processes, each job with a time limit.

A process takes one job after the other, so that what it has imported and loaded serves them all.
It uses one thread for linear algebra and compiled loops. A process that takes too long or dies is
replaced, and its job ends with that outcome. Outcomes come in the order in which jobs end.
Processes find the same packages as the one that starts them: they are spawned, and multiprocessing
started on its path.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import Any, NamedTuple

START = 300  # seconds that a process may take to import what it needs, on a busy machine
THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)  # fmt: skip


class Ended(NamedTuple):
    job: Any
    value: Any  # what came back
    failed: str | None = None  # or why nothing did
    late: bool = False  # it took too long


@contextmanager
def one_thread_each():
    """Give processes that start inside one thread for linear algebra."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def leave_with_parent():
    """End this process when the one that started it has ended, even in the middle of a job."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def work(run, pipe):
    """Answer jobs from a pipe, in a process of its own."""
    from linkwise.blocks import executor

    threading.Thread(target=leave_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    with open(os.devnull, "w") as nowhere, executor("serial"):
        sys.stdout = sys.stderr = nowhere  # what methods print and show of their progress
        with suppress(EOFError, BrokenPipeError):  # until the other end is gone
            pipe.send(None)  # ready
            while True:
                pipe.send(run(pipe.recv()))


class Worker:
    """One process, its pipe, and the job it works on."""

    def __init__(self, run):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(run, other), daemon=True)
        with one_thread_each():
            self.process.start()
        other.close()
        self._expect(None, START)

    def _expect(self, job, limit):
        self.job, self.limit, self.deadline = job, limit, time.monotonic() + limit

    def begin(self, job, limit):
        self._expect(job, limit)
        with suppress(OSError):  # it died while it had nothing to do: `ended` will tell
            self.pipe.send(job)

    def ended(self):
        """Return how the job ended, or that it is late; None if it is under way."""
        if self.pipe.poll():
            try:
                return Ended(self.job, self.pipe.recv())
            except (EOFError, OSError):
                self.process.join()
                words = f"the process ended with exit code {self.process.exitcode}"
                return Ended(self.job, None, words)
        if time.monotonic() < self.deadline:
            return None
        return Ended(self.job, None, f"stopped after the limit of {self.limit:g} s", late=True)

    def end(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()


def outcomes(run, jobs, *, workers, limit):
    """Yield how each job Ended.

    Parameters
    ----------
    run : a function of a module
    jobs : iterable of what can be pickled and is not None; the next is taken when a process is free
    workers : int, number of processes; with 0 nothing is done
    limit : float, seconds that a job may take
    """
    started: list[Worker] = []
    idle: list[Worker] = []
    jobs, more = iter(jobs), workers > 0
    try:
        while True:
            while more and len(started) < workers:
                started.append(Worker(run))
            while more and idle:
                job = next(jobs, None)
                more = job is not None
                if more:
                    idle.pop().begin(job, limit)
            busy = [worker for worker in started if worker not in idle]
            if not busy:
                break
            soonest = min(worker.deadline for worker in busy) - time.monotonic()
            wait([worker.pipe for worker in busy], timeout=max(0, soonest))
            for worker in busy:
                ended = worker.ended()
                if ended is None:
                    continue
                if ended.failed:
                    started.remove(worker)
                    worker.end()
                else:
                    idle.append(worker)
                if ended.job is not None:
                    yield ended
                elif ended.failed:
                    raise ValueError(f"a process for the benchmark did not start: {ended.failed}")
    finally:
        for worker in started:
            worker.end()
