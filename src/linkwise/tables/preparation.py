"""How the columns of a table become points, learnt once and applied to every later table.

A column of numbers gives one coordinate, one of categories as many as it has values:

    (1)  x -> ((x or fill) - shift) / scale             numbers; fill: the median, say
    (2)  x -> (x = value_1, ..., x = value_c, x rare)   categories, one-hot
    (3)  x -> (place of x in the order - shift) / scale    ordered categories

fill, shift, scale and the values are those of scikit-learn's SimpleImputer, StandardScaler and
OneHotEncoder, of which docs/tables.md has the ColumnTransformer. They are plain numbers and texts,
so that a saved model has them without pickle.

Two numbers of variance 1 are 2 apart on average, squared, and so are two categories: numbers that
stand beside categories are standardized, and every column counts the same.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwise._wording import counted
from linkwise.tables.columns import near_miss
from linkwise.tables.csv_rows import LARGEST, is_empty, is_number, separator_hint

FILLS = {"median": "median", "mean": "mean", "most-frequent": "most_frequent"}
REFUSE = "refuse"
MISSING = (*FILLS, REFUSE)  # what is done about empty cells; the first is the default
UNSEEN = ("refuse", "ignore")  # what is done about a category that the model has not seen
MOST = 50  # values of a column of categories that get a coordinate each; rarer ones share one
NO_VALUE = "no value"  # why an empty column is left out
NONE = "none"  # in place of columns of categories: there are none
NAMED = 8  # columns in a note
REMEDY = "correct it, remove the row, or leave the column out by --columns or --id-column"


class Numbers(NamedTuple):
    """A column of numbers, Eq. (1)."""

    name: str
    fill: float
    shift: float = 0.0
    scale: float = 1.0


class Categories(NamedTuple):
    """A column of categories, Eq. (2); fill is put in place of empty cells, "" is a value too."""

    name: str
    values: list[str]
    rare: list[str]
    fill: str = ""


class Ordered(NamedTuple):
    """A column of ordered categories, Eq. (3); fill is a place in the order."""

    name: str
    values: list[str]
    fill: float
    shift: float = 0.0
    scale: float = 1.0


KINDS = {"numbers": Numbers, "categories": Categories, "ordered": Ordered}


class Preparation(NamedTuple):
    """What was learnt about the columns of a table.

    Attributes
    ----------
    columns : list of Numbers, Categories and Ordered
    id_column : str or None, the column of ids
    missing : str, one of MISSING
    filled : dict {kind of a column: empty cells in the table that it was learnt from}
    left_out : dict {name of a column: why it is not used}
    scaled : bool, whether numbers are standardized
    """

    columns: list[Any]
    id_column: str | None
    missing: str
    filled: dict[str, int]
    left_out: dict[str, str]
    scaled: bool

    @property
    def categories(self):
        """The names of the columns of categories."""
        return [column.name for column in self.columns if isinstance(column, Categories)]

    def as_dict(self):
        """Return the preparation as plain values, for a file."""
        kind = {held: name for name, held in KINDS.items()}
        columns = [{"kind": kind[type(column)]} | column._asdict() for column in self.columns]
        return {"columns": columns, "id_column": self.id_column, "missing": self.missing}

    @classmethod
    def from_dict(cls, held):
        """Return the Preparation in the plain values of a file."""
        try:
            columns = [dict(column) for column in held["columns"]]
            kinds = [KINDS[column.pop("kind")] for column in columns]
            found = [kind(**column) for kind, column in zip(kinds, columns, strict=True)]
            return cls(found, held["id_column"], held["missing"], {}, {}, False)
        except (KeyError, TypeError) as error:
            raise ValueError(f"the columns of the model are damaged: {error}") from error

    def apply(self, table, *, unseen="refuse"):
        """Return the points of a Table, (n, d).

        Parameters
        ----------
        table : Table with the columns that the preparation names
        unseen : str, "ignore": a category that was not seen before is none of them
        """
        places = [_place(column.name, table) for column in self.columns]
        return np.hstack(
            [
                _coordinates(column, table, j, self.missing, unseen)
                for column, j in zip(self.columns, places, strict=True)
            ]
        )

    def note(self):
        """Return in one sentence what was done, or "" if all columns are plain numbers."""
        parts = []
        numbers = [column for column in self.columns if isinstance(column, Numbers)]
        if numbers:
            done = ", standardized" if self.scaled else ""
            parts.append(f"{counted(len(numbers), 'column')} of numbers{done}")
        one_hot = [column for column in self.columns if isinstance(column, Categories)]
        if one_hot:
            width = sum(len(column.values) + bool(column.rare) for column in one_hot)
            parts.append(f"categories {_listed(self.categories)} one-hot in {width} columns")
        ordered = [column.name for column in self.columns if isinstance(column, Ordered)]
        if ordered:
            parts.append(f"ordered {_listed(ordered)}")
        in_numbers = self.filled.get("numbers", 0) + self.filled.get("ordered", 0)
        if in_numbers:
            how = self.missing.replace("-", " ")
            parts.append(f"{counted(in_numbers, 'empty cell')} of numbers filled by the {how}")
        if in_texts := self.filled.get("categories", 0):
            how = "filled by the most frequent" if self.missing == "most-frequent" else "kept apart"
            parts.append(f"{counted(in_texts, 'empty cell')} of categories {how}")
        if self.left_out:
            names = [f"{name!r} ({why})" for name, why in self.left_out.items()]
            parts.append(f"left out: {_listed(names, quote=False)}")
        plain = len(parts) == 1 and numbers and not self.scaled
        return "" if plain else "; ".join(parts)


def _listed(names, quote=True):
    shown = [repr(name) if quote else name for name in names[:NAMED]]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(shown) + more


def _place(name, table):
    """Return the place of a column that a preparation names."""
    if name in table.names or not table.names or name.isdecimal():
        return table.find(name)
    raise ValueError(
        f"{table.file}: no column {name!r}, which the model was fitted with; "
        f"{near_miss(name, table.names)}rename the column, or add it"
    )


def learn(
    table,
    places,
    *,
    categories=None,
    ordered=None,
    missing=None,
    standardize=False,
    asked=False,
    id_column=None,
    least=1,
    remedy="",
):
    """Return the Preparation of some columns of a Table.

    Parameters
    ----------
    table : Table
    places : list of int, the columns to use
    categories : list of str, the columns of categories; [] or ["none"]: there are none. Default:
        columns of texts in which values occur twice on average
    ordered : dict {column: list of its values, from the lowest to the highest}
    missing : str or None, one of MISSING
    standardize : bool, give every column of numbers mean 0 and variance 1
    asked : bool, whether the user named the columns: one that cannot be used is then refused
    id_column : str or None, the column of ids, which is kept for later tables
    least : int, how many columns must be left to cluster by
    remedy : str, what else the user can do if none is
    """
    missing = missing or MISSING[0]
    given = [] if categories in (None, [NONE]) else categories
    chosen = {table.find(name) for name in given}
    orders = {table.find(name): values for name, values in (ordered or {}).items()}
    automatic = categories is None
    outside = next((j for j in (*chosen, *orders) if j not in places), None)
    if outside is not None:
        raise ValueError(
            f"{table.file}: the column {table.title(outside)} is named as one of categories, but "
            "not clustered by; name it in --columns too"
        )
    kinds: dict[int, str] = {}
    left_out: dict[str, str] = {}
    filled: dict[str, int] = {}
    for j in places:
        column = table.columns[j]
        kind, why = _kind_of(table, j, chosen, orders, automatic)
        if why is not None:
            if why == NO_VALUE and missing == REFUSE:
                _refuse_first_empty(table, 0, j)
            if asked:
                raise ValueError(
                    f"{table.file}: the column {table.title(j)} cannot be clustered by: {why}; "
                    "leave it out of --columns, or name it in --categories"
                )
            left_out[table.key(j)] = why
            continue
        kinds[j] = kind
        first, count = _first_empty(column, kind)
        filled[kind] = filled.get(kind, 0) + count
        if count and missing == REFUSE:
            _refuse_first_empty(table, first, j)
    if len(kinds) < least:
        names = [f"{name!r} has {why}" for name, why in left_out.items()]
        raise ValueError(
            f"{table.file}: no column is left to cluster by: {_listed(names, quote=False)}; name "
            f"columns by --categories{', ' if remedy else ''}{remedy}"
        )
    mixed = len(set(kinds.values())) > 1
    scaled = (standardize or mixed) and "numbers" in kinds.values()
    made = [
        _learnt(table, j, kind, missing, orders.get(j), standardize or mixed)
        for j, kind in kinds.items()
    ]
    return Preparation(made, id_column, missing, filled, left_out, scaled)


def _refuse_first_empty(table, i, j):
    raise ValueError(
        f"{table.where(i, j)}: the cell is empty; {REMEDY}, or fill empty cells by --missing median"
    )


def _kind_of(table, j, chosen, orders, automatic):
    """Return (kind of a column, None), or (None, why it is left out)."""
    column = table.columns[j]
    if column.other is not None:
        return None, f"{column.other} values"
    if j in orders:
        return "ordered", None
    if column.numbers is not None and j not in chosen:
        return (None, NO_VALUE) if np.isnan(column.numbers).all() else ("numbers", None)
    texts = [text.strip() for text in table.texts(j)]
    given = [text for text in texts if text]
    if not given:
        return None, NO_VALUE
    if j in chosen:
        return "categories", None
    written = [text for text in given if not is_empty(text)]
    if 2 * sum(map(is_number, written)) >= len(written):
        i = next(i for i, text in enumerate(texts) if not (is_number(text) or is_empty(text)))
        raise ValueError(
            f"{table.where(i, j)}: {texts[i]!r} is not a number{separator_hint([texts[i]])}; "
            f"{REMEDY}, or name the column in --categories"
        )
    different = len(set(given))
    if automatic and 2 * different <= len(given):
        return "categories", None
    hint = separator_hint(texts[:1]) if table.width == 1 else ""
    return None, f"{counted(different, 'different text') if automatic else 'texts'}{hint}"


def _first_empty(column, kind):
    """Return (row, count) of the empty cells of a column, (-1, 0) if there are none."""
    if kind == "numbers" or column.texts is None:
        empty = np.flatnonzero(np.isnan(column.numbers))
    else:
        empty = np.array([i for i, text in enumerate(column.texts) if not text.strip()])
    return (int(empty[0]), len(empty)) if len(empty) else (-1, 0)


def _learnt(table, j, kind, missing, order, scaled):
    """Return a column as it is prepared."""
    name = table.key(j)
    if kind == "categories":
        return _learnt_categories(name, [text.strip() for text in table.texts(j)], missing)
    if kind == "numbers":
        values = _checked(table, j)
        return Numbers(name, *_statistics(values, missing, scaled))
    made = Ordered(name, [value.strip() for value in order], 0.0)
    places = _order_places(made, table, j, "refuse")
    return made._replace(
        **dict(zip(("fill", "shift", "scale"), _statistics(places, missing, scaled), strict=True))
    )


def _statistics(values, missing, scaled):
    """Return (fill, shift, scale) of numbers, NaN where there is none."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    imputer = SimpleImputer(strategy=FILLS.get(missing, "median")).fit(values[:, None])
    fill = float(imputer.statistics_[0])
    if not scaled:
        return fill, 0.0, 1.0
    scaler = StandardScaler().fit(imputer.transform(values[:, None]))
    return fill, float(scaler.mean_[0]), float(scaler.scale_[0])


