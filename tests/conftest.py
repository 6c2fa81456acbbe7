"""Data that several tests share."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris, load_wine, make_blobs

settings.register_profile(
    "linkwise", deadline=None, max_examples=50, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],  # no test asserts seconds
)  # fmt: skip
settings.load_profile("linkwise")


def _z_scored(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _frozen(*arrays):
    for array in arrays:
        array.flags.writeable = False
    return arrays


@pytest.fixture(scope="session")
def iris():
    X, y = load_iris(return_X_y=True)
    return _frozen(_z_scored(X), y)


@pytest.fixture(scope="session")
def wine():
    X, y = load_wine(return_X_y=True)
    return _frozen(_z_scored(X), y)


@pytest.fixture(scope="session")
def blobs():
    """Three well separated blobs of 40 points, in shuffled order."""
    centers = [(0, 0), (8, 0), (0, 8)]
    X, y = make_blobs([40, 40, 40], centers=centers, cluster_std=0.8, random_state=1)
    return _frozen(X, y)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def on_device(monkeypatch):
    """Let torch compute tensors of the CPU, and let NumPy refuse them, as if on a device."""
    torch = pytest.importorskip("torch", reason="needs torch")
    from linkwise.arrays import callers

    def refuse(tensor, *_, **__):
        raise TypeError("a tensor on a device is no array of NumPy; use to_host")

    monkeypatch.setattr(callers, "on_cpu", lambda X: not callers.is_tensor(X))
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)


@pytest.fixture(scope="module")
def browser():
    from benchmarks.page.browser import SOFTWARE_GL, started

    with started(*SOFTWARE_GL, timeout=120_000) as found:  # a busy machine takes its time
        yield found
