r"""
LinkClustering
==============

The data and the links choose the method. Features are prepared in several ways; graphs, kernels
and class models are tried on each; every candidate is judged by links that it has not used; and
the best are combined. A share of wrong links is estimated, and every link gets the probability
that it is wrong.

.. math::

   q_i(c) \propto \exp ( \sum_v w_v \log p_v(c \mid x_i) + \sum_j m_{ij}(c) )

p are the class probabilities of a learner in view v, w its weight, and m the messages along the
links: beliefs about i, given the rows that links join to it.

**Use it when:** You do not know which method fits, links may be wrong, or the number of clusters
is not known. It is the default of the command line.

**Not when:** Every millisecond counts (`CCSKL`), or you need a model that fits on one page of
equations.

**Cost:** Seconds to a minute by ``effort``; beyond 20,000 to 200,000 rows the models are learned
from a sample. :doc:`/link-clustering` has the steps and what was tried.

**Paper:** This library. The page :doc:`/link-clustering` describes it.

Parameters and attributes: :class:`linkwise.LinkClustering`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from linkwise import LinkClustering, sample_pairs, scores
from linkwise.plot import draw_clusters, draw_links

X, y = load_wine(return_X_y=True)
links = sample_pairs(y, 40, random_state=0)
model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
print(model.explain())

# %%

figure, axis = plt.subplots(figsize=(7, 4))
places = draw_clusters(axis, StandardScaler().fit_transform(X), model.labels_)
draw_links(axis, places, links)
agreement = scores(y, model.labels_)["adjusted_rand"]
axis.set_title(f"178 wines, 40 links: agreement {agreement:.2f}")
plt.show()
