"""
Who spoke when: constraints from time
====================================

Speaker diarization cuts a recording into short windows, embeds the voice of each window, and
clusters the windows. Tools such as spectralcluster and pyannote build an affinity matrix between
windows and cluster that. Time knows more than the affinity does:

- Two neighbouring windows without a pause or a change of voice between them have one speaker: a
  must-link.
- Two windows in which people talk at the same time have different speakers: a cannot-link.

A method with ``affinity="precomputed"`` takes such a matrix and such links.
"""

# %%
# A conversation
# --------------
# Three people take turns. A window of a turn is the voice of its speaker with noise; two of the
# voices are alike. In some windows a second person interrupts: a second microphone records that
# voice at the same time.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from linkwise import Constraints, COPKMeans, ExhaustivePropagation, NormalizedCuts

rng = np.random.default_rng(0)
voices = rng.normal(size=(3, 16))
voices[2] = voices[1] + 0.45 * rng.normal(size=16)  # two similar voices

speaker, start, turn = [], [], []
time = 0.0
for number in range(60):
    who = int(rng.integers(3))
    for _ in range(int(rng.integers(3, 9))):
        speaker.append(who)
        start.append(time)
        turn.append(number)
        time += 0.5
        if rng.random() < 0.05:  # somebody interrupts
            speaker.append((who + int(rng.integers(1, 3))) % 3)
            start.append(time - 0.5)
            turn.append(-1)
speaker, start, turn = np.array(speaker), np.array(start), np.array(turn)
windows = voices[speaker] + 0.75 * rng.normal(size=(len(speaker), 16))

# %%
# The affinity
# ------------
# Cosine similarities between windows, and of each window only the largest: what spectralcluster
# calls refinement.

unit = windows / np.linalg.norm(windows, axis=1, keepdims=True)
cosine = np.maximum(unit @ unit.T, 0)
cut = np.sort(cosine, axis=1)[:, -15][:, None]
affinity = np.where(cosine >= cut, cosine, 0)
affinity = (affinity + affinity.T) / 2
np.fill_diagonal(affinity, 0)

# %%
# Links from time
# ---------------
# A detector of voice activity finds pauses, and a detector of changes finds most turns; it is
# unsure about the rest, and says nothing there. Overlapping windows are known to have two speakers.

must = [
    (i, i + 1) for i in range(len(turn) - 1) if turn[i] == turn[i + 1] >= 0 and rng.random() < 0.8
]
cannot = [
    (i, j) for i in np.flatnonzero(turn < 0) for j in np.flatnonzero(start == start[i]) if i != j
]
links = Constraints(must_link=must, cannot_link=cannot)
print(links)

# %%
# With and without
# ----------------
# The links may change the affinity of windows near them (ExhaustivePropagation), or they may hold
# exactly: COPKMeans on the spectral embedding of the affinity. Links from time are nearly always
# right, so the second is better here.

plain = NormalizedCuts(3, affinity="precomputed", random_state=0).fit(affinity)
soft = ExhaustivePropagation(3, affinity="precomputed", random_state=0)
soft.fit(affinity, constraints=links)
hard = COPKMeans(3, random_state=0).fit(plain.embedding_, constraints=links)
results = {"affinity alone": plain, "links as affinities": soft, "links kept": hard}
for name, model in results.items():
    score = adjusted_rand_score(speaker, model.labels_)
    broken = int(links.violated(model.labels_).sum())
    print(f"{name}: adjusted Rand index {score:.2f}, {broken} links broken")

# %%
# The same conversation as a strip: who spoke, who was found.

figure, axes = plt.subplots(4, 1, figsize=(8, 4), sharex=True, layout="constrained")
colours = np.array(["#332288", "#44AA99", "#CC6677"])


def matched(labels):
    """Return labels under the numbers of the speakers that they mostly are."""
    table = np.array([[np.sum((labels == c) & (speaker == s)) for s in range(3)] for c in range(3)])
    return table.argmax(axis=1)[labels]


strips = {"who spoke": speaker} | {name: matched(m.labels_) for name, m in results.items()}
for ax, (title, labels) in zip(axes, strips.items(), strict=True):
    ax.bar(start, 1, width=0.5, align="edge", color=colours[labels])
    ax.set_title(title, fontsize=10, loc="left")
    ax.set_yticks([])
    ax.set_xlim(0, 90)
axes[-1].set_xlabel("seconds")
plt.show()
