"""The entrants of the quality benchmark: every method at its defaults, one function a kind.

    CCSKL, ...            the methods of the library; a transformer is followed by KMeans
    KMeans, ...           scikit-learn's, without constraints: KMeans with 10 starts (3 for more
                          than 10,000 points), and SpectralClustering on its neighbour graph
    EVoC                  without constraints as well, see `peers`
    LinkClustering        and LinkClustering:fast and :thorough by effort, and LinkClustering:open,
                          which finds the number of clusters too
    peer:...              other libraries, see `peers`
    forest, ...:labels    upper marks that are told classes, see `classifiers`

A name with +z is the same method on features of mean 0 and variance 1. LinkClustering has none:
it scales features by itself. Of the classifiers the SVM always has such features, and a forest does
not depend on scales.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import NamedTuple

import numpy as np

from benchmarks.quality.classifiers import labelled, touched_forest
from benchmarks.quality.peers import EVOC, PEERS, evoc
from benchmarks.quality.protocol import LARGE, Found

CHOOSER, OPEN = "LinkClustering", "LinkClustering:open"
FAST, THOROUGH = "LinkClustering:fast", "LinkClustering:thorough"
FOREST, LABELS_SVM, LABELS_FOREST = "forest", "SVM:labels", "forest:labels"
SAME_INFORMATION = (LABELS_SVM, LABELS_FOREST)
ZSCORED = "+z"
STARTS, LARGE_STARTS = 10, 3  # of KMeans
UNCONSTRAINED = ("NormalizedCuts",)  # methods of the library that use no pairs
PLAIN: dict[str, dict] = {  # scikit-learn's, with what makes them stronger than their defaults
    "KMeans": {"n_init": STARTS},
    "SpectralClustering": {"affinity": "nearest_neighbors"},
}
WHOLE_SETS = ("CCSKL", "KMeans", EVOC)  # quick enough for 60,000 rows


class Entrant(NamedTuple):
    run: Callable  # (task, argument) -> Found
    argument: str | None = None
    kind: str = "classical"  # or "plain", "chooser", "effort", "open", "peer", "mark"
    needs: tuple = ("linkwise",)  # module, and a name in it
    constrained: bool = True  # False: the labels do not depend on the pairs
    z: bool = False
    whole: bool = False  # takes sets whole, up to 60,000 rows; else a sample of 1,500


def options_of(cls, seed):
    """Return the options that are no defaults: the seed, and to drop conflicting pairs."""
    given = {"on_conflict": "drop", "random_state": seed}
    return {name: value for name, value in given.items() if name in signature(cls).parameters}


def method(task, name):
    """Cluster by a method of the library."""
    cls = getattr(import_module("linkwise.estimators"), name)
    model = cls(task.k, **options_of(cls, task.seed))
    return Found(model.fit(task.X, constraints=task.links).labels_)


def transformer(task, name):
    """Cluster what a transformer of the library gives by KMeans."""
    from sklearn.cluster import KMeans

    cls = getattr(import_module("linkwise.estimators"), name)
    model = cls(**options_of(cls, task.seed))
    Z = model.fit_transform(task.X, constraints=task.links)
    return Found(KMeans(task.k, n_init=STARTS, random_state=task.seed).fit_predict(Z))


def plain(task, name):
    """Cluster by a method of scikit-learn."""
    cls = getattr(import_module("sklearn.cluster"), name)
    options = PLAIN[name]
    if "n_init" in options and len(task.X) > LARGE:
        options = options | {"n_init": LARGE_STARTS}
    return Found(cls(task.k, random_state=task.seed, **options).fit_predict(task.X))


def link_clustering(task, k=None, **options):
    """Return a LinkClustering that is fitted on the device of the task."""
    model = import_module("linkwise").LinkClustering(k, random_state=task.seed, **options)
    return model.fit(task.X, constraints=task.links, device=task.device)


def chooser(task, effort):
    """Cluster by LinkClustering, told the number of clusters."""
    options = {} if effort is None else {"effort": effort}
    model = link_clustering(task, task.k, **options)
    return Found(model.labels_, model.suspects_)


def open_chooser(task, _):
    """Cluster by LinkClustering, not told the number of clusters."""
    model = link_clustering(task)
    return Found(model.labels_, k=int(model.n_clusters_))


def classical():
    """Return {name: Entrant} of the methods of the library that take constraints."""
    estimators = import_module("linkwise.estimators")
    found = {}
    for name in estimators.__all__:
        cls = getattr(estimators, name)
        if name == CHOOSER or "constraints" not in signature(cls.fit).parameters:
            continue
        if hasattr(cls, "fit_predict"):
            found[name] = Entrant(method, name, constrained=name not in UNCONSTRAINED)
        else:
            found[name] = Entrant(transformer, name)
    return found


def entrants():
    """Return {name: Entrant} of all, in the order they run."""
    found = classical()
    for name in PLAIN:
        found[name] = Entrant(plain, name, "plain", constrained=False)
    found[EVOC] = Entrant(evoc, None, "plain", ("evoc", "EVoC"), constrained=False)
    for name, peer in PEERS.items():
        found[name] = Entrant(peer.run, peer.argument, "peer", needs=peer.needs)
    both = {}
    for name, entrant in found.items():
        both[name] = entrant._replace(whole=name in WHOLE_SETS)
        both[name + ZSCORED] = both[name]._replace(z=True)
    needs = ("linkwise", CHOOSER)
    both[CHOOSER] = Entrant(chooser, None, "chooser", needs, whole=True)
    both[FAST] = Entrant(chooser, "fast", "effort", needs, whole=True)
    both[THOROUGH] = Entrant(chooser, "thorough", "effort", needs)
    both[OPEN] = Entrant(open_chooser, None, "open", needs, whole=True)
    both[FOREST] = Entrant(touched_forest, None, "mark", whole=True)
    both[LABELS_SVM] = Entrant(labelled, "SVM", "mark", z=True, whole=True)
    both[LABELS_FOREST] = Entrant(labelled, "forest", "mark", whole=True)
    return both


def missing(entrant):
    """Return why an entrant cannot run here, None if it can."""
    module, *names = entrant.needs
    try:
        # a peer turns numpy's warnings into errors when it is imported; here they are restored
        with np.errstate(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = import_module(module)
        for name in names:
            getattr(found, name)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except AttributeError:
        return f"{module} has no {names[0]}"
    except Exception as error:  # whatever a package does when it is imported
        return f"{module} cannot be imported: {type(error).__name__}: {error}"
    return None


def named(words, known):
    """Return the names among ``known`` that words stand for; case and hyphens do not matter.

    >>> named(["ccskl", "k-means+z"], ["CCSKL", "KMeans", "KMeans+z"])
    ['CCSKL', 'KMeans+z']
    """

    def squeezed(word):
        return word.lower().replace("-", "").replace("_", "")

    by_word = {squeezed(name): name for name in known}
    unknown = [word for word in words if squeezed(word) not in by_word]
    if unknown:
        raise ValueError(f"expected some of {', '.join(known)}; got {unknown[0]!r}")
    return list(dict.fromkeys(by_word[squeezed(word)] for word in words))
