"""Constrained clustering: data plus a few answers "same or different" in, clusters out.

>>> from linkwise import CCSKL, Constraints
>>> from sklearn.datasets import load_iris
>>> links = Constraints(must_link=[(0, 5), (51, 60)], cannot_link=[(0, 51), (60, 120)])
>>> model = CCSKL(n_clusters=3, random_state=0).fit(load_iris().data, constraints=links)
>>> model.labels_.shape
(150,)

Names are imported when first used, so that ``import linkwise`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwise import (  # isort: skip
        arrays as arrays,
        blocks as blocks,
        choice as choice,
        class_models as class_models,
        constraints as constraints,
        datasets as datasets,
        embedding as embedding,
        estimators as estimators,
        evaluate as evaluate,
        exceptions as exceptions,
        graph as graph,
        journal as journal,
        kernel as kernel,
        linalg as linalg,
        partition as partition,
        plot as plot,
        query as query,
        saving as saving,
        segment as segment,
        tl as tl,
    )
    from linkwise.choice import AllRows, LinkClustering, LinkScore, WithConstraints
    from linkwise.constraints import Closure, Constraints, Pair, as_constraints, sample_pairs
    from linkwise.estimators import (
        CCSKL,
        ITML,
        ConstrainedAgglomerative,
        ConstrainedGaussianMixture,
        ConstrainedLPP,
        ConstrainedPCA,
        COPKMeans,
        ExhaustivePropagation,
        FlexibleSpectralClustering,
        HMRFKMeans,
        KernelKMeans,
        ManifoldLayout,
        MPCKMeans,
        NormalizedCuts,
        OptimalKernelKMeans,
        PCKMeans,
        PropagatedSpectralClustering,
        SignedSpectralClustering,
        SpectralLearning,
        SpectralRegularization,
    )
    from linkwise.evaluate import kept, scores
    from linkwise.exceptions import (
        ConstraintWarning,
        ConvergenceWarning,
        InfeasibleConstraints,
        MissingExtra,
    )
    from linkwise.saving import load, save

    __version__: str

_HOME = {
    "AllRows": "choice",
    "LinkScore": "choice",
    "CCSKL": "estimators",
    "COPKMeans": "estimators",
    "Closure": "constraints",
    "ConstrainedAgglomerative": "estimators",
    "ConstrainedGaussianMixture": "estimators",
    "ConstrainedLPP": "estimators",
    "ConstrainedPCA": "estimators",
    "ConstraintWarning": "exceptions",
    "Constraints": "constraints",
    "ConvergenceWarning": "exceptions",
    "ExhaustivePropagation": "estimators",
    "FlexibleSpectralClustering": "estimators",
    "HMRFKMeans": "estimators",
    "ITML": "estimators",
    "InfeasibleConstraints": "exceptions",
    "KernelKMeans": "estimators",
    "MPCKMeans": "estimators",
    "ManifoldLayout": "estimators",
    "LinkClustering": "choice",
    "MissingExtra": "exceptions",
    "NormalizedCuts": "estimators",
    "OptimalKernelKMeans": "estimators",
    "PCKMeans": "estimators",
    "Pair": "constraints",
    "PropagatedSpectralClustering": "estimators",
    "SignedSpectralClustering": "estimators",
    "SpectralLearning": "estimators",
    "SpectralRegularization": "estimators",
    "WithConstraints": "choice",
    "as_constraints": "constraints",
    "kept": "evaluate",
    "load": "saving",
    "sample_pairs": "constraints",
    "save": "saving",
    "scores": "evaluate",
}
_ROOMS = (
    "arrays", "blocks", "choice", "class_models", "constraints", "datasets", "embedding",
    "estimators", "evaluate", "exceptions", "graph", "journal", "kernel", "labelling", "linalg",
    "partition", "plot", "query", "saving", "segment", "tl",
)  # fmt: skip

__all__ = [  # noqa: RUF022  (the order of use)
    "Constraints",
    "Pair",
    "Closure",
    "as_constraints",
    "sample_pairs",
    "LinkClustering",
    "LinkScore",
    "WithConstraints",
    "AllRows",
    "CCSKL",
    "OptimalKernelKMeans",
    "KernelKMeans",
    "PropagatedSpectralClustering",
    "SignedSpectralClustering",
    "NormalizedCuts",
    "SpectralLearning",
    "SpectralRegularization",
    "FlexibleSpectralClustering",
    "ExhaustivePropagation",
    "COPKMeans",
    "PCKMeans",
    "MPCKMeans",
    "HMRFKMeans",
    "ConstrainedGaussianMixture",
    "ConstrainedAgglomerative",
    "ConstrainedPCA",
    "ConstrainedLPP",
    "ITML",
    "ManifoldLayout",
    "kept",
    "scores",
    "save",
    "load",
    "InfeasibleConstraints",
    "ConstraintWarning",
    "ConvergenceWarning",
    "MissingExtra",
]


def _version() -> str:
    """Return the version of the installed package: that of the tag it was built from."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("linkwise")
    except PackageNotFoundError:  # the source files alone
        return "0+unknown"


if not TYPE_CHECKING:  # a type checker sees the imports above, and refuses any other name

    def __getattr__(name: str) -> object:
        if name in _HOME:
            return getattr(import_module(f"linkwise.{_HOME[name]}"), name)
        if name in _ROOMS:
            return import_module(f"linkwise.{name}")
        if name == "__version__":
            return _version()
        raise AttributeError(f"module 'linkwise' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
