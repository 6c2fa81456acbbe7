"""A question on the screen: two rows side by side, or one above the other if it is narrow.

A line is a list of spans (text, style); a style is "", "bold", "dim" or "mark". All text is made
clean when a span becomes characters, so nothing in the data can control the terminal. A difference
is marked by colour, and always by a sign too: ``*`` beside a value that differs, ``**`` beside
numbers a standard deviation or more apart, and brackets around words.
"""

import os
import sys
from typing import Any, NamedTuple

from linkwise.labelling.items import fields_of
from linkwise.labelling.texts import clean, marked_words, words
from linkwise.terminal.layout import cut, padded, width, wrapped

CODES = {"bold": "1", "dim": "2", "mark": "1;33"}
NARROW = 50  # columns below which the rows are shown one above the other
LINES = 3  # of a field that is not the text; the other columns need room too
KEYS = ("s = same,", "d = different,", "u = unsure,", "c = first is unclear,",
        "x = first is in no cluster,", "w = a question about several,", "b = back,",
        "r = redo,", "q = finished,", "? = help")  # fmt: skip


class Look(NamedTuple):
    """The size of a terminal, and what it can show."""

    columns: int = 80
    lines: int = 24
    colour: bool = False
    clear: bool = False
    encoding: str = "utf-8"

    @classmethod
    def of(cls, out, environ=os.environ):
        """Return the look of an open file."""
        try:
            size = tuple(os.get_terminal_size(out.fileno()))
        except (OSError, ValueError):
            size = 0, 0
        texts = [environ.get(name, "") for name in ("COLUMNS", "LINES")]
        given = [int(text) if text.isdecimal() else 0 for text in texts]
        columns, lines = (a or b or c for a, b, c in zip(size, given, (80, 24), strict=True))
        able = out.isatty() and environ.get("TERM", "dumb") not in ("dumb", "")
        return cls(
            max(columns, 20),
            max(lines, 10),
            able and not environ.get("NO_COLOR"),
            able,
            getattr(out, "encoding", None) or "ascii",
        )


def painted(line, look):
    """Return a line of spans as characters for a terminal."""
    parts = []
    for text, style in line:
        text = clean(text).encode(look.encoding, "backslashreplace").decode(look.encoding)
        code = CODES.get(style) if look.colour else None
        parts.append(f"\x1b[{code}m{text}\x1b[0m" if code else text)
    return "".join(parts).rstrip()


def bracketed(words):
    """Return (word, mark) pairs with brackets around every run of marked words."""
    edges = [False, *(mark for _, mark in words), False]
    return [
        (("[" if mark and not before else "") + word + ("]" if mark and not after else ""), mark)
        for (word, mark), before, after in zip(words, edges, edges[2:], strict=False)
    ]


def spans_of(field, colour):
    """Return both values of a field as spans of words, the words that differ marked."""
    sides = marked_words(field)
    if field.is_text and not colour:
        sides = [bracketed(side) for side in sides]
    return tuple([(word, "mark" if mark else "") for word, mark in side] for side in sides)


