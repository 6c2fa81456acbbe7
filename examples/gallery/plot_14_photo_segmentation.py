"""
Segmenting an image by strokes
==============================

A few strokes over an image say which superpixels belong together. `linkwise segment photo.jpg`
lets you paint them in the browser; here they are given as points. The photograph ships with
scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

from linkwise.segment import Segmenter, Stroke

photo = load_sample_image("flower.jpg")[::2, ::2]  # 214 x 320 pixels
flower = Stroke("1", ((125, 105), (165, 95), (165, 125), (140, 130)), 5)
around = Stroke("2", ((20, 20), (300, 20), (300, 190), (30, 190)), 5)
mask = Segmenter(photo, n_superpixels=400).mask([flower, around])

# %%

figure, axes = plt.subplots(1, 3, figsize=(9, 2.4), facecolor="white")
axes[0].imshow(photo)
axes[1].imshow(photo)
for stroke, colour in ((flower, "#EE6677"), (around, "#66CCEE")):
    axes[1].plot(*np.array(stroke.points).T, color=colour, lw=4, solid_capstyle="round")
axes[2].imshow(np.where((mask == 1)[..., None], photo, 255))
for axis, title in zip(axes, ("the photograph", "two strokes", "the region"), strict=True):
    axis.set_title(title)
    axis.axis("off")
plt.show()
