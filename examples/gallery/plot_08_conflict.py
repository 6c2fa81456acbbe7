"""
A conflict, explained
=====================

Links that cannot all hold are found before anything is clustered. The error names a set of links
from which none can be left out, so that you know where to look.
"""

import matplotlib.pyplot as plt
import numpy as np

from linkwise import Constraints, InfeasibleConstraints
from linkwise.plot import draw_links

names = ["anna", "bert", "carl", "dora", "emil", "fay", "gus", "hana"]
links = Constraints(
    must_link=[("anna", "bert"), ("bert", "carl"), ("dora", "emil"), ("carl", "gus")],
    cannot_link=[("anna", "dora"), ("fay", "hana"), ("gus", "anna"), ("emil", "fay")],
)
try:
    links.check()
except InfeasibleConstraints as problem:
    conflict = problem.conflict
    print(problem)

# %%
# On the left all eight links. On the right those that contradict each other.

angle = np.linspace(0, 2 * np.pi, len(names), endpoint=False)
places = np.column_stack([np.cos(angle), np.sin(angle)])
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8))
for axis, shown in zip(axes, (links, Constraints.from_table(conflict)), strict=True):
    draw_links(axis, places, shown.resolve(names))
    axis.plot(*places.T, "o", color="#332288")
    for name, (x, y) in zip(names, 1.18 * places, strict=True):
        axis.text(x, y, name, ha="center", va="center")
    axis.set(aspect="equal", xlim=(-1.5, 1.5), ylim=(-1.3, 1.3))
    axis.axis("off")
axes[0].set_title("all links")
axes[1].set_title("the conflict")
plt.show()
