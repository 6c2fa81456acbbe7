"""
More and more answers
=====================

`refit` clusters the same rows under other links and keeps what does not depend on them, such as
the graph and its eigenvectors. The picture shows what each further answer brings, on rows that no
answer mentions.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from linkwise import SpectralRegularization, sample_pairs, scores

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
model = SpectralRegularization(2, random_state=0).fit(X)

numbers = (1, 10, 20, 40, 60, 80, 120, 160, 200)
links = [sample_pairs(y, n, random_state=0) for n in numbers]
everywhere, elsewhere, kept = [], [], []
for known in links:
    found = scores(y, model.refit(known).labels_, known)
    everywhere.append(found["adjusted_rand"])
    elsewhere.append(found["adjusted_rand_untouched"])
    kept.append(found["kept"])

figure, axis = plt.subplots()
axis.plot(numbers, kept, "s:", label="share of the links kept")
axis.plot(numbers, everywhere, "o-", label="agreement, all rows")
axis.plot(numbers, elsewhere, "o-", label="agreement, rows in no link")
axis.set(xlabel="links", ylim=(0.5, 1.02))
axis.legend(loc="lower right")
plt.show()
