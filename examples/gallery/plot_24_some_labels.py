"""
From labels of some rows
========================

Labels of a few rows are constraints too: `Constraints.from_labels` takes -1 for rows without a
label. Classes without any label are no problem, as this example shows: nobody has labelled the
third class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from linkwise import Constraints, LinkClustering, scores
from linkwise.plot import draw_clusters, draw_map

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
partial = np.full(len(y), -1)
known = [0, 7, 23, 60, 71, 88, 102]
partial[known] = y[known]
print("labels of the classes", sorted(set(y[known])))

model = LinkClustering(3, effort="fast", random_state=0)
model.fit(X, constraints=Constraints.from_labels(partial))
print(f"agreement: {scores(y, model.labels_)['adjusted_rand']:.2f}")

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.6))
places = draw_clusters(right, X, model.labels_, title="clusters of all rows")
left.scatter(*places.T, s=9, c="#cccccc", linewidths=0)
draw_map(left, places[known], y[known], title="seven labels of two classes")
left.set(xlim=right.get_xlim(), ylim=right.get_ylim())
plt.show()
