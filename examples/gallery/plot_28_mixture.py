"""
Probabilities under constraints
===============================

`ConstrainedGaussianMixture` fits a normal distribution to each cluster. A link moves the
distributions, not only its two points. Dark areas of the plane are certain.
"""

import matplotlib.pyplot as plt
import numpy as np

from linkwise import ConstrainedGaussianMixture, Constraints
from linkwise.plot import colours, draw_links

rng = np.random.default_rng(1)
X = np.vstack(
    [rng.normal(size=(150, 2)) * (2.6, 0.5) + (0, 1), rng.normal(size=(150, 2)) * (2.6, 0.5)]
)
y = np.repeat([0, 1], 150)
left, right = X[:, 0].argsort()[[4, -5]]
mates = [
    int(np.flatnonzero((y == y[r]) & (np.sign(X[:, 0]) != np.sign(X[r, 0])))[0])
    for r in (left, right)
]
links = Constraints(
    must_link=[(int(left), mates[0]), (int(right), mates[1])], cannot_link=[(0, 160), (9, 170)]
)

x1, x2 = np.meshgrid(np.linspace(-7, 7, 140), np.linspace(-2, 3, 50))
plane = np.column_stack([x1.ravel(), x2.ravel()])
figure, axes = plt.subplots(1, 2, figsize=(9, 3))
for axis, constraints in zip(axes, (None, links), strict=True):
    model = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=constraints)
    sure = model.predict_proba(plane)[:, 0].reshape(x1.shape)
    axis.contourf(x1, x2, sure, levels=20, cmap="PuOr", vmin=0, vmax=1, alpha=0.8)
    axis.scatter(*X.T, c=colours(model.labels_), s=7)
    axis.set(
        title="four links" if constraints else "no links",
        xticks=[],
        yticks=[],
        xlim=(-7, 7),
        ylim=(-2, 3),
    )
draw_links(axes[1], X, links)
plt.show()
