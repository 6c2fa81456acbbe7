"""
News topics
===========

An editor sorts short reports. Words alone make topics that she does not use: she wants tennis and
football in one section, and business apart from politics even where both speak of money. She says
so about some pairs. The reports are made by a small grammar, so that the page runs without a
download.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from linkwise import LinkClustering
from linkwise.evaluate import adjusted_rand_index
from linkwise.plot import draw_clusters, draw_map
from linkwise.query import Session, label_oracle, run

words = {
    "tennis": "serve court set rally racket tiebreak ace tournament doubles seeds",
    "football": "goal league striker penalty coach team stadium derby midfield keeper",
    "business": "shares profit bank market quarter company growth deal budget rates",
    "politics": "minister vote parliament budget law party election deal coalition rates",
    "science": "study cells planet telescope researchers protein data species laboratory theory",
}
sections = np.array([0, 0, 1, 2, 3])  # what the editor means: sport, business, politics, science
rng = np.random.default_rng(0)
topic = rng.integers(0, 5, 400)
vocabulary = [text.split() for text in words.values()]
rest = ["said", "new", "year", "day", "people", "first", "will", "after", "city", "week", "plan"]
reports = [" ".join([*rng.choice(vocabulary[t], 5), *rng.choice(rest, 6)]) for t in topic]
y = sections[topic]
print(reports[0])

# %%
# Words to numbers
# ----------------
# TF-IDF weighs words, and 20 singular vectors keep what they say together. Any embedding of texts
# can stand in their place.

tfidf = TfidfVectorizer().fit(reports)
X = TruncatedSVD(20, random_state=0).fit_transform(tfidf.transform(reports))
plain = KMeans(4, n_init=10, random_state=0).fit_predict(X)
print(f"k-means, 4 topics: agreement {adjusted_rand_index(y, plain):.2f}")

# %%
# Questions
# ---------
# linkwise chooses the pairs. Here the known sections answer in place of the editor; she would use
# ``linkwise label reports.csv --text``.

session = Session(X, n_clusters=4, random_state=0)
run(session, label_oracle(y, budget=70))
model = LinkClustering(4, effort="fast", random_state=0).fit(X, constraints=session.links)
print(f"70 answers: agreement {adjusted_rand_index(y, model.labels_):.2f}")

# %%
# What the topics are about
# -------------------------

counts = tfidf.transform(reports)
names = tfidf.get_feature_names_out()
for c in range(4):
    typical = np.asarray(counts[model.labels_ == c].mean(axis=0) - counts.mean(axis=0)).ravel()
    print(c, ", ".join(names[np.argsort(-typical)[:6]]))

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
places = draw_clusters(left, X, plain, title="k-means")
draw_map(right, places, model.labels_, title="after 70 answers")
plt.show()
