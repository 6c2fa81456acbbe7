"""Run a function in a fresh process with a time limit, and report how it ended.

In a process of its own the peak of resident memory is that of the function alone, and a crash stays
there. The peak is VmHWM of the process. Where there is no /proc it is ru_maxrss, which begins with
the peak of the process that started it: that one must stay small.

    python -m benchmarks.runs.process JOB     runs the job in the file JOB, writes JOB.out
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from benchmarks import ROOT

PROC = Path("/proc/self")


class Outcome(NamedTuple):
    value: dict | None  # what the function returned
    failed: str | None  # or why it did not


def environment(**more):
    """Return the environment in which a new Python finds the packages that this one finds."""
    places = dict.fromkeys(os.path.abspath(place) for place in (*sys.path, str(ROOT)))
    return os.environ | {"PYTHONPATH": os.pathsep.join(places)} | more


def resident():
    """Return (now, peak), the resident memory of this process in bytes."""
    try:
        status = dict(line.split(":", 1) for line in (PROC / "status").read_text().splitlines())
        return tuple(int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    except (OSError, KeyError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return peak, peak


def _reason(code, error):
    """Return why a process ended with a code other than 0."""
    if code == -9:
        return "killed by the system (signal 9), most likely for want of memory"
    if code < 0:
        return f"ended by signal {-code}"
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return lines[-1][:300] if lines else f"exit code {code} without a word"


def in_child(run, argument, *, limit):
    """Return the Outcome of run(argument) in a fresh process.

    Parameters
    ----------
    run : a function of a module, by which the process finds it
    argument : what JSON can hold, as must be what run returns
    limit : seconds, after which the process is killed
    """
    with tempfile.TemporaryDirectory() as folder:
        job, error = Path(folder) / "job", Path(folder) / "error"
        job.write_text(json.dumps([run.__module__, run.__qualname__, argument]))
        line = [sys.executable, "-m", "benchmarks.runs.process", str(job)]
        with open(error, "wb") as said:
            process = subprocess.Popen(
                line, env=environment(), stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return Outcome(None, f"stopped after the limit of {limit:g} s")
            finally:
                process.kill()
                process.wait()
        if code != 0:
            return Outcome(None, _reason(code, error.read_text(errors="replace")))
        return Outcome(json.loads(job.with_suffix(".out").read_text()), None)


def main(path):
    """Run the job in a file; its result goes beside it."""
    with contextlib.suppress(OSError):  # if memory ends, this process goes, not its neighbours
        (PROC / "oom_score_adj").write_text("1000")
    job = Path(path)
    module, name, argument = json.loads(job.read_text())
    value = getattr(import_module(module), name)(argument)
    job.with_suffix(".out").write_text(json.dumps(value))


if __name__ == "__main__":
    main(sys.argv[1])
