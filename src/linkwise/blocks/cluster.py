"""Rows on the workers of a Dask cluster.

`ClusterRows` are rows in blocks, each with a source: a file and a range of its rows (`Piece`), a
chunk of a dask array, a partition of a dask data frame, or a value that a worker keeps. A pass over
the rows reads every block and applies functions of ``(part, block)`` to it. Only small values come
back, and sums of them are added up by the workers along the tree of `blocks.passes`. The functions
are those that run without a cluster.

A task takes a run of consecutive blocks of files, one after the other, or one chunk or partition.
The length of a run is a power of 2, so that the blocks of a run are a subtree of the tree of sums,
and it does not change the result. Longer runs mean fewer tasks, and fewer sums to move.

Nothing is lost with a worker. Every task, those that hand out the functions included, can be
repeated from what the scheduler knows, and a task has the same value wherever it runs.

An error, an interrupt or a lost scheduler cancels the tasks of the pass.
"""

import pickle
import sys
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import add
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from linkwise._typing import Array, Integers
from linkwise._wording import counted
from linkwise.blocks import memo
from linkwise.blocks.allocator import freed_memory_kept
from linkwise.blocks.executors import one_thread
from linkwise.blocks.parts import ColumnPiece, PartFiles, Piece, in_blocks
from linkwise.blocks.passes import tree_sum
from linkwise.blocks.progress import Progress
from linkwise.blocks.rows import BlockFunction, slices_of
from linkwise.exceptions import MissingExtra

T = TypeVar("T")

Functions: TypeAlias = tuple[BlockFunction[Any], ...]
Sources: TypeAlias = Sequence[Any]  # of the blocks of a run
FILES = (Piece, ColumnPiece)  # sources that read themselves
RUN = 16  # blocks of a task at most, and blocks of a sum that counts as progress; a power of 2
TASKS = 4  # tasks for each thread of the cluster at least, if there are that many blocks


def dask_modules() -> tuple[Any, Any]:
    """Return (dask, distributed)."""
    try:
        import dask
        import distributed
    except ImportError:
        raise MissingExtra("distributed", "dask") from None
    return dask, distributed


def ambient_client(needed_by: str | None = None) -> Any:
    """Return the distributed.Client of this process, or None.

    Parameters
    ----------
    needed_by : str or None, what cannot do without a client, for the message of an error
    """
    distributed = sys.modules.get("distributed")
    if distributed is not None:
        try:
            return distributed.default_client()
        except ValueError:  # no client
            pass
    if needed_by is None:
        return None
    raise ValueError(
        f"{needed_by} needs a Dask cluster, and there is no distributed.Client: start one, such as "
        "client = distributed.Client(), or Client('tcp://...:8786')"
    )


def run_block(functions: Functions, part: slice, source: Any) -> Any:
    """Return the value of functions, one after the other, on a block."""
    with one_thread():
        block = source.read() if isinstance(source, FILES) else source
        for function in functions:
            block = function(part, block)
        return block


@freed_memory_kept()
def run_blocks_of(functions: Functions, parts: list[slice], sources: Sources) -> list[Any]:
    """Return the values of a run of blocks: the task of a pass."""
    return [run_block(functions, *one) for one in zip(parts, sources, strict=True)]


@freed_memory_kept()
def run_sum(
    functions: Functions, parts: list[slice], sources: Sources, plus: Callable[[Any, Any], Any]
) -> Any:
    """Return the sum of the values of a run of blocks."""
    return tree_sum((run_block(functions, *one) for one in zip(parts, sources, strict=True)), plus)


@freed_memory_kept()
def run_one(functions: Functions, part: slice, sources: Sources, at: int) -> Any:
    """Return the value of one block of a run."""
    return run_block(functions, part, sources[at])


@freed_memory_kept()
def pick(
    functions: Functions, parts: list[slice], sources: Sources, places: list[tuple[int, Any]]
) -> Any:
    """Return some rows of the blocks of a run, of a file without reading the others."""
    found = []
    for b, at in places:
        if isinstance(sources[b], FILES) and not functions:
            found.append(sources[b].take(at))
        else:
            found.append(run_block(functions, parts[b], sources[b])[at])
    return stacked(found)


