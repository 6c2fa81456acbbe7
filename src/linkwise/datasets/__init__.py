"""Data sets by name."""

from linkwise.datasets.catalogue import (
    EMBEDDED,
    Dataset,
    fetch,
    folder_of,
    listing,
    load,
    load_arrays,
    source,
)

__all__ = [
    "EMBEDDED",
    "Dataset",
    "fetch",
    "folder_of",
    "listing",
    "load",
    "load_arrays",
    "source",
]
