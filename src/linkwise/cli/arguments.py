"""The arguments of every command."""

import argparse
from collections.abc import Callable
from typing import Any, NoReturn

from linkwise import __version__
from linkwise.cli.check import check
from linkwise.cli.datasets import datasets, demo
from linkwise.cli.dedupe import dedupe
from linkwise.cli.fit import fit
from linkwise.cli.methods import METHODS, methods
from linkwise.cli.output import UsageError
from linkwise.cli.predict import predict
from linkwise.cli.projects import export, label, segment

MISSING = ("median", "mean", "most-frequent", "refuse")  # of linkwise.tables.preparation
UNSEEN = ("refuse", "ignore")
EXAMPLES = {  # at the end of --help
    "fit": (
        "linkwise fit iris.csv --links links.csv -k 3 -o labels.csv",
        "linkwise fit customers.xlsx --links answers.linkwise -o segments.csv",
        'linkwise fit shop.csv.gz --delimiter ";" --encoding cp1252 --categories plan,zip',
        "linkwise fit points.npy -k 10 --save model.lwmodel -o labels.npy",
    ),
    "predict": (
        "linkwise predict model.lwmodel new.csv -o labels.csv",
        "linkwise predict model.lwmodel new.parquet --unseen ignore",
    ),
    "dedupe": ("linkwise dedupe pairs.csv --source shop --links known.csv -o entities.csv",),
    "check": (
        "linkwise check links.csv -k 3",
        "linkwise check links.csv --data iris.csv --strict",
    ),
    "label": (
        "linkwise label customers.csv",
        "linkwise label news.jsonl --text body --embed model2vec:models/static",
        "linkwise label photos/ -k 5",
        "linkwise label iris.csv --terminal",
    ),
    "export": (
        "linkwise export iris.linkwise -o links.csv",
        "linkwise export iris.linkwise --labels iris.csv -o labels.csv",
    ),
    "segment": (
        "linkwise segment flower.jpg",
        "linkwise segment flower.jpg --strokes strokes.json -o mask.png",
    ),
    "methods": ("linkwise methods", "linkwise methods --for customers.csv --hard"),
    "demo": ("linkwise demo --out demo",),
    "datasets": ("linkwise datasets --data DIR",),
}


class Parser(argparse.ArgumentParser):
    """A parser that leaves the printing of errors to main."""

    def error(self, message: str) -> NoReturn:
        if self.prog == "linkwise" and "invalid choice: 'bench'" in message:
            message += "; benchmarks are run from a checkout: python -m benchmarks"
        raise UsageError(f"{message}; see {self.prog} --help")


def whole(low: int, high: float = float("inf")) -> Callable[[str], int]:
    """Return a function that reads a whole number low..high."""

    def read(text: str) -> int:
        if not (text.isdecimal() and low <= int(text) <= high):
            limit = f"in {low}..{high}" if high < float("inf") else f">= {low}"
            raise argparse.ArgumentTypeError(f"expected a whole number {limit}, got {text!r}")
        return int(text)

    return read


def number_of_clusters(text: str) -> int | tuple[int, int]:
    """Read a number of clusters, or a range as in 2-12."""
    from linkwise.constraints.cluster_numbers import read_n_clusters

    try:
        return read_n_clusters(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def level_numbers(text: str) -> list[int]:
    """Read numbers of clusters, as in 5,20,80."""
    return sorted({whole(1)(part) for part in text.split(",")})


def share(text: str) -> float:
    """Read a number between 0 and 1."""
    found = positive(text)
    if found >= 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {text!r}")
    return found


def outliers(text: str) -> float | str:
    """Read a share of strays, or auto."""
    return text if text == "auto" else share(text)


def sizes(text: str) -> tuple[int, int] | list[tuple[int, int]]:
    """Read the limits of sizes, as in 50-200, or one for each cluster, as in 10-20,60-80."""
    found = [limits_of_size(part) for part in text.split(",")]
    return found if len(found) > 1 else found[0]


def limits_of_size(text: str) -> tuple[int, int]:
    """Read the limits of one size."""
    least, _, most = text.partition("-")
    found = whole(0)(least), whole(1)(most or least)
    if found[0] > found[1]:
        raise argparse.ArgumentTypeError(f"expected limits such as 50-200, got {text!r}")
    return found


def positive(text: str) -> float:
    """Read a finite number above 0."""
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not 0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return found


def names(text: str) -> list[str]:
    """Read names of columns, separated by commas."""
    return [name.strip() for name in text.split(",")]


def order(text: str) -> dict[str, list[str]]:
    """Read a column and its values from the lowest to the highest, as in size=S<M<L."""
    name, equals, values = text.partition("=")
    found = [value.strip() for value in values.split("<")]
    if not equals or len(found) < 2 or not all(found) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"expected an order such as size=S<M<L, got {text!r}")
    return {name.strip(): found}


