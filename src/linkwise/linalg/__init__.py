"""Linear algebra without any notion of clustering."""

from linkwise.linalg.eigen import Eigenpairs, fix_signs, largest_eigenpairs
from linkwise.linalg.monotone import monotone_least_squares
from linkwise.linalg.woodbury import Downdate, downdate

__all__ = [
    "Downdate",
    "Eigenpairs",
    "downdate",
    "fix_signs",
    "largest_eigenpairs",
    "monotone_least_squares",
]
