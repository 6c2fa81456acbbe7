"""The kinds of events a log can hold, and the pairs that each of them means.

A correction is a constraint. An event names the rows it speaks of by the user's ids, never by the
number of a cluster, so it stays true when the clusters change. It means these pairs:

    (1)  answer  a, b, same     a with b, or a not with b; nothing for "don't know"
    (2)  link    pairs          as listed, with their weights
    (3)  group   rows, to, apart    chain(rows and to, in turn); rows | apart
    (4)  merge   first, second  chain(first), chain(second); first & second
    (5)  split   parts          chain(part) for each; p | q for each two parts
    (6)  mark, stroke, rename, keep  none

chain(r) has the must-links r_i, r_i+1 and r_i, r_i+2. p & q has the must-links p_i, q_i for
i = 1 .. max(len p, len q), the shorter list repeated from its start; p | q has the same pairs as
cannot-links. Together they imply what the event says about every pair of its rows, with O(c n)
pairs for n rows in c parts instead of n^2. No single pair carries the whole correction, because a
soft method may take one pair alone for an error. Moving rows from one cluster to another is (3):
`to` holds some rows of the new cluster, `apart` some of the old one. A split says by `others` what
the rows of the cluster do that it does not name: "stay", with the last part, or "nearest", with
the nearest named row.

A mark is an answer about rows alone: "unclear" (they are not asked about any more) or "stray" (they
belong to no cluster). It holds until a later event says where such a row belongs. A keep is written
when the data have got more rows: the rows so far stay in these clusters, numbered 0, 1, ..., until
a later answer reaches them.

Every event has a source, which is written in the log:

    answer  the answer to a question: about a pair, a set of rows, a label, or a row alone
    hand    a correction by hand: it changes what it names, and models do not learn from it
    taught  a correction by hand that models learn from as well
    import  read from a table

A pair of an answer has weight 1. The pairs of (3) to (5) have weight HAND if they were made by
hand, and 1 if they were imported. The pairs of (2) have the weights they are given.

    (7)  undo, redo  event      that event does not count; it counts again

Every check of what may enter a log is in this module.
"""

import math
from collections.abc import Callable, Iterable
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise._wording import MARKS, STRAY, counted

if TYPE_CHECKING:
    from linkwise.constraints import Constraints

HAND = 5.0  # weight of a pair made by hand: whoever selects points has looked at more than two
SOURCES = ("answer", "hand", "taught", "import")
BY_HAND = ("hand", "taught")
OTHERS = ("stay", "nearest")  # what rows do that a split does not name
IMPORTED = "imported from"  # how the reason of an import begins

Id = str | int  # the user's name of a row, or its number
Body = dict[str, Any]


class Event(NamedTuple):
    """One line of the log.

    Attributes
    ----------
    seq : int, its number, 1, 2, ... without gaps
    kind : str, a key of KINDS
    body : dict, what it says; see `linkwise.journal.events`
    who, when, why : str, its author, the time (ISO 8601, UTC), and why it was asked or made
    client : str, the id its sender gave it, unique in the log
    source : str, "answer", "hand", "taught" or "import"
    """

    seq: int
    kind: str
    body: Body
    who: str
    when: str
    why: str
    client: str
    source: str

    @property
    def by_hand(self) -> bool:
        """Whether it is a correction by hand."""
        return self.source in BY_HAND and self.kind in ("link", "group", "merge", "split")

    @property
    def edits_labels(self) -> bool:
        """Whether it changes labels directly, whatever the models say."""
        return self.by_hand or (self.kind == "mark" and self.body["mark"] == STRAY)

    @property
    def rows(self) -> list[Id]:
        """The ids that it names."""
        return rows_of(self.kind, self.body)

    @property
    def placed(self) -> list[Id]:
        """The ids of rows of which it says where they belong."""
        if self.kind == "group":
            return self.body["rows"]
        told = self.kind == "link" or (self.kind == "answer" and self.body["same"] is not None)
        return self.rows if told else []

    def constraints(self) -> "Constraints":
        """Return the pairs it means as Constraints by the user's ids."""
        return constraints_of([self])


class Draft(NamedTuple):
    """An event to be written.

    Attributes
    ----------
    kind, body, why : as in Event
    client : str, or None for a new id
    source : str, or None: "answer" for an answer or a mark, else "hand"
    who, when : str, or None for the user of the journal and the present time
    """

    kind: str
    body: Body
    why: str = ""
    client: str | None = None
    source: str | None = None
    who: str | None = None
    when: str | None = None


def checked_source(source: str | None, kind: str) -> str:
    """Return the source of an event; None stands for the usual one of its kind."""
    if source is None:
        return "answer" if kind in ("answer", "mark") else "hand"
    if source not in SOURCES:
        raise ValueError(f"source must be one of {', '.join(SOURCES)}; got {source!r}")
    return source


def source_in_old_log(kind: str, why: str) -> str:
    """Return the source of an event from a log that does not record it.

    In such logs only the reason of an import tells it from a correction by hand.
    """
    imported = kind != "answer" and why.startswith(IMPORTED)
    return "import" if imported else checked_source(None, kind)


