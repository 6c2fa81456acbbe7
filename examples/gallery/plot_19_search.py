"""
A search without true classes
=============================

`GridSearchCV` needs a score. Without classes there is one: the share of constraints that were
held out and that the clusters keep. `WithConstraints` has it as ``score``, and `AllRows` makes
the search hold out constraints instead of rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV

from linkwise import CCSKL, AllRows, WithConstraints, sample_pairs

X, y = make_blobs(300, centers=4, cluster_std=1.3, random_state=2)
links = sample_pairs(y, 120, random_state=0)
bound = WithConstraints(CCSKL(random_state=0), links, random_state=0)
grid = {"estimator__n_clusters": [2, 3, 4, 5, 6, 7], "estimator__n_neighbors": [5, 20]}
search = GridSearchCV(bound, grid, cv=AllRows()).fit(X)
print(search.best_params_)

# %%

figure, axis = plt.subplots()
found = search.cv_results_
for neighbours in (5, 20):
    here = np.asarray(found["param_estimator__n_neighbors"]) == neighbours
    axis.plot(
        np.asarray(found["param_estimator__n_clusters"])[here],
        found["mean_test_score"][here], "o-", label=f"{neighbours} neighbours",
    )  # fmt: skip
axis.set(xlabel="number of clusters", ylabel="held-out links kept")
axis.legend()
plt.show()