def stacked(blocks: list[Any]) -> Any:
    """Return blocks of rows as one."""
    if sparse.issparse(blocks[0]):
        return sparse.vstack(blocks, format="csr")
    return np.concatenate(blocks)


@contextmanager
def one_sentence(client: Any, futures: list[Any]) -> Iterator[None]:
    """Cancel futures if an error or an interrupt occurs; say in one sentence what was lost."""
    _, distributed = dask_modules()
    address = getattr(client.scheduler, "address", None) or "?"
    try:
        yield
    except BaseException as error:
        cancel(client, futures)
        if isinstance(error, distributed.KilledWorker):
            raise MemoryError(
                f"the cluster lost {counted(error.allowed_failures + 1, 'worker')} with the same "
                "block, "
                "probably out of memory: give the workers more memory, or write smaller parts"
            ) from error
        lost = (distributed.CancelledError, distributed.comm.CommClosedError)
        if isinstance(error, lost) or client.status not in ("running", "connecting"):
            raise ConnectionError(
                f"the scheduler at {address} does not answer, or has dropped the work; start it, "
                "and run again"
            ) from error
        raise


def cancel(client: Any, futures: list[Any]) -> None:
    """Cancel futures if the scheduler can still be reached."""
    if client.status == "running" and futures:
        try:
            client.cancel(futures, reason="linkwise ended the pass", msg="linkwise ended the pass")
        except Exception:  # the scheduler went away meanwhile, and the tasks with it
            return


class Submitted(threading.local):
    """The number of tasks that this thread has submitted."""

    tasks = 0


SUBMITTED = Submitted()


def start(
    client: Any, delayed: list[Any], *, tasks: int | None = None, functions: int = 1
) -> list[Any]:
    """Return futures of Delayed; tasks and functions sent are counted."""
    SUBMITTED.tasks += (len(delayed) if tasks is None else tasks) + functions
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # a model, once for all blocks
        futures: list[Any] = client.compute(delayed, optimize_graph=False)
    return futures