def _first(lines, most, n):
    """Return at most ``most`` lines; the last one says, in n columns, how many more there are."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], [(cut(f"+ {len(lines) - most + 1} more lines", n), "dim")]]


def side_by_side(field, look, name_width, most):
    """Return the lines of a field: name, one value, the other, sign."""
    room = (look.columns - name_width - 9) // 2
    a, b = (_first(wrapped(spans, room), most, room) for spans in spans_of(field, look.colour))
    lines = []
    for i in range(max(len(a), len(b), 1)):
        name, sign = (clean(field.name), field.sign) if i == 0 else ("", "")
        left, right = (_filled(side[i] if i < len(side) else [], room) for side in (a, b))
        start = [(padded(name, name_width), "dim"), ("  ", "")]
        lines.append([*start, *left, (" | ", ""), *right, ("  ", ""), (sign, "mark")])
    return lines


def _filled(line, n):
    """Return a line with spaces up to n columns."""
    return [*line, (" " * (n - sum(width(text) for text, _ in line)), "")]


def stacked(field, look, most):
    """Return the lines of a field: its name and sign, then one value, then the other."""
    lines = [[(cut(clean(field.name), look.columns - 3), "dim"), (f" {field.sign}", "mark")]]
    for letter, spans in zip("AB", spans_of(field, look.colour), strict=True):
        value = _first(wrapped(spans, look.columns - 4), most, look.columns - 4)
        lines += [
            [(f"  {letter} " if i == 0 else "    ", "bold"), *line] for i, line in enumerate(value)
        ]
    return lines


def compared(items, a, b, look, room):
    """Return the two rows in at most `room` lines, if possible."""
    fields = fields_of(items, a, b)
    narrow = look.columns < NARROW
    names = [clean(name) for name in items.names]
    name_width = min(max(map(width, ["row", *names])), look.columns // 5)
    if narrow:
        lines = [[("A ", "dim"), (cut(clean(items.name(a)), look.columns - 2), "bold")]]
        lines += [[("B ", "dim"), (cut(clean(items.name(b)), look.columns - 2), "bold")]]
    else:
        half = (look.columns - name_width - 9) // 2
        left, right = (padded(clean(items.name(row)), half) for row in (a, b))
        head = padded("row" if items.ids is None else "id", name_width)
        lines = [[(head, "dim"), ("  ", ""), (left, "bold"), (" | ", ""), (right, "bold")]]
    room -= len(lines) + 1  # one line counts the columns left out
    blocks = [
        stacked(field, look, max((room - 1) // 2, 2) if field.is_text else LINES)
        if narrow
        else side_by_side(field, look, name_width, max(room, 2) if field.is_text else LINES)
        for field in fields
    ]
    kept = _most_different(fields, blocks, room)
    lines += [line for i in kept for line in blocks[i]]
    if len(kept) < len(blocks):
        left_out = f"+ {len(blocks) - len(kept)} more columns, less different or the same"
        lines.append([(cut(left_out, look.columns), "dim")])
    return lines


def _most_different(fields, blocks, room):
    """Return which fields to show, ascending: those that differ most, as far as there is room."""
    order = sorted(range(len(fields)), key=lambda i: (not fields[i].is_text, -fields[i].apart, i))
    kept: list = []
    used = 0
    for i in order:
        used += len(blocks[i])
        if kept and used > room:
            break
        kept.append(i)
    return sorted(kept)


class View(NamedTuple):
    """What is shown around a question."""

    title: str
    counts: dict[str, int]
    why: str
    progress: str
    warning: str = ""
    note: str = ""


def said(label, text, look, style=""):
    """Return a sentence with a label as lines."""
    spans = [(label, "dim")] * bool(label) + [(word, style) for word in words(text)]
    return wrapped(spans, look.columns - 1) if text else []


def question_lines(items, a, b, view, look):
    """Return the whole screen of a question as lines of spans."""
    counts = ", ".join(f"{number} {word}" for word, number in view.counts.items())
    head = said("", f"{view.title}: {sum(view.counts.values())} answered, {counts}", look, "dim")
    tail = [
        [],
        *said("why:", view.why, look),
        *said("so far:", view.progress, look),
        *said("conflict:", view.warning, look, "mark"),
        *said("", view.note, look, "bold"),
        *wrapped([(key, "") for key in KEYS], look.columns - 1),
    ]
    room = max(look.lines - len(head) - len(tail) - 2, 4)
    return [*head, [], *compared(items, a, b, look, room), *tail]


class Screen:
    """A terminal to write to."""

    def __init__(self, out=None):
        self.out: Any = sys.stdout if out is None else out
        self.look = Look.of(self.out)

    def resized(self):
        """Tell whether the size of the terminal has changed since the last call."""
        before, self.look = self.look, Look.of(self.out)
        return before != self.look

    def write(self, text):
        """Write characters that are already safe."""
        self.out.write(text)
        self.out.flush()

    def show(self, lines, *, prompt="> "):
        """Show a screen of lines."""
        text = "\n".join(painted(line, self.look) for line in lines)
        start = "\x1b[H\x1b[2J" if self.look.clear else "\n"
        self.write(f"{start}{text}\n{prompt}")

    def say(self, text, *, wrap=True):
        """Write one sentence on lines of its own, or on one line however long."""
        for line in said("", text, self.look) if wrap else [[(text, "")]]:
            self.write(painted(line, self.look) + "\n")
