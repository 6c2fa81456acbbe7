"""Measure CCSKL and LinkClustering on a GPU and on the CPU of the same machine.

Times are of the second call in a process and later ones, the median of ``repeats``; on the CPU a
first call that takes longer than LONG seconds is the only one. They begin
with the points on the device and end with the labels on the host. The stages are measured by
calling the same functions one by one. The floor of a stage is the time that its operations, or the
bytes that it must read and write at least, take at the speed that was measured on the device.
"""

import math
import statistics
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from benchmarks.gpu.cases import CASES, PAIRS, points
from benchmarks.runs.machine import describe, in_words
from benchmarks.runs.output import say, write
from linkwise import CCSKL, LinkClustering, sample_pairs
from linkwise.arrays import door, to_host
from linkwise.embedding import spectral_basis
from linkwise.evaluate import adjusted_rand_index
from linkwise.graph import AnchorAffinity, build_affinity, nearest_neighbours, neighbour_recall
from linkwise.kernel import fit_spectrum
from linkwise.partition import kmeans

VECTORS = 20  # eigenvectors
LONG = 20  # seconds; a call on the CPU that takes longer is not repeated
TERMS = 3  # products in half precision that an exact search takes; an approximate one takes 1


def timed(work, wait, repeats, *, long=math.inf):
    """Return the median seconds of some calls after the first, and the last result.

    A first call that takes longer than ``long`` seconds is the only one.
    """
    start, found = time.perf_counter(), []
    result = work()
    wait()
    first = time.perf_counter() - start
    if first > long:
        return first, result
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


def link_clustering(X, k, links):
    """Return the labels of LinkClustering, on the host."""
    return to_host(LinkClustering(k, random_state=0).fit(X, constraints=links).labels_)


def whole(case, X, k, links):
    """Return the function whose time is the figure of the case."""
    if case.measures == "link clustering":
        return lambda: link_clustering(X, k, links)
    if case.measures == "fit":
        return lambda: fit_of(case, X, k, links)
    if case.measures == "basis":
        return lambda: basis_of(graph_of(case, X))
    return lambda: nearest_neighbours(X, case.n_neighbors, **search_options(case))


def stages(case, X, k, links, wait, repeats):
    """Return {stage: seconds} and the neighbours, or None where none are searched."""
    found, neighbours = {}, None
    if case.measures == "link clustering":
        return stages_of_models(X, k, links, wait, repeats), None
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


def stages_of_models(X, k, links, wait, repeats):
    """Return {stage: seconds} of LinkClustering: before it sees constraints, and after."""
    found, model = {}, LinkClustering(k, random_state=0)
    found["models and partitions"], _ = timed(lambda: model.fit(X), wait, repeats)
    found["candidates, co-EM and labels"], _ = timed(lambda: model.refit(links), wait, repeats)
    return found


def eigenvector_floor(case, X, rates):
    """Return the least seconds of the eigenvectors, by operations and by bytes.

    A product reads the entries of the graph and two blocks of vectors, and writes one.
    """
    graph, tools, widths = graph_of(case, X), door(X), []
    plain = tools.chebyshev_step

    def counted(S, now, *others):
        widths.append(now.shape[1])
        return plain(S, now, *others)

    with mock.patch.object(tools, "chebyshev_step", counted):
        basis_of(graph)
    entries, n = graph.W.values().shape[0], len(X)
    operations = sum(2.0 * entries * b for b in widths)
    moved = sum(8.0 * entries + 12.0 * n * b for b in widths)
    return operations / rates["single"], moved / rates["bytes"]


def floors(case, X, rates):
    """Return {stage: least seconds by operations and by bytes} of a case."""
    if case.measures == "link clustering":
        return {}
    found = {"anchors" if case.affinity == "anchors" else "neighbours": floor(case, rates)}
    if case.measures in ("fit", "basis") and case.affinity != "anchors":
        found["eigenvectors"] = eigenvector_floor(case, X, rates)
    return found


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
    many = PAIRS if case.measures == "link clustering" else len(y) // 10
    links = sample_pairs(y, many, random_state=0)
    T = torch.from_numpy(X).to("cuda")
    wait = torch.cuda.synchronize
    torch.cuda.reset_peak_memory_stats()
    seconds, result = timed(whole(case, T, k, links), wait, options.repeats)
    found = {"name": name, "source": source, "seconds": seconds}
    found["memory"] = torch.cuda.max_memory_allocated()
    found["stages"], neighbours = stages(case, T, k, links, wait, options.repeats)
    found["floors"] = floors(case, T, rates)
    if neighbours is not None:
        found["recall"] = neighbour_recall(T, neighbours, sample=512)
    labelled = case.measures in ("fit", "link clustering")
    if labelled:
        found["agreement"] = adjusted_rand_index(y, result)
    say(f"{name}: {seconds:.4f} s on the GPU, {found['stages']}")
    if options.cpu:
        del T
        torch.cuda.empty_cache()
        fast = case._replace(options={"search": "auto"}) if "search" in case.options else case
        work = whole(fast, X, k, links)
        found["cpu"], result = timed(work, lambda: None, 1, long=LONG)
        if labelled:
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
        kind = {
            "fit": "whole fit", "basis": f"graph and {VECTORS} eigenvectors",
            "link clustering": f"LinkClustering, {PAIRS:,} pairs",
        }  # fmt: skip
        lines.append(
            f"| {found['name']} ({found['source']}) | {case.rows:,} x {case.columns} | "
            f"{kind.get(case.measures, f'{case.n_neighbors} neighbours')}"
            f"{', ' + searched if (searched := case.options.get('search')) else ''} | "
            f"{found['seconds']:.4f} | "
            f"{decimals(found.get('recall'), 4)} | {decimals(found.get('agreement'))} | "
            f"{decimals(found.get('cpu'))} | {decimals(found.get('cpu_agreement'))} | "
            f"{found['memory'] / 2**30:.1f} |"
        )
    lines += ["", "| case | stage | GPU s | floor by operations | floor by bytes |"]
    lines += ["|---|---|---|---|---|"]
    for found in results:
        for stage, seconds in found["stages"].items():
            bounds = [decimals(bound, 5) for bound in found["floors"].get(stage, (None, None))]
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
        f"{rates['operations'] / 1e12:.0f} Tflop/s, one in single precision "
        f"{rates['single'] / 1e12:.0f}."
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
    rates = {
        "bytes": bytes_a_second(), "operations": operations_a_second("float16"),
        "single": operations_a_second("float32"),
    }  # fmt: skip
    results = [measure(name, CASES[name], options, rates) for name in options.only or list(CASES)]
    text = "\n".join([device_in_words(rates), in_words(describe()), "", *table(results), ""])
    print(text)
    if out is not None:
        write(Path(out), text)
