"""
Records of one entity
=====================

Pairs of records with a score, from any matcher. Connected components join too much: one wrong
pair is enough. `linkwise.partition.resolve_entities` adds up the evidence between groups, and
keeps two records of one source apart.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from linkwise.partition import resolve_entities
from linkwise.plot import colours

pairs = np.array(
    [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (6, 7), (7, 8), (6, 8), (5, 6)]
)
score = np.array([0.9, 0.95, 0.8, 0.9, 0.85, 0.9, 0.6, 0.9, 0.7, 0.9, 0.55])
source = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])  # three lists; an entity is once in each

graph = coo_array((score, pairs.T), shape=(9, 9))
joined = connected_components(graph, directed=False)[1]
entities = resolve_entities(9, pairs, score, source=source)

# %%

angle = np.repeat([0.5, 2.6, 4.7], 3)
places = 2 * np.column_stack([np.cos(angle), np.sin(angle)])
places += 0.8 * np.column_stack([np.cos(np.arange(9) * 2.1), np.sin(np.arange(9) * 2.1)])
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8))
for axis, labels, title in zip(
    axes, (joined, entities), ("connected components", "resolve_entities"), strict=True
):
    for (a, b), s in zip(pairs, score, strict=True):
        axis.plot(*places[[a, b]].T, color="#777777", lw=4 * s**2, zorder=0)
    axis.scatter(*places.T, c=colours(labels), s=160)
    axis.set(aspect="equal", title=f"{title}: {len(np.unique(labels))} entities")
    axis.axis("off")
plt.show()
