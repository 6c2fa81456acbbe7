"""Every estimator on random problems: which laws hold."""

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import linkwise
from benchmarks.reliability.laws import Broken, check
from benchmarks.reliability.problems import problem
from linkwise.blocks import one_thread

SHOWN = 3  # broken laws of a method that are printed in full
AT_A_TIME = 10  # problems for each job of a process


class Verdict(NamedTuple):
    """What came of some problems of one method."""

    fitted: int
    refused: int
    broken: list  # of (number, kind, law)

    def __add__(self, other):
        return Verdict(*(a + b for a, b in zip(self, other, strict=True)))


def names():
    """Return the names of all estimators."""
    return [*linkwise.estimators.__all__, "LinkClustering"]


def judge(name, numbers):
    """Return the Verdict of a method on the problems of these numbers."""
    traits = getattr(linkwise, name).traits
    outcome: Counter = Counter()
    broken = []
    for number in numbers:
        made = problem(number, weighted=traits.weights, sparse_too=traits.sparse)
        try:
            with one_thread():
                outcome[check(name, made)] += 1
        except Broken as fault:
            broken.append((number, made.kind, str(fault)))
    return Verdict(outcome["fitted"], outcome["refused"], broken)


def verdicts(methods, numbers, jobs):
    """Yield (name, Verdict) of every method."""
    parts = [numbers[at : at + AT_A_TIME] for at in range(0, len(numbers), AT_A_TIME)]
    if jobs == 1:
        for name in methods:
            yield name, sum((judge(name, part) for part in parts), Verdict(0, 0, []))
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found = {name: [pool.submit(judge, name, part) for part in parts] for name in methods}
        for name, futures in found.items():
            yield name, sum((future.result() for future in futures), Verdict(0, 0, []))


def run(*, problems, methods, first, jobs):
    """Print a table of all methods; return 1 if a law is broken.

    Parameters
    ----------
    problems : int, for each method
    methods : names, or None for all
    first : int, number of the first problem
    jobs : int or None, processes
    """
    numbers = list(range(first, first + problems))
    print(f"{problems} problems a method, from number {first}\n")
    print("| method | fitted | refused in a sentence | broken laws |")
    print("|---|---:|---:|---:|", flush=True)
    faults = []
    for name, verdict in verdicts(methods or names(), numbers, jobs or 1):
        print(
            f"| {name} | {verdict.fitted} | {verdict.refused} | {len(verdict.broken)} |", flush=True
        )
        faults += [(name, *fault) for fault in verdict.broken[:SHOWN]]
    for name, number, kind, text in faults:
        print(
            f"\n{name} on problem {number} ({kind}): {text}\n    again: python -m benchmarks fuzz "
            f"--methods {name} --first {number} --problems 1"
        )
    return int(bool(faults))
