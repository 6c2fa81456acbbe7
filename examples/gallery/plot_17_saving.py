"""
Saving and loading
==================

`save` writes a fitted model to one file without pickle, and `load` reads it back. The loaded
model has the same labels, places new rows in the same way, and can be refitted.
"""

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from linkwise import CCSKL, load, sample_pairs, save

X, y = make_moons(400, noise=0.06, random_state=0)
model = CCSKL(2, n_neighbors=10, random_state=0).fit(
    X, constraints=sample_pairs(y, 30, random_state=0)
)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "moons.lwmodel")
    save(model, path)
    print(f"{os.path.getsize(path):,} bytes")
    loaded = load(path)

print("same labels:", np.array_equal(loaded.labels_, model.labels_))

# %%
# The loaded model colours the plane by `predict`.

x1, x2 = np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.1, 1.6, 110))
plane = loaded.predict(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
figure, axis = plt.subplots(figsize=(6, 3.8))
axis.contourf(x1, x2, plane, levels=[-0.5, 0.5, 1.5], colors=["#88CCEE", "#DDCC77"], alpha=0.5)
axis.scatter(*X.T, c=np.where(loaded.labels_ == 0, "#332288", "#882255"), s=9)
axis.set(aspect="equal")
axis.axis("off")
plt.show()
