"""Measure CCSKL on a GPU and on the CPU of the same machine.

Times are of the second call in a process and later ones, the median of ``repeats``. They begin
with the points on the device and end with the labels on the host. The stages are measured by
calling the same functions one by one.
"""

import statistics
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.gpu.cases import CASES, points
from benchmarks.runs.machine import describe, in_words
from benchmarks.runs.output import say, write
from linkwise import CCSKL, sample_pairs
from linkwise.arrays import to_host
from linkwise.embedding import spectral_basis
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph import AnchorAffinity, build_affinity, nearest_neighbours, neighbour_recall
from linkwise.kernel import fit_spectrum
from linkwise.partition import kmeans

VECTORS = 20  # eigenvectors
TERMS = 3  # products in half precision that an exact search takes; an approximate one takes 1


def timed(work, wait, repeats):
    """Return the median seconds of some calls after the first, and the last result."""
    result, found = work(), []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        result = work()
        wait()
        found.append(time.perf_counter() - start)
    return statistics.median(found), result


def search_options(case):
    return {"metric": "euclidean"} | case.options


def graph_of(case, X):
    """Return the graph of a case."""
    if case.affinity == "anchors":
        rng = np.random.default_rng(0)
        return AnchorAffinity(X, n_nearest=3, sigma="r", rng=rng, **case.options)
    options = search_options(case)
    return build_affinity(
        X, "nearest_neighbors", n_neighbors=case.n_neighbors, sigma="r", options=options
    )


def basis_of(graph):
    return spectral_basis(graph.W, VECTORS, np.random.default_rng(0), order=graph.order)


def fit_of(case, X, k, links):
    """Return the labels of a whole fit, on the host."""
    model = CCSKL(
        k, n_neighbors=case.n_neighbors, affinity=case.affinity, affinity_params=case.options,
        random_state=0,
    ).fit(X, constraints=links)  # fmt: skip
    return to_host(model.labels_)


def whole(case, X, k, links):
    """Return the function whose time is the figure of the case."""
    if case.measures == "fit":
        return lambda: fit_of(case, X, k, links)
    if case.measures == "basis":
        return lambda: basis_of(graph_of(case, X))
    return lambda: nearest_neighbours(X, case.n_neighbors, **search_options(case))


def stages(case, X, k, links, wait, repeats):
    """Return {stage: seconds} and the neighbours, or None of anchors."""
    found, neighbours = {}, None
    if case.affinity != "anchors":
        found["neighbours"], neighbours = timed(
            lambda: nearest_neighbours(X, case.n_neighbors, **search_options(case)), wait, repeats
        )
    if case.measures == "neighbours":
        return found, neighbours
    name = "anchors" if case.affinity == "anchors" else "graph with neighbours"
    found[name], graph = timed(lambda: graph_of(case, X), wait, repeats)
    found["eigenvectors"], basis = timed(lambda: basis_of(graph), wait, repeats)
    if case.measures == "fit":
        F, rng = basis.vectors, np.random.default_rng(0)
        arrays = links.arrays()
        found["quadratic program"], _ = timed(
            lambda: fit_spectrum(F, *arrays, n_clusters=k), wait, repeats
        )
        found["k-means, one view"], _ = timed(lambda: kmeans(F, k, rng=rng), wait, repeats)
    return found, neighbours


def floor(case, rates):
    """Return the least seconds of the search, by operations and by bytes."""
    n, d = case.rows, case.columns
    if case.affinity == "anchors":
        operations, moved = 2.0 * n * d * case.options["n_anchors"], 4.0 * n * (d + 6)
    else:
        terms = TERMS if case.options["search"] == "exact" else 1
        operations = 2.0 * n * n * d * terms
        moved = 4.0 * n * d + 12.0 * n * case.n_neighbors
    return operations / rates["operations"], moved / rates["bytes"]


