"""Rows in blocks: where they come from, who works on them, what they may cost.

Knows nothing of clustering. Points may lie in memory, in a file or behind any object with a shape
and row slicing; everything that runs over all rows does so block by block, through an executor.
"""

from linkwise.blocks.cost import limits
from linkwise.blocks.executors import Serial, Threads, executor, run_blocks
from linkwise.blocks.progress import Progress, duration
from linkwise.blocks.rows import LazyRows, open_rows, row_blocks, take_rows
from linkwise.blocks.thread_limits import one_thread

__all__ = [
    "LazyRows",
    "Progress",
    "Serial",
    "Threads",
    "duration",
    "executor",
    "limits",
    "one_thread",
    "open_rows",
    "row_blocks",
    "run_blocks",
    "take_rows",
]
