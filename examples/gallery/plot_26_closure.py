"""
What links imply
================

If a is with b, and b with c, then a is with c. If a is also apart from d, so are b and c.
`Constraints.closure` works this out. A few hundred answers say something about thousands of
pairs.
"""

import matplotlib.pyplot as plt
import numpy as np

from linkwise import sample_pairs

y = np.repeat([0, 1, 2], 20)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
for axis, n in zip(axes, (15, 45, 90), strict=True):
    links = sample_pairs(y, n, random_state=0)
    closure = links.closure()
    known = np.zeros((60, 60))
    for a in links.ids.tolist():
        for b in links.ids.tolist():
            known[a, b] = closure.relation(a, b) if a != b else 1
    share = (np.count_nonzero(np.triu(known, 1))) / (60 * 59 / 2)
    axis.imshow(known, cmap="PRGn", vmin=-1.6, vmax=1.6)
    axis.set(title=f"{n} links: {share:.0%} of all pairs", xticks=[], yticks=[])
plt.show()
