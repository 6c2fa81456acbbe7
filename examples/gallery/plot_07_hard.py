"""
Hard constraints
================

Some links are rules: two lessons of one teacher cannot be at the same time, two halves of one
order belong together. `COPKMeans` keeps every link or says why it cannot. A soft method may break
some, if the data speak against them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from linkwise import COPKMeans, PCKMeans, sample_pairs
from linkwise.plot import draw_links, draw_map

X, _ = make_blobs(120, centers=3, cluster_std=2.2, random_state=3)
rules = sample_pairs([row % 3 for row in range(120)], 40, random_state=0)  # nothing to do with X

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6))
for axis, model in zip(
    axes,
    (PCKMeans(3, constraint_weight=2.0, random_state=0), COPKMeans(3, random_state=0)),
    strict=True,
):
    model.fit(X, constraints=rules)
    broken = len(model.violations_)
    draw_map(axis, X, model.labels_, title=f"{type(model).__name__}: {broken} of 40 links broken")
    draw_links(axis, X, rules.select(rules.violated(model.labels_)))
plt.show()
