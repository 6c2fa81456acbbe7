"""The width of a text on a terminal, and lines of at most n columns.

A wide East Asian character takes 2 columns, a mark on the character before it none. Texts are clean
(`linkwise.labelling.texts`): they hold no character that controls a terminal.
"""

import unicodedata

from linkwise.labelling.texts import JOINERS


def columns(char):
    """Return the width of a character."""
    if char in JOINERS or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width(text):
    """Return the width of a clean text."""
    return len(text) if text.isascii() else sum(map(columns, text))


def cut(text, n, *, end="~"):
    """Return a clean text cut to n columns; a longer one ends in `end`."""
    if width(text) <= n:
        return text
    kept, room = "", n - width(end)
    for char in text:
        room -= columns(char)
        if room < 0:
            break
        kept += char
    return (kept + end) if n >= width(end) else ""


def padded(text, n):
    """Return a clean text of exactly n columns."""
    text = cut(text, n)
    return text + " " * (n - width(text))


def wrapped(spans, n):
    """Return lines of at most n columns from spans (word, style), a space between words.

    A line is a list of spans. A word that is too wide is cut into pieces.
    """
    lines: list = [[]]
    room = n
    for word, style in spans:
        while word:
            space = 1 if lines[-1] else 0
            if width(word) + space <= room:
                lines[-1] += [(" ", "")] * space + [(word, style)]
                room -= width(word) + space
                break
            if lines[-1]:
                lines.append([])
                room = n
                continue
            piece = cut(word, n, end="") or word[0]
            lines[-1].append((piece, style))
            word, room = word[len(piece) :], 0
    return lines
