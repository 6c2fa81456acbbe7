"""The demonstration: cluster handwritten digits with more and more answers."""

import time
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from linkwise import datasets
from linkwise.choice import LinkClustering
from linkwise.constraints import sample_pairs
from linkwise.estimators import ManifoldLayout
from linkwise.evaluate import scores
from linkwise.tables import check_output

ANSWERS = (0, 50, 200, 1000)  # none, and three steps that show how agreement grows


def _by_class(y, labels):
    """Return labels renamed to the classes that they match best."""
    rows, columns = linear_sum_assignment(contingency_matrix(y, labels), maximize=True)
    name = dict(zip(np.unique(labels)[columns], np.unique(y)[rows], strict=True))
    return np.array([name[label] for label in labels])


def _picture(X, y, before, after, path):
    """Write a map of the clusters before and after: (number of answers, agreement, labels) each."""
    from linkwise.plot import draw_map, pyplot

    plt = pyplot()
    positions = ManifoldLayout(2, random_state=0).fit_transform(X)
    figure, axes = plt.subplots(1, 2, figsize=(11, 5.6), layout="constrained")
    for axis, (answers, agreement, labels) in zip(axes, (before, after), strict=True):
        named = _by_class(y, labels)
        title = f"{answers} answers: agreement {agreement:.2f}"
        draw_map(axis, positions, named, wrong=named != y, title=title)
    figure.suptitle("1,797 handwritten digits, clustered; a cross is a digit in the wrong cluster")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def run(out="demo"):
    """Print a table of agreement by number of answers, and write a map to ``out/digits.png``."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    picture = folder / "digits.png"
    check_output(picture, force=True)
    X, y = datasets.load("digits")
    print("Handwritten digits, 1,797 images of 8 x 8; ten clusters asked for.")
    print("An answer says of two images whether they show the same digit.\n")
    print(f"{'answers':>8}{'agreement':>12}{'untouched':>12}{'kept':>8}{'seconds':>10}")
    found = {}
    for answers in ANSWERS:
        links = sample_pairs(y, answers, random_state=0)
        start = time.perf_counter()
        model = LinkClustering(10, random_state=0).fit(X, constraints=links)
        seconds = time.perf_counter() - start
        score = scores(y, model.labels_, links)
        found[answers] = answers, score["adjusted_rand"], model.labels_
        share = f"{score['kept']:.0%}" if answers else "-"
        print(
            f"{answers:>8}{score['adjusted_rand']:>12.3f}{score['adjusted_rand_untouched']:>12.3f}"
            f"{share:>8}{seconds:>10.2f}"
        )
    print("\nagreement: adjusted Rand index with the true digits (1 = perfect, 0 = chance);")
    print("untouched: the same for images in no answer; kept: answers that the clusters follow.")
    _picture(X, y, found[ANSWERS[0]], found[ANSWERS[-1]], picture)
    print(f"\nThe map without and with answers: {picture}")
