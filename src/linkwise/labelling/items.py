"""What is labelled: rows of a table to look at, and the same rows as points to cluster.

`read_items` reads them, `fields_of` puts two of them side by side, and `rows_in` checks row numbers
that come from a browser.

csv, tsv   All columns are shown. The points are the columns of numbers (of those in `columns`, if
           given) and, if named, a column of texts or images. A column that is mostly numbers must
           hold nothing else: it is refused rather than left out in silence.
npy, npz   as in `linkwise fit`
folder     The images below it are shown and known by their names.

A file of vectors, one for each row, may give the points instead: then all columns are only shown.

Texts become points by TF-IDF of their words and a truncated singular value decomposition, scaled to
length 1: O(words) time and memory, and n x 100 numbers. Images are in files that a column names
(``images``).
"""

import errno
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._wording import counted
from linkwise.labelling.images import image_points, images_in
from linkwise.tables.columns import find_column, find_features, header_of
from linkwise.tables.csv_rows import DELIMITER, is_number, read_bytes, read_numbers, read_rows
from linkwise.tables.id_columns import NO_IDS, find_ids, read_ids
from linkwise.tables.points import read_points

DIMENSIONS = 100  # of texts: usual for latent semantic analysis
WORDS = 50_000  # of all texts, the most frequent; rarer ones say little about clusters


NAME = "image"  # the one column of a folder of images: their names, which are also their ids


class Items(NamedTuple):
    """Rows to look at and to cluster.

    Attributes
    ----------
    X : array (n, d), the points
    ids : list of n distinct texts, or None: rows are known by their numbers
    names : list, the names of the columns shown
    cells : n lists of texts, what is shown
    spread : list, the standard deviation of a column of numbers, else None
    text : int or None, the position among the names of the column of texts
    used : str, the columns that make up the points, in words
    image : int or None, the position among the names of the column of image files
    recognised : str or None, the column of ids if the user did not name it
    """

    X: Any
    ids: list[str] | None
    names: list[str]
    cells: Any
    spread: list[float | None]
    text: int | None
    used: str
    image: int | None = None
    recognised: str | None = None

    def name(self, row):
        """Return what the user calls a row: its id or its number."""
        return row if self.ids is None else self.ids[row]

    def text_of(self, row):
        """Return the name of a row and the texts of its cells, separated by spaces."""
        cells = [] if isinstance(self.cells[row], np.ndarray) else self.cells[row]
        return " ".join(map(str, [self.name(row), *cells]))


