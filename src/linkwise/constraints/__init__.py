"""Constraints: pairs of points that belong together, or do not.

pairs           Constraints, the one type for pairs
closure         the pairs that given pairs imply
conflicts       a small set of pairs that cannot all hold
sampling        pairs drawn from labels
partial_labels  pairs from partial labels, chunks and groups
merges          pairs from clusters that a person merged
pair_tables     pairs from tables and signed matrices
io              pairs in files
convert         other forms in which users write constraints
ids             ids of points
"""

from linkwise.constraints.closure import Closure
from linkwise.constraints.convert import as_constraints
from linkwise.constraints.pairs import Constraints, Pair
from linkwise.constraints.sampling import sample_pairs, uniform_pairs

__all__ = ["Closure", "Constraints", "Pair", "as_constraints", "sample_pairs", "uniform_pairs"]
