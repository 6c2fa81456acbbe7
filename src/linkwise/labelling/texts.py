"""Texts made safe to show, and the words in which two values of a field differ.

Every character that moves a cursor, sets a colour, rings a bell, hides others or changes the
direction of writing is shown by its number instead.
"""

import re
from difflib import SequenceMatcher

JOINERS = "\u200c\u200d"  # part of the writing of several languages
COMPARED = 400  # words of a text that are compared; the time grows with their square
LONGEST = 20_000  # characters of a text that are used


def _shown(char):
    if char.isspace():
        return " "
    if char.isprintable() or char in JOINERS:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def clean(text):
    """Return a text on one line without characters that control a terminal."""
    text = str(text)[:LONGEST]
    return text if text.isprintable() else "".join(map(_shown, text))


def words(text):
    """Return the words of a text, clean."""
    return re.findall(r"\S+", clean(text))


def differences(first, second):
    """Return which words of two lists are not matched in the other, two lists of bool."""
    matcher = SequenceMatcher(None, first[:COMPARED], second[:COMPARED], autojunk=False)
    marks = [True] * len(first), [True] * len(second)
    for a, b, size in matcher.get_matching_blocks():
        marks[0][a : a + size] = [False] * size
        marks[1][b : b + size] = [False] * size
    return marks


def marked_words(field):
    """Return both values of a Field as lists of (word, whether it differs).

    Texts are compared word by word, other values as a whole.
    """
    a, b = words(field.a), words(field.b)
    if field.is_text:
        marks = differences(a, b)
    else:
        marks = [bool(field.apart)] * len(a), [bool(field.apart)] * len(b)
    return [list(zip(*side, strict=True)) for side in zip((a, b), marks, strict=True)]