def checked_text(value: Any, name: str, *, empty: bool = True) -> str:
    """Return a text that can be written to any file."""
    if not isinstance(value, str) or not (value or empty):
        raise ValueError(f"{name} must be a text{'' if empty else ', not empty'}; got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} has half a character in it: {value!r}; send UTF-8") from None
    return value


def checked_id(value: Any, name: str) -> Id:
    """Return the id of a row: a text, or a row number."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63:
        return int(value)
    if isinstance(value, str) and value:
        return checked_text(value, name)
    raise ValueError(f"{name} must be an id, a text or a row number >= 0; got {value!r}")


def checked_rows(values: Any, name: str, *, least: int = 1) -> list[Id]:
    """Return a list of distinct ids."""
    if not isinstance(values, list | tuple):
        raise ValueError(f"{name} must be a list of ids; got {values!r}")
    rows = [checked_id(value, f"{name}[{i}]") for i, value in enumerate(values)]
    if len(rows) < least:
        raise ValueError(f"{name} must name at least {counted(least, 'row')}; got {len(rows)}")
    if len(set(rows)) < len(rows):
        twice = next(row for i, row in enumerate(rows) if row in rows[:i])
        raise ValueError(f"{name} names {twice!r} twice; name it once")
    return rows


def checked_parts(parts: Any, name: str) -> list[list[Id]]:
    """Return lists of ids that share none."""
    found = [checked_rows(part, f"{name}[{i}]") for i, part in enumerate(parts)]
    part_of: dict[Id, int] = {}
    for i, part in enumerate(found):
        for row in part:
            if part_of.setdefault(row, i) != i:
                raise ValueError(
                    f"{name}: {row!r} is in part {part_of[row]} and in part {i}; leave it in one"
                )
    return found


def checked_number(value: Any, name: str, *, least: float = -math.inf) -> float:
    """Return a finite number >= least."""
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not (math.isfinite(value) and value >= least):
        bound = "" if least == -math.inf else f" >= {least:g}"
        raise ValueError(f"{name} must be a finite number{bound}; got {value!r}")
    return value


def _answer(a: Any, b: Any, same: Any) -> Body:
    ends = checked_rows([a, b], "a, b")
    if same is not None and not isinstance(same, bool):
        raise ValueError(f"same must be True, False or None (don't know); got {same!r}")
    return {"a": ends[0], "b": ends[1], "same": same}


def _link(pairs: Any) -> Body:
    if not isinstance(pairs, list | tuple) or not pairs:
        raise ValueError(f"pairs must be a list of (a, b, sign, weight); got {pairs!r}")
    found = []
    for i, pair in enumerate(pairs):
        if not isinstance(pair, list | tuple) or len(pair) not in (3, 4):
            raise ValueError(f"pairs[{i}] must be (a, b, sign) or (a, b, sign, weight); got {pair}")
        a, b = checked_rows(pair[:2], f"pairs[{i}]")
        if pair[2] not in (1, -1) or isinstance(pair[2], bool):
            raise ValueError(f"pairs[{i}]: the sign must be 1 (must) or -1 (cannot); got {pair[2]}")
        weight = checked_number((*pair, 1.0)[3], f"pairs[{i}]: the weight", least=0)
        found.append([a, b, int(pair[2]), float(weight)])
    return {"pairs": found}


def _group(rows: Any, apart: Any = (), to: Any = ()) -> Body:
    rows = checked_rows(rows, "rows", least=1 if apart or to else 2)
    apart, to = checked_rows(apart, "apart", least=0), checked_rows(to, "to", least=0)
    checked_parts([part for part in (rows, apart, to) if part], "rows, apart, to")
    return {"rows": rows, "apart": apart} | ({"to": to} if to else {})


def _merge(first: Any, second: Any) -> Body:
    first, second = checked_parts([first, second], "first, second")
    return {"first": first, "second": second}


def _split(parts: Any, others: Any = None) -> Body:
    if not isinstance(parts, list | tuple) or len(parts) < 2:
        raise ValueError(f"parts must be two lists of ids or more; got {parts!r}")
    if others not in (None, *OTHERS):
        raise ValueError(f"others must be one of {', '.join(OTHERS)}; got {others!r}")
    return {"parts": checked_parts(parts, "parts")} | ({"others": others} if others else {})


def _mark(rows: Any, mark: Any) -> Body:
    if mark not in MARKS:
        raise ValueError(f"mark must be one of {', '.join(MARKS)}; got {mark!r}")
    return {"rows": checked_rows(rows, "rows"), "mark": mark}


def _stroke(colour: Any, points: Any, width: Any = 1, image: Any = None) -> Body:
    if not isinstance(points, list | tuple) or not points:
        raise ValueError(f"points must be a list of (x, y); got {points!r}")
    line = []
    for i, point in enumerate(points):
        if not isinstance(point, list | tuple) or len(point) != 2:
            raise ValueError(f"points[{i}] must be (x, y); got {point!r}")
        line.append([checked_number(value, f"points[{i}]") for value in point])
    return {
        "colour": checked_text(colour, "colour", empty=False),
        "points": line,
        "width": checked_number(width, "width", least=0),
    } | ({} if image is None else {"image": checked_text(image, "image", empty=False)})


def _rename(rows: Any, name: Any) -> Body:
    return {"rows": checked_rows(rows, "rows"), "name": checked_text(name, "name")}


def _keep(clusters: Any, strays: Any = ()) -> Body:
    if not isinstance(clusters, list | tuple):
        raise ValueError(f"clusters must be lists of ids; got {clusters!r}")
    found = checked_parts(clusters, "clusters")
    strays = checked_rows(strays, "strays", least=0)
    checked_parts([*found, *([strays] if strays else [])], "clusters, strays")
    return {"clusters": found, "strays": strays}


def _target(event: Any) -> Body:
    if not isinstance(event, int) or isinstance(event, bool) or event < 1:
        raise ValueError(f"event must be the number of an event, from 1 on; got {event!r}")
    return {"event": event}


KINDS: dict[
    str, tuple[Callable[..., Body], tuple[str, ...], tuple[str, ...]]
] = {  # kind: (check, what the body must have, what it may have)
    "answer": (_answer, ("a", "b", "same"), ()),
    "link": (_link, ("pairs",), ()),
    "group": (_group, ("rows",), ("apart", "to")),
    "merge": (_merge, ("first", "second"), ()),
    "split": (_split, ("parts",), ("others",)),
    "mark": (_mark, ("rows", "mark"), ()),
    "stroke": (_stroke, ("colour", "points"), ("width", "image")),
    "rename": (_rename, ("rows", "name"), ()),
    "keep": (_keep, ("clusters",), ("strays",)),
    "undo": (_target, ("event",), ()),
    "redo": (_target, ("event",), ()),
}


def checked_body(kind: Any, body: Any) -> Body:
    """Return the body of an event with all its fields and plain lists; refuse a wrong one."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    if not isinstance(body, dict):
        raise ValueError(f"{kind}: the body must be an object; got {body!r}")
    check, must, may = KINDS[kind]
    unknown = [name for name in body if name not in must + may]
    missing = [name for name in must if name not in body]
    if unknown or missing:
        fault = f"{unknown[0]!r} is not known" if unknown else f"{missing[0]!r} is missing"
        raise ValueError(f"{kind}: expected {', '.join(must + may)}; {fault}")
    return check(**body)


