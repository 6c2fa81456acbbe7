"""What is labelled: rows of a table to look at, and the same rows as points to cluster.

`read_items` reads them, `fields_of` puts two of them side by side, and `rows_in` checks row numbers
that come from a browser.

tables     All columns are shown. The points are the columns of numbers and categories (of those in
           `columns`, if given), prepared as in `linkwise fit`, and, if named, a column of texts or
           images. A column that is mostly numbers must hold nothing else: it is refused rather
           than left out in silence. Of an AnnData file, the points are its matrix.
npy, npz   as in `linkwise fit`
folder     The images below it are shown and known by their names.

A file of vectors, one for each row, may give the points instead: then all columns are only shown.

Texts become points by TF-IDF of their words and a truncated singular value decomposition, scaled to
length 1: O(words) time and memory, and n x 100 numbers; or by an embedding (``text_embeddings``).
Images are in files that a column names (``images``).
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from linkwise._files import images_below
from linkwise._wording import counted
from linkwise.labelling.images import SUFFIXES, image_points
from linkwise.labelling.text_embeddings import embedded
from linkwise.tables.columns import find_features
from linkwise.tables.csv_rows import is_empty
from linkwise.tables.formats import ARRAYS, check_format, read_table
from linkwise.tables.id_columns import NO_IDS, read_ids, recognised_note
from linkwise.tables.points import key_of, load_arrays, read_points
from linkwise.tables.preparation import Numbers, learn

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
    categories : list of str, the columns of categories that are clustered by
    note : str, what was done to the columns, or ""
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
    categories: list[str] = []  # noqa: RUF012
    note: str = ""

    def name(self, row):
        """Return what the user calls a row: its id or its number."""
        return row if self.ids is None else self.ids[row]

    def notes(self, data):
        """Return what a user should know about how the rows of a data file were read."""
        ids = [] if self.recognised is None else [recognised_note(data, self.recognised)]
        return [*ids, *([f"{data}: {self.note}"] if self.note else [])]

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
    categories=None,
    ordered=None,
    missing=None,
    delimiter=None,
    encoding=None,
    sheet=None,
    embed=None,
    vectors=None,
):
    """Return the Items in a file of a table or of arrays, or in a folder of images.

    Parameters
    ----------
    path : str
    id_column : str or None, the column (npz: the array) of ids, by name or number, or "none";
        default the column that is plainly one of ids, if any
    columns : list of str or None, the columns to show, and to cluster by if they are numbers or
        categories
    text : str or None, the column of texts to cluster by
    image : str or None, the column of names of image files, in the folder of the table
    embedding : str or None, a .npy file of the points (n, d); the data are then only shown
    standardize : bool, give every column of numbers, or of the embedding, mean 0 and variance 1
    categories, ordered, missing : as in `linkwise.tables.read_points`
    delimiter, encoding, sheet : as in `linkwise.tables.formats.read_table`
    embed : str or None, how texts become points, see `labelling.text_embeddings`; default TF-IDF
    vectors : str or None, the file in which vectors of texts are kept
    """
    if Path(path).is_dir():
        given = id_column, columns, text, image, categories or None, ordered, missing, embed
        return _read_folder(path, given, embedding, standardize)
    if embed is not None and text is None:
        raise ValueError(f"{path}: --embed says how texts become points; name their column, --text")
    suffix = check_format(path, delimiter, also=", or name a folder of images")
    if suffix in ARRAYS:
        if text is not None or image is not None:
            raise ValueError(f"{path}: --text and --image name a column of a table, such as a .csv")
        items = _read_arrays(path, id_column, columns, categories, ordered, missing, standardize)
    else:
        table = read_table(
            path,
            delimiter=delimiter,
            encoding=encoding,
            sheet=sheet,
            asked=[*filter(None, (text, image)), *_named(categories), *(ordered or ())],
            id_column=id_column,
            columns=columns,
            texts=True,
        )
        preparing = {"categories": categories, "ordered": ordered, "missing": missing}
        choice = id_column, columns, text, image
        how = lambda texts: _text_points(texts, embed, vectors)  # noqa: E731
        items = _from_table(table, path, choice, preparing, how, embedding, standardize)
    if embedding is None:
        return items
    items = _with_embedding(items, path, embedding)
    return items._replace(X=_scaled(items.X)) if standardize else items


def _named(categories):
    return [name for name in categories or () if name != "none"]


def _text_points(texts, embed, vectors):
    return text_points(texts) if embed is None else embedded(texts, embed, vectors)


def _read_arrays(path, id_column, columns, categories, ordered, missing, standardize):
    points = read_points(
        str(path),
        id_column=id_column,
        columns=columns,
        categories=categories,
        ordered=ordered,
        missing=missing,
        standardize=standardize,
    )
    shown = points.X
    if points.preparation is not None:  # what the file has, not what it became
        shown = load_arrays(str(path), id_column, columns)[0]
    names = [str(j) for j in range(shown.shape[1])] if columns is None else list(columns)
    used = f"{len(names)} columns of numbers"
    items = Items(points.X, points.ids, names, shown, _spread(shown), None, used)
    return items._replace(recognised=points.recognised, note=points.note)


def _with_embedding(items, path, embedding):
    X = read_embedding(embedding, len(items.cells), path)
    return items._replace(X=X, used=f"the {X.shape[1]} columns of {embedding}")


def _read_folder(path, columns, embedding, standardize):
    if any(column not in (None, NAME) for column in columns):
        raise ValueError(
            f"{path} is a folder of images, known by their names; leave --id, --columns, --text, "
            "--image and the options of tables out"
        )
    names, others = images_below(path, SUFFIXES)
    X = image_points(names, path) if embedding is None else None
    left_out = f"; {counted(others, 'other file')} left out" if others else ""
    used = f"{counted(len(names), 'image')}{left_out}"
    cells = [[name] for name in names]
    items = Items(X, names, [NAME], cells, [None], None, used, 0)
    if embedding is not None:
        items = _with_embedding(items, path, embedding)
    return items._replace(X=_scaled(items.X)) if standardize else items


def _spread(X):
    return np.nanstd(np.asarray(X, dtype=float), axis=0).tolist()


def _scaled(X):
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit_transform(X)


def _from_table(table, path, choice, preparing, text_points, embedding, standardize):
    """Return the Items of a Table."""
    id_column, columns, text, image = choice
    said, seen = (None if name is None else table.find(name) for name in (text, image))
    first = [j for j in (said, seen) if j is not None]
    key, recognised = key_of(table, id_column, columns, [name for name in (text, image) if name])
    if len({key, *first} - {None}) < len(first) + (id_column not in (None, NO_IDS)):
        raise ValueError(f"{table.file}: --id, --text and --image name one column; name several")
    chosen = columns if table.points is None else None
    shown = find_features(chosen, table.names, table.width, table.file, but=key)
    others = [j for j in shown if j not in (key, *first)]
    made = None
    if table.points is None and embedding is None and others and (not first or columns is not None):
        options = preparing | {"standardize": standardize or bool(first)}
        if not first:
            options["remedy"] = "or the column of texts to cluster by, --text C"
        made = learn(table, others, least=0 if first else 1, **options)
    points = None
    if table.points is not None:
        points = _scaled(table.points) if standardize else table.points
    elif embedding is None:
        parts = [
            None if said is None else text_points(table.texts(said)),
            None if seen is None else image_points(table.texts(seen), path),
            None if made is None or not made.columns else made.apply(table),
        ]
        points = np.hstack([part for part in parts if part is not None])
    used = [] if made is None else [table.find(column.name) for column in made.columns]
    title = [table.names[j] if table.names else f"column {j}" for j in range(table.width)]
    texts = [table.texts(j) for j in first + others]
    return Items(
        points,
        None if key is None else read_ids(table, key),
        [title[j] for j in first + others],
        [list(row) for row in zip(*texts, strict=True)],
        _spreads(table, first, others, made),
        None if said is None else 0,
        table.note if table.points is not None else ", ".join(title[j] for j in first + used),
        None if seen is None else first.index(seen),
        recognised,
        [] if made is None else made.categories,
        "; ".join(filter(None, (table.note, "" if made is None else made.note()))),
    )


def _spreads(table, first, others, made):
    """Return the spread of every column shown that is one of numbers, else None.

    Beside texts or images, a column counts as numbers only if it is clustered by.
    """
    if made is not None:
        numbers = {table.find(c.name) for c in made.columns if isinstance(c, Numbers)}
    else:
        found = [] if first else [j for j in others if table.columns[j].numbers is not None]
        numbers = {j for j in found if not np.isnan(table.columns[j].numbers).all()}
    return [
        float(np.nanstd(table.columns[j].numbers)) if j in numbers else None for j in first + others
    ]


def cell_number(cell):
    """Return a cell of a column of numbers as a float, NaN if it is empty."""
    if isinstance(cell, str):
        return np.nan if is_empty(cell) else float(cell)
    return float(cell)


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
        if spread is not None and not (is_empty(x) or is_empty(y)):
            gap = abs(float(x) - float(y))
            apart = max(gap / spread if spread else 0.0, 0.01 * (x != y))
        found.append(Field(name, x, y, apart, j == items.text, spread is not None))
    return found
