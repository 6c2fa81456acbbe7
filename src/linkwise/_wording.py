"""Words that several rooms share."""

UNCLEAR, STRAY = MARKS = ("unclear", "stray")  # what can be said about a row alone


def counted(n: int, noun: str) -> str:
    """Return a number and its noun, in the singular or the plural.

    >>> counted(1, "row"), counted(2, "row"), counted(12_000, "must-link")
    ('1 row', '2 rows', '12,000 must-links')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