def _learnt_categories(name, texts, missing):
    from sklearn.preprocessing import OneHotEncoder

    fill = ""
    if missing == "most-frequent":
        values, counts = np.unique([text for text in texts if text], return_counts=True)
        fill = str(values[np.argmax(counts)])
    cells = np.array([text or fill for text in texts], dtype=object)[:, None]
    encoder = OneHotEncoder(max_categories=MOST, handle_unknown="ignore").fit(cells)
    rare = encoder.infrequent_categories_[0]
    rare = [] if rare is None else rare.tolist()
    kept = [value for value in encoder.categories_[0].tolist() if value not in set(rare)]
    return Categories(name, kept, rare, fill)


def _checked(table, j):
    """Return the numbers of a column; refuse one that cannot be computed with."""
    column = table.columns[j]
    values = column.numbers
    bad = np.flatnonzero(~((abs(values) <= LARGEST) | np.isnan(values)))
    if len(bad):
        i = int(bad[0])
        shown = repr(column.texts[i]) if column.texts is not None else repr(float(values[i]))
        limit = "a finite number" if np.isinf(values[i]) else f"within ±{LARGEST:g}"
        raise ValueError(f"{table.where(i, j)}: {shown} is not {limit}; {REMEDY}")
    return values


def _order_places(column, table, j, unseen):
    """Return the places of the cells in the order of their values, NaN where they are empty."""
    place = {value: float(i) for i, value in enumerate(column.values)} | {"": np.nan}
    texts = [text.strip() for text in table.texts(j)]
    odd = next((i for i, text in enumerate(texts) if text not in place), None)
    if odd is not None and unseen == "refuse":
        raise ValueError(
            f"{table.where(odd, j)}: {texts[odd]!r} is not in the order "
            f"{' < '.join(column.values)}; correct it, or complete the order"
        )
    return np.array([place.get(text, np.nan) for text in texts])


