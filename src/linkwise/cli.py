"""The command line: fit, check, label, export, segment, methods, demo, bench, datasets.

Exit codes: 0, 2 a wrong command line, 3 wrong data, 4 links that cannot all hold (--strict).
NumPy is imported inside the commands, so that --help and --version are quick.
"""

import argparse
import json
import os
import sys
import time
import uuid
import warnings
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from linkwise import __version__
from linkwise.exceptions import InfeasibleConstraints, MissingExtra

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
REMEDIES = {
    FileNotFoundError: "no such file; check the path",
    IsADirectoryError: "is a folder; name a file",
    PermissionError: "not permitted; check who may read and write there",
}
PAPERS = ("ccskl", "kernel", "propagation", "csc")
OUTPUTS = (".csv", ".tsv", ".npy")
SHOWN = 5  # violations in a summary
LIKELY = 0.5  # probability from which on a link is called wrong


class UsageError(Exception):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """A parser that leaves the printing of errors to main."""

    def error(self, message):
        raise UsageError(f"{message}; see {self.prog} --help")


def whole(low, high=float("inf")):
    """Return a reader of whole numbers low..high."""

    def read(text):
        if not (text.isdecimal() and low <= int(text) <= high):
            limit = f"in {low}..{high}" if high < float("inf") else f">= {low}"
            raise argparse.ArgumentTypeError(f"expected a whole number {limit}, got {text!r}")
        return int(text)

    return read


