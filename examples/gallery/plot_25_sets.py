"""
Which of these do not belong?
=============================

Eight images at once, and one question: which do not belong to the others? One answer of this kind
says as much as many pairs. `Constraints.from_sets` makes links of it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from linkwise import Constraints

X, y = load_digits(return_X_y=True)
threes = np.flatnonzero(y == 3)[:6]
shown = [*threes[:3], int(np.flatnonzero(y == 8)[4]), *threes[3:], int(np.flatnonzero(y == 5)[2])]
odd = [row for row in shown if y[row] != 3]
links = Constraints.from_sets([(shown, odd)])
closure = links.closure()
print(f"{links.n_pairs} links, which imply an answer for most of the 28 pairs")

# %%
# The matrix shows what follows for each pair: green the same, purple different, white unknown.

implied = np.array([[closure.relation(a, b) if a != b else 1 for b in shown] for a in shown])
figure, axes = plt.subplots(1, 2, figsize=(8, 3), width_ratios=[2.2, 1])
axes[0].imshow(np.hstack(X[shown].reshape(-1, 8, 8)), cmap="Greys")
for place, row in enumerate(shown):
    if row in odd:
        axes[0].add_patch(
            plt.Rectangle((8 * place - 0.5, -0.5), 8, 8, fill=False, ec="#CC6677", lw=3)
        )
axes[0].axis("off")
axes[1].imshow(implied, cmap="PRGn", vmin=-1.6, vmax=1.6)
axes[1].set(xticks=[], yticks=[], title="what follows")
plt.show()
