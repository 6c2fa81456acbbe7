"""The clustering in a process of its own, so that the page never waits for it.

The worker takes the newest job it was sent and sends back, in the order of the time they take: the
next questions and the clusters corrected by the last answers, how far the answers have come, the
exact clusters, and which answers are likely wrong. A new job interrupts all but the first of
these, and "stop" interrupts that too. An interrupt ends the work within moments and keeps what was
computed from the data alone. When the server ends for any reason, its pipe is closed and the worker
ends as well. A quick map comes first; a process of its own follows it with a better one.
"""

import _thread
import multiprocessing
import os
import queue
import signal
import threading
import time
import traceback
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker

from linkwise.app.map_process import LEAST, MapProcess
from linkwise.app.messages import Job, Map

STOP = "stop"
REST = 0.7  # seconds without a new job before likely errors are searched: a pause in answering


class JobRunner:
    """The side of the worker: takes jobs, and interrupts work that is not wanted any more."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.jobs: queue.Queue = queue.Queue()
        self._lock, self._busy, self._wanted = threading.Lock(), "", False
        self._raised = False  # whether the present work was interrupted
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._listen, daemon=True).start()

    def _interrupted(self, *_):
        """Stop the present work, but not for a Ctrl-C, which is meant for the server."""
        if self._wanted:
            self._wanted, self._raised = False, True
            raise KeyboardInterrupt

    def _listen(self):
        while True:
            try:
                message = self.pipe.recv()
            except (EOFError, OSError):
                os._exit(0)
            if message != STOP:
                self.jobs.put(message)
            with self._lock:
                if self._busy == "long" or (self._busy and message == STOP):
                    self._wanted = True
                    _thread.interrupt_main()

    def newest(self, timeout=None):
        """Return the newest job, or None if none comes in time."""
        try:
            job = self.jobs.get(timeout=timeout)
        except queue.Empty:
            return None
        while not self.jobs.empty():
            job = self.jobs.get()
        return job

    def try_to(self, function, job, kind):
        """Send the result of a function of a job; tell whether it finished.

        An interrupt may come out of a library as another error: NumPy reports one that reaches it
        while it compares the types of two arrays as a TypeError.
        """
        self._raised = False
        try:
            try:
                with self._lock:
                    if kind == "long" and not self.jobs.empty():
                        return False
                    self._busy = kind
                found = function(job)
            finally:
                with self._lock:
                    self._busy = ""
                time.sleep(0)  # a pending interrupt arrives here
        except (KeyboardInterrupt, Exception):
            if not self._raised:
                raise
            return False
        self.pipe.send(found)
        return True


def do(runner, engine, job):
    """Do a job; return the next one if it has come meanwhile, else None."""
    if not runner.try_to(engine.result, job, "short"):
        runner.pipe.send(("stopped", job.number))
    elif runner.try_to(engine.outlook, job, "long") and runner.try_to(engine.refined, job, "long"):
        following = runner.newest(REST)
        if following is not None:
            return following
        runner.try_to(engine.suspects, job, "long")
    return None


def work(pipe, X, seed, k):
    """Do the jobs that come through a pipe until it is closed."""
    from linkwise.app.engine import Engine

    runner = JobRunner(pipe)
    try:
        engine = Engine(X, seed=seed, k=k)
        pipe.send(engine.map(k))
        job = runner.newest()
        while True:
            job = do(runner, engine, job) or runner.newest()
    except (BrokenPipeError, ConnectionError):
        os._exit(0)
    except Exception as error:
        traceback.print_exc()
        pipe.send(("failed", f"{type(error).__name__}: {error}"))


@contextmanager
def no_interrupts():
    """Start a process that a Ctrl-C does not reach: it is meant for the server."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would let them through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Worker:
    """The side of the server.

    Parameters
    ----------
    X, seed, k : as `work` takes them
    hear : function, called in a thread of its own with every message of the worker, and with
        ("ended", None) when it has ended without being closed
    """

    def __init__(self, X, *, seed=0, k=None, hear):
        self.X, self.seed, self.hear, self._ended = X, seed, hear, False
        self._map_process: MapProcess | None = None
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._lock = threading.Lock()
        self.process = context.Process(target=work, args=(theirs, X, seed, k), daemon=True)
        with no_interrupts():
            self.process.start()
        theirs.close()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while True:
            try:
                message = self._pipe.recv()
            except (EOFError, OSError):
                if not self._ended:
                    self.hear(("ended", None))
                return
            if isinstance(message, Map) and len(self.X) >= LEAST:
                self._arrange(message)
            else:
                self.hear(message)

    def _arrange(self, quick):
        """Show the quick map, and compute a better one."""
        self.hear(quick._replace(follows=True))
        with self._lock, no_interrupts():
            if not self._ended:
                self._map_process = MapProcess(self.X, quick.xy, seed=self.seed, hear=self.hear)

    def send(self, job: Job):
        """Send a job; it replaces those not begun yet."""
        with self._lock, suppress(OSError):  # it has ended; `hear` learns of it
            self._pipe.send(job)

    def stop(self):
        """Stop the present job."""
        with self._lock, suppress(OSError):
            self._pipe.send(STOP)

    def close(self):
        """End the worker."""
        with self._lock:
            self._ended = True
        if self._map_process is not None:
            self._map_process.close()
        self.process.kill()
        self.process.join(2)
        self._pipe.close()