def size(text):
    """Return (rows, columns) of generated data."""
    from linkwise.bench.speed import size_of

    try:
        return size_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parser():
    """Return the parser of the whole command line."""
    top = Parser(
        prog="linkwise",
        description='Cluster data by a few answers "same" or "different".',
        epilog="Exit codes: 0 done, 2 wrong command line, 3 wrong data, 4 links that cannot all "
        "hold (with --strict).",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"linkwise {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(run, among=commands):
        text = run.__doc__
        added = among.add_parser(run.__name__, help=text, description=text, allow_abbrev=False)
        added.set_defaults(run=run)
        return added

    def add_columns(added):
        add = added.add_argument
        add(
            "--id-column",
            "--id",
            metavar="C",
            help="column of ids, by name or number; links name them",
        )
        add(
            "--columns",
            metavar="A,B",
            type=lambda text: text.split(","),
            help="columns to cluster by, by name or number; default all but the ids",
        )

    def add_judgement(added):
        add = added.add_argument
        add("--strict", action="store_true", help="exit 4 if the links cannot all hold")
        add("--json", action="store_true", help="print one JSON object")

    added = command(fit)
    add = added.add_argument
    add("data", metavar="DATA", help=".csv, .tsv, .npy or .npz file, or - for csv on stdin")
    add("--links", metavar="LINKS", help=".csv, .tsv, .jsonl or .linkwise file, or -")
    add("-k", type=whole(1), metavar="K", help="number of clusters; default: chosen by the data")
    add(
        "--method",
        choices=METHODS,
        metavar="NAME",
        help=f"{', '.join(METHODS)}; default link-clustering, with --affinity or --anchors ccskl",
    )
    add(
        "--effort",
        metavar="E",
        help="of link-clustering: fast, balanced (default), thorough, or seconds",
    )
    add(
        "--affinity",
        metavar="NAME",
        help="graph of a spectral method, such as nearest_neighbors or anchors",
    )
    add("--anchors", type=whole(1), metavar="P", help="number of anchors; means --affinity anchors")
    add("--max-memory", metavar="SIZE", help='refuse a fit that needs more, such as "4 GB"')
    add("--max-time", type=whole(1), metavar="S", help="refuse a fit that takes more seconds")
    add("--explain", action="store_true", help="tell what link-clustering chose, and why")
    add_columns(added)
    add("--standardize", action="store_true", help="give every column mean 0 and variance 1")
    add("--seed", type=whole(0, 2**32 - 1), default=0, metavar="N", help="default 0")
    add_judgement(added)
    add("--quiet", action="store_true", help="print no summary")
    add("--force", action="store_true", help="overwrite the output")
    add("-o", dest="output", default="-", metavar="FILE", help=".csv, .tsv, .npy, or - (default)")

    added = command(check)
    add = added.add_argument
    add("links", metavar="LINKS", help=".csv, .tsv, .jsonl or .linkwise file, or -")
    add("--data", metavar="DATA", help="the points, to check that links name them")
    add("-k", type=whole(1), metavar="K", help="number of clusters the links must fit in")
    add_columns(added)
    add_judgement(added)

    added = command(label)
    add = added.add_argument
    add("data", metavar="DATA", help=".csv, .tsv, .npy or .npz file")
    add("--terminal", action="store_true", help="ask in this terminal, not on a page")
    add("--project", metavar="FILE", help="where answers are kept; default DATA with .linkwise")
    add("--text", metavar="C", help="column of texts to cluster by")
    add("--image", metavar="C", help="column of names of image files to cluster by")
    add("-k", type=whole(1), metavar="K", help="number of clusters; default: found on the way")
    add_columns(added)
    add("--standardize", action="store_true", default=None, help="scale columns of numbers alike")
    add("--seed", type=whole(0, 2**32 - 1), metavar="N", help="default 0")
    add("--port", type=whole(1, 65535), metavar="N", help="of the page; default a free one")
    add("--no-browser", dest="browser", action="store_false", help="only print the address")
    add("--host", metavar="H", help="address to listen on; default this machine alone")
    add("--token", metavar="T", help="what other machines must show to come in, with --host")
    add("--import", dest="table", metavar="FILE", help="add links, labels or a log, ask nothing")

    added = command(export)
    add = added.add_argument
    add("project", metavar="PROJECT", help="a .linkwise file")
    add("-o", dest="output", required=True, metavar="FILE", help=".csv, .tsv, .jsonl or .parquet")
    what = added.add_mutually_exclusive_group()
    what.add_argument("--labels", metavar="DATA", help="cluster DATA by the answers, write labels")
    what.add_argument("--log", action="store_true", help="write every event, undone ones too")
    add("--force", action="store_true", help="overwrite the output")

    added = command(segment)
    add = added.add_argument
    add("image", metavar="IMAGE", help="a JPEG, PNG, WebP, TIFF or BMP file")
    add("--regions", type=whole(1, 255), metavar="K", help="default one for each colour of strokes")
    add("--superpixels", type=whole(2, 3000), metavar="N", help="pieces; default about 500")
    add("--project", metavar="FILE", help="where strokes are kept; default IMAGE with .linkwise")
    add("--strokes", metavar="FILE", help="strokes from a .json file instead, with -o")
    add("-o", dest="output", metavar="FILE", help="write the mask, .png or .npy, and open no page")
    add("--force", action="store_true", help="overwrite the output")
    add("--port", type=whole(1, 65535), metavar="N", help="of the page; default a free one")
    add("--no-browser", dest="browser", action="store_false", help="only print the address")
    add("--host", metavar="H", help="address to listen on; default this machine alone")
    add("--token", metavar="T", help="what other machines must show to come in, with --host")

    added = command(methods)
    added.add_argument("--json", action="store_true", help="print a JSON list")

    added = command(demo)
    added.add_argument("--out", default="demo", metavar="DIR", help="folder to write to")

    kinds = command(bench).add_subparsers(title="benchmarks", metavar="WHAT", required=True)
    added = command(speed, among=kinds)
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

    added = command(quality, among=kinds)
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

    added = command(queries, among=kinds)
    add = added.add_argument
    add("--out", required=True, metavar="DIR", help="folder for the report; cells in it are kept")
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; default those of scikit-learn")
    add("--sets", nargs="+", metavar="NAME", help="run on these alone")
    add("--strategies", nargs="+", metavar="NAME", help="run these and random pairs alone")
    add("--draws", type=whole(1), metavar="N", help="runs of each; default 5, 1 with --quick")
    add("--quick", action="store_true", help="1 draw instead of 5")
    add("--jobs", type=whole(1), metavar="N", help="processes; default the number of cores")
    add("--limit", type=whole(1), default=1800, metavar="S", help="seconds a run may take")

    added = command(papers, among=kinds)
    add = added.add_argument
    add("--out", required=True, metavar="DIR", help="folder for the report; cells in it are kept")
    add("--paper", choices=PAPERS, metavar="NAME", help=f"one of {', '.join(PAPERS)}; default all")
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; see linkwise datasets")
    add("--quick", action="store_true", help="fewer draws and numbers of pairs: half an hour")
    add("--draws", type=whole(1), metavar="N", help="draws of pairs; default 20, 3 with --quick")
    add("--jobs", type=whole(1), metavar="N", help="processes; default the number of cores")
    add("--limit", type=whole(1), default=3600, metavar="S", help="seconds a cell may take")

    added = command(datasets)
    add = added.add_argument
    add("--data", metavar="DIR", help="folder with sets as NAME.npz; default LINKWISE_DATA")
    add("--json", action="store_true", help="print a JSON list")
    return top


def method_class(name):
    """Return the estimator of a method."""
    return getattr(import_module("linkwise"), (METHODS | TRANSFORMERS)[name])


def streams(args):
    """Tell whether the points stay in their file: a fit through anchors of a whole .npy file."""
    if "anchors" not in (
        getattr(args, "affinity", None),
        getattr(args, "anchors", None) and "anchors",
    ):
        return False
    whole_file = not (args.columns or args.id_column or args.standardize)
    return whole_file and Path(args.data).suffix.lower() == ".npy"


def read_both(args):
    """Return (points, links) of the files named, None for one that is not."""
    from linkwise.tables import map_points, read_points

    if args.data == "-" and args.links == "-":
        raise UsageError("DATA and LINKS are both -; standard input is one of them only")
    points = links = None
    if args.data is not None and streams(args):
        points = map_points(args.data)
    elif args.data is not None:
        points = read_points(args.data, id_column=args.id_column, columns=args.columns)
    if args.links is not None:
        try:
            links = read_answers(args, points)
        except (TypeError, ValueError, RecursionError) as error:
            file = "standard input" if args.links == "-" else args.links
            place = "" if str(error).startswith(file) else f"{file}: "
            raise ValueError(f"{place}{error}") from error
    if points and links:
        check_ends(links, points, args)
    return points, links


def read_answers(args, points):
    """Return the links in a table, or those that the answers of a project are."""
    from linkwise.journal import check_rows, is_project, read_project, restored_links
    from linkwise.tables import read_links

    if args.links == "-" or not is_project(args.links):
        links = read_links(args.links)
        return links if points is None else restored_links(links, points.ids or ())
    project = read_project(args.links)
    if points is not None:
        check_rows(args.links, project.data, args.data, len(points.X), ids=points.ids is not None)
    return project.state.constraints()


def check_ends(links, points, args):
    """Refuse links that name no row of the data."""
    n, named = len(points.X), links.ids.tolist()
    if points.ids is None:
        unknown = [a for a in named if isinstance(a, str) or not 0 <= a < n]
        fault = (
            f"is not a row number of {args.data}, 0..{n - 1}; correct it, or tell the column of "
            "ids by --id-column"
        )
    else:
        known = set(points.ids)
        unknown = [a for a in named if str(a) not in known]
        fault = f"is not an id in {args.data}; correct the link, or remove it"
    if unknown:
        pair = next(pair for pair in links if unknown[0] in pair[:2])
        raise ValueError(
            f"{args.links}: the link {pair.a!r}, {pair.b!r}: {unknown[0]!r} {fault} "
            f"({len(unknown)} such in all)"
        )


def as_dict(pair, name):
    """Return a pair as JSON has it."""
    kind = "must" if pair.sign > 0 else "cannot"
    return {"a": name(pair.a), "b": name(pair.b), "kind": kind, "weight": pair.weight}


def fit(args):
    """Cluster the points of a file."""
    check_output_arguments(args)
    complete(args)
    points, links = read_both(args)
    from linkwise.constraints import Constraints
    from linkwise.constraints.conflicts import explain
    from linkwise.tables import label_text, write_labels

    X, ids = points
    links = links or Constraints()
    if len(X) < max(args.k or 2, 2):
        raise ValueError(
            f"{args.data} has {len(X)} row(s), too few for {args.k or 2} clusters; -k is at most "
            "the number of rows, and one row is no clustering"
        )
    if args.strict and (conflict := links.conflict(args.k)) is not None:
        where = "" if args.k is None else f" in {args.k} clusters"
        raise InfeasibleConstraints(
            f"{args.links}: the links cannot all hold{where}: {explain(conflict)}; "
            "correct or remove one of them",
            conflict,
        )
    model = make_model(args)
    started = time.perf_counter()
    if args.standardize:
        from sklearn.preprocessing import StandardScaler

        X = StandardScaler().fit_transform(X)
    from linkwise.blocks import limits

    in_place = streams(args) and args.output.endswith(".npy")
    with labels_file(args, in_place) as out, limits(args.max_memory, args.max_time):
        labels = model.fit_predict(X, constraints=links, sample_id=ids, out=out)
    seconds = round(time.perf_counter() - started, 3)

    report = outcome(model, labels, links, ids, args) | {"seconds": seconds, "output": args.output}
    if args.output == "-":
        sys.stdout.write(label_text(labels, ids))
    elif not in_place:
        write_labels(args.output, labels, ids, force=args.force)
    if args.json:
        print(json.dumps(report))
    elif not args.quiet:
        print(summary(report), file=sys.stderr)
    if args.explain:
        print(model.explain(), file=sys.stderr)
    return 0


def complete(args):
    """Fill in what the command line leaves open, and refuse what does not go together."""
    if args.method is None:
        args.method = "ccskl" if args.affinity or args.anchors else "link-clustering"
    if args.k is None and args.method != "link-clustering":
        raise UsageError(
            f"{args.method} needs the number of clusters, -k; link-clustering does not"
        )
    for flag, given in (("--effort", args.effort), ("--explain", args.explain)):
        if given and args.method != "link-clustering":
            raise UsageError(f"{flag} is for link-clustering; {args.method} has none")
    if args.effort is not None and args.effort not in ("fast", "balanced", "thorough"):
        if not (args.effort.isdecimal() and int(args.effort) > 0):
            raise UsageError(
                f"--effort is fast, balanced, thorough or a number of seconds; got {args.effort!r}"
            )
        args.effort = int(args.effort)


def make_model(args):
    """Return the estimator that the command line describes."""
    method = method_class(args.method)
    options = {
        "on_conflict": "drop",
        "random_state": args.seed,
        "respect": "hard" if args.strict else "soft",
        "effort": args.effort or "balanced",
    }
    known = method._get_param_names()
    options = {name: value for name, value in options.items() if name in known}
    affinity = args.affinity or ("anchors" if args.anchors else None)
    if affinity is None:
        return method(args.k, **options)
    if "affinity_params" not in known:
        raise UsageError(f"--affinity is for spectral methods; {args.method} has none")
    if args.anchors and affinity != "anchors":
        raise UsageError(f"--anchors goes with --affinity anchors, not {affinity}")
    params = {"n_anchors": args.anchors} if args.anchors else None
    return method(args.k, affinity=affinity, affinity_params=params, **options)


@contextmanager
def labels_file(args, in_place):
    """Yield the name of a new file for the labels of a fit, moved to its place in the end."""
    if not in_place:
        yield None
        return
    beside = Path(args.output).with_name(f".{uuid.uuid4().hex}.npy")
    try:
        yield beside
        os.replace(beside, args.output)
    finally:
        beside.unlink(missing_ok=True)


def check_output_arguments(args):
    """Refuse an output that cannot be, before anything is read."""
    if args.output == "-":
        if args.json:
            raise UsageError("--json needs stdout for itself; name a file for the labels by -o")
        return
    output = Path(args.output)
    if output.suffix.lower() not in OUTPUTS:
        raise UsageError(f"-o {output}: expected a name that ends in {', '.join(OUTPUTS)}, or -")
    if os.path.realpath(output) in (os.path.realpath(p) for p in (args.data, args.links) if p):
        raise UsageError(f"-o {output} is what is read; name another file")
    from linkwise.tables import check_output

    check_output(output, force=args.force)


def outcome(model, labels, links, ids, args):
    """Return what came of a fit: sizes, links kept and not kept, links that are likely wrong."""
    import numpy as np

    k, name = getattr(model, "n_clusters_", args.k), int if ids is None else str
    suspects = [
        as_dict(pair, name) | {"probability": round(wrong, 3)}
        for pair, wrong in getattr(model, "suspects_", [])
        if wrong > LIKELY
    ]
    dropped = links.drop_conflicts()[1].n_pairs if hasattr(model, "on_conflict") else 0
    broken = links.resolve(ids, n=len(labels)).violated(labels)
    kept = links.select(~broken)
    return {
        "method": args.method,
        "n": len(labels),
        "k": k,
        "sizes": np.bincount(labels, minlength=k).tolist(),
        "links": {
            "given": links.n_pairs,
            "kept": kept.n_pairs,
            "must": links.n_must,
            "cannot": links.n_cannot,
            "kept_must": kept.n_must,
            "kept_cannot": kept.n_cannot,
        },
        "violations": [as_dict(pair, name) for pair in links.select(broken)],
        "dropped": dropped,
        "suspects": suspects,
    }


def summary(report):
    """Return the outcome of a fit in words."""
    links, broken = report["links"], report["violations"]
    sizes = ", ".join(map(str, report["sizes"][:20])) + (", ..." if report["k"] > 20 else "")
    lines = ["{method}: n = {n}, k = {k}, sizes {}, {seconds:.2f} s".format(sizes, **report)]
    if links["given"]:
        lines.append(
            f"links kept: {links['kept']} of {links['given']} (must {links['kept_must']} of "
            f"{links['must']}, cannot {links['kept_cannot']} of {links['cannot']})"
        )
    lines += [f"  not kept: {p['a']} {p['kind']} be with {p['b']}" for p in broken[:SHOWN]]
    if len(broken) > SHOWN:
        lines.append(f"  and {len(broken) - SHOWN} more; --json lists all")
    lines += [
        f"  likely wrong: {p['a']} {p['kind']} be with {p['b']} ({p['probability']:.0%})"
        for p in report["suspects"][:SHOWN]
    ]
    return "\n".join(lines)


def check(args):
    """Say what links imply, and whether they can all hold."""
    if args.data is None and (args.id_column or args.columns):
        raise UsageError("--id-column and --columns tell how to read --data; name it too")
    _, links = read_both(args)
    from linkwise.constraints.conflicts import explain

    possible, contradicted = links.drop_conflicts()
    closure = possible.closure()
    conflict = links.conflict(args.k)
    report = {
        "pairs": links.n_pairs,
        "must": links.n_must,
        "cannot": links.n_cannot,
        "points": len(links.ids),
        "repeated": links.n_pairs - links.merged().n_pairs,
        "groups": len(closure.groups()),
        "largest_group": max(map(len, closure.groups()), default=0),
        "groups_apart": len(closure.cannot),
        "contradicted": contradicted.n_pairs,
        "conflict": None if conflict is None else explain(conflict),
        "conflict_pairs": [as_dict(pair, type(pair.a)) for pair in conflict or ()],
    }
    print(json.dumps(report) if args.json else findings(report, args.k))
    return 4 if args.strict and conflict is not None else 0


def findings(report, k):
    """Return what was found about links in words."""
    lines = [
        "links: {pairs} (must {must}, cannot {cannot}, repeated {repeated}), points: {points}",
        "groups joined by must-links: {groups}, largest: {largest_group}, "
        "pairs of groups apart: {groups_apart}",
    ]
    within = "" if k is None else f" in {k} clusters"
    if report["conflict"] is not None:
        lines.append("cannot all hold{within}: {conflict}")
        if report["contradicted"]:
            lines.append("contradicted cannot-links, left out by fit: {contradicted}")
    elif k is None or k <= 2:
        lines.append("all can hold{within}")
    else:
        lines.append("no contradiction found{within} (a search, not a proof)")
    return "\n".join(lines).format(within=within, **report)


def label(args):
    """Ask about pairs of rows and keep the answers."""
    from linkwise.desk.project import (
        KEPT,
        default_project,
        import_table,
        open_project,
        settings_of,
    )

    if args.data == "-":
        raise UsageError("DATA is -, but standard input is where answers come from; name a file")
    if args.terminal and (args.host or args.port or args.token or not args.browser):
        raise UsageError("--host, --port, --token, --no-browser are for the page, not --terminal")
    project = args.project or default_project(args.data)
    settings = settings_of(project, {name: getattr(args, name) for name in KEPT})
    if args.table is None and args.terminal:
        from linkwise.terminal.project import label_in_terminal

        return label_in_terminal(args.data, project, settings)
    if args.table is None:
        from linkwise.app.label import label_in_browser

        where = {name: getattr(args, name) for name in ("host", "port", "token")}
        return label_in_browser(args.data, project, settings, browser=args.browser, **where)
    items, journal = open_project(args.data, project, settings)
    with journal:
        print(import_table(args.table, items, journal), file=sys.stderr)
    return 0


def export(args):
    """Write the links, the labels or the log of a project to a table."""
    from linkwise.desk.project import export as write
    from linkwise.journal.exports import check_format
    from linkwise.tables import check_output

    if os.path.realpath(args.output) in (
        os.path.realpath(p) for p in (args.project, args.labels) if p
    ):
        raise UsageError(f"-o {args.output} is what is read; name another file")
    check_format(args.output)
    check_output(args.output, force=args.force)
    print(write(args.project, args.output, labels_of=args.labels, log=args.log), file=sys.stderr)
    return 0


def segment(args):
    """Cut a picture into regions by strokes drawn on it."""
    from linkwise.segment.project import KEPT, default_project, segment_file, settings_of

    project = args.project or default_project(args.image)
    if args.output is None and args.strokes is not None:
        raise UsageError("--strokes needs -o FILE, where the mask goes; without both a page opens")
    if args.strokes is not None and args.project is not None:
        raise UsageError("strokes come from --strokes or from --project; name one of them")
    given = {name: getattr(args, name) for name in KEPT}
    if args.strokes is not None:
        project, settings = None, given
    else:
        settings = settings_of(project, given)
    if args.output is not None:
        return write_regions(args, segment_file, project, settings)
    from linkwise.app.server import need_starlette

    need_starlette()
    from linkwise.app.segment_routes import segment_in_browser

    where = {name: getattr(args, name) for name in ("host", "port", "token")}
    return segment_in_browser(args.image, project, settings, browser=args.browser, **where)


def write_regions(args, write, project, settings):
    """Write the mask of a picture without a page."""
    from linkwise.segment.masks import check_format
    from linkwise.tables import check_output

    read = [os.path.realpath(p) for p in (args.image, args.strokes, project) if p]
    if os.path.realpath(args.output) in read:
        raise UsageError(f"-o {args.output} is what is read; name another file")
    check_format(args.output)
    check_output(args.output, force=args.force)
    if project is not None and args.project is None and not os.path.exists(project):
        project = None
    told = write(args.image, args.output, strokes=args.strokes, project=project, settings=settings)
    print(told, file=sys.stderr)
    return 0


def describe(name):
    """Return what there is to know of a method, from its class."""
    cls = method_class(name)
    traits = cls._traits

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


def print_table(rows):
    """Print dicts with the same keys as a table."""
    table = [list(rows[0]), *(["" if v is None else str(v) for v in r.values()] for r in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def methods(args):
    """List the methods."""
    rows = [describe(name) for name in METHODS | TRANSFORMERS]
    if args.json:
        print(json.dumps(rows))
        return 0
    print_table(rows)
    return 0


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


def say(kind, text):
    """Print one line to stderr."""
    print(f"linkwise: {kind}: {' '.join(str(text).split())}", file=sys.stderr)


def reason(error):
    """Return what an error says, without Python's decoration."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'stdout'}: {REMEDIES.get(type(error), error.strerror)}"
    return str(error) or type(error).__name__


def main(argv=None) -> int:
    """Run one command and return its exit code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.simplefilter("default", RuntimeWarning)
            warnings.showwarning = lambda message, *_, **__: say("warning", message)
            args = parser().parse_args(argv)
            code = args.run(args)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    except KeyboardInterrupt:
        say("error", "interrupted")
        return 130
    except BrokenPipeError:  # the reader of stdout has seen enough; Python must not flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (UsageError, FileExistsError) as error:
        say("error", reason(error))
        return 2
    except InfeasibleConstraints as error:
        say("error", error)
        return 4
    except (ValueError, OSError, MemoryError, MissingExtra) as error:
        say("error", reason(error))
        return 3
