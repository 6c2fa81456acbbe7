"""
In a scikit-learn pipeline
==========================

Pipelines call ``fit(X)`` and know nothing of constraints. `WithConstraints` binds them to an
estimator. The steps before it see the rows in the same order, so the row numbers stay valid.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from linkwise import CCSKL, WithConstraints, sample_pairs, scores
from linkwise.plot import draw_links, draw_map

X, y = load_wine(return_X_y=True)
links = sample_pairs(y, 60, random_state=0)

pipeline = make_pipeline(
    StandardScaler(), PCA(5), WithConstraints(CCSKL(3, random_state=0), links, random_state=0)
)
labels = pipeline.fit_predict(X)
print(f"agreement: {scores(y, labels)['adjusted_rand']:.2f}")

# %%

plane = pipeline[:-1].transform(X)[:, :2]
figure, axis = plt.subplots(figsize=(7, 4))
draw_map(axis, plane, labels, title="wines on two principal components, and 15 of the links")
draw_links(axis, plane, links.select(range(15)))
plt.show()