def measure(name, case, options, rates):
    """Return the figures of a case."""
    import torch

    X, y, source = points(case, options.data)
    k = int(y.max()) + 1
    links = sample_pairs(y, len(y) // 10, random_state=0)
    T = torch.from_numpy(X).to("cuda")
    wait = torch.cuda.synchronize
    torch.cuda.reset_peak_memory_stats()
    seconds, result = timed(whole(case, T, k, links), wait, options.repeats)
    found = {"name": name, "source": source, "seconds": seconds}
    found["memory"] = torch.cuda.max_memory_allocated()
    found["stages"], neighbours = stages(case, T, k, links, wait, options.repeats)
    found["floor"] = floor(case, rates)
    if neighbours is not None:
        found["recall"] = neighbour_recall(T, neighbours, sample=512)
    if case.measures == "fit":
        found["agreement"] = adjusted_rand_index(y, result)
    say(f"{name}: {seconds:.4f} s on the GPU, {found['stages']}")
    if options.cpu:
        del T
        torch.cuda.empty_cache()
        fast = case if case.affinity == "anchors" else case._replace(options={"search": "auto"})
        work = whole(fast, X, k, links)
        found["cpu"], result = timed(work, lambda: None, 1)
        if case.measures == "fit":
            found["cpu_agreement"] = adjusted_rand_index(y, result)
        if case.measures == "neighbours":
            found["cpu_recall"] = neighbour_recall(X, result)
        say(f"{name}: {found['cpu']:.3f} s on the CPU")
    return found


def decimals(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def table(results):
    """Return the lines of the tables of all cases."""
    lines = [
        "| case | rows x columns | measured | GPU s | recall | agreement | CPU s | CPU agreement | "
        "peak GiB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for found in results:
        case = CASES[found["name"]]
        kind = {"fit": "whole fit", "basis": f"graph and {VECTORS} eigenvectors"}
        lines.append(
            f"| {found['name']} ({found['source']}) | {case.rows:,} x {case.columns} | "
            f"{kind.get(case.measures, f'{case.n_neighbors} neighbours')}, "
            f"{case.options.get('search', 'anchors')} | {found['seconds']:.4f} | "
            f"{decimals(found.get('recall'), 4)} | {decimals(found.get('agreement'))} | "
            f"{decimals(found.get('cpu'))} | {decimals(found.get('cpu_agreement'))} | "
            f"{found['memory'] / 2**30:.1f} |"
        )
    lines += ["", "| case | stage | GPU s | floor by operations | floor by bytes |"]
    lines += ["|---|---|---|---|---|"]
    for found in results:
        for number, (stage, seconds) in enumerate(found["stages"].items()):
            bounds = [f"{bound:.4f}" for bound in found["floor"]] if number == 0 else ["", ""]
            lines.append(f"| {found['name']} | {stage} | {seconds:.4f} | {' | '.join(bounds)} |")
    return lines


def device_in_words(rates):
    """Return the device, its libraries and its ceilings as one line."""
    import torch

    try:
        from triton import __version__ as triton
    except ImportError:
        triton = "none"
    return (
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}, triton {triton}; a copy moves "
        f"{rates['bytes'] / 1e12:.2f} TB/s, a product in half precision takes "
        f"{rates['operations'] / 1e12:.0f} Tflop/s."
    )


def run(options, out):
    """Print the tables, and write them to a file if ``out`` is not None.

    Parameters
    ----------
    options : has ``data``, ``only``, ``repeats`` and ``cpu``
    out : path or None
    """
    from benchmarks.gpu.ceilings import bytes_a_second, operations_a_second

    warnings.simplefilter("ignore")
    rates = {"bytes": bytes_a_second(), "operations": operations_a_second()}
    results = [measure(name, CASES[name], options, rates) for name in options.only or list(CASES)]
    text = "\n".join([device_in_words(rates), in_words(describe()), "", *table(results), ""])
    print(text)
    if out is not None:
        write(Path(out), text)
