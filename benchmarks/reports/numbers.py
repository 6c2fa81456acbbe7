"""Numbers as the reports write them."""


def number(x, digits=3):
    """Return a number with so many significant digits and no exponent.

    >>> number(0.01234), number(1234.5), number(12.345), number(None)
    ('0.0123', '1,234', '12.3', '')
    """
    if x is None:
        return ""
    if x == 0:
        return "0"
    whole = 1 + int(f"{x:e}".split("e")[1])  # digits before the point; below 0.1 less than none
    return f"{x:,.{max(0, digits - whole)}f}"


def gigabytes(x):
    """Return bytes in GB.

    >>> gigabytes(1_280_000_000)
    '1.28'
    """
    return "" if x is None else f"{x / 1e9:.2f}"


def share(x):
    """Return an agreement, a recall or a share with three decimals."""
    return "" if x is None else f"{x:.3f}"
