"""Rows in blocks: sources of rows, executors, and limits on memory and time.

This room has nothing to do with clustering. Points may be in memory, in a file or behind any object
with a shape and row slicing. Work over all rows is done block by block, by an executor.
"""

from linkwise.blocks.cost import limits
from linkwise.blocks.executors import Serial, Threads, executor, one_thread, run_blocks
from linkwise.blocks.progress import Progress, duration
from linkwise.blocks.rows import LazyRows, row_blocks, take_rows
from linkwise.blocks.sources import open_rows

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
