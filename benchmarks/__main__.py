"""python -m benchmarks: measure this library beside others."""

import argparse
import sys

from benchmarks.speed import size_of
from linkwise.cli.arguments import Parser, whole
from linkwise.cli.methods import METHODS, TRANSFORMERS
from linkwise.cli.output import UsageError, reason, say

PAPERS = ("ccskl", "kernel", "propagation", "csc")


def size(text):
    """Return (rows, columns) of generated data."""
    try:
        return size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def speed(args):
    """Measure time, memory and agreement over the sizes of data."""
    from benchmarks.contestants import CONTESTANTS
    from benchmarks.speed import Options, run

    unknown = [key for key in args.only or () if key not in CONTESTANTS]
    if unknown:
        raise UsageError(f"--only {unknown[0]}: expected some of {', '.join(CONTESTANTS)}")
    run(Options(**{name: getattr(args, name) for name in Options._fields}), args.out)
    return 0


def quality(args):
    """Measure agreement and answers kept over data sets, pairs and wrong answers."""
    from benchmarks.methods import ZSCORED, entrants, named
    from benchmarks.quality import Options, run

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
    from benchmarks.queries import Options, run
    from linkwise.query import STRATEGIES

    unknown = [name for name in args.strategies or () if name not in STRATEGIES]
    if unknown:
        raise UsageError(f"--strategies {unknown[0]}: expected some of {', '.join(STRATEGIES)}")
    run(Options(**{name: getattr(args, name) for name in Options._fields}), args.out)
    return 0


def papers(args):
    """Re-run the experiments of the four papers and judge their claims."""
    from benchmarks.papers.run import Options, run

    run(Options(**{name: getattr(args, name) for name in Options._fields}), args.out)
    return 0


def parser():
    """Return the parser of the benchmarks."""
    top = Parser(prog="python -m benchmarks", description=__doc__, allow_abbrev=False)
    kinds = top.add_subparsers(title="benchmarks", metavar="WHAT", required=True)

    def command(run):
        text = run.__doc__
        added = kinds.add_parser(run.__name__, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    added = command(speed)
    add = added.add_argument
    add("--out", required=True, metavar="DIR", help="folder for the report")
    add(
        "--sizes",
        nargs="+",
        type=size,
        metavar="N",
        help="rows of generated data, such as 10000 or 1e6, or rows and columns: 20000x784",
    )
    add("--quick", action="store_true", help="small sizes, once: about a minute")
    add("--huge", action="store_true", help="also 100,000,000 x 16, read from a file")
    add("--full", action="store_true", help="leave no contestant out for being slow")
    add("--data", metavar="DIR", help="folder with usps.npz, mnist_train.npz, mnist_test.npz")
    add("--only", nargs="+", metavar="KEY", help="run these contestants alone; see the manual")
    add("--scratch", metavar="DIR", help="folder for the generated rows; default that of --out")
    add("--repeats", type=whole(1), metavar="N", help="runs to take the median of; default 3")
    add("--limit", type=whole(1), default=600, metavar="S", help="seconds a run may take")
    add("--seed", type=whole(0, 2**32 - 1), default=0, metavar="N", help="default 0")

    added = command(quality)
    add = added.add_argument
    add("--out", required=True, metavar="DIR", help="folder for the report; cells in it are kept")
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; default those of scikit-learn")
    add("--methods", nargs="+", metavar="NAME", help="run these alone; see the manual")
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--draws", type=whole(1), metavar="N", help="draws of pairs; default 10, 3 with --quick")
    add("--quick", action="store_true", help="3 draws of pairs instead of 10")
    add("--raw", action="store_true", help="leave out the methods on z-scored features, NAME+z")
    add("--jobs", type=whole(1), metavar="N", help="processes; default the number of cores")
    add("--limit", type=whole(1), default=120, metavar="S", help="seconds a fit may take")

    added = command(queries)
    add = added.add_argument
    add("--out", required=True, metavar="DIR", help="folder for the report; cells in it are kept")
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; default those of scikit-learn")
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--strategies", nargs="+", metavar="NAME", help="run these and random pairs alone")
    add("--draws", type=whole(1), metavar="N", help="runs of each; default 5, 1 with --quick")
    add("--quick", action="store_true", help="1 draw instead of 5")
    add("--jobs", type=whole(1), metavar="N", help="processes; default the number of cores")
    add("--limit", type=whole(1), default=1800, metavar="S", help="seconds a run may take")

    added = command(papers)
    add = added.add_argument
    add("--out", required=True, metavar="DIR", help="folder for the report; cells in it are kept")
    add("--paper", choices=PAPERS, metavar="NAME", help=f"one of {', '.join(PAPERS)}; default all")
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; see linkwise datasets")
    add("--quick", action="store_true", help="fewer draws and numbers of pairs: some minutes")
    add("--draws", type=whole(1), metavar="N", help="draws of pairs; default 10, 3 with --quick")
    add("--jobs", type=whole(1), metavar="N", help="processes; default the number of cores")
    add("--limit", type=whole(1), default=3600, metavar="S", help="seconds a cell may take")
    return top


def main(argv=None):
    """Run one benchmark and return its exit code."""
    try:
        args = parser().parse_args(argv)
        return args.run(args)
    except SystemExit as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt:
        say("error", "interrupted")
        return 130
    except (UsageError, FileExistsError) as error:
        say("error", reason(error))
        return 2
    except (ValueError, OSError, MemoryError) as error:
        say("error", reason(error))
        return 3


if __name__ == "__main__":
    sys.exit(main())
