"""Labels in files.

csv, tsv, jsonl, parquet   one row per point: id, label; or row, label if the rows have no ids;
                           and the name of the cluster, if names are given; and level_5, level_20,
                           ... if the labels of some levels are
npy                        the labels alone, with levels (n, 1 + levels)
"""

import io
from pathlib import Path

import numpy as np

from linkwise._files import write_whole
from linkwise.journal.exports import check_format, table_bytes
from linkwise.tables.outputs import check_output


def label_columns(labels, ids=None, names=None, levels=None):
    """Return a table of labels, a dict of columns.

    Parameters
    ----------
    labels : int array (n,)
    ids : list of n ids, or None: rows are numbered from 0
    names : dict {label: name of the cluster}, or None: the table has no column of names
    levels : dict {number of clusters: labels (n,)}, or None: the table has no levels
    """
    labels = np.asarray(labels).tolist()
    rows = list(range(len(labels)) if ids is None else ids)
    columns = {"row" if ids is None else "id": rows, "label": labels}
    if names is not None:
        columns["name"] = [names.get(label, "") for label in labels]
    for number, found in (levels or {}).items():
        columns[f"level_{number}"] = np.asarray(found).tolist()
    return columns


def label_bytes(suffix, labels, ids=None, names=None, levels=None):
    """Return a table of labels as the bytes of a file with that suffix.

    Ids are written as they are. With `names`, the table is one to be looked at: texts that a
    spreadsheet would run as a formula are made inert.
    """
    if suffix == ".npy":
        array = io.BytesIO()
        np.save(array, np.column_stack([labels, *levels.values()]) if levels else labels)
        return array.getvalue()
    return table_bytes(
        suffix, label_columns(labels, ids, names, levels), spreadsheet=names is not None
    )


def write_labels(path, labels, ids=None, names=None, levels=None, *, force=False):
    """Write labels to a .csv, .tsv, .jsonl, .parquet or .npy file: whole, or not at all."""
    suffix = Path(path).suffix.lower()
    if suffix != ".npy":
        check_format(path)
    raw = label_bytes(suffix, labels, ids, names, levels)
    check_output(path, force=force)
    write_whole(path, raw)
