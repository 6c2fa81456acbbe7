"""Progress, interrupts and lack of memory on a device: torch on the CPU, and a GPU if any."""

import io
import sys

import numpy as np
import pytest
from interrupt_parts import interrupt_everywhere, problem
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from linkwise import CCSKL, LinkClustering, ManifoldLayout, sample_pairs
from linkwise.arrays import to_host
from linkwise.blocks import progress
from linkwise.graph import nearest_neighbours

torch = pytest.importorskip("torch", reason="needs torch")
gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")]


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=gpu)])
def device(request):
    """Return a device whose tensors torch computes, that of the CPU too."""
    if request.param == "cpu":
        request.getfixturevalue("on_device")
    return request.param


def models():
    return [
        CCSKL(2, random_state=0),
        CCSKL(2, affinity="anchors", random_state=0),
        LinkClustering(2, effort="fast", random_state=0),
    ]


@pytest.mark.parametrize("model", models(), ids=str)
def test_an_interrupted_fit_leaves_the_model_as_it_was(device, model, rng):
    (A, first), (B, second) = problem(rng, 1200), problem(rng, 1000)
    A, B = (torch.from_numpy(X).to(device) for X in (A, B))

    def fit(model):
        model.fit(B, constraints=second)

    moments = np.linspace(0.05, 0.98, 9)  # also while steps are recorded, which a device does
    interrupt_everywhere(fit, model.fit(A, constraints=first), A + 0.01, moments)


def test_an_interrupted_layout_leaves_the_model_as_it_was(device, rng):
    A, B = (torch.from_numpy(problem(rng, n)[0]).to(device) for n in (300, 200))
    model = ManifoldLayout(n_steps=5, random_state=0).fit(A)
    interrupt_everywhere(lambda model: model.fit(B), model, A + 0.01)


def test_a_search_tells_how_far_it_is_and_can_be_interrupted(device, monkeypatch):
    from linkwise.arrays import nearest_tensors

    monkeypatch.setattr(nearest_tensors, "MOST_ROWS", 512)
    X = torch.from_numpy(np.random.default_rng(0).standard_normal((3000, 6))).to(device)
    told = []
    truth = nearest_neighbours(X, 5, search="exact", progress=told.append)
    assert told == [512, 1024, 1536, 2048, 2560, 3000]

    def interrupt(done):
        if done > 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nearest_neighbours(X, 5, search="exact", progress=interrupt)
    again = nearest_neighbours(X, 5, search="exact")
    assert_array_equal(to_host(again.indices), to_host(truth.indices))


def test_progress_is_shown_on_a_terminal(device, monkeypatch):
    X, y = load_digits(return_X_y=True)
    T, links = torch.from_numpy(X).to(device), sample_pairs(y, 60, random_state=0)
    monkeypatch.setattr(progress, "DELAY", -1)
    monkeypatch.setattr(progress, "PAUSE", -1)
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    CCSKL(10, random_state=0).fit(T, constraints=links)
    LinkClustering(10, effort="fast", random_state=0).fit(T, constraints=links)
    for words in ("neighbours: 100%", "eigenvectors: ", "labels: 100%", "LinkClustering: "):
        assert words in screen.getvalue()


@pytest.mark.parametrize("model", [CCSKL(2), LinkClustering(2, effort="fast")], ids=str)
def test_memory_that_runs_out_is_one_sentence(device, model, rng, monkeypatch):
    X, links = problem(rng, 900)
    T = torch.from_numpy(X).to(device)

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has")

    model.fit(T)
    monkeypatch.setattr("linkwise.arrays.tensors.squared_norms", full)
    with pytest.raises(MemoryError, match=r"the device has too little free memory: use fewer rows"):
        model.fit(T, constraints=links)
    with pytest.raises(MemoryError, match=r"the device has too little free memory: use fewer rows"):
        model.predict(T + 1)
