"""What the user knows: which points belong together, and which do not.

pairs (Constraints), closure (what they imply), conflicts (what cannot hold),
sampling (pairs drawn from labels), io (files), convert (anything else).
"""

from linkwise.constraints.closure import Closure
from linkwise.constraints.convert import as_constraints
from linkwise.constraints.pairs import Constraints, Pair
from linkwise.constraints.sampling import sample_pairs, uniform_pairs

__all__ = ["Closure", "Constraints", "Pair", "as_constraints", "sample_pairs", "uniform_pairs"]
