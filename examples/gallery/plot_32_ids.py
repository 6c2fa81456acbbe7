"""
Data frames and ids
===================

Links that name rows by number break when a table is sorted. With ``sample_id`` they name ids
instead. The same links then hold for every order of the rows, and for a part of them.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_iris

from linkwise import CCSKL, Constraints

table = load_iris(as_frame=True).data
table.index = [f"flower {row:03}" for row in range(150)]
links = Constraints.from_table(
    pd.DataFrame(
        {
            "id_a": ["flower 000", "flower 051", "flower 000", "flower 060"],
            "id_b": ["flower 005", "flower 060", "flower 051", "flower 120"],
            "kind": ["must", "must", "cannot", "cannot"],
        }
    )
)
model = CCSKL(3, random_state=0)
labels = model.fit(table, constraints=links, sample_id=table.index).labels_
sorted_ = table.sort_values("petal length (cm)")
again = model.fit(sorted_, constraints=links, sample_id=sorted_.index).labels_
print(pd.crosstab(labels, pd.Series(again, sorted_.index)[table.index].to_numpy()))

# %%

figure, axis = plt.subplots(figsize=(6.5, 4))
for c in range(3):
    axis.plot(
        table.loc[labels == c, "petal length (cm)"], table.loc[labels == c, "petal width (cm)"],
        "o", label=f"cluster {c}",
    )  # fmt: skip
for a, b, sign, _ in links:
    ends = table.loc[[a, b], ["petal length (cm)", "petal width (cm)"]].to_numpy()
    axis.plot(*ends.T, "-" if sign > 0 else ":", color="#117733" if sign > 0 else "#CC6677", lw=2)
axis.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
axis.legend()
plt.show()
