"""Freed memory is kept inside a task of a worker, and returned at its end."""

import os
import subprocess
import sys

import pytest

from linkwise.blocks import allocator

CODE = """
import resource
import numpy as np
from linkwise.blocks.allocator import freed_memory_kept

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        np.ones(1 << 18)  # 2 MB, 512 pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def resident():
    return int(open("/proc/self/statm").read().split()[1])

found = [faults()]
with freed_memory_kept():
    with freed_memory_kept():
        found.append(faults())
    found.append(faults())
    held = [np.ones(1 << 15) for _ in range(100)]  # 26 MB
    del held
    inside = resident()
found += [faults(), inside - resident()]
print(*found)
"""


def faults_with(threshold):
    environ = os.environ | {allocator.VARIABLE: threshold}
    line = [sys.executable, "-c", CODE]
    return list(map(int, subprocess.check_output(line, env=environ, text=True).split()))


@pytest.mark.skipif(
    allocator.c_library() is None or sys.platform != "linux", reason="needs the C library of GNU"
)
def test_freed_memory_is_kept_inside_and_returned_at_the_end():
    before, inner, outer, after, returned = faults_with("65536")
    assert min(before, after) > 20 * 500
    assert max(inner, outer) < 20 * 100
    assert returned > 3000  # of 6,400 pages


@pytest.mark.parametrize("value", ["", "-1"])
def test_a_process_without_the_variable_is_left_as_it_is(value, monkeypatch):
    monkeypatch.setenv(allocator.VARIABLE, value)
    assert allocator.threshold_of_process() is None
