"""
Wrong answers found
===================

People make mistakes. `LinkClustering` estimates the share of wrong links, and ranks all links by
the probability that they are wrong. Here 12 of 120 answers about wines were reversed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from linkwise import Constraints, LinkClustering, sample_pairs

X, y = load_wine(return_X_y=True)
right = sample_pairs(y, 120, random_state=1)
a, b = right.ends.T
reversed_ = np.random.default_rng(0).choice(120, 12, replace=False)
sign = right.sign.copy()
sign[reversed_] *= -1
answers = Constraints.from_table({"id_a": a, "id_b": b, "kind": sign})

model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=answers)
print(f"estimated share of wrong answers: {model.wrong_:.2f}; true share: 0.10")

# %%
# Each bar is an answer. The dark ones are those that were reversed.

order = np.argsort(-model.suspicion_)
wrong = np.isin(order, reversed_)
figure, axis = plt.subplots(figsize=(8, 3))
axis.bar(np.arange(120), model.suspicion_[order], color=np.where(wrong, "#882255", "#DDCC77"))
axis.set(xlabel="answers, most suspect first", ylabel="probability that it is wrong", xlim=(-1, 60))
axis.set_title(f"{wrong[:12].sum()} of 12 wrong answers are among the 12 most suspect")
plt.show()
