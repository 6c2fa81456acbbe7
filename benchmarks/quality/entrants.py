"""The entrants of the quality benchmark: every method at its defaults, one function a kind.

    CCSKL, ...            the methods of the library; a transformer is followed by KMeans
    KMeans, ...           scikit-learn's, without constraints: KMeans with 10 starts, and
                          SpectralClustering on its neighbour graph
    LinkClustering        and LinkClustering:open, which finds the number of clusters too
    peer:...              other libraries, see `peers`
    forest                an upper mark: a forest given the true classes of all points in a pair

A name with +z is the same method on features of mean 0 and variance 1. LinkClustering has none:
it scales features by itself.
"""

import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from typing import NamedTuple

import numpy as np

from benchmarks.quality.peers import PEERS
from benchmarks.quality.protocol import Found

CHOOSER, OPEN, FOREST = "LinkClustering", "LinkClustering:open", "forest"
ZSCORED = "+z"
STARTS = 10  # of KMeans
UNCONSTRAINED = ("NormalizedCuts",)  # methods of the library that use no pairs
PLAIN: dict[str, dict] = {  # scikit-learn's, with what makes them stronger than their defaults
    "KMeans": {"n_init": STARTS},
    "SpectralClustering": {"affinity": "nearest_neighbors"},
}


class Entrant(NamedTuple):
    run: Callable  # (task, argument) -> Found
    argument: str | None = None
    kind: str = "classical"  # or "plain", "chooser", "open", "peer", "mark"
    needs: tuple = ("linkwise",)  # module, and a name in it
    constrained: bool = True  # False: the labels do not depend on the pairs
    z: bool = False


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
    return Found(cls(task.k, random_state=task.seed, **PLAIN[name]).fit_predict(task.X))


def chooser(task, _):
    """Cluster by LinkClustering, told the number of clusters."""
    cls = import_module("linkwise").LinkClustering
    model = cls(task.k, random_state=task.seed).fit(task.X, constraints=task.links)
    return Found(model.labels_, model.suspects_)


def open_chooser(task, _):
    """Cluster by LinkClustering, not told the number of clusters."""
    cls = import_module("linkwise").LinkClustering
    model = cls(random_state=task.seed).fit(task.X, constraints=task.links)
    return Found(model.labels_, k=int(model.n_clusters_))


def forest(task, _):
    """Give all points in a pair their class, and predict the rest by a forest trained on them."""
    from sklearn.ensemble import RandomForestClassifier

    a, b, *_ = task.links.resolve(n=len(task.X)).arrays()
    touched = np.union1d(a, b)
    labels = task.y.copy()
    rest = np.setdiff1d(np.arange(len(labels)), touched)
    model = RandomForestClassifier(random_state=task.seed).fit(task.X[touched], task.y[touched])
    labels[rest] = model.predict(task.X[rest])
    return Found(labels)


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
    for name, peer in PEERS.items():
        found[name] = Entrant(peer.run, peer.argument, "peer", needs=peer.needs)
    both = {}
    for name, entrant in found.items():
        both[name] = entrant
        both[name + ZSCORED] = entrant._replace(z=True)
    both[CHOOSER] = Entrant(chooser, None, "chooser", ("linkwise", CHOOSER))
    both[OPEN] = Entrant(open_chooser, None, "open", ("linkwise", CHOOSER))
    both[FOREST] = Entrant(forest, None, "mark")
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
