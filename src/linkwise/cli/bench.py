"""The commands that measure: bench and its kinds, datasets, demo."""

import json
from importlib import import_module

from linkwise.cli.methods import METHODS, TRANSFORMERS
from linkwise.cli.words import UsageError, print_table


def demo(args):
    """Cluster handwritten digits with more and more answers."""
    import_module("linkwise.demo").run(args.out)
    return 0


def bench(args):
    """Measure this library beside others."""


def speed(args):
    """Measure time, memory and agreement over the sizes of data."""
    from linkwise.bench.contestants import CONTESTANTS
    from linkwise.bench.speed import Options, run

    unknown = [key for key in args.only or () if key not in CONTESTANTS]
    if unknown:
        raise UsageError(f"--only {unknown[0]}: expected some of {', '.join(CONTESTANTS)}")
    run(Options(**{name: getattr(args, name) for name in Options._fields}), args.out)
    return 0


def quality(args):
    """Measure agreement and answers kept over data sets, pairs and wrong answers."""
    from linkwise.bench.methods import ZSCORED, entrants, named
    from linkwise.bench.quality import Options, run

    options = Options(**{name: getattr(args, name) for name in Options._fields})
    if args.methods:
        classes = METHODS | TRANSFORMERS
        names = [(word.removesuffix(ZSCORED), word.endswith(ZSCORED)) for word in args.methods]
        words = [classes.get(name, name) + ZSCORED * z for name, z in names]
        try:
            options = options._replace(methods=tuple(named(words, entrants())))
        except ValueError as error:
            raise UsageError(f"--methods: {error}") from None
    run(options, args.out)
    return 0


def queries(args):
    """Measure how many answers each strategy of asking needs."""
    from linkwise.bench.queries import Options, run
    from linkwise.query import STRATEGIES

    unknown = [name for name in args.strategies or () if name not in STRATEGIES]
    if unknown:
        raise UsageError(f"--strategies {unknown[0]}: expected some of {', '.join(STRATEGIES)}")
    run(Options(**{name: getattr(args, name) for name in Options._fields}), args.out)
    return 0


def papers(args):
    """Re-run the experiments of the four papers and judge their claims."""
    from linkwise.bench.papers.run import Options, run

    run(Options(**{name: getattr(args, name) for name in Options._fields}), args.out)
    return 0


def datasets(args):
    """List the data sets: what is there, and how to get the rest."""
    from linkwise.datasets import folder_of, listing

    folder = folder_of(args.data)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{folder} is no folder; name one with sets as NAME.npz by --data")
    rows = listing(data=args.data)
    if args.json:
        print(json.dumps(rows))
        return 0
    print_table(rows)
    return 0
