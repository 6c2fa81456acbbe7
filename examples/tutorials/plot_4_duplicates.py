"""
Duplicate records
=================

Three lists of people are to become one. Names are spelled in several ways, and each list has a
person at most once. The scores of pairs come from the similarity of the texts; splink, dedupe or
recordlinkage give better ones and fit in the same place.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from linkwise.partition import resolve_entities

rng = np.random.default_rng(2)
first = ["anna", "bert", "carla", "david", "elena", "frank", "greta", "hugo", "ines", "jonas"]
last = ["meyer", "schmidt", "fischer", "weber", "keller", "huber", "lang", "vogel", "brandt"]
towns = ["bonn", "kiel", "ulm", "jena", "trier"]
people = [f"{f} {s} {rng.choice(towns)}" for f in first for s in rng.choice(last, 4, replace=False)]


def misspelled(text):
    """Return a text with up to two letters changed, dropped or doubled."""
    letters = list(text)
    for _ in range(rng.integers(0, 3)):
        place = rng.integers(len(letters))
        letters[place] = rng.choice(["", letters[place] * 2, "e"])
    return "".join(letters)


records, person, source = [], [], []
for number, text in enumerate(people):
    for which in np.flatnonzero(rng.random(3) < 0.7):
        records.append(misspelled(text))
        person.append(number)
        source.append(which)
person, source = np.array(person), np.array(source)
print(records[:4])

# %%
# Scores of pairs
# ---------------
# Records that share groups of three letters are candidates. A logistic curve turns the similarity
# into a probability.

X = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(records)
similar = (X @ X.T).toarray()
a, b = np.nonzero(np.triu(similar, 1) > 0.3)
score = 1 / (1 + np.exp(-14 * (similar[a, b] - 0.55)))
pairs = np.column_stack([a, b])

# %%
# One person, at most one record in each list
# -------------------------------------------


def judged(labels):
    """Return precision and recall of the pairs that labels join."""
    found = np.triu(labels[:, None] == labels, 1)
    true = np.triu(person[:, None] == person, 1)
    return (found & true).sum() / max(found.sum(), 1), (found & true).sum() / true.sum()


results = {}
for name, options in (("scores alone", {}), ("one record in a list", {"source": source})):
    labels = resolve_entities(len(records), pairs, score, **options)
    results[name] = judged(labels)
    print(f"{name}: precision {results[name][0]:.2f}, recall {results[name][1]:.2f}")

# %%
# A person checks
# ---------------
# Pairs near even chance are worth a question. Ten answers become links, which hold exactly.

doubtful = np.argsort(abs(score - 0.5))[:10]
same = person[a[doubtful]] == person[b[doubtful]]
links = {"must": pairs[doubtful[same]], "cannot": pairs[doubtful[~same]]}
labels = resolve_entities(len(records), pairs, score, source=source, **links)
results["ten answers more"] = judged(labels)
print(len(np.unique(labels)), "people found; in truth", len(np.unique(person)))

# %%

figure, axis = plt.subplots(figsize=(7, 3))
place = np.arange(len(results))
axis.bar(place - 0.2, [p for p, _ in results.values()], 0.35, label="precision", color="#4477AA")
axis.bar(place + 0.2, [r for _, r in results.values()], 0.35, label="recall", color="#DDCC77")
axis.set_xticks(place, results)
axis.set(ylim=(0.5, 1.15))
axis.legend(loc="upper center", ncols=2)
plt.show()