def rows_of(kind: str, body: Body) -> list[Id]:
    """Return the ids that an event names."""
    if kind == "answer":
        return [body["a"], body["b"]]
    if kind == "link":
        return [end for pair in body["pairs"] for end in pair[:2]]
    if kind == "split":
        return [row for part in body["parts"] for row in part]
    if kind == "keep":
        return [row for part in [*body["clusters"], body["strays"]] for row in part]
    return [
        row for name in ("rows", "to", "apart", "first", "second") for row in body.get(name, ())
    ]


def _chain(rows: list[Id]) -> list[tuple[Id, Id, int]]:
    steps = (zip(rows, rows[step:], strict=False) for step in (1, 2))
    return [(a, b, 1) for ends in steps for a, b in ends]


def _between(p: list[Id], q: list[Id], sign: int) -> list[tuple[Id, Id, int]]:
    times = max(len(p), len(q))
    return [(p[i % len(p)], q[i % len(q)], sign) for i in range(times)]


def _pairs(event: Event) -> list[tuple[Id, Id, int, float]]:
    """Return the pairs (a, b, sign, weight) that an event means."""
    kind, body = event.kind, event.body
    if kind == "answer" and body["same"] is not None:
        return [(body["a"], body["b"], 1 if body["same"] else -1, 1.0)]  # Eq. (1)
    if kind == "link":
        return [(a, b, sign, weight) for a, b, sign, weight in body["pairs"]]  # Eq. (2)
    found: list[tuple[Id, Id, int]] = []
    if kind == "group":
        rows, apart = body["rows"], body["apart"]
        both = zip_longest(rows, body.get("to", ()))
        together = [row for pair in both for row in pair if row is not None]
        found = _chain(together) + (_between(rows, apart, -1) if apart else [])  # Eq. (3)
    if kind == "merge":
        p, q = body["first"], body["second"]
        found = _chain(p) + _chain(q) + _between(p, q, 1)  # Eq. (4)
    if kind == "split":
        within = [pair for part in body["parts"] for pair in _chain(part)]
        two = combinations(body["parts"], 2)
        found = within + [pair for p, q in two for pair in _between(p, q, -1)]  # Eq. (5)
    weight = HAND if event.source in BY_HAND else 1.0
    return [(*pair, weight) for pair in found]


def constraints_of(events: Iterable[Event]) -> "Constraints":
    """Return the pairs that events mean as Constraints by the user's ids, in their order.

    Every pair carries the source and the number of its event.
    """
    from linkwise.constraints import Constraints

    found = [(pair, event) for event in events for pair in _pairs(event)]
    links = Constraints.from_table([pair for pair, _ in found])
    return links.with_source([e.source for _, e in found], [e.seq for _, e in found])
