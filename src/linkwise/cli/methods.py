"""The methods by their names on the command line; the command that lists them."""

import json
import textwrap
from argparse import Namespace
from importlib import import_module

from linkwise.cli.output import WIDTH, UsageError, print_table, table_lines

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
TRANSFORMERS = {  # for Python only: they return features, not clusters
    "constrained-pca": "ConstrainedPCA",
    "constrained-lpp": "ConstrainedLPP",
    "itml": "ITML",
    "manifold-layout": "ManifoldLayout",
}


def method_class(name):
    """Return the estimator of a method."""
    return getattr(import_module("linkwise"), (METHODS | TRANSFORMERS)[name])


def describe(name):
    """Return the traits of a method, from its class."""
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


def methods(args: Namespace) -> int:
    """List the methods, or those that suit some data."""
    if args.data is not None:
        return methods_for(args)
    if args.hard or args.max_time is not None:
        raise UsageError("--hard and --max-time need --for DATA")
    rows = [describe(name) for name in METHODS | TRANSFORMERS]
    if args.json:
        print(json.dumps(rows))
        return 0
    short = {"new points": "new"}
    traits = [{short.get(k, k): v for k, v in row.items() if k != "summary"} for row in rows]
    header, *lines = table_lines(traits)
    print(header)
    for line, row in zip(lines, rows, strict=True):
        print(line)
        print(textwrap.fill(row["summary"], WIDTH, initial_indent="    ", subsequent_indent="    "))
    print("\nlinks: hard methods keep all links, soft ones weigh them against the data")
    print("new: whether the method places new points; rows: practical up to so many on a laptop")
    return 0


def methods_for(args: Namespace) -> int:
    """Print the methods that suit a file, the first choice first, and why others do not."""
    from linkwise.cli.suitable_methods import shape_of, suitable

    shape = shape_of(args.data)
    rows, others = suitable(shape, hard=args.hard, most=args.max_time)
    if args.json:
        print(json.dumps({**shape._asdict(), "methods": rows, "others": others}))
        return 0
    print(f"{args.data}: {shape.rows:,} rows, {shape.columns:,} columns, {shape.zeros:.0%} zeros\n")
    if rows:
        print_table([{k: v for k, v in row.items() if k != "class"} for row in rows])
    else:
        print("no method suits; raise --max-time, or leave --hard out")
    if others:
        print("\nnot here:")
    for reason in dict.fromkeys(others.values()):
        named = ", ".join(name for name in others if others[name] == reason)
        print(textwrap.fill(f"  {reason}: {named}", WIDTH, subsequent_indent="    "))
    return 0