def text_points(texts):
    """Return texts as points, (n, d)."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import normalize

    try:
        words = TfidfVectorizer(sublinear_tf=True, max_features=WORDS).fit_transform(texts)
    except ValueError:
        raise ValueError("the texts have no words; name another column by --text") from None
    d = min(DIMENSIONS, min(words.shape) - 1)
    if d < 1:
        return words.toarray()
    return normalize(TruncatedSVD(d, random_state=0).fit_transform(words))


def read_embedding(path, n, data):
    """Return the points in a .npy file, one for each of the n rows of data."""
    if Path(path).suffix.lower() != ".npy":
        raise ValueError(f"--embedding is {path}; name a .npy file with a vector for each row")
    X = read_points(str(path)).X
    if len(X) != n:
        raise ValueError(
            f"--embedding: {path} has {counted(len(X), 'row')}, but {data} has {n}; "
            "write one vector for each row, in the same order"
        )
    return X


def read_items(
    path,
    *,
    id_column=None,
    columns=None,
    text=None,
    image=None,
    embedding=None,
    standardize=False,
):
    """Return the Items in a .csv, .tsv, .npy or .npz file, or in a folder of images.

    Parameters
    ----------
    path : str
    id_column : str or None, the column (npz: the array) of ids, by name or number, or "none";
        default the column that is plainly one of ids, if any
    columns : list of str or None, the columns to show, and to cluster by if they are numbers
    text : str or None, the column of texts to cluster by
    image : str or None, the column of names of image files, in the folder of the table
    embedding : str or None, a .npy file of the points (n, d); the data are then only shown
    standardize : bool, give every column of numbers, or of the embedding, mean 0 and variance 1
    """
    if Path(path).is_dir():
        given = id_column, columns, text, image
        return _read_folder(path, given, embedding, standardize)
    suffix = Path(path).suffix.lower()
    if suffix not in (*DELIMITER, ".npy", ".npz"):
        if not Path(path).exists():
            raise FileNotFoundError(errno.ENOENT, "no such file or folder", str(path))
        raise ValueError(
            f"{path}: cannot tell the format; name it .csv, .tsv, .npy or .npz, or name a folder "
            "of images"
        )
    if suffix in DELIMITER:
        items = _read_table(path, DELIMITER[suffix], id_column, columns, text, image, embedding)
    elif text is not None or image is not None:
        raise ValueError(f"{path}: --text and --image name a column of a .csv or .tsv file")
    else:
        points = read_points(str(path), id_column=id_column, columns=columns)
        names = [str(j) for j in range(points.X.shape[1])] if columns is None else list(columns)
        used = f"{len(names)} columns of numbers"
        items = Items(points.X, points.ids, names, points.X, _spread(points.X), None, used)
        items = items._replace(recognised=points.recognised)
    if embedding is not None:
        items = _with_embedding(items, path, embedding)
    plain = (text is None and image is None) or embedding is not None
    return items._replace(X=_scaled(items.X)) if standardize and plain else items


def _with_embedding(items, path, embedding):
    X = read_embedding(embedding, len(items.cells), path)
    return items._replace(X=X, used=f"the {X.shape[1]} columns of {embedding}")


def _read_folder(path, columns, embedding, standardize):
    if any(column not in (None, NAME) for column in columns):
        raise ValueError(
            f"{path} is a folder of images, known by their names; leave --id, --columns, --text "
            "and --image out"
        )
    names, others = images_in(path)
    X = image_points(names, path) if embedding is None else None
    left_out = f"; {counted(others, 'other file')} left out" if others else ""
    used = f"{counted(len(names), 'image')}{left_out}"
    cells = [[name] for name in names]
    items = Items(X, names, [NAME], cells, [None], None, used, 0)
    if embedding is not None:
        items = _with_embedding(items, path, embedding)
    return items._replace(X=_scaled(items.X)) if standardize else items


def _spread(X):
    return np.asarray(X, dtype=float).std(axis=0).tolist()


def _scaled(X):
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X)


def _read_table(path, delimiter, id_column, columns, text, image, embedding):
    file = str(path)
    rows = list(read_rows(read_bytes(path), file, delimiter))
    if not rows:
        raise ValueError(f"{file} is empty: expected a row per point")
    width = len(rows[0][1])
    recognise, id_column = id_column is None, None if id_column == NO_IDS else id_column
    named = [column for column in (id_column, text, image) if column is not None]

    def others():
        but = {find_column(column, [], width, file) for column in named}
        return [j for j in range(width) if j not in but]

    names = header_of(rows[0][1], file, [*(columns or ()), *named], others)
    rows = rows[1:] if names else rows
    if not rows:
        raise ValueError(f"{file} has a header but no rows: expected a row per point")
    key, said, seen = (
        None if column is None else find_column(column, names, width, file)
        for column in (id_column, text, image)
    )
    first = [j for j in (said, seen) if j is not None]
    found = None
    if recognise and (columns or first or width > 1):
        key = found = find_ids(names, rows, [*(columns or ()), *named])
    if len({key, *first} - {None}) < len(named):
        raise ValueError(f"{file}: --id, --text and --image name one column; name several")
    if columns is None:
        shown = [j for j in range(width) if j != key]
    else:
        shown = find_features(columns, names, width, file)
    shown = first + [j for j in shown if j not in (key, *first)]
    numeric = [j for j in shown if j not in first and _mostly_numbers(rows, j)]
    used = numeric if not first or columns is not None else []
    if not first and not used and embedding is None:
        raise ValueError(
            f"{file}: none of its columns is numbers; name the column of texts to cluster by, "
            "--text C"
        )
    numbers = read_numbers(rows, used, names, file) if used else None  # (n, d)
    spread = dict(zip(used, _spread(numbers), strict=True)) if used else {}
    title = [names[j] if names else f"column {j}" for j in range(width)]
    points = None
    if embedding is None:
        points = _joined(
            None if said is None else text_points([row[said] for _, row in rows]),
            None if seen is None else image_points([row[seen] for _, row in rows], path),
            numbers,
        )
    return Items(
        points,
        None if key is None else list(read_ids(rows, key, file)),
        [title[j] for j in shown],
        [[row[j] for j in shown] for _, row in rows],
        [spread.get(j) for j in shown],
        None if said is None else 0,
        ", ".join(title[j] for j in first + used),
        None if seen is None else first.index(seen),
        None if found is None else names[found],
    )


def _joined(texts, images, numbers):
    """Return the points of texts, images and numbers side by side."""
    parts = [part for part in (texts, images) if part is not None]
    if not parts:
        return numbers
    return np.hstack(parts if numbers is None else [*parts, _scaled(numbers)])


def _mostly_numbers(rows, j):
    return 2 * sum(is_number(row[j]) for _, row in rows) > len(rows)


def whole(value: Any, name: str, high: int) -> int:
    """Return a whole number in 0..high - 1."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < high:
        raise ValueError(f"{name} must be a whole number in 0..{high - 1}; got {value!r}")
    return value


def rows_in(value: Any, n: int, *, least: int = 1) -> list[int]:
    """Return a list of distinct row numbers."""
    if not isinstance(value, list) or len(value) > n:
        raise ValueError(f"rows must be a list of row numbers; got {str(value)[:80]}")
    rows = [whole(row, f"rows[{i}]", n) for i, row in enumerate(value)]
    rows = list(dict.fromkeys(rows))
    if len(rows) < least:
        raise ValueError(f"choose at least {counted(least, 'row')} first; {len(rows)} selected")
    return rows


class Field(NamedTuple):
    """A column of two rows: its name, both values, their distance (0: equal), its kind.

    The distance of numbers is in standard deviations of the column.
    """

    name: str
    a: str
    b: str
    apart: float
    is_text: bool = False
    is_number: bool = False

    @property
    def sign(self):
        """The mark of a difference."""
        return "" if not self.apart else "**" if self.is_number and self.apart >= 1 else "*"


def _shown_number(value):
    return value if isinstance(value, str) else f"{value:.6g}"


def fields_of(items, a, b):
    """Return the Fields of two rows."""
    found = []
    rows = zip(items.names, items.cells[a], items.cells[b], items.spread, strict=True)
    for j, (name, x, y, spread) in enumerate(rows):
        x, y = _shown_number(x), _shown_number(y)
        apart = float(x != y)
        if spread is not None:
            gap = abs(float(x) - float(y))
            apart = max(gap / spread if spread else 0.0, 0.01 * (x != y))
        found.append(Field(name, x, y, apart, j == items.text, spread is not None))
    return found
