"""
Texts
=====

Short messages about five subjects, written by a small grammar. The words become a sparse TF-IDF
matrix, which goes into `LinkClustering` as it is. The map shows the result of 60 answers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from linkwise import LinkClustering, sample_pairs, scores
from linkwise.plot import draw_clusters

subjects = {
    "delivery": "parcel courier late arrived tracking address door delivered van waiting",
    "payment": "card invoice charged refund bank twice payment paid amount transfer",
    "account": "password login account locked reset email username code expired access",
    "quality": "broken scratched screen button cracked loose battery dead stopped faulty",
    "praise": "thanks great lovely friendly quick helpful happy recommend perfect service",
}
common = ["the", "a", "my", "and", "is", "was", "it", "please", "order", "again", "today", "still"]
rng = np.random.default_rng(0)
y = rng.integers(0, 5, 400)
words = [text.split() for text in subjects.values()]
texts = [
    " ".join(
        [*rng.choice(words[c], 3), *rng.choice(words[rng.integers(5)], 1), *rng.choice(common, 7)]
    )
    for c in y
]
print(texts[0])

# %%

X = TfidfVectorizer(stop_words="english").fit_transform(texts)
links = sample_pairs(y, 60, scheme="balanced", random_state=0)
model = LinkClustering(5, effort="fast", random_state=0).fit(X, constraints=links)
print(f"agreement: {scores(y, model.labels_)['adjusted_rand']:.2f}")

# %%
# A cluster is named after the subject that is most frequent in it.

named = [list(subjects)[np.bincount(y[model.labels_ == c]).argmax()] for c in range(5)]
figure, axis = plt.subplots(figsize=(7, 5))
wrong = np.array(named)[model.labels_] != np.array(list(subjects))[y]
draw_clusters(axis, X, model.labels_, wrong=wrong, names=named)
plt.show()
