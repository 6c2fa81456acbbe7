"""Two rows side by side, column by column."""

from typing import NamedTuple


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
