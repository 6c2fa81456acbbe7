"""
Customers
=========

A shop wants to write to its customers by kind: students, families, companies. It has a table with
numbers, categories and empty cells, and a colleague who can say of two customers whether they are
of one kind. This page goes from the table to a list for each kind.
"""

import os
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer

from linkwise import LinkClustering, load, sample_pairs, save, scores
from linkwise.evaluate import adjusted_rand_index

rng = np.random.default_rng(4)
n = 400
kind = rng.choice(3, n, p=[0.5, 0.35, 0.15])  # what the colleague knows; the shop does not
unclear = rng.random(n) < 0.25
customers = pd.DataFrame(
    {
        "orders": rng.poisson(np.array([3, 8, 20])[kind]) + 1,
        "spent": np.exp(np.array([3.5, 5.0, 6.5])[kind] + rng.normal(0, 0.7, n)).round(2),
        "evening": np.clip(np.array([0.7, 0.5, 0.1])[kind] + rng.normal(0, 0.2, n), 0, 1).round(2),
        "device": np.array(["phone", "tablet", "desktop"])[
            np.where(unclear, rng.integers(0, 3, n), kind)
        ],
        "country": rng.choice(["de", "fr", "nl", "be"], n),
    },
    index=[f"c{row:04}" for row in range(n)],
)
customers.loc[rng.random(n) < 0.08, "evening"] = np.nan
print(customers.head())

# %%
# Numbers of different units and categories
# -----------------------------------------
# Ranks suit skewed columns such as the money spent. Empty cells get the median, and a category
# becomes a column for each of its values. The country says little about the kind, so we leave it
# out.

prepare = make_column_transformer(
    (
        make_pipeline(SimpleImputer(strategy="median"), QuantileTransformer(n_quantiles=100)),
        ["orders", "spent", "evening"],
    ),
    (OneHotEncoder(), ["device"]),
)
X = prepare.fit_transform(customers)

# %%
# Without answers
# ---------------

plain = KMeans(3, n_init=10, random_state=0).fit_predict(X)
print(f"k-means: agreement {adjusted_rand_index(kind, plain):.2f}")

# %%
# With 50 answers
# ---------------
# The colleague answers about pairs, by the ids of the customers. In your work these come from
# ``linkwise label customers.csv`` or from a table with the columns id_a, id_b, kind.

answers = sample_pairs(kind, 50, random_state=0, sample_id=customers.index)
print(answers.to_frame().head(3))

model = LinkClustering(3, effort="fast", random_state=0)
model.fit(X, constraints=answers, sample_id=customers.index)
elsewhere = scores(kind, model.labels_, answers, sample_id=customers.index)
print(f"linkwise: agreement {elsewhere['adjusted_rand']:.2f}")

# %%
# A list for each kind
# --------------------
# The probabilities say whom to leave out of a letter.

customers["cluster"], customers["sure"] = model.labels_, model.probabilities_.max(axis=1)
print(customers.groupby("cluster")[["orders", "spent", "evening"]].median())

# %%
# Next month
# ----------
# The model is kept in a file and places new customers.

rows = [(2, 25.0, 0.8, "phone"), (30, 900.0, 0.1, "desktop")]
new = pd.DataFrame(rows, columns=["orders", "spent", "evening", "device"])
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "customers.lwmodel")
    save(model, path)
    print(load(path).predict(prepare.transform(new)))

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
for axis, labels, title in zip(
    axes, (plain, model.labels_), ("k-means", "50 answers"), strict=True
):
    for c in range(3):
        here = labels == c
        axis.plot(
            customers.loc[here, "orders"],
            customers.loc[here, "spent"],
            "o",
            ms=3.5,
            label=f"cluster {c}",
        )
    axis.set(title=title, xlabel="orders", yscale="log")
axes[0].set_ylabel("spent")
axes[1].legend()
plt.show()
