"""The methods by their names on the command line; the command that lists them."""

import json
from importlib import import_module

from linkwise.cli.output import print_table

METHODS = {
    "link-clustering": "LinkClustering",
    "ccskl": "CCSKL",
    "signed": "SignedSpectralClustering",
    "propagation": "PropagatedSpectralClustering",
    "optimal-kernel": "OptimalKernelKMeans",
    "kernel-kmeans": "KernelKMeans",
    "normalized-cuts": "NormalizedCuts",
    "spectral-learning": "SpectralLearning",
    "spectral-regularization": "SpectralRegularization",
    "flexible": "FlexibleSpectralClustering",
    "exhaustive": "ExhaustivePropagation",
    "cop-kmeans": "COPKMeans",
    "pck-means": "PCKMeans",
    "mpck-means": "MPCKMeans",
    "hmrf-kmeans": "HMRFKMeans",
    "gaussian-mixture": "ConstrainedGaussianMixture",
    "agglomerative": "ConstrainedAgglomerative",
}
TRANSFORMERS = {  # in Python only: what comes out are features, not clusters
    "constrained-pca": "ConstrainedPCA",
    "constrained-lpp": "ConstrainedLPP",
    "itml": "ITML",
}


def method_class(name):
    """Return the estimator of a method."""
    return getattr(import_module("linkwise"), (METHODS | TRANSFORMERS)[name])


def describe(name):
    """Return what there is to know of a method, from its class."""
    cls = method_class(name)
    traits = cls.traits

    def yes(value):
        return "yes" if value else "no"

    return {
        "name": name,
        "class": cls.__name__,
        "links": ("hard" if traits.hard else "soft") if traits.constrained else "none",
        "weights": yes(traits.weights and traits.constrained),
        "new points": yes(traits.new_points),
        "sparse": yes(traits.sparse),
        "rows": f"{traits.rows:,}",
        "summary": cls.__doc__.split("\n")[0],
    }


def methods(args):
    """List the methods."""
    rows = [describe(name) for name in METHODS | TRANSFORMERS]
    if args.json:
        print(json.dumps(rows))
        return 0
    print_table(rows)
    return 0
