"""The files that fit, predict and check read and write."""

import errno
import os
from contextlib import nullcontext
from pathlib import Path

from linkwise._files import instead_of, kind_of_file
from linkwise._wording import counted
from linkwise.cli.output import UsageError, say, write_bytes
from linkwise.exceptions import warn

OUTPUTS = (".csv", ".tsv", ".npy")
PREPARING = {  # options that say how the columns of a table are read
    "categories": "--categories", "ordered": "--ordinal", "missing": "--missing",
    "delimiter": "--delimiter", "encoding": "--encoding", "sheet": "--sheet",
}  # fmt: skip
KINDS = {"project": "a project of answers", "model": "a saved model"}


def streams(args):
    """Tell whether the points stay in their file: a fit through anchors of a whole .npy file."""
    if not (getattr(args, "affinity", None) == "anchors" or getattr(args, "anchors", None)):
        return False
    prepared = args.standardize or any(getattr(args, name) for name in PREPARING)
    whole_file = not (args.columns or args.id_column not in (None, "none") or prepared)
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
    if points:
        say_notes(args, points)
    return points, links, project


def say_notes(args, points):
    """Print which column was recognised as ids, and what was done to the others."""
    from linkwise.tables.id_columns import recognised_note

    if getattr(args, "quiet", False):
        return
    if points.recognised is not None:
        say("note", recognised_note(name_of(args.data), points.recognised))
    if points.note:
        say("note", f"{name_of(args.data)}: {points.note}")


def read_model(path):
    """Return the model in a file that `linkwise fit --save` wrote."""
    from linkwise.saving import load

    if kind_of_file(path) != "model":
        if not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        raise ValueError(f"{path} is not a saved model; write one by linkwise fit --save")
    return load(path)


def read_new(args, model, *, unseen="refuse"):
    """Return the Points of new rows, prepared as those of a model were.

    A model that was not fitted by the command line has no preparation: then all columns of the
    new rows are numbers, in its order.
    """
    from linkwise.tables.points import read_points, read_prepared
    from linkwise.tables.preparation import Preparation

    reading = {name: getattr(args, name) for name in ("delimiter", "encoding", "sheet")}
    column = args.id_column
    if (
        column is None
        and getattr(model, "_sample_id", None) is None
        and hasattr(model, "preparation_")
    ):
        column = "none"
    held = getattr(model, "preparation_", None)
    if held is not None:
        options = reading | {"id_column": column, "unseen": unseen}
        return read_prepared(args.data, Preparation.from_dict(held), **options)
    names = getattr(model, "feature_names_in_", None)
    columns = getattr(args, "columns", None) or (None if names is None else list(names))
    points = read_points(args.data, id_column=column, columns=columns, missing="refuse", **reading)
    if points.computed:
        raise ValueError(
            f"{args.data}: its components are those of its own rows, not those of the model; store "
            "X_pca of old and new rows together, and fit by it"
        )
    if points.X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"{name_of(args.data)} has {counted(points.X.shape[1], 'column')} to cluster by, but "
            f"the model was fitted to {model.n_features_in_}; give it the same columns"
        )
    return points


def read_new_links(args):
    """Return the links about new rows and old ones, or None."""
    from linkwise.tables import read_links

    if args.links is None:
        return None
    if read_project_of(args.links) is not None:
        raise UsageError(f"{args.links} is a project; with --into, name a table of links")
    return in_file(args.links, read_links, args.links)


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
    named = ("columns", "standardize", "categories", "ordered", "missing")
    chosen = any(getattr(args, name, None) for name in named)
    return project is not None and args.data != "-" and not chosen


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
        where = ("id_column", "delimiter", "encoding", "sheet")
        given = {name: getattr(args, name) for name in where if getattr(args, name) is not None}
        items = items_of(args.data, project, args.links, given)
        return Points(items.X, items.ids, note=items.note)
    column = args.id_column
    if column is None and project is not None:
        column = id_column_of(project)
    options = {name: getattr(args, name) for name in ("columns", *PREPARING)}
    options["standardize"] = getattr(args, "standardize", False)
    return read_points(args.data, id_column=column, **options)


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
    from linkwise.constraints.ids import same_time, similar_id
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
        unknown = [a for a in named if not known & {str(a), same_time(str(a))}]
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


def write_table(args, labels, ids, levels=None, names=None):
    """Write the labels, those of levels {number of clusters: labels}, and names to the output."""
    from linkwise.tables import label_bytes, write_labels

    if args.output == "-":
        write_bytes(label_bytes(".csv", labels, ids, names, levels))
    else:
        write_labels(args.output, labels, ids, names, levels, force=args.force)


def check_output_arguments(args):
    """Refuse an output that cannot be written, before anything is read."""
    if args.output == "-":
        if args.json:
            raise UsageError("--json prints to stdout; name a file for the labels by -o")
        return
    output = Path(args.output)
    if output.suffix.lower() not in OUTPUTS:
        raise UsageError(f"-o {output}: expected a name that ends in {', '.join(OUTPUTS)}, or -")
    links = getattr(args, "links", None)
    refuse_inputs(args.output, args.data, links)
    from linkwise.journal import is_project
    from linkwise.tables import check_output

    projects = [links] if links and is_project(links) else []
    check_output(output, force=args.force, projects=projects)


def refuse_inputs(output, *inputs):
    """Refuse to write to a file that the same command reads."""
    if os.path.realpath(output) in (os.path.realpath(path) for path in inputs if path):
        raise UsageError(f"-o {output} is an input of this command; name another file")
