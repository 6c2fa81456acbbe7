r"""
SpectralRegularization
======================

Like `CCSKL`, but a whole positive semi-definite matrix recombines the smooth eigenvectors: m²
numbers instead of m. It is drawn towards plain spectral clustering, by as much as held-out links
say.

.. math::

   \min_{M \succeq 0} \ \sum_i (K_{ii} - 1)^2 + \sum_{must} (K_{ij} - 1)^2 + \sum_{cannot}
   K_{ij}^2, \qquad K = F M F^T

F has the first 15 eigenvectors of the graph as columns.

**Use it when:** There are about 100 links or more. It is among the methods that learn most about
rows without links.

**Not when:** There are ten links: there is little to learn from, and it stays near plain spectral
clustering.

**Cost:** The graph and its eigenvectors; the rest does not depend on the number of rows.

**Paper:** Z. Li, J. Liu, X. Tang: Constrained clustering via spectral regularization, CVPR 2009.

Parameters and attributes: :class:`linkwise.SpectralRegularization`.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from linkwise import SpectralRegularization, sample_pairs, scores
from linkwise.plot import draw_map

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
links = sample_pairs(y, 200, random_state=0)
model = SpectralRegularization(2, random_state=0).fit(X, constraints=links)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), width_ratios=[1, 1.3])
left.imshow(
    model.matrix_, cmap="PuOr", vmin=-abs(model.matrix_).max(), vmax=abs(model.matrix_).max()
)
left.set(title="the learned matrix", xticks=[], yticks=[])
agreement = scores(y, model.labels_, links)["adjusted_rand_untouched"]
wrong = (model.labels_ != y) ^ ((model.labels_ != y).mean() > 0.5)
draw_map(right, PCA(2).fit_transform(X), model.labels_, wrong=wrong)
right.set_title(f"569 tumours, 200 links: agreement elsewhere {agreement:.2f}")
plt.show()
