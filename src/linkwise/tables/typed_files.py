"""Tables with types: .parquet files (extra ``io``) and AnnData files, .h5ad (extra ``anndata``).

Times and UUIDs become texts, as ids have them. Columns of lists cannot be used.
"""

import io
import tempfile
import uuid
import warnings
from typing import Any

import numpy as np

from linkwise.constraints.ids import id_text
from linkwise.exceptions import MissingExtra
from linkwise.tables.columns import find_column
from linkwise.tables.file_bytes import damaged, read_bytes
from linkwise.tables.id_columns import is_id_name
from linkwise.tables.table import Column, Table

CELLS = "obs_names"  # the names of the rows of an AnnData file
COMPONENTS = 50  # of a wide matrix of an AnnData file, as scanpy


def open_parquet(path, file):
    """Return (ParquetFile, names of its columns) of a file, which may be gzipped."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "io") from None
    raw = read_bytes(path)
    try:
        opened = parquet.ParquetFile(io.BytesIO(raw))
        return opened, opened.schema_arrow.names
    except Exception as error:  # a broken file may fail anywhere, and with anything
        raise damaged(file, ".parquet") from error


def read_parquet(path, file, columns, named):
    """Return the Table in a .parquet file.

    Parameters
    ----------
    path, file : str, the file, and what to call it in a message
    columns : list of str or None, the columns that are needed; default all
    named : list of str, the column of ids if it is named
    """
    opened, stored = open_parquet(path, file)
    index = [name for name in stored if name.startswith("__index_level_")]  # of pandas
    order = index + [name for name in stored if name not in index]
    names = ["" if name in index else name for name in order]
    keep = list(range(len(order)))
    if columns is not None:
        asked = {find_column(column, names, len(names), file) for column in (*columns, *named)}
        keep = [j for j in keep if j in asked or is_id_name(names[j], j)]
    try:
        data = opened.read(columns=[order[j] for j in keep])
    except Exception as error:
        raise damaged(file, ".parquet") from error
    if not data.num_rows:
        raise ValueError(f"{file} has no rows: expected a row per point")
    found = [Column(name) for name in names]
    for j in keep:
        found[j] = _parquet_column(names[j], data.column(order[j]))
    return Table(file, names, found, np.arange(data.num_rows), "row")


def _parquet_column(name, values):
    """Return the Column of a column of pyarrow."""
    import pyarrow
    from pyarrow import types

    kind = values.type
    if types.is_dictionary(kind):
        values = pyarrow.chunked_array(
            [chunk.dictionary_decode() for chunk in values.chunks], kind.value_type
        )
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return _number_column(name, values, kind)
    if types.is_decimal(kind):
        return Column(
            name, np.array([np.nan if v is None else float(v) for v in values.to_pylist()])
        )
    if types.is_nested(kind):
        return Column(name, other=str(kind))
    cells = [typed_text(value) for value in values.to_pylist()]
    if None in cells:
        return Column(name, other=str(kind))
    return Column(name, texts=cells)


def _number_column(name, values, kind):
    from pyarrow import compute, types

    if types.is_integer(kind):
        ends = compute.min_max(values).as_py()
        if any(end is not None and abs(end) >= 2**53 for end in ends.values()):  # ids, say
            texts = ["" if value is None else str(value) for value in values.to_pylist()]
            return Column(name, np.array([float(text or "nan") for text in texts]), texts)
    floats = compute.cast(values, "float64").to_numpy()
    return Column(name, np.asarray(floats, dtype=float))


def typed_text(value):
    """Return a value of a parquet file as a text, or None if it is not one."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes) and len(value) == 16:
        return str(uuid.UUID(bytes=value))
    return id_text(value)


def read_cells(path, file, columns):
    """Return the Table of an AnnData file: its obs, and the matrix to cluster by.

    Parameters
    ----------
    path, file : str, the file, and what to call it in a message
    columns : list of str or None
        The name of a matrix, "X" or one of obsm, or columns of obs, which then are clustered by.
        Default "X_pca", or "X" if there is none.
    """
    try:
        import anndata
    except ImportError:
        raise MissingExtra("anndata", "anndata") from None
    raw = read_bytes(path)
    with tempfile.NamedTemporaryFile(suffix=".h5ad") as copy:
        copy.write(raw)
        copy.flush()
        try:
            with warnings.catch_warnings():  # about older versions of the format
                warnings.simplefilter("ignore")
                data = anndata.read_h5ad(copy.name)
        except Exception as error:  # HDF5 may fail anywhere, and with anything
            raise damaged(file, ".h5ad") from error
    if not data.n_obs:
        raise ValueError(f"{file} has no rows: expected a row per point")
    obs = data.obs
    found = [Column(CELLS, texts=list(map(str, data.obs_names)))]
    found += [_frame_column(str(name), obs[name]) for name in obs.columns]
    table = Table(file, [column.name for column in found], found, np.arange(data.n_obs), "row")
    if columns is None:
        points, note = _cell_points(data, None)
    elif len(columns) == 1 and (columns[0] == "X" or columns[0] in data.obsm):
        points, note = _cell_points(data, columns[0])
    else:
        return table
    return table._replace(points=points, note=note, computed="components" in note)


def _cell_points(data, name):
    """Return (points, what they are): a matrix of obsm, or X, of which components if it is wide."""
    from scipy import sparse

    if name is None and data.n_vars > COMPONENTS and "X_pca" in data.obsm:
        name = "X_pca"
    if name not in (None, "X"):
        X = np.asarray(data.obsm[name], dtype=float)
        return X, f"clustered by {name}, {X.shape[1]} columns"
    X = data.X
    if name == "X" or data.n_vars <= COMPONENTS:
        X = X.toarray() if sparse.issparse(X) else np.asarray(X)
        return X.astype(float), f"clustered by X, {X.shape[1]} columns"
    from sklearn.decomposition import PCA, TruncatedSVD

    d = min(COMPONENTS, min(X.shape) - 1)
    reduce: Any = TruncatedSVD if sparse.issparse(X) else PCA
    X = reduce(d, random_state=0).fit_transform(X)
    return np.asarray(X, dtype=float), f"clustered by {d} components of X, {data.n_vars} columns"


def _frame_column(name, values):
    """Return the Column of a column of a data frame."""
    if values.dtype.kind in "biuf":
        return Column(name, np.asarray(values, dtype=float))
    missing = values.isna().to_numpy()
    texts = [
        "" if gone else value if isinstance(value, str) else id_text(value) or str(value)
        for value, gone in zip(values.tolist(), missing, strict=True)
    ]
    return Column(name, texts=texts)
