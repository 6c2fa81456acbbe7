"""Constraints: pairs of points that belong together, or do not."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from linkwise._typing import (
    Array,
    FileFormat,
    Listing,
    Mask,
    PairsLike,
    Scheme,
    Seed,
    Sparse,
    TableLike,
    TextFile,
)
from linkwise._wording import counted
from linkwise.constraints import closure, conflicts, groups, io, merges, pair_tables, partial_labels
from linkwise.constraints.ids import (
    as_array,
    as_ids,
    as_pairs,
    as_sample_id,
    compact,
    encode,
    join,
    lookup,
    similar_id,
)
from linkwise.exceptions import InfeasibleConstraints

# passed by a caller, answer to a question, correction by hand, imported table
SOURCES = ("given", "answer", "hand", "taught", "import")
SOURCE_DTYPE = np.array(SOURCES).dtype


class Pair(NamedTuple):
    """One constraint: a and b belong together (sign +1) or do not (sign -1)."""

    a: Any
    b: Any
    sign: int
    weight: float = 1.0


class Columns(NamedTuple):
    """A table of pairs, see `Constraints`."""

    pairs: NDArray[np.int64]
    sign: NDArray[np.int8]
    weight: NDArray[np.float64]
    source: NDArray[np.str_]
    event: NDArray[np.int64]


class Constraints:
    """Must-links and cannot-links between points.

    Ids are integers or strings, all of one kind. Without `sample_id` in a later
    `fit` they are row numbers. Constraints are immutable and not array-like, so
    code that slices rows never slices them by mistake.

    Parameters
    ----------
    must_link, cannot_link : pairs of ids, anything of shape (m, 2)
    must_weight, cannot_weight : float or (m,), >= 0, default 1
        How certain each pair is, for soft methods. A pair of weight 0 has no effect.

    Attributes
    ----------
    ids : array (u,), int64 or str objects, the ids that occur, ascending
    pairs : int64 array (m, 2), positions in ids
    sign : int8 array (m,), +1 must-link, -1 cannot-link
    weight : float64 array (m,)
    source : str array (m,), where each pair came from, one of SOURCES; "given" by default
    event : int64 array (m,), the number of the event in a project's log, 0 where there is none
    groups : int64 array (c, u), c columns with the group of every id, or -1
        No two members of a group may be together. These cannot-links are implied: they count as
        pairs, after all others, and are listed only when a table of pairs is asked for.

    Examples
    --------
    >>> links = Constraints(must_link=[("b", "c"), ("c", "d")], cannot_link=[("b", "d")])
    >>> links
    Constraints(2 must-links, 1 cannot-link)
    >>> links.check()
    Traceback (most recent call last):
    linkwise.exceptions.InfeasibleConstraints: the pairs contradict each other: b must be with c,
    c must be with d, but b cannot be with d; ...
    """

    __slots__ = ("_every", "_listed", "groups", "ids")
    ids: Array
    groups: NDArray[np.int64]
    _listed: Columns
    _every: Columns | None

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Constraints are immutable: cannot set {name!r}; make a new object")

    def __init__(
        self,
        must_link: PairsLike = (),
        cannot_link: PairsLike = (),
        *,
        must_weight: ArrayLike | None = None,
        cannot_weight: ArrayLike | None = None,
    ) -> None:
        must, cannot = as_pairs(must_link, "must_link"), as_pairs(cannot_link, "cannot_link")
        weight = np.r_[
            pair_tables.as_weights(must_weight, len(must), lambda i: f"must_weight[{i}]"),
            pair_tables.as_weights(cannot_weight, len(cannot), lambda i: f"cannot_weight[{i}]"),
        ]
        ids, pairs = encode(join(must, cannot))
        self._fill(ids, pairs, np.repeat([1, -1], [len(must), len(cannot)]), weight)

    def _fill(
        self,
        ids: Array,
        pairs: Array,
        sign: Array,
        weight: Array,
        source: Array | None = None,
        event: Array | None = None,
        grouped: Array | None = None,
    ) -> None:
        ids = ids if len(ids) else np.zeros(0, dtype=np.int64)  # no pairs: no kind of id
        source = np.full(len(sign), "given") if source is None else source
        event = np.zeros(len(sign)) if event is None else event
        grouped = np.zeros((0, len(ids))) if grouped is None else grouped
        listed = Columns(
            _frozen(pairs, np.int64), _frozen(sign, np.int8), _frozen(weight, np.float64),
            _frozen(source, SOURCE_DTYPE), _frozen(event, np.int64),
        )  # fmt: skip
        for name, value in (
            ("ids", _frozen(ids)),
            ("groups", _frozen(grouped, np.int64)),
            ("_listed", listed),
            ("_every", None if len(grouped) else listed),
        ):
            object.__setattr__(self, name, value)

    def _columns(self) -> Columns:
        """Return the table of all pairs; those that groups imply are listed when first needed."""
        if self._every is None:
            own, more = self._listed, groups.implied_pairs(self.groups)
            m = len(more)
            every = Columns(
                np.concatenate([own.pairs, more]), np.r_[own.sign, np.full(m, -1, dtype=np.int8)],
                np.r_[own.weight, np.ones(m)], np.r_[own.source, np.full(m, "given")],
                np.r_[own.event, np.zeros(m, dtype=np.int64)],
            )  # fmt: skip
            object.__setattr__(self, "_every", Columns._make(_frozen(one) for one in every))
        assert self._every is not None
        return self._every

    @property
    def pairs(self) -> NDArray[np.int64]:
        """The positions in ids of both ends of every pair, (m, 2)."""
        return self._columns().pairs

    @property
    def sign(self) -> NDArray[np.int8]:
        """The sign of every pair, +1 must-link, -1 cannot-link, (m,)."""
        return self._columns().sign

    @property
    def weight(self) -> NDArray[np.float64]:
        """The weight of every pair, (m,)."""
        return self._columns().weight

    @property
    def source(self) -> NDArray[np.str_]:
        """Where every pair came from, (m,)."""
        return self._columns().source

    @property
    def event(self) -> NDArray[np.int64]:
        """The number of the event of every pair, (m,)."""
        return self._columns().event

    @classmethod
    def _of(
        cls,
        ends: Array,
        sign: Array,
        weight: Array | None = None,
        source: Array | None = None,
        event: Array | None = None,
    ) -> Self:
        """Return constraints from checked ids (m, 2)."""
        weight = np.ones(len(ends)) if weight is None else weight
        ids, pairs = encode(ends)
        return cls.from_columns(ids, pairs, sign, weight, source, event)

    @classmethod
    def from_columns(
        cls,
        ids: Array,
        pairs: Array,
        sign: Array,
        weight: Array,
        source: Array | None = None,
        event: Array | None = None,
        groups: Array | None = None,
    ) -> Self:
        """Return constraints from the columns that the attributes hold; nothing is checked.

        With ``groups``, the other columns are those of the pairs that are listed.
        """
        new = object.__new__(cls)
        new._fill(ids, pairs, sign, weight, source, event, groups)
        return new

    @classmethod
    def from_table(cls, table: TableLike) -> Self:
        """Return constraints from rows (id_a, id_b, kind) or (id_a, id_b, kind, weight).

        Parameters
        ----------
        table : rows, an (m, 3) or (m, 4) array, a mapping of columns or a data frame
            Columns are found by name (id_a, id_b, kind, weight) or else by place.
            A kind is +1, "must" or "same", or -1, "cannot" or "different".
        """
        return cls._of(*pair_tables.read_table(table))

    @classmethod
    def from_matrix(cls, Q: ArrayLike) -> Self:
        """Return constraints from a signed (n, n) matrix, dense or sparse.

        The sign of q_ij is the kind and abs(q_ij) the weight of the pair (i, j), in
        one triangle or equal in both. Zero is no pair.
        """
        return cls._of(*pair_tables.read_matrix(Q))

    @classmethod
    def from_labels(
        cls,
        y: ArrayLike,
        *,
        unknown: object = -1,
        pairs: Listing = "all",
        sample_id: ArrayLike | None = None,
    ) -> Self:
        """Return the constraints that partial labels imply.

        Parameters
        ----------
        y : array (n,), a class per row, or `unknown`, None or NaN
        pairs : "all" pairs of labelled rows, or "spanning": a chain through each
            class and one cannot-link between each two, with the same closure
        sample_id : ids (n,) for the rows; default their numbers
        """
        code = partial_labels.class_codes(y, unknown, "y")
        ends, sign = partial_labels.label_pairs(code, pairs)
        return cls._of(_named(ends, sample_id, len(code)), sign)

    @classmethod
    def from_chunks(
        cls,
        chunk: ArrayLike,
        *,
        unknown: object = -1,
        pairs: Listing = "all",
        sample_id: ArrayLike | None = None,
    ) -> Self:
        """Return must-links between the rows of each chunk, and no pairs between chunks."""
        code = partial_labels.class_codes(chunk, unknown, "chunk")
        ends = partial_labels.chunk_pairs(code, pairs)
        return cls._of(_named(ends, sample_id, len(code)), np.ones(len(ends)))

    @classmethod
    def from_groups(
        cls, group: ArrayLike, *, unknown: object = -1, sample_id: ArrayLike | None = None
    ) -> Self:
        """Return cannot-links between all rows of each group: no two may be together.

        The cannot-links are implied, not listed: a million of them take no more memory than the
        rows. Methods that need a list of pairs make it, up to five million pairs.

        Examples
        --------
        >>> links = Constraints.from_groups(["a", "a", "b", "a", None])
        >>> links, links.ids.tolist(), links.groups.tolist()
        (Constraints(0 must-links, 3 cannot-links), [0, 1, 3], [[0, 0, 0]])
        >>> Constraints.from_groups(np.zeros(100_000)).n_cannot
        4999950000
        """
        code = partial_labels.class_codes(group, unknown, "group")
        names = np.arange(len(code)) if sample_id is None else as_sample_id(sample_id, len(code))
        ids, place = encode(names)
        grouped = np.full((1, len(ids)), -1)
        grouped[0, place] = code
        return cls()._replaced(ids, grouped)

    def _replaced(self, ids: Array, grouped: Array) -> Self:
        """Return the listed pairs, about the same positions of other ids, with other groups.

        Ids that are then in no pair are left out.
        """
        grouped, own = groups.tidied(grouped), self._listed
        used = np.zeros(len(ids), dtype=bool)
        used[own.pairs] = True
        used |= (grouped >= 0).any(axis=0)
        place = np.cumsum(used) - 1
        return self.from_columns(ids[used], place[own.pairs], *own[1:], groups=grouped[:, used])

    def listed(self) -> Self:
        """Return the same pairs, all of them listed. More than five million are refused."""
        return self.from_columns(self.ids, *self._columns()) if len(self.groups) else self

    def without_groups(self) -> Self:
        """Return the pairs that are listed, without those that groups imply."""
        none = np.zeros((0, len(self.ids)))
        return self._replaced(self.ids, none) if len(self.groups) else self

    @classmethod
    def from_sets(cls, answers: Iterable[tuple[ArrayLike, ArrayLike]]) -> Self:
        """Return the constraints of answers to "which of these do not belong?".

        The members of a set that belong are joined by a chain of must-links. One cannot-link to
        each of the others says that it does not belong to them; nothing is said about two others.
        A set of eight with one stranger replaces 28 pairs by 7, with the same closure.

        Parameters
        ----------
        answers : list of (members, strangers)
            For each set: all ids that were shown, and those that do not belong; the list of
            strangers may be empty. If all or all but one are strangers, nothing is known.

        Examples
        --------
        >>> links = Constraints.from_sets([(["a", "b", "c", "d"], ["c"])])
        >>> links.closure().relation(["a", "a", "d"], ["d", "c", "c"]).tolist()
        [1, -1, -1]
        """
        return cls._from_sets(answers, lambda i: f"answers[{i}]")

    @classmethod
    def _from_sets(
        cls, answers: Iterable[tuple[ArrayLike, ArrayLike]], at: Callable[[int], str]
    ) -> Self:
        together, apart = [], []
        for number, (members, strangers) in enumerate(answers):
            name = at(number)
            shown, odd = _set_of(members, name), _ids_of(strangers, name)
            outside = np.isin(odd, shown, invert=True) if len(odd) else np.zeros(0, dtype=bool)
            if outside.any():
                raise ValueError(
                    f"{name}: {odd[outside][0]!r} is not among the members of the set; list it "
                    "there too"
                )
            inside = shown[np.isin(shown, odd, invert=True)] if len(odd) else shown
            if len(inside) > 1:
                together.append(inside)
                apart.append(odd)
        if not together:
            return cls()
        ends, sign = partial_labels.set_pairs(together, apart)
        return cls._of(ends, sign)

    @classmethod
    def _apart(cls, sets: list[Any], at: Callable[[int], str]) -> Self:
        """Return that no two members of a set are together, for every set of ids."""
        members = [_set_of(one, at(i)) for i, one in enumerate(sets)]
        if not members:
            return cls()
        for one in members:
            join(members[0], one)  # refuses integers beside strings
        ids, codes = encode(np.concatenate(members))
        parts = np.split(codes, np.cumsum([len(one) for one in members])[:-1])
        return cls()._replaced(ids, groups.columns_of(parts, len(ids)))

    @classmethod
    def from_merge(
        cls,
        before: ArrayLike,
        after: ArrayLike | None = None,
        *,
        merged: Iterable[Any] | None = None,
        per_cluster: int | None = 5,
        apart: bool = False,
        unknown: object = -1,
        sample_id: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> Self:
        """Return the constraints that a merge of clusters by hand implies.

        Rows of the clusters that became one are must-linked. Say what became one by ``after`` or
        by ``merged``.

        Parameters
        ----------
        before : array (n,), the cluster of every row before the merge, such as ``topics_`` of
            BERTopic; rows that are `unknown`, None or NaN say nothing
        after : array (n,) or None, the clusters after it, under any names
        merged : list or None, the clusters of `before` that became one, or a list of such lists
        per_cluster : int or None
            Number of rows, drawn at random, that stand for each cluster of `before`; None: all
        apart : bool
            Whether clusters that were not merged are different: a cannot-link between each two
        sample_id : ids (n,) for the rows; default their numbers
        random_state : int, Generator, RandomState or None

        Examples
        --------
        >>> Constraints.from_merge([0, 0, 1, 1, 2, 2], merged=[0, 1])
        Constraints(3 must-links, 0 cannot-links)
        >>> Constraints.from_merge([0, 0, 1, 1, 2, 2], ["a", "a", "a", "a", "b", "b"], apart=True)
        Constraints(4 must-links, 1 cannot-link)
        """
        from linkwise.constraints.sampling import generator

        if (after is None) == (merged is None):
            raise TypeError("from_merge takes the labels after= the merge, or the lists merged=")
        if per_cluster is not None and per_cluster < 1:
            raise ValueError(f"per_cluster={per_cluster}: expected 1 or more, or None for all rows")
        if merged is not None:
            old, new = merges.merged_codes(before, merged, unknown)
        else:
            old, new = merges.compared_codes(before, after, unknown)
        ends, sign = merges.merge_pairs(old, new, per_cluster, apart, generator(random_state))
        return cls._of(_named(ends, sample_id, len(old)), sign)

    @classmethod
    def sample(
        cls,
        y: ArrayLike,
        n_pairs: int,
        *,
        scheme: Scheme = "uniform",
        rows: ArrayLike | None = None,
        error_rate: float = 0.0,
        random_state: Seed = None,
        sample_id: ArrayLike | None = None,
    ) -> "Constraints":
        """Return pairs drawn from known labels; see `sample_pairs`."""
        from linkwise.constraints.sampling import sample_pairs

        return sample_pairs(
            y,
            n_pairs,
            scheme=scheme,
            rows=rows,
            error_rate=error_rate,
            random_state=random_state,
            sample_id=sample_id,
        )

    @classmethod
    def read(cls, path: TextFile, *, format: FileFormat | None = None) -> Self:
        """Return constraints from a .csv, .tsv, .jsonl or .ndjson file, or an open one.

        Lines of .jsonl may also be answers about sets, ``{"members": [...], "strangers": [...]}``
        (`from_sets`), and groups whose members are never together, ``{"apart": [...]}``.
        """
        found = io.read_links(path, format)
        return (
            cls._of(*found.columns)
            + cls._from_sets(found.sets, found.where_sets)
            + cls._apart(found.apart, found.where_apart)
        )

    def write(self, path: TextFile, *, format: FileFormat | None = None) -> None:
        """Write a .csv, .tsv, .jsonl or .ndjson file, or to an open text file."""
        io.write_links(path, self, format)

    def __iter__(self) -> Iterator[Pair]:
        """Yield every pair as a Pair of plain Python values."""
        ends = self.ends
        columns = ends[:, 0], ends[:, 1], self.sign, self.weight
        return map(Pair._make, zip(*(column.tolist() for column in columns), strict=True))

    def __bool__(self) -> bool:
        return self.n_pairs > 0

    def __eq__(self, other: object) -> bool:
        """Tell whether both have the same pairs, in any order and either direction."""
        if not isinstance(other, Constraints):
            return NotImplemented
        if self.n_pairs != other.n_pairs or not np.array_equal(self.ids, other.ids):
            return False
        if len(self.groups) and self._same_groups(other):
            return self.without_groups() == other.without_groups()
        return np.array_equal(self._sorted(), other._sorted())

    def _same_groups(self, other: "Constraints") -> bool:
        mine, theirs = (
            sorted(tuple(group.tolist()) for group in groups.members(one.groups))
            for one in (self, other)
        )
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def _sorted(self) -> Array:
        low, high = np.sort(self.pairs, axis=1).T
        rows = np.stack([low, high, self.sign, self.weight])  # codes are far below 2^53
        return rows[:, np.lexsort(rows)]

    def __repr__(self) -> str:
        def count(number: int, noun: str) -> str:
            return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

        return (
            f"Constraints({count(self.n_must, 'must-link')}, {count(self.n_cannot, 'cannot-link')})"
        )

    def __add__(self, other: object) -> Self:
        """Return the pairs of both, one list after the other, then those that groups imply."""
        if not isinstance(other, Constraints):
            return NotImplemented
        own, more = self._listed, other._listed
        sign, weight, source, event = (
            np.concatenate((getattr(own, name), getattr(more, name)))
            for name in Columns._fields[1:]
        )
        inside = None
        if self.ids.dtype == other.ids.dtype and len(other.ids) < len(self.ids):
            place = np.searchsorted(self.ids, other.ids)
            if (self.ids[np.minimum(place, len(self.ids) - 1)] == other.ids).all():
                inside = self.ids, np.arange(len(self.ids)), place  # without sorting all ids
        if inside is None:
            ids, codes = encode(join(self.ids, other.ids))
            inside = ids, codes[: len(self.ids)], codes[len(self.ids) :]
        ids, mine, theirs = inside
        pairs = np.concatenate((mine[own.pairs], theirs[more.pairs]))
        grouped = np.full((len(self.groups) + len(other.groups), len(ids)), -1)
        grouped[: len(self.groups), mine] = self.groups
        grouped[len(self.groups) :, theirs] = other.groups
        return self.from_columns(ids, pairs, sign, weight, source, event, grouped)

    def __reduce__(self) -> tuple[Any, ...]:
        return Constraints.from_columns, (self.ids, *self._listed, self.groups)

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        implied = groups.count_implied(self.groups) if len(self.groups) else 0
        return len(self._listed.sign) + implied

    @property
    def n_must(self) -> int:
        """Number of must-links."""
        return int(np.count_nonzero(self._listed.sign > 0))

    @property
    def n_cannot(self) -> int:
        """Number of cannot-links."""
        return self.n_pairs - self.n_must

    @property
    def must_link(self) -> Array:
        """The must-linked ids, (n_must, 2)."""
        return self.ids[self._listed.pairs[self._listed.sign > 0]]

    @property
    def cannot_link(self) -> Array:
        """The cannot-linked ids, (n_cannot, 2)."""
        return self.ends[self.sign < 0]

    @property
    def touched(self) -> Array:
        """The ids that occur in a pair, ascending."""
        return self.ids

    @property
    def ends(self) -> Array:
        """The ids of both ends of every pair, (m, 2)."""
        return self.ids[self.pairs]

    def arrays(self) -> tuple[Array, Array, NDArray[np.int8], NDArray[np.float64]]:
        """Return (a, b, sign, weight), the columns of the table of pairs."""
        a, b = self.ends.T
        return a, b, self.sign, self.weight

    def to_frame(self) -> Any:
        """Return a pandas data frame with the columns id_a, id_b, kind, weight, source and event.

        `from_table` and `as_constraints` read it back, without source and event. Needs pandas.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise ImportError("to_frame needs pandas: pip install pandas") from None
        a, b, sign, weight = self.arrays()
        kind = np.where(sign > 0, "must", "cannot")
        columns = {"id_a": a, "id_b": b, "kind": kind, "weight": weight}
        return pandas.DataFrame(columns | {"source": self.source, "event": self.event})

    def select(self, which: ArrayLike) -> Self:
        """Return some of the pairs, by a boolean mask over them or by their positions."""
        which = np.asarray(which)
        if which.dtype == bool and which.shape != (self.n_pairs,):
            raise ValueError(f"the mask has shape {which.shape}, there are {self.n_pairs} pairs")
        if len(self.groups) and which.dtype == bool and which.all():
            return self
        which = np.flatnonzero(which) if which.dtype == bool else which.astype(np.int64)
        used, pairs = compact(self.pairs[which], len(self.ids))
        columns = self.sign, self.weight, self.source, self.event
        return self.from_columns(self.ids[used], pairs, *(column[which] for column in columns))

    def restrict(self, ids: ArrayLike) -> Self:
        """Return the pairs with both ends among ids, for example the rows of a training part.

        Integers on one side and strings on the other are compared as str(integer).
        """
        known = lookup(self.ids, as_ids(as_array(ids, "ids"), lambda i: f"ids[{i}]")) >= 0
        a, b = self._listed.pairs.T
        return self._keeping(known[a] & known[b], known)

    def _keeping(self, which: Mask, known: Mask | None = None) -> Self:
        """Return some of the listed pairs, by a mask, and the groups of the known ids."""
        if not len(self.groups):
            return self.select(which)
        own = self._listed
        kept = self.from_columns(self.ids, *(column[which] for column in own))
        return kept._replaced(
            self.ids, self.groups if known is None else np.where(known, self.groups, -1)
        )

    def resolve(self, sample_id: ArrayLike | None = None, n: int | None = None) -> Self:
        """Return the same pairs, in the same order, named by row numbers.

        Parameters
        ----------
        sample_id : distinct ids, one per row; default: the pairs are row numbers
        n : int, the number of rows

        Raises
        ------
        ValueError, if a pair names no row. `constraints.restrict(sample_id)` leaves
        out pairs with an end outside the data.
        """
        if sample_id is not None:
            row = lookup(self.ids, as_sample_id(sample_id, n))
            bad = row < 0
            fault = "is not in sample_id"
            remedy = (
                "correct it; if the rows are a part of the data, as in cross-validation, set "
                'on_unknown="drop" (in a direct call, pass constraints.restrict(sample_id))'
            )
        elif self.ids.dtype == object:
            row, bad = self.ids, np.ones(len(self.ids), dtype=bool)
            fault = "is a string, not a row number"
            remedy = "pass sample_id, one id per row, or name the pairs by integers"
        else:
            row = self.ids
            bad = (row < 0) | (row >= (np.inf if n is None else n))
            fault = "is not a row number" + ("" if n is None else f" of data with {n} rows")
            remedy = (
                "correct the pair, or pass sample_id if the pairs name ids; cross-validation needs "
                'sample_id and on_unknown="drop"'
            )
        if bad.any():
            self._refuse_ends(bad, sample_id, fault, remedy)
        order = np.argsort(row, kind="stable")  # rows are distinct, and mostly sorted
        rank = np.empty(len(row), dtype=np.int64)
        rank[order] = np.arange(len(row))
        own = self._listed
        if len(self.groups):
            return self.from_columns(
                row[order], rank[own.pairs], *own[1:], groups=self.groups[:, order]
            )
        used, pairs = compact(rank[own.pairs], len(row))
        return self.from_columns(row[order][used], pairs, *own[1:])

    def _refuse_ends(self, bad: Mask, sample_id: ArrayLike | None, fault: str, remedy: str) -> None:
        """Raise that ids are no rows, naming the first pair or group that has one."""
        own = self._listed.pairs
        outside = np.flatnonzero(bad[own].any(axis=1))
        if len(outside):
            a, b = self.ids[own[outside[0]]].tolist()
            end = a if bad[own[outside[0], 0]] else b
            where = f"pair {outside[0]}, ({a!r}, {b!r})"
            count = f"{len(outside)} of {len(own)} pairs"
        else:
            first = np.flatnonzero(bad)[0]
            end, where = self.ids[[first]].tolist()[0], "a group"
            count = f"{np.count_nonzero(bad)} of {len(bad)} members of groups"
        if sample_id is not None:
            meant = similar_id(end, as_sample_id(sample_id).tolist())
            fault += "" if meant is None else f", did you mean {meant!r}?"
        raise ValueError(f"constraints: {where}: {end!r} {fault} ({count}); {remedy}")

    def with_weight(self, weight: ArrayLike) -> Self:
        """Return the same pairs with other weights, one number or (m,)."""
        weight = pair_tables.as_weights(weight, self.n_pairs, lambda i: f"weight[{i}]")
        return self.from_columns(self.ids, self.pairs, self.sign, weight, self.source, self.event)

    def with_source(self, source: ArrayLike, event: ArrayLike = 0) -> Self:
        """Return the same pairs from another source, a name of SOURCES each or for all.

        Parameters
        ----------
        source : "given", "answer", "hand", "taught" or "import", or an array (m,) of these
        event : int or array (m,), the number of the event in a project's log; 0: none
        """
        source = np.broadcast_to(np.asarray(source), (self.n_pairs,))
        unknown = np.setdiff1d(source, SOURCES)
        if len(unknown):
            raise ValueError(f"source must be one of {', '.join(SOURCES)}; got {unknown[0]!r}")
        event = np.broadcast_to(np.asarray(event), (self.n_pairs,))
        return self.from_columns(self.ids, self.pairs, self.sign, self.weight, source, event)

    def active(self) -> Self:
        """Return the pairs of weight > 0; others have no effect."""
        return self._keeping(np.greater(self._listed.weight, 0))

    def merged(self) -> Self:
        """Return each pair and kind once, weights added, ends ascending, pairs sorted.

        A repeated pair has the source and the event of its first occurrence.
        """
        low, high = np.sort(self.pairs, axis=1).T
        rows, first, which = np.unique(
            np.stack([low, high, -self.sign], axis=1),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        weight = np.bincount(which.ravel(), self.weight, minlength=len(rows))
        return self.from_columns(
            self.ids, rows[:, :2], -rows[:, 2], weight, self.source[first], self.event[first]
        )

    def matrix(self, n: int) -> Sparse:
        """Return the symmetric csr_array (n, n) of sign * weight; repeated pairs add up."""
        a, b, sign, weight = self.resolve(n=n).arrays()
        q, row, col = np.tile(sign * weight, 2), np.r_[a, b], np.r_[b, a]
        return sparse.csr_array(sparse.coo_array((q, (row, col)), shape=(n, n)))

    def violated(self, labels: ArrayLike, *, stray: int | None = None) -> Mask:
        """Return which pairs of row numbers labels (n,) break, a bool array (m,).

        ``stray`` is the label of rows in no cluster, if there is one: two of these are neither
        together nor apart, and break no pair.

        Examples
        --------
        >>> links = Constraints(must_link=[(0, 1)], cannot_link=[(2, 3)])
        >>> links.violated([0, 0, -1, -1]).tolist()
        [False, True]
        >>> links.violated([0, 0, -1, -1], stray=-1).tolist()
        [False, False]
        """
        labels = np.asarray(labels)
        a, b, sign, weight = self.resolve(n=len(labels)).arrays()
        return (weight > 0) & broken(labels[a], labels[b], sign, stray)

    def violations(self, labels: ArrayLike, *, stray: int | None = None) -> Self:
        """Return the pairs of row numbers that labels (n,) break, as `violated` tells.

        Only pairs that are broken are listed, however many the groups imply.

        Examples
        --------
        >>> links = Constraints.from_groups([0, 0, 0, 1, 1])
        >>> list(links.violations([0, 1, 1, 2, 3]))
        [Pair(a=1, b=2, sign=-1, weight=1.0)]
        """
        labels = np.asarray(labels)
        own = self.without_groups()
        found = own.select(own.violated(labels, stray=stray))
        if not len(self.groups):
            return found
        rows = self.resolve(n=len(labels))
        key = np.unique(labels, return_inverse=True)[1][rows.ids]
        if stray is not None:
            key = np.where(labels[rows.ids] == stray, -1, key)
        ends = rows.ids[groups.pairs_within(rows.groups, key)]
        return found + self._of(ends, np.full(len(ends), -1))

    def closure(self) -> closure.Closure:
        """Return the Closure of the pairs of weight > 0; a conflict raises InfeasibleConstraints.

        Examples
        --------
        >>> links = Constraints(must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
        >>> links.closure().relation([0, 0, 1], [2, 3, 9]).tolist()
        [1, -1, 0]
        """
        self.check()
        live = self.active()
        component = closure.components(len(live.ids), live.pairs[live.sign > 0])
        apart = closure.component_pairs(component, live.pairs[live.sign < 0])
        return closure.Closure(live.ids, component, apart)

    def conflict(self, n_clusters: int | None = None) -> Self | None:
        """Return a few pairs that cannot all hold, or None.

        No pair can be left out: the others could then all hold. With n_clusters = None, 1
        or 2 it is the smallest such set, unless the search takes too long.

        Without n_clusters, None means that all pairs can hold with enough
        clusters. With n_clusters = 1 or 2 it means that they can hold in that many
        clusters; with more, only that no contradiction was found.
        """
        if n_clusters is not None and n_clusters != int(n_clusters):
            raise ValueError(f"n_clusters must be a whole number; got {n_clusters!r}")
        if len(self.groups):
            return self._conflict_of_groups(n_clusters)
        live = np.flatnonzero(self.weight > 0)
        found = conflicts.find_conflict(
            len(self.ids), self.pairs[live], self.sign[live], n_clusters
        )
        return None if found is None else self.select(live[found])

    def _component(self) -> Array:
        """Return the component of every id by the must-links of weight > 0, (u,)."""
        own = self._listed
        return closure.components(len(self.ids), own.pairs[(own.sign > 0) & (own.weight > 0)])

    def _inside(self) -> Self:
        """Return the implied pairs whose ends must-links join, or some of them if they are many."""
        pairs = groups.few_within(self.groups, self._component())
        return self._of(self.ids[pairs], np.full(len(pairs), -1))

    def _conflict_of_groups(self, n_clusters: int | None) -> Self | None:
        """Return a conflict, listing only the implied pairs that can be part of a small one."""
        inside, own = self._inside(), self.without_groups()
        if n_clusters is None:
            return (own + inside).conflict()
        most = int(n_clusters)
        large = next((one for one in groups.members(self.groups) if len(one) > most), None)
        if large is None and not inside and self.n_pairs <= partial_labels.MAX_PAIRS:
            return self.listed().conflict(most)
        found = [(own + inside).conflict(most)]
        if large is not None:
            few = self.ids[large[: most + 1]]
            found.append(self.from_groups(np.zeros(len(few)), sample_id=few))
        known = [one for one in found if one is not None]
        return min(known, key=lambda one: one.n_pairs, default=None)

    def check(self, n_clusters: int | None = None) -> None:
        """Raise InfeasibleConstraints, naming the conflict, if there is one."""
        conflict = self.conflict(n_clusters)
        if conflict is None:
            return
        text = conflicts.explain(conflict)
        if n_clusters is not None and conflict.conflict() is None:
            message = (
                f"the pairs need more than {counted(n_clusters, 'cluster')}: {text}; "
                "raise n_clusters or remove one of these pairs"
            )
        else:
            message = (
                f"the pairs contradict each other: {text}; "
                "remove one of these pairs, or all such cannot-links by drop_conflicts()"
            )
        raise InfeasibleConstraints(message, conflict)

    def drop_conflicts(self) -> tuple[Self, Self]:
        """Return (kept, dropped); dropped has the cannot-links that must-links contradict."""
        if len(self.groups) and self._inside():
            return self.listed().drop_conflicts()
        own = self._listed
        live = np.flatnonzero(own.weight > 0)
        dropped = np.zeros(len(own.sign), dtype=bool)
        dropped[live] = conflicts.contradicted(len(self.ids), own.pairs[live], own.sign[live])
        return self._keeping(~dropped), self.without_groups()._keeping(dropped)


def _frozen(values: Array, dtype: Any = None) -> Array:
    array = np.array(values, dtype=dtype)
    array.flags.writeable = False
    return array


def broken(a: Array, b: Array, sign: Array, stray: int | None = None) -> Mask:
    """Return which pairs are broken by the labels of their ends, see `Constraints.violated`."""
    found = (a == b) != (sign > 0)
    return found if stray is None else found & ~((a == stray) & (b == stray))


def _ids_of(values: ArrayLike, name: str) -> Array:
    return as_ids(as_array(values, name), lambda i: f"{name}[{i}]")


def _set_of(values: ArrayLike, name: str) -> Array:
    ids = _ids_of(values, name)
    if len(np.unique(ids)) < len(ids):
        raise ValueError(f"{name}: a member is listed twice; list it once")
    return ids


def _named(rows: Array, sample_id: ArrayLike | None, n: int) -> Array:
    return rows if sample_id is None else as_sample_id(sample_id, n)[rows]
