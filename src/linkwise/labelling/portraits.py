"""What a cluster is about: the words and values that set it apart, and examples of its rows.

Words are ranked by class TF-IDF: all texts of a cluster are one document.

    (1)  w_tc = f_tc / sum_t f_tc * log(1 + a / f_t)    f_tc: how often word t occurs in cluster c,
                                                        f_t: in all, a: words of a cluster, mean
    (2)  z_jc = (mean of column j in c - mean of j) / standard deviation of j

Columns of numbers are ranked by |z|. O(words) for texts, O(n d) for numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from linkwise.labelling.edits import comparable
from linkwise.labelling.items import WORDS, Items, cell_number
from linkwise.labelling.texts import clean
from linkwise.query.examples import Examples, examples

KEYWORDS = 6  # of a cluster; more do not help to recognise it
SHIFT = 0.5  # standard deviations from which on a column says something about a cluster
COMMON = 0.5  # share of the texts above which a word says nothing
SHOWN = 80  # characters of a text by which a row is called
CELLS = 3  # cells by which a row is called if there is no text


class Portrait(NamedTuple):
    """What a cluster is about.

    Attributes
    ----------
    label : int
    size : int
    keywords : list of str, the words that set it apart, best first; empty without texts
    columns : list of (name, shift), the columns of numbers that set it apart, in standard
        deviations from the mean of all rows
    typical, borderline : list of int, rows
    """

    label: int
    size: int
    keywords: list[str]
    columns: list[tuple[str, float]]
    typical: list[int]
    borderline: list[int]


def called(items: Items, row: int) -> str:
    """Return what a person calls a row: the start of its text, or its name and first cells."""
    cells = items.cells[row]
    if items.text is not None:
        return f"“{_start(clean(cells[items.text]))}”"
    name = clean(items.name(row))
    if items.image is not None:
        return name
    few = [cell if isinstance(cell, str) else f"{cell:.6g}" for cell in list(cells)[:CELLS]]
    more = ", ..." if len(cells) > CELLS else ""
    return f"{name} ({_start(clean(', '.join(few)))}{more})"


def _start(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3].rstrip()}..."


def keywords(texts: list[str], labels: np.ndarray, n: int = KEYWORDS) -> dict[int, list[str]]:
    """Return the n best words of every cluster by Eq. (1), {label: words}.

    >>> keywords(["a red car", "the car", "the red sky", "blue sky"], np.array([0, 0, 1, 1]), 1)
    {0: ['car'], 1: ['sky']}
    """
    from sklearn.feature_extraction.text import CountVectorizer

    names = np.unique(labels[labels >= 0])
    none: dict[int, list[str]] = {name: [] for name in names.tolist()}
    try:
        most = COMMON if len(names) > 1 else 1.0
        counter = CountVectorizer(max_features=WORDS, max_df=most, stop_words="english")
        counts = counter.fit_transform(texts)  # (n_samples, n_words)
    except ValueError:  # no word is left
        return none
    frequency = np.array([np.asarray(counts[labels == c].sum(axis=0)).ravel() for c in names])
    if not frequency.size:
        return none
    size = frequency.sum(axis=1, keepdims=True)
    rare = np.log1p(size.mean() / np.maximum(frequency.sum(axis=0), 1))
    weight = frequency / np.maximum(size, 1) * rare  # Eq. (1)
    words = counter.get_feature_names_out()
    return {
        name: [clean(words[j]) for j in np.argsort(-w, kind="stable")[:n] if w[j] > 0]
        for name, w in zip(names.tolist(), weight, strict=True)
    }


def columns(items: Items, labels: np.ndarray, n: int = KEYWORDS) -> dict[int, list[Any]]:
    """Return the columns of numbers that set every cluster apart by Eq. (2), {label: list}."""
    used = [j for j, spread in enumerate(items.spread) if spread]
    names = np.unique(labels[labels >= 0]).tolist()
    if not used:
        return {name: [] for name in names}
    values = np.array([[cell_number(row[j]) for j in used] for row in items.cells])
    mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    values = np.where(np.isnan(values), mean, values)  # an empty cell sets nothing apart
    found = {}
    for name in names:
        z = (values[labels == name].mean(axis=0) - mean) / np.where(spread > 0, spread, 1)
        best = np.argsort(-abs(z), kind="stable")[:n]
        found[name] = [
            (clean(items.names[used[j]]), round(float(z[j]), 2)) for j in best if abs(z[j]) >= SHIFT
        ]
    return found


def portraits(items: Items, labels: np.ndarray) -> list[Portrait]:
    """Return the Portrait of every cluster of some labels (n,)."""
    X = comparable(items.X.toarray() if hasattr(items.X, "toarray") else np.asarray(items.X))
    shown: dict[int, Examples] = examples(X, labels)
    about: dict[int, list[str]] = {}
    if items.text is not None:
        about = keywords([str(row[items.text]) for row in items.cells], labels)
    apart = columns(items, labels)
    return [
        Portrait(
            label, int((labels == label).sum()), about.get(label, []), apart[label], *shown[label]
        )
        for label in shown
    ]