class ClusterRows:
    """Rows in blocks on a cluster.

    Attributes
    ----------
    bounds : int array (b + 1,), the first row of every block, and the number of rows
    shape : (n, width), or (n,) for one number in each row
    sources : list of the sources of each run of blocks: a tuple, or the future of a list
    run : int, the number of blocks of a run; the last may have fewer
    origin : function (ClusterRows) -> collection of Dask of the kind that the rows came from
    token : equal for rows that are the same by their names; None for computed ones
    ids : ClusterRows (n,), the id of every row, or None
    """

    def __init__(
        self,
        client: Any,
        sources: Iterable[Any],
        bounds: Integers,
        *,
        width: int | None,
        dtype: Any,
        run: int = 1,
        functions: Functions = (),
        origin: Callable[["ClusterRows"], Any] | None = None,
        token: Any = None,
        ids: "ClusterRows | None" = None,
    ) -> None:
        self.client, self.sources, self.bounds, self.run = client, list(sources), bounds, run
        self.functions, self.dtype, self.origin = functions, np.dtype(dtype), origin
        self.token, self.ids = token, ids
        n = int(bounds[-1])
        self.shape: tuple[int, ...] = (n,) if width is None else (n, width)
        self.ndim = len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def _with(self, **changed: Any) -> "ClusterRows":
        """Return rows that differ from these."""
        width = self.shape[1] if self.ndim == 2 else None
        same = {"sources": self.sources, "width": width, "dtype": self.dtype}
        same |= {"functions": self.functions, "origin": self.origin, "token": self.token}
        same |= {"ids": self.ids, "run": self.run}
        return ClusterRows(self.client, bounds=self.bounds, **(same | changed))

    def then(self, function: BlockFunction[Any], **changed: Any) -> "ClusterRows":
        """Return rows that a function computes from these when they are needed.

        ``changed`` may name another ``width`` and ``dtype``.
        """
        return self._with(functions=(*self.functions, function), token=None, ids=None, **changed)

    def named_as(self, other: Any) -> bool:
        """Tell whether other rows are these very rows, by their names."""
        return self.token is not None and bool(self.token == getattr(other, "token", None))

    def _run_slices(self) -> list[slice]:
        """Return the runs as slices of the blocks."""
        count = len(self.bounds) - 1
        return [slice(a, min(a + self.run, count)) for a in range(0, count, self.run)]

    def block(self, b: int) -> tuple[slice, Any, int]:
        """Return the part of a block, and the sources and the place that `run_one` takes."""
        part, sources, at = slice(*self.bounds[b : b + 2].tolist()), *divmod(b, self.run)
        held = self.sources[sources]
        return (part, (held[at],), 0) if isinstance(held, tuple) else (part, held, at)

    def tasks(
        self, stage: str, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Return a Delayed function(functions, *arguments) for each tuple of arguments."""
        dask, _ = dask_modules()
        name = f"linkwise {stage}-{uuid.uuid4().hex}"
        send, call = dask.delayed(pickle.loads, pure=False), dask.delayed(function, pure=False)
        functions = send(pickled(self.functions), dask_key_name=f"{name}-functions")
        return [
            call(functions, *each, dask_key_name=f"{name}-{i}") for i, each in enumerate(arguments)
        ]

    def run_tasks(self, stage: str, function: Callable[..., Any], *more: Any) -> list[Any]:
        """Return a Delayed function(functions, parts, sources, *more) for each run."""
        parts = slices_of(self.bounds)
        runs = zip(self._run_slices(), self.sources, strict=True)
        return self.tasks(stage, function, ((parts[run], held, *more) for run, held in runs))

    def block_tasks(self, stage: str) -> list[Any]:
        """Return one Delayed for each block, its value."""
        return self.tasks(stage, run_one, map(self.block, range(len(self.bounds) - 1)))

    def each(
        self, function: BlockFunction[T], *, label: str | None = None, total: int | None = None
    ) -> Iterator[tuple[slice, T]]:
        """Yield (part, function(part, block)) for every block, in order; the values are small."""
        parts = slices_of(self.bounds)

        def values() -> list[T]:
            stage = label or "pass"
            futures = start(self.client, self.then(function).run_tasks(stage, run_blocks_of))
            self._wait(futures, stage)
            with one_sentence(self.client, futures):
                found: list[list[T]] = self.client.gather(futures)
            return [value for run in found for value in run]

        yield from zip(parts, memo.step(values), strict=True)

    def keep(self, label: str) -> "ClusterRows":
        """Return the same rows, computed now and kept by the workers.

        If an earlier run has finished the next step, they are computed when they are needed.
        """
        if memo.replays():
            return self
        futures = start(self.client, self.run_tasks(label, run_blocks_of))
        self._wait(futures, label)
        return self._with(sources=futures, functions=())

    def _wait(self, futures: list[Any], label: str, runs: int = 1) -> None:
        """Wait for all futures, of some runs each; raise the first error."""
        _, distributed = dask_modules()
        firsts = range(0, len(self.bounds) - 1, runs * self.run)
        sizes = np.diff(self.bounds[[*firsts, -1]]).tolist()
        size_of = dict(zip([future.key for future in futures], sizes, strict=True))
        with (
            one_sentence(self.client, futures),
            Progress(label, self.shape[0]) as progress,
        ):
            for future in distributed.as_completed(futures, loop=self.client.loop):
                if future.status != "finished":
                    future.result()
                progress.advance(size_of[future.key])

    def sum(
        self,
        function: BlockFunction[T],
        plus: Callable[[T, T], T] = add,
        label: str = "sums",
    ) -> T:
        """Return the sum of function(part, block) over all blocks."""

        def total() -> T:
            tasks = self.then(function).run_tasks(label, run_sum, plus)
            runs = RUN // self.run
            groups = [tree(tasks[a : a + runs], plus, label) for a in range(0, len(tasks), runs)]
            futures = start(self.client, groups, tasks=2 * len(tasks) - len(groups))
            self._wait(futures, label, runs)
            (last,) = start(
                self.client, [tree(futures, plus, label)], tasks=len(groups) - 1, functions=0
            )
            with one_sentence(self.client, [last]):
                value: T = last.result()
                return value

        return memo.step(total)

    def __getitem__(self, rows: Any) -> Any:
        """Return a slice of the rows, or listed ones, in this process."""
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(self.shape[0]))
        unique, place = np.unique(np.asarray(rows), return_inverse=True)
        if len(unique) == 0:
            return self[[0]][:0]

        def gathered() -> Any:
            futures = start(self.client, self.tasks("rows", pick, self._places(unique)))
            with one_sentence(self.client, futures):
                return stacked(self.client.gather(futures))

        found = memo.step(gathered)
        return found if len(place) == len(unique) and np.all(np.diff(place) > 0) else found[place]

    def _places(self, rows: Integers) -> Iterator[tuple[list[slice], Any, list[tuple[int, Any]]]]:
        """Yield the runs that hold ascending rows: parts, sources, and (block, places in it)."""
        parts, slices = slices_of(self.bounds), self._run_slices()
        for r, found in groupby(in_blocks(rows, self.bounds), lambda one: one[0] // self.run):
            yield parts[slices[r]], self.sources[r], [(b - slices[r].start, at) for b, at in found]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.as_dask_array().compute(), dtype=dtype or self.dtype)

    def max(self) -> Any:
        """Return the largest number."""
        return max(value for _, value in self.each(lambda part, block: block.max()))

    def lazy(self) -> Any:
        """Return the rows as a lazy object of Dask: of the kind of the origin, else an array."""
        if self.origin is not None:
            return self.origin(self)
        return self.as_dask_array()

    def as_dask_array(self) -> Any:
        """Return the rows as a dask array with one chunk for each block."""
        import dask.array as da

        sizes = np.diff(self.bounds).tolist()
        blocks = [
            da.from_delayed(task, shape=(size, *self.shape[1:]), dtype=self.dtype)
            for task, size in zip(self.block_tasks("values"), sizes, strict=True)
        ]
        return da.concatenate(blocks)


def pickled(functions: Functions) -> bytes:
    """Return functions as bytes, closures included."""
    import cloudpickle

    raw: bytes = cloudpickle.dumps(functions)
    return raw


def tree(tasks: list[Any], plus: Callable[[Any, Any], Any], label: str) -> Any:
    """Return the sum of tasks or futures as one Delayed, along the tree of `blocks.passes`."""
    dask, _ = dask_modules()
    name = f"linkwise {label} added-{uuid.uuid4().hex}"
    call = dask.delayed(plus, pure=False)
    count = 0
    while len(tasks) > 1:
        level = []
        for a in range(0, len(tasks) - 1, 2):
            level.append(call(tasks[a], tasks[a + 1], dask_key_name=f"{name}-{count}"))
            count += 1
        tasks = level + tasks[len(tasks) - len(tasks) % 2 :]
    only = tasks[0]
    return only if hasattr(only, "dask") else dask.delayed(only)


def rows_of_parts(files: PartFiles, client: Any) -> ClusterRows:
    """Return the rows in files that all workers can read."""
    column, ids = files.ids, None
    run = run_length(len(files.pieces), sum(client.nthreads().values()))

    def in_runs(pieces: Sequence[Any]) -> list[Any]:
        return [tuple(pieces[a : a + run]) for a in range(0, len(pieces), run)]

    if column is not None:
        sources = in_runs(column.pieces)
        ids = ClusterRows(client, sources, files.bounds, width=None, dtype=object, run=run)
    return ClusterRows(
        client, in_runs(files.pieces), files.bounds, width=files.shape[1], dtype=files.dtype,
        run=run, token=files.pieces, ids=ids,
    )  # fmt: skip


def run_length(blocks: int, threads: int) -> int:
    """Return the number of blocks of a task, a power of 2.

    >>> run_length(40, threads=2), run_length(1000, threads=2), run_length(40, threads=100)
    (4, 16, 1)
    """
    run = 1
    while 2 * run <= RUN and 2 * run * TASKS * max(threads, 1) <= blocks:
        run *= 2
    return run


def lengths(blocks: list[Any], client: Any) -> list[int]:
    """Return the number of rows of Delayed blocks."""
    dask, _ = dask_modules()
    futures = client.compute([dask.delayed(len)(block) for block in blocks])
    with one_sentence(client, futures):
        found: list[int] = client.gather(futures)
    return found


def as_bounds(sizes: ArrayLike) -> Integers:
    """Return the bounds of blocks of these sizes.

    >>> as_bounds([2, 3])
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def rows_of_array(X: Any, *, ndim: int = 2) -> ClusterRows:
    """Return the rows of a dask array; its chunks of rows are the blocks."""
    client = ambient_client("a dask array")
    if X.ndim != ndim:
        wanted = "(n_samples, n_features)" if ndim == 2 else "(n_samples,), one id per row"
        raise ValueError(f"a dask array must have shape {wanted}; got {X.ndim} dimensions")
    if ndim == 2 and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    blocks = X.to_delayed(optimize_graph=False).ravel().tolist()
    sizes = X.chunks[0]
    if any(size != size for size in sizes):  # NaN: not known yet
        sizes = lengths(blocks, client)
    some = [(block, size) for block, size in zip(blocks, sizes, strict=True) if size]
    if not some:
        raise ValueError("X has no rows; pass at least 2")
    bounds = as_bounds([size for _, size in some])
    return ClusterRows(
        client, [(block,) for block, _ in some], bounds, width=X.shape[1] if ndim == 2 else None,
        dtype=X.dtype, token=X.name,
    )  # fmt: skip


def rows_of_frame(X: Any, id_column: str | None) -> ClusterRows:
    """Return the rows of a dask data frame; its partitions are the blocks."""
    dask, _ = dask_modules()
    client = ambient_client("a dask data frame")
    if id_column is not None and id_column not in X.columns:
        names_of_all = ", ".join(map(str, X.columns))
        raise ValueError(f"sample_id={id_column!r}: X has no such column; it has {names_of_all}")
    columns = [name for name in X.columns if name != id_column]
    kinds = X.dtypes
    texts = [name for name in columns if getattr(kinds[name], "kind", "O") not in "biuf"]
    if texts:
        raise ValueError(
            f"X: column {texts[0]!r} has {kinds[texts[0]]} values, not numbers; name it by "
            "sample_id= if it has the ids, or leave it out"
        )
    dtype = np.result_type(*(kinds[name] for name in columns))
    blocks = X.to_delayed()
    sizes = lengths(blocks, client)
    some = [(block, size) for block, size in zip(blocks, sizes, strict=True) if size]
    if not some:
        raise ValueError("X has no rows; pass at least 2")
    partitions = [block for block, _ in some]
    divisions = X.divisions if len(some) == len(blocks) else None

    def values(part: slice, frame: Any) -> Array:
        return frame[columns].to_numpy(dtype)

    def as_series(rows: ClusterRows) -> Any:
        import dask.dataframe as dd

        make = dask.delayed(series, pure=False)
        parts = [make(*pair) for pair in zip(rows.block_tasks("values"), partitions, strict=True)]
        return dd.from_delayed(parts, meta=series(np.empty(0, rows.dtype)), divisions=divisions)

    def names(part: slice, frame: Any) -> Array:
        return np.asarray(frame[id_column])

    bounds, ids = as_bounds([size for _, size in some]), None
    sources = [(partition,) for partition in partitions]
    if id_column is not None:
        ids = ClusterRows(client, sources, bounds, width=None, dtype=object, functions=(names,))
    return ClusterRows(
        client, sources, bounds, width=len(columns), dtype=dtype, functions=(values,),
        origin=as_series, token=X._name, ids=ids,
    )  # fmt: skip


def series(labels: Array, frame: Any = None) -> Any:
    """Return labels as a series of pandas with the index of a frame."""
    import pandas as pd

    return pd.Series(labels, index=None if frame is None else frame.index, name="label")


def rows_of_collection(X: Any, id_column: str | None = None) -> ClusterRows:
    """Return the rows of a dask array or data frame."""
    if hasattr(X, "divisions") and hasattr(X, "columns"):
        return rows_of_frame(X, id_column)
    if hasattr(X, "chunks"):
        return rows_of_array(X)
    raise TypeError(f"X is a {type(X).__name__} of Dask; pass a dask array or a dask data frame")
