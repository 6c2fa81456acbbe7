"""The files that fit and check read and write."""

import os
from contextlib import nullcontext
from pathlib import Path

from linkwise._files import instead_of, kind_of_file
from linkwise.cli.output import UsageError, say
from linkwise.exceptions import warn

OUTPUTS = (".csv", ".tsv", ".npy")
KINDS = {"project": "a project of answers", "model": "a saved model"}


def streams(args):
    """Tell whether the points stay in their file: a fit through anchors of a whole .npy file."""
    if not (getattr(args, "affinity", None) == "anchors" or getattr(args, "anchors", None)):
        return False
    whole_file = not (args.columns or args.id_column not in (None, "none") or args.standardize)
    return whole_file and Path(args.data).suffix.lower() == ".npy"


def read_both(args):
    """Return (points, links, project) of the files named, None for one that is not."""
    if args.data == "-" and args.links == "-":
        raise UsageError("DATA and LINKS are both -; only one of them can be standard input")
    project = in_file(args.links, read_project_of, args.links)
    points = None if args.data is None else read_data(args, project)
    links = in_file(args.links, read_answers, args, points, project)
    if points and links:
        check_ends(links, points, args)
    if points and points.recognised is not None and not getattr(args, "quiet", False):
        from linkwise.tables.id_columns import recognised_note

        say("note", recognised_note(name_of(args.data), points.recognised))
    return points, links, project


def read_new(args, model):
    """Return (points, links, project) of new rows; links may name old rows of a model too."""
    from linkwise.tables import read_links, read_points

    points = read_points(args.data, id_column=args.id_column, columns=args.columns)
    if args.links is None:
        return points, None, None
    if read_project_of(args.links) is not None:
        raise UsageError(f"{args.links} is a project; with --into, name a table of links")
    return points, in_file(args.links, read_links, args.links), None


def name_of(path):
    """Return what to call a file in a message."""
    return "standard input" if path == "-" else path


def in_file(path, read, *args):
    """Return read(*args), whose errors then begin with the name of the file."""
    try:
        return read(*args)
    except (TypeError, ValueError, RecursionError) as error:
        place = "" if str(error).startswith(name_of(path)) else f"{name_of(path)}: "
        raise ValueError(f"{place}{error}") from error


def read_project_of(path):
    """Return the Project in a file of links, or None if it is a table or there is no file."""
    from linkwise.journal import is_project, read_project

    if path is None or path == "-" or not is_project(path):
        return None
    return read_project(path)


def read_as_project(args, project):
    """Tell whether data are read as a project says: the command line names no columns itself."""
    named = args.columns or args.id_column is not None or getattr(args, "standardize", False)
    return project is not None and args.data != "-" and not named


def read_data(args, project=None):
    """Return the Points in the file of data, read as a project says if there is one."""
    from linkwise.labelling.project import id_column_of, items_of
    from linkwise.tables import map_points, read_points
    from linkwise.tables.points import Points

    kind = None if args.data == "-" else kind_of_file(args.data)
    if kind is not None:
        raise ValueError(f"{args.data} is {KINDS[kind]}, not a table of points; name the data")
    if streams(args):
        return map_points(args.data)
    if read_as_project(args, project):
        items = items_of(args.data, project, args.links)
        return Points(items.X, items.ids)
    column = args.id_column
    if column is None and project is not None:
        column = id_column_of(project)
    return read_points(args.data, id_column=column, columns=args.columns)


def read_answers(args, points, project=None):
    """Return the links in a table, or the answers of a project as links; None without a file."""
    from linkwise.journal import check_rows, restored_links
    from linkwise.tables import read_links

    if args.links is None:
        return None
    if project is None:
        if args.links != "-" and kind_of_file(args.links) == "model":
            raise ValueError(f"{args.links} is a saved model, not links; name another file")
        links = read_links(args.links)
        return links if points is None else restored_links(links, points.ids or ())
    if points is not None:
        check_rows(args.links, project.data, args.data, len(points.X), ids=points.ids is not None)
    return project.state.constraints()


def weighed_for(model, links, args):
    """Return links as a model can use them: if it ignores weights, a project's links weigh 1."""
    from linkwise.journal import is_project

    plain = model.traits.weights or (links.weight == 1).all()
    if plain or args.links == "-" or not is_project(args.links):
        return links
    warn(
        f"{args.links}: corrections by hand count like answers here: --method {args.method} "
        "ignores weights"
    )
    return links.with_weight(1)


def check_ends(links, points, args):
    """Refuse links that name no row of the data."""
    from linkwise.constraints.ids import similar_id
    from linkwise.tables.id_columns import titled

    n, named = len(points.X), links.ids.tolist()
    data = name_of(args.data)
    if points.ids is None:
        unknown = [a for a in named if isinstance(a, str) or not 0 <= a < n]
        fault = (
            f"is not a row number of {data}, 0..{n - 1}; correct it, or name the column of ids by "
            "--id-column"
        )
    else:
        known = set(points.ids)
        unknown = [a for a in named if str(a) not in known]
        remedy = "correct the link, or remove it"
        if unknown and (meant := similar_id(unknown[0], points.ids)) is not None:
            remedy = f"did you mean {meant!r}?"
        fault = f"is not an id in {data}; {remedy}"
        if points.recognised is not None:
            stop = "" if fault.endswith("?") else "."
            fault += (
                f"{stop} Ids are those of the {titled(points.recognised)}; with --id none links "
                "name row numbers"
            )
    if unknown:
        pair = next(pair for pair in links if unknown[0] in pair[:2])
        more = f" ({len(unknown)} unknown ids in all)" if len(unknown) > 1 else ""
        raise ValueError(
            f"{name_of(args.links)}: the link {pair.a!r}, {pair.b!r}: {unknown[0]!r} {fault}{more}"
        )


def labels_file(args, in_place):
    """Return a context of the name of a new file for the labels of a fit, or of None."""
    return instead_of(args.output) if in_place else nullcontext()


def check_output_arguments(args):
    """Refuse an output that cannot be written, before anything is read."""
    if args.output == "-":
        if args.json:
            raise UsageError("--json prints to stdout; name a file for the labels by -o")
        return
    output = Path(args.output)
    if output.suffix.lower() not in OUTPUTS:
        raise UsageError(f"-o {output}: expected a name that ends in {', '.join(OUTPUTS)}, or -")
    refuse_inputs(args.output, args.data, args.links)
    from linkwise.journal import is_project
    from linkwise.tables import check_output

    projects = [args.links] if args.links and is_project(args.links) else []
    check_output(output, force=args.force, projects=projects)


def refuse_inputs(output, *inputs):
    """Refuse to write to a file that the same command reads."""
    if os.path.realpath(output) in (os.path.realpath(path) for path in inputs if path):
        raise UsageError(f"-o {output} is an input of this command; name another file")
