"""
A few answers change the clusters
=================================

Two half moons. k-means cuts both of them across, because a half moon is not a round cloud. Eight
answers "same" or "different" are enough for all 300 rows to follow.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from linkwise import LinkClustering, sample_pairs
from linkwise.plot import draw_links, draw_map

X, y = make_moons(300, noise=0.08, random_state=0)
links = sample_pairs(y, 8, random_state=3)  # answers of someone who knows the moons

plain = KMeans(2, n_init=10, random_state=0).fit(X)
model = LinkClustering(2, effort="fast", random_state=0).fit(X, constraints=links)

# %%
# Must-links are green, cannot-links are red and dotted.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9, 2.3))
draw_map(left, X, plain.labels_, title="k-means")
middle.scatter(*X.T, s=9, c="#aaaaaa", linewidths=0)
draw_links(middle, X, links)
middle.set(aspect="equal", title="eight answers")
middle.axis("off")
draw_map(right, X, model.labels_, title="linkwise")
plt.show()
