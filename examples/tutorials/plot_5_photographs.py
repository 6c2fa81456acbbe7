"""
Photographs
===========

Many pictures, one person who sorts them. linkwise shows a pair, takes an answer, and asks the
next question. The pictures are small drawings of shapes on coloured grounds: k-means sorts them
by the ground, because most pixels belong to it. The person means the shapes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from linkwise import LinkClustering
from linkwise.evaluate import adjusted_rand_index
from linkwise.query import Session, label_oracle, run

rng = np.random.default_rng(0)
side, n = 16, 300
row, column = np.mgrid[:side, :side] - (side - 1) / 2
shape = rng.integers(0, 3, n)  # disc, frame, cross
ground = rng.integers(0, 3, n)


def drawn(shape, ground):
    """Return a picture (side, side, 3) of a shape somewhere near the middle."""
    x, y = row - rng.normal(0, 0.6), column - rng.normal(0, 0.6)
    size = 4 + rng.normal(0, 0.4)
    inside = [
        np.hypot(x, y) < size,
        abs(np.maximum(abs(x), abs(y)) - size) < 1,
        np.minimum(abs(x), abs(y)) < size * 0.3,
    ][shape]
    colour = np.array([(1, 0.75, 0.4), (0.35, 0.75, 1), (0.6, 1, 0.5)])[ground]
    picture = np.where(inside[..., None], 0.3, colour)
    return np.clip(picture + rng.normal(0, 0.04, picture.shape), 0, 1)


photos = np.array([drawn(s, g) for s, g in zip(shape, ground, strict=True)])
X = PCA(20, random_state=0).fit_transform(photos.reshape(n, -1))
plain = KMeans(3, n_init=10, random_state=0).fit_predict(X)
print(
    f"k-means agrees {adjusted_rand_index(ground, plain):.2f} with the ground, "
    f"{adjusted_rand_index(shape, plain):.2f} with the shape"
)

# %%
# Ninety questions
# ----------------
# In your work: ``linkwise label photos/``, one key an answer.

session = Session(X, n_clusters=3, random_state=0)
run(session, label_oracle(shape, budget=90))
model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=session.links)
print(f"after 90 answers {adjusted_rand_index(shape, model.labels_):.2f} with the shape")

# %%
# A row of the picture shows twelve members of a cluster.

figure, axes = plt.subplots(3, 2, figsize=(9, 2.4))
for side_axes, labels, title in zip(
    axes.T, (plain, model.labels_), ("k-means", "90 answers"), strict=True
):
    side_axes[0].set_title(title)
    for c, axis in enumerate(side_axes):
        axis.imshow(np.hstack(photos[np.flatnonzero(labels == c)[:12]]))
        axis.axis("off")
plt.show()
