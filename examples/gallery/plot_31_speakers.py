"""
Who speaks when: an affinity of your own
========================================

A recording is cut into segments, and a voice model says how similar each two are. Neighbouring
segments are usually of one speaker, unless a change was detected between them: links that hold
only locally. Spectral methods take the matrix with ``affinity="precomputed"``.
"""

import matplotlib.pyplot as plt
import numpy as np

from linkwise import Constraints, PropagatedSpectralClustering
from linkwise.evaluate import adjusted_rand_index
from linkwise.plot import colours

rng = np.random.default_rng(3)
speaker = np.repeat(rng.permutation(np.arange(12) % 3), rng.integers(6, 16, 12))
n = len(speaker)
voice = np.array([(1, 0, 0.5), (0, 1, 0.5), (0.6, 0.6, 0.5)])[speaker] + rng.normal(0, 0.35, (n, 3))
voice /= np.linalg.norm(voice, axis=1, keepdims=True)
similarity = np.exp(4 * (voice @ voice.T - 1))

change = np.flatnonzero(np.diff(speaker))
calm = np.setdiff1d(np.arange(n - 1), change)
links = Constraints(
    must_link=[(int(t), int(t) + 1) for t in calm[rng.random(len(calm)) < 0.8]],
    cannot_link=[(int(t), int(t) + 1) for t in change],
)
found = {"speakers": speaker}
for name, constraints in (("no links", None), ("local links", links)):
    model = PropagatedSpectralClustering(3, affinity="precomputed", random_state=0)
    labels = model.fit(similarity, constraints=constraints).labels_
    found[f"{name}: agreement {adjusted_rand_index(speaker, labels):.2f}"] = labels

# %%

figure, axes = plt.subplots(3, 1, figsize=(8, 3), sharex=True)
for axis, (title, labels) in zip(axes, found.items(), strict=True):
    axis.bar(np.arange(n), 1, width=1, color=colours(labels))
    axis.set_title(title, loc="left", fontsize=10)
    axis.set(yticks=[], xlim=(-0.5, n - 0.5))
axes[-1].set_xlabel("segments, in the order of time")
plt.show()
