"""The options of every benchmark: the parser of the whole command line."""

import argparse
from pathlib import Path

from linkwise.cli import Parser, whole

PAPERS = ("ccskl", "kernel", "propagation", "csc")
KEPT = "folder for the report; cells in it are kept"
SETS = "folder with sets as NAME.npz; default those of scikit-learn"
CORES = "processes; default the number of cores"


def size(text):
    """Return (rows, columns) of generated data."""
    from benchmarks.speed.run import size_of

    try:
        return size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_speed(add):
    """Add the options of the speed benchmark."""
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


def add_quality(add):
    """Add the options of the quality benchmark."""
    add("--out", required=True, metavar="DIR", help=KEPT)
    add("--data", metavar="DIR", help=SETS)
    add("--methods", nargs="+", metavar="NAME", help="run these alone; see the manual")
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--parts", nargs="+", metavar="NAME", help="run these parts alone: main, few, text, time")
    add("--budgets", nargs="+", metavar="NAME", help="run these numbers of pairs alone")
    add("--draws", type=whole(1), metavar="N", help="draws of pairs; default 3, 5 for few answers")
    add("--quick", action="store_true", help="1 draw of pairs")
    add("--raw", action="store_true", help="leave out the methods on z-scored features, NAME+z")
    add("--right", action="store_true", help="leave out the runs with wrong answers")
    add("--jobs", type=whole(1), metavar="N", help=CORES)
    add("--limit", type=whole(1), default=300, metavar="S", help="seconds a fit may take")
    add("--device", metavar="NAME", help="device of LinkClustering, such as cuda; default the CPU")
    add("--plan", action="store_true", help="print how much there is to do, and run nothing")


def add_queries(add):
    """Add the options of the benchmark of questions."""
    add("--out", required=True, metavar="DIR", help=KEPT)
    add("--data", metavar="DIR", help=SETS)
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--strategies", nargs="+", metavar="NAME", help="run these and random pairs alone")
    add("--draws", type=whole(1), metavar="N", help="runs of each; default 5, 1 with --quick")
    add("--quick", action="store_true", help="1 draw instead of 5")
    add("--jobs", type=whole(1), metavar="N", help=CORES)
    add("--limit", type=whole(1), default=1800, metavar="S", help="seconds a run may take")


def add_wider(add):
    """Add the options of the benchmark of questions about several rows."""
    add("--data", metavar="DIR", help=SETS)
    names = ["iris", "wine"]
    add("--sets", nargs="+", default=names, metavar="NAME", help="default iris and wine")
    add("--draws", type=whole(1), default=2, metavar="N", help="runs of each; default 2")


def add_corrections(add):
    """Add the options of the benchmark of corrections."""
    add("--out", required=True, metavar="DIR", help="folder for the report")
    add("--data", metavar="DIR", help=SETS)
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--count", type=whole(1), default=100, metavar="N", help="of each set; default 100")
    add("--seed", type=whole(0, 2**32 - 1), default=0, metavar="N", help="default 0")


def add_papers(add):
    """Add the options of the papers' experiments."""
    add("--out", required=True, metavar="DIR", help=KEPT)
    add("--paper", choices=PAPERS, metavar="NAME", help=f"one of {', '.join(PAPERS)}; default all")
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; see linkwise datasets")
    add("--quick", action="store_true", help="fewer draws and numbers of pairs: some minutes")
    add("--draws", type=whole(1), metavar="N", help="draws of pairs; default 10, 3 with --quick")
    add("--jobs", type=whole(1), metavar="N", help=CORES)
    add("--limit", type=whole(1), default=3600, metavar="S", help="seconds a cell may take")


def add_agreement(add):
    """Add the options of the table of agreement."""
    add("--data", metavar="DIR", help=SETS)
    add("--draws", type=whole(1), default=8, metavar="N", help="draws of pairs; default 8")
    add("--first-draw", type=whole(0), default=0, metavar="N", help="seed of the first draw")
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--methods", nargs="+", metavar="NAME", help="run these classes alone")
    add("--out", metavar="FILE", help="write the table here as well")


def add_hard(add):
    """Add the options of the benchmark of hard constraints."""
    add("--data", metavar="DIR", help=SETS)
    add("--draws", type=whole(1), default=100, metavar="N", help="draws of pairs; default 100")
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--factor", type=float, default=1, metavar="F", help="pairs, in multiples of the points")


def add_size(add):
    """Add the options of the benchmark at one size."""
    add("--rows", type=whole(1), default=5000, metavar="N", help="default 5000")
    add("--columns", type=whole(1), default=50, metavar="N", help="default 50")
    add("--pairs", type=whole(1), default=2500, metavar="N", help="default 2500")
    add("--clusters", type=whole(1), default=10, metavar="K", help="default 10")
    add("--methods", nargs="+", metavar="NAME", help="run these classes alone")


def add_gpu(add):
    """Add the options of the benchmark on a GPU."""
    add("--data", metavar="DIR", help="folder with usps.npz, mnist_train.npz, mnist_test.npz")
    add("--only", nargs="+", metavar="CASE", help="run these cases alone; see the manual")
    add("--repeats", type=whole(1), default=5, metavar="N", help="calls to take the median of")
    add("--no-cpu", dest="cpu", action="store_false", help="leave the CPU out")
    add("--out", metavar="FILE", help="write the tables here as well")


