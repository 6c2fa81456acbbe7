"""Laws of the limit to one thread."""

import subprocess
import sys
import types

import pytest
from sklearn.datasets import load_iris

from linkwise import LinkClustering, sample_pairs
from linkwise.blocks import executors
from linkwise.blocks.executors import LibraryCache, one_thread

OVERLAP = """
import threading
import numpy as np, scipy.linalg
from threadpoolctl import ThreadpoolController
from linkwise.blocks.executors import one_thread

def blas():
    libraries = ThreadpoolController().select(user_api="blas").info()
    return {each["num_threads"] for each in libraries}

before = blas()
first_inside, second_inside, first_left = (threading.Event() for _ in range(3))
seen = []

def first():
    with one_thread():
        first_inside.set()
        second_inside.wait()
        with one_thread():
            pass
        seen.append(blas())  # the inner one does not lift the limit
    first_left.set()

def second():
    first_inside.wait()
    with one_thread():
        second_inside.set()
        first_left.wait()
        seen.append(blas())  # nor does the other thread

threads = [threading.Thread(target=each) for each in (first, second)]
for each in threads:
    each.start()
for each in threads:
    each.join()
print(*map(sorted, (before, *seen, blas())), sep=";")
"""


@pytest.fixture
def lookups(monkeypatch):
    """Return a list that grows with every look at the libraries of the process."""
    found, find = [], executors.find_libraries

    def counted():
        found.append(find())
        return found[-1]

    monkeypatch.setattr(executors, "find_libraries", counted)
    monkeypatch.setattr(executors, "_libraries", LibraryCache())
    return found


def test_a_fit_looks_the_libraries_up_once(lookups):
    X, y = load_iris(return_X_y=True)
    links = sample_pairs(y, 30, random_state=0)
    LinkClustering(3, effort="balanced", random_state=0).fit(X, constraints=links)
    assert 1 <= len(lookups) <= 2


def test_libraries_are_looked_up_again_after_an_extension_module_was_imported(lookups, monkeypatch):
    def imported(name, file):
        module = types.ModuleType(name)
        module.__file__ = file
        monkeypatch.setitem(sys.modules, name, module)

    with one_thread():
        pass
    imported("plain", "plain.py")
    with one_thread():
        assert len(lookups) == 1
    imported("compiled", f"compiled{executors.EXTENSIONS[0]}")
    with one_thread(), one_thread():
        assert len(lookups) == 2


def test_the_last_thread_to_leave_lifts_the_limit(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    run = subprocess.run(
        [sys.executable, "-c", OVERLAP], capture_output=True, text=True, check=True
    )
    before, nested, alone, after = run.stdout.strip().split(";")
    assert nested == alone == "[1]"
    assert after == before