class AddOrder(argparse.Action):
    """Collect the orders of several columns."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        setattr(namespace, self.dest, (getattr(namespace, self.dest) or {}) | values)


def delimiter(text: str) -> str:
    """Read the character between two cells."""
    found = {"tab": "\t", "\\t": "\t", "space": " "}.get(text.lower(), text)
    if len(found) != 1 or found in '"\r\n':
        raise argparse.ArgumentTypeError(f"expected one character, or tab, got {text!r}")
    return found


def add_reading(added: argparse.ArgumentParser) -> None:
    """Add how the text of a file is read."""
    add = added.add_argument
    add("--delimiter", type=delimiter, metavar="D", help="character between two cells, or tab")
    add("--encoding", metavar="E", help="encoding of the text, such as cp1252; default UTF-8")
    add("--sheet", metavar="S", help="sheet of an .xlsx file; default the first")


def add_columns(added: argparse.ArgumentParser) -> None:
    """Add which columns are ids, which are clustered by, and how."""
    add = added.add_argument
    add(
        "--id-column",
        "--id",
        metavar="C",
        help="column of ids, which links name; by name or number, or none for row numbers; "
        "default: a column that is plainly one of ids",
    )
    add(
        "--columns",
        metavar="A,B",
        type=names,
        help="columns to cluster by, by name or number; default all but the ids",
    )
    add(
        "--categories",
        metavar="A,B",
        type=names,
        help="columns of categories, or none; default: columns of texts that repeat",
    )
    add(
        "--ordinal",
        dest="ordered",
        type=order,
        action=AddOrder,
        metavar="C=A<B",
        help="a column of categories with an order, from the lowest; may be repeated",
    )
    add(
        "--missing",
        choices=MISSING,
        metavar="HOW",
        help=f"what empty cells become: {', '.join(MISSING)}; default median",
    )
    add_reading(added)


def add_judgement(added: argparse.ArgumentParser) -> None:
    """Add how contradictions count, and JSON as output."""
    add = added.add_argument
    add("--strict", action="store_true", help="exit 4 if the links cannot all hold")
    add("--json", action="store_true", help="print one JSON object")


def add_output(added: argparse.ArgumentParser) -> None:
    """Add where labels are written, and what is printed."""
    add = added.add_argument
    add("--json", action="store_true", help="print one JSON object")
    add("--quiet", action="store_true", help="print no summary and no notes")
    add("--force", action="store_true", help="overwrite the output")
    add("-o", dest="output", default="-", metavar="FILE", help=".csv, .tsv, .npy, or - (default)")


def add_page(added: argparse.ArgumentParser) -> None:
    """Add where a page is served, and whether it is opened."""
    add = added.add_argument
    add("--port", type=whole(1, 65535), metavar="N", help="port of the page; default a free one")
    add(
        "--no-browser",
        dest="browser",
        action="store_false",
        help="print the address of the page and do not open it",
    )
    add("--host", metavar="H", help="address to listen on; default 127.0.0.1, this machine only")
    add(
        "--token", metavar="T", help="secret that other machines need to open the page, with --host"
    )


def parser() -> Parser:
    """Return the parser of the whole command line."""
    top = Parser(
        prog="linkwise",
        description='Cluster data with a few answers "same" or "different" about pairs of rows.',
        epilog="Exit codes: 0 done, 2 wrong command line or protected output, 3 wrong data, 4 the "
        "links cannot all hold (with --strict or a hard method).",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"linkwise {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        text = run.__doc__
        added: argparse.ArgumentParser = commands.add_parser(
            run.__name__,
            help=text,
            description=text,
            epilog="\n  ".join(("examples:", *EXAMPLES[run.__name__])),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        added.set_defaults(run=run)
        return added

    added = command(fit)
    add = added.add_argument
    add(
        "data",
        metavar="DATA",
        help=".csv, .tsv, .jsonl, .parquet, .xlsx, .h5ad, .npy or .npz file, each also gzipped, - "
        'for csv on stdin, or a pattern of .npy or .parquet parts, such as "parts/part-*.parquet"',
    )
    add("--links", metavar="LINKS", help=".csv, .tsv, .jsonl or .linkwise file, or -")
    add(
        "-k",
        type=number_of_clusters,
        metavar="K",
        help="number of clusters, or for link-clustering a range such as 2-12; default: that of "
        "the project, or link-clustering finds one",
    )
    add(
        "--size",
        type=sizes,
        metavar="A-B",
        help="sizes of the clusters, such as 50-200, or one for each, such as 10-20,60-80,50-80; "
        "for link-clustering and cop-kmeans",
    )
    add("--balanced", action="store_true", help="all clusters of the same size, up to one row")
    add(
        "--size-weight",
        type=positive,
        metavar="W",
        help="sizes are soft: a row moves only if that divides its probability by less than "
        "exp(W); for link-clustering",
    )
    add(
        "--outliers",
        type=outliers,
        metavar="S",
        help="share of rows in no cluster, label -1, or auto; for link-clustering",
    )
    add(
        "--levels",
        type=level_numbers,
        metavar="A,B",
        help="also write labels of these numbers of clusters, such as 5,20,80: one column each, "
        "each nested in the next coarser one",
    )
    add(
        "--into",
        metavar="FILE",
        help="add the rows of DATA to the clusters of this .lwmodel file, or to this project and "
        "its data; old rows keep their clusters unless a link moves them",
    )
    add(
        "--save",
        metavar="MODEL",
        help="write the fitted model to this .lwmodel file, for --into or linkwise.load",
    )
    add(
        "--method",
        choices=METHODS,
        metavar="NAME",
        help=f"{', '.join(METHODS)}; default link-clustering, with --affinity or --anchors ccskl",
    )
    add(
        "--effort",
        metavar="E",
        help="how much link-clustering tries: fast, balanced (default; for a project of more than "
        "20,000 rows fast), thorough, or seconds",
    )
    add(
        "--affinity",
        metavar="NAME",
        help="graph of a spectral method, such as nearest_neighbors or anchors",
    )
    add("--anchors", type=whole(1), metavar="P", help="number of anchors; means --affinity anchors")
    add("--max-memory", metavar="SIZE", help='refuse a fit that needs more memory, such as "4 GB"')
    add("--max-time", type=whole(1), metavar="S", help="refuse a fit that takes more seconds")
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="scheduler of a Dask cluster that processes DATA, a pattern of parts",
    )
    add("--explain", action="store_true", help="print what link-clustering chose, and why")
    add_columns(added)
    add("--standardize", action="store_true", help="give every column mean 0 and variance 1")
    add(
        "--seed",
        type=whole(0, 2**32 - 1),
        metavar="N",
        help="seed of random numbers, default 0, or that of the project",
    )
    add_judgement(added)
    add("--quiet", action="store_true", help="print no summary and no notes")
    add("--force", action="store_true", help="overwrite the output")
    add(
        "-o",
        dest="output",
        default="-",
        metavar="FILE",
        help=".csv, .tsv, .npy, or - (default); for parts a folder",
    )

    added = command(predict)
    add = added.add_argument
    add("model", metavar="MODEL", help=".lwmodel file of linkwise fit --save")
    add("data", metavar="DATA", help="new rows, in a file as for linkwise fit, or -")
    add(
        "--id-column",
        "--id",
        metavar="C",
        help="column of ids, or none; default that of the model, or one that is plainly of ids",
    )
    add_reading(added)
    add(
        "--unseen",
        choices=UNSEEN,
        metavar="HOW",
        default="refuse",
        help="a category that the model has not seen: refuse (default), or ignore",
    )
    add_output(added)

    added = command(dedupe)
    add = added.add_argument
    add("pairs", metavar="PAIRS", help="table with the columns id_a, id_b, score, or -: csv")
    add(
        "--source",
        metavar="C",
        help="one record of an entity in each source; the sources are in the columns C_a and C_b",
    )
    add("--links", metavar="LINKS", help="records that are, or are not, one entity; all are kept")
    add("--threshold", type=share, default=0.5, metavar="T", help="score of an even chance; 0.5")
    add("-k", type=whole(1), metavar="K", help="number of entities; default: as the scores say")
    add_output(added)

    added = command(check)
    add = added.add_argument
    add("links", metavar="LINKS", help=".csv, .tsv, .jsonl or .linkwise file, or -")
    add("--data", metavar="DATA", help="the points, to check that the links name them")
    add("-k", type=whole(1), metavar="K", help="number of clusters in which the links must fit")
    add_columns(added)
    add_judgement(added)

    added = command(label)
    add = added.add_argument
    add(
        "data",
        metavar="DATA",
        help=".csv, .tsv, .jsonl, .parquet, .xlsx, .h5ad, .npy or .npz file, each also gzipped, or "
        "a folder of images",
    )
    add("--terminal", action="store_true", help="ask in this terminal instead of on a page")
    add(
        "--project",
        metavar="FILE",
        help="file of the answers; default DATA with the suffix .linkwise",
    )
    add("--as", dest="who", metavar="NAME", help="who answers; default: the name of the user")
    add("--text", metavar="C", help="column of texts to cluster by")
    add(
        "--embed",
        metavar="NAME",
        help="how texts become points: model2vec:FOLDER, sentence-transformers:NAME or "
        "MODULE:FUNCTION; default TF-IDF",
    )
    add("--image", metavar="C", help="column of names of image files to cluster by")
    add(
        "--embedding",
        metavar="FILE",
        help=".npy file of vectors to cluster by, one for each row; DATA is only shown",
    )
    add(
        "-k",
        type=number_of_clusters,
        metavar="K",
        help="number of clusters, or a range such as 2-12; default: found while labelling",
    )
    add_columns(added)
    add(
        "--standardize",
        action="store_true",
        default=None,
        help="give columns of numbers mean 0 and variance 1",
    )
    add("--seed", type=whole(0, 2**32 - 1), metavar="N", help="seed of random numbers, default 0")
    add_page(added)
    add("--oracle", metavar="COMMAND", help="ask a program instead of a person, by JSON lines")
    add("--budget", type=whole(1), metavar="N", help="questions to --oracle, default 100")
    add("--batch", type=whole(1, 1000), metavar="N", help="questions at once, default 10")
    add("--max-cost", type=positive, metavar="C", help="stop when the answers have cost C")
    add(
        "--import",
        dest="table",
        metavar="FILE",
        help="add a table of links or labels, or a log, and ask nothing",
    )

    added = command(export)
    add = added.add_argument
    add("project", metavar="PROJECT", help="a .linkwise file")
    add(
        "-o",
        dest="output",
        required=True,
        metavar="FILE",
        help=".csv, .tsv, .jsonl or .parquet, or - for csv on stdout",
    )
    what = added.add_mutually_exclusive_group()
    what.add_argument(
        "--labels", metavar="DATA", help="cluster DATA by the answers and write the labels"
    )
    what.add_argument("--log", action="store_true", help="write every event, undone ones included")
    what.add_argument(
        "--agreement",
        action="store_true",
        help="write how reliable the people are who answered, and how far they agree",
    )
    add("--force", action="store_true", help="overwrite the output")

    added = command(segment)
    add = added.add_argument
    add("image", metavar="IMAGE", help="a JPEG, PNG, WebP, TIFF or BMP file, or a folder of them")
    add(
        "--regions",
        type=whole(1, 255),
        metavar="K",
        help="number of regions; default one per colour of the strokes",
    )
    add(
        "--superpixels",
        type=whole(2, 10_000),
        metavar="N",
        help="approximate number of superpixels, default 2000",
    )
    add(
        "--only-touching",
        action="store_true",
        default=None,
        help="every part of a region must touch one of its strokes",
    )
    add(
        "--project",
        metavar="FILE",
        help="file of the strokes; default IMAGE with the suffix .linkwise",
    )
    add("--strokes", metavar="FILE", help="take strokes from a .json file; needs -o")
    add(
        "-o",
        dest="output",
        metavar="FILE",
        help="write the mask, .png or .npy, without opening a page; of a folder, to a folder",
    )
    add(
        "--cutout",
        metavar="REGION",
        help="write this region of the image to -o instead, the rest transparent",
    )
    add("--force", action="store_true", help="overwrite the output")
    add_page(added)

    added = command(methods)
    add = added.add_argument
    add("--for", dest="data", metavar="DATA", help="list those that suit this file, and why")
    add("--hard", action="store_true", help="with --for: those that keep all links")
    add(
        "--max-time",
        type=whole(1),
        metavar="S",
        help="with --for: those that take at most about S seconds",
    )
    add("--json", action="store_true", help="print a JSON list, with --for an object")

    added = command(demo)
    added.add_argument("--out", default="demo", metavar="DIR", help="folder to write to")

    added = command(datasets)
    add = added.add_argument
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; default LINKWISE_DATA")
    add("--json", action="store_true", help="print a JSON list")
    return top
