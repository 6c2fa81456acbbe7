"""
The width of a kernel, from links
=================================

Two rings, one inside the other. The result of kernel k-means depends on the width of its
Gaussian. `OptimalKernelKMeans` finds the width from 100 links.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles

from linkwise import KernelKMeans, OptimalKernelKMeans, sample_pairs, scores
from linkwise.plot import draw_map

X, y = make_circles(300, factor=0.35, noise=0.06, random_state=0)
links = sample_pairs(y, 100, random_state=0)

models = {f"width {sigma}": KernelKMeans(2, sigma=sigma, random_state=0) for sigma in (0.02, 2.0)}
models["learned"] = OptimalKernelKMeans(2, random_state=0)

figure, axes = plt.subplots(1, 3, figsize=(9, 3))
for axis, (title, model) in zip(axes, models.items(), strict=True):
    model.fit(X, constraints=links)
    if title == "learned":
        title += f" width {model.widths_[model.weights_.argmax()]:.2f}"
    rest = scores(y, model.labels_, links)["adjusted_rand_untouched"]
    draw_map(axis, X, model.labels_, title=f"{title}\nagreement elsewhere {rest:.2f}")
plt.show()
