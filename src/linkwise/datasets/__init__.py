"""Data sets by name: `load` one, `listing` of all; `fetch` downloads."""

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