def add_dask(add):
    """Add the options of the benchmark on a Dask cluster."""
    add("--rows", type=whole(1000), default=5_000_000, metavar="N", help="default 5,000,000")
    add("--columns", type=whole(2), default=32, metavar="D", help="default 32")
    add("--kills", type=whole(0), default=50, metavar="N", help="runs with a killed worker")
    add("--no-serial", action="store_true", help="on the cluster only, for very many rows")
    add("--folder", metavar="DIR", help="where to put the parts for the time of the run")


def add_page(add):
    """Add the options of the benchmark of the label page."""
    add("--answers", type=whole(0), default=300, metavar="N", help="of the expert; default 300")
    add("--rows", type=whole(1, 1797), default=1797, metavar="N", help="digits; default 1797")
    add("--think", type=float, default=0.5, metavar="S", help="seconds for an answer; default 0.5")
    add(
        "--shots",
        metavar="DIR",
        help="folder for pictures of the page, most at 0, 100, 300 answers",
    )
    add("--frames", action="store_true", help="measure the time of a frame instead")
    add("--points", type=whole(1), default=200_000, metavar="N", help="of --frames")


def add_segment(add):
    """Add the options of the benchmark of regions by strokes."""
    add("--out", type=Path, metavar="DIR", help="a folder for segment.json and pictures")
    add("--photo", metavar="FILE", help="a photograph to measure time on; default a made scene")
    add("--seeds", type=whole(1), default=3, metavar="N", help="scenes of a kind; default 3")
    add("--quick", action="store_true", help="one seed, no 12 megapixels")


def add_extend(add):
    """Add the options of the benchmark of new rows."""
    add("--data", metavar="DIR", help=SETS)
    add("--sets", nargs="+", default=["digits"], metavar="NAME", help="default digits")
    add("--rows", type=whole(20), default=5000, metavar="N", help="at most; default 5000")
    add("--pairs", type=float, default=0.5, metavar="P", help="answers for each row; default 0.5")
    add("--seed", type=whole(0), default=0, metavar="N", help="default 0")
    told = "add the rows to a project of linkwise label, not to a model"
    add("--project", action="store_true", help=told)


def add_sizes(add):
    """Add the options of the benchmark of sizes."""
    add("--rows", type=whole(2), default=10_000, metavar="N", help="default 10000")
    add("--columns", type=whole(1), default=20, metavar="N", help="default 20")
    add("--clusters", type=whole(1), default=50, metavar="K", help="default 50")
    add("--starts", type=whole(1), default=1, metavar="N", help="starts of both; default 1")
    add("--seed", type=whole(0), default=0, metavar="N", help="default 0")


def add_entities(add):
    """Add the options of the benchmark of entities."""
    default = [*(f"febrl{number}" for number in range(1, 5)), "RLdata10000"]
    told = "default febrl1 to febrl4 and RLdata10000"
    add("--sets", nargs="+", default=default, metavar="NAME", help=told)
    told = "give records without sources this many, at random, none twice in an entity"
    add("--sources", type=whole(2), metavar="N", help=told)


def add_strays(add):
    """Add the options of the benchmark of strays."""
    add("--data", metavar="DIR", help=SETS)
    default = ["blobs", "iris", "wine", "digits"]
    add("--sets", nargs="+", default=default, metavar="NAME", help="default blobs iris wine digits")
    add("--seeds", type=whole(1), default=2, metavar="N", help="draws of the noise; default 2")


def add_levels(add):
    """Add the options of the benchmark of levels."""
    add("--data", metavar="DIR", required=True, help="folder with newsgroups20_counts.npz")
    add("--rows", type=whole(100), default=3000, metavar="N", help="texts; default 3000")
    add("--pairs", type=whole(2), default=1000, metavar="N", help="answers; default 1000")
    add("--seed", type=whole(0), default=0, metavar="N", help="default 0")


def add_fuzz(add):
    """Add the options of the random problems."""
    add("--problems", type=whole(1), default=100, metavar="N", help="a method; default 100")
    add("--methods", nargs="+", metavar="NAME", help="run these classes alone")
    add("--first", type=whole(0), default=0, metavar="N", help="number of the first problem")
    add("--jobs", type=whole(1), metavar="N", help="processes; default 1")


def parser(commands):
    """Return the parser of the whole command line.

    Parameters
    ----------
    commands : {function of the arguments, documented: function that adds its options}
    """
    top = Parser(
        prog="python -m benchmarks",
        description="Measure linkwise, beside other libraries where there are any.",
        epilog="Exit codes: 0 done, 2 wrong command line, 3 wrong data.",
        allow_abbrev=False,
    )
    kinds = top.add_subparsers(title="benchmarks", metavar="WHAT", required=True)
    for run, add_options in commands.items():
        text = run.__doc__
        added = kinds.add_parser(run.__name__, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        add_options(added.add_argument)
    return top
