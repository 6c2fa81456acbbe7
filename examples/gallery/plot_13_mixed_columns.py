"""
Tables with mixed columns
=========================

Customers have an age, an income, a plan and a region, and some cells are empty. scikit-learn's
`ColumnTransformer` makes numbers of them: medians in place of empty cells, categories as one
column each. Rank the skewed columns, so that a few large incomes do not decide.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from linkwise import LinkClustering, sample_pairs, scores

rng = np.random.default_rng(0)
kind = rng.integers(0, 3, 360)  # students, families, companies
table = pd.DataFrame(
    {
        "age": np.array([22, 41, 48])[kind] + rng.normal(0, 7, 360),
        "income": np.exp(np.array([9.6, 10.7, 11.6])[kind] + rng.normal(0, 0.5, 360)),
        "plan": np.array(["basic", "family", "pro"])[
            np.where(rng.random(360) < 0.7, kind, rng.integers(0, 3, 360))
        ],
        "region": rng.choice(["north", "south"], 360),
    }
)
table.loc[rng.random(360) < 0.1, "income"] = np.nan
print(table.head())

# %%

prepare = make_column_transformer(
    (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["age"]),
    (
        make_pipeline(SimpleImputer(strategy="median"), QuantileTransformer(n_quantiles=100)),
        ["income"],
    ),
    (OneHotEncoder(), ["plan", "region"]),
)
X = prepare.fit_transform(table)
links = sample_pairs(kind, 60, random_state=0)
model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
print(f"agreement: {scores(kind, model.labels_)['adjusted_rand']:.2f}")

# %%

figure, axes = plt.subplots(1, 3, figsize=(9, 3))
for c in range(3):
    rows = table[model.labels_ == c]
    axes[0].hist(rows["age"], bins=np.arange(5, 75, 5), alpha=0.7, label=f"cluster {c}")
    axes[1].hist(np.log10(rows["income"].dropna()), bins=15, alpha=0.7)
shares = pd.crosstab(model.labels_, table["plan"], normalize="index")
shares.plot.barh(stacked=True, ax=axes[2], color=["#DDCC77", "#88CCEE", "#AA4499"], width=0.7)
axes[0].set(xlabel="age", ylabel="customers")
axes[0].legend(fontsize=8)
axes[1].set_xlabel("income, log10")
axes[2].set(xlabel="share of the plans", ylabel="cluster")
axes[2].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