def _coordinates(column, table, j, missing, unseen):
    """Return the coordinates that a column gives, (n, its width)."""
    if isinstance(column, Categories):
        return _one_hot(column, table, j, missing, unseen)
    if isinstance(column, Numbers):
        if table.columns[j].numbers is None:
            texts = table.texts(j)
            i = next(i for i, text in enumerate(texts) if not (is_number(text) or is_empty(text)))
            raise ValueError(
                f"{table.where(i, j)}: {texts[i]!r} is not a number, as it was in the table that "
                "the model was fitted to; correct it, or remove the row"
            )
        values = _checked(table, j)
    else:
        values = _order_places(column, table, j, unseen)
    gone = np.isnan(values)
    _refuse_empty(gone, missing, table, j)
    return ((np.where(gone, column.fill, values) - column.shift) / column.scale)[:, None]


def _refuse_empty(gone, missing, table, j):
    if missing == REFUSE and gone.any():
        raise ValueError(
            f"{table.where(int(np.argmax(gone)), j)}: the cell is empty, which the model was "
            "fitted to refuse; complete it, or remove the row"
        )


def _one_hot(column, table, j, missing, unseen):
    place = {value: i for i, value in enumerate(column.values)}
    place |= dict.fromkeys(column.rare, len(column.values))
    texts = [text.strip() for text in table.texts(j)]
    _refuse_empty(np.array([not text for text in texts]), missing, table, j)
    codes = np.array([place.get(text or column.fill, -1) for text in texts])
    if unseen == "refuse" and (codes < 0).any():
        i = int(np.argmax(codes < 0))
        fault = f"the category {texts[i]!r} was" if texts[i] else "the cell is empty, which was"
        known = ", ".join(map(repr, column.values[:NAMED]))
        raise ValueError(
            f"{table.where(i, j)}: {fault} not seen when the model was fitted ({known}"
            f"{', ...' if len(column.values) > NAMED else ''}); correct it, or let it count as "
            "none of them by --unseen ignore"
        )
    X = np.zeros((len(texts), len(column.values) + bool(column.rare)))
    seen = codes >= 0
    X[np.flatnonzero(seen), codes[seen]] = 1.0  # Eq. (2)
    return X
