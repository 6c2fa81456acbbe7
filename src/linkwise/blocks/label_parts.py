"""Labels in parts: one file for each part of the rows, written whole or not at all.

.npy parts of rows get .npy parts of labels. .parquet parts get .parquet parts with the column
``label``, after the column of ids if there is one. On a cluster the workers write them.
"""

import os
from typing import Any

import numpy as np

from linkwise._files import instead_of
from linkwise._typing import Array, Integers
from linkwise.blocks.allocator import freed_memory_kept
from linkwise.blocks.cluster import (
    ClusterRows,
    Functions,
    dask_modules,
    one_sentence,
    run_one,
    start,
)
from linkwise.blocks.parts import ColumnPiece, PartFiles, parquet
from linkwise.blocks.progress import Progress

SMALL = np.int32  # of labels in files


def write_part(place: str, blocks: list[Array], ids: tuple[ColumnPiece, ...] | None) -> Integers:
    """Write the labels of one part, and return how often each of them occurs."""
    labels = np.concatenate(blocks).astype(SMALL)
    folder = os.path.dirname(place)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"a worker does not see the folder {folder}; name an output in a folder that all "
            "workers share"
        )
    with instead_of(place) as beside:
        if place.endswith(".npy"):
            np.save(beside, labels)
        else:
            write_table(beside, labels, ids)
    return np.bincount(labels)


@freed_memory_kept()
def write_blocks(
    functions: Functions, blocks: list[tuple[Any, ...]], place: str, ids: Any
) -> Integers:
    """Write the labels of one part, computed from its blocks: the task of a worker."""
    return write_part(place, [run_one(functions, *block) for block in blocks], ids)


def write_table(place: Any, labels: Array, ids: tuple[ColumnPiece, ...] | None) -> None:
    """Write labels, after their ids if there are any, as a .parquet file."""
    import pyarrow as pa

    columns = {"label": pa.array(labels)}
    if ids:
        tables = [one.piece.table((one.name,)) for one in ids]
        columns = {ids[0].name: pa.concat_tables(tables).column(ids[0].name), **columns}
    parquet().write_table(pa.table(columns), place)


def sizes_in(place: str) -> Integers:
    """Return how often each label occurs in a part that was written before."""
    if place.endswith(".npy"):
        return np.bincount(np.load(place))
    return np.bincount(parquet().read_table(place, columns=["label"]).column("label").to_numpy())


def added(sizes: list[Integers]) -> Integers:
    """Return the sum of counts of different lengths.

    >>> added([np.array([1, 2]), np.array([1])])
    array([2, 2])
    """
    total = np.zeros(max(map(len, sizes)), dtype=np.int64)
    for one in sizes:
        total[: len(one)] += one
    return total


def write_parts(files: PartFiles, labels: ClusterRows, places: list[str]) -> Integers:
    """Let workers write the parts that are not there yet; return the sizes of the clusters."""
    _, distributed = dask_modules()
    column = files.ids
    first = np.cumsum([0, *(len(part.blocks) for part in files.parts)]).tolist()
    open_ = [i for i, place in enumerate(places) if not os.path.isfile(place)]
    arguments = []
    for i in open_:
        own = range(first[i], first[i + 1])
        ids = None if column is None else column.pieces[own.start : own.stop]
        arguments.append(([labels.block(b) for b in own], places[i], ids))
    sizes = [sizes_in(place) for i, place in enumerate(places) if i not in set(open_)]
    if not open_:
        return added(sizes)
    futures = start(labels.client, labels.tasks("write", write_blocks, arguments))
    rows_of = {f.key: files.parts[i].rows for f, i in zip(futures, open_, strict=True)}
    with (
        one_sentence(labels.client, futures),
        Progress("write", sum(rows_of.values())) as progress,
    ):
        for future in distributed.as_completed(futures, loop=labels.client.loop):
            sizes.append(future.result())
            progress.advance(rows_of[future.key])
    return added(sizes)
