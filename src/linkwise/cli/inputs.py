"""The files that fit and check read and write."""

import os
import warnings
from contextlib import nullcontext
from pathlib import Path

from linkwise._files import instead_of
from linkwise.cli.output import UsageError

OUTPUTS = (".csv", ".tsv", ".npy")


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


def weighed_for(model, links, args):
    """Return links as a model can take them: those of a project, plain if it knows no weights."""
    from linkwise.journal import is_project

    plain = model._traits.weights or (links.weight == 1).all()
    if plain or args.links == "-" or not is_project(args.links):
        return links
    warnings.warn(
        f"{args.links}: corrections by hand count like answers here, since --method {args.method} "
        "knows no weights"
    )
    return links.with_weight(1)


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


def labels_file(args, in_place):
    """Return a context of the name of a new file for the labels of a fit, or of None."""
    return instead_of(args.output) if in_place else nullcontext()


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
    from linkwise.journal import is_project
    from linkwise.tables import check_output

    projects = [args.links] if args.links and is_project(args.links) else []
    check_output(output, force=args.force, projects=projects)
