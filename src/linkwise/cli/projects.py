"""The commands around a project: label, export, segment."""

import os
import sys
import tempfile
from argparse import Namespace
from pathlib import Path

from linkwise.cli.inputs import refuse_inputs
from linkwise.cli.output import UsageError, say, write_bytes


def label(args: Namespace) -> int:
    """Ask about pairs of rows and keep the answers."""
    from linkwise.journal import default_project
    from linkwise.labelling.project import KEPT, import_table, open_project, settings_of

    if args.data == "-":
        raise UsageError("DATA is -, but answers come from standard input; name a file")
    if args.terminal and (args.host or args.port or args.token or not args.browser):
        raise UsageError("--host, --port, --token, --no-browser are for the page, not --terminal")
    limits = {name: getattr(args, name) for name in ("budget", "batch", "max_cost")}
    if args.oracle is None and any(value is not None for value in limits.values()):
        raise UsageError("--budget, --batch and --max-cost are for --oracle COMMAND")
    if args.oracle is not None and args.who is not None:
        raise UsageError("--as names a person; with --oracle the program is the author")
    if args.oracle is not None and (args.terminal or args.table is not None):
        raise UsageError("--oracle asks a program; leave --terminal and --import out")
    project = args.project or default_project(args.data)
    settings = settings_of(project, {name: getattr(args, name) for name in KEPT})
    if args.oracle is not None:
        from linkwise.labelling.oracle_run import label_by_oracle

        return label_by_oracle(args.data, project, settings, command=args.oracle, **limits)
    if args.table is None and args.terminal:
        from linkwise.terminal.start import label_in_terminal

        return label_in_terminal(args.data, project, settings, who=args.who)
    if args.table is None:
        from linkwise.app.start import label_in_browser

        where = {name: getattr(args, name) for name in ("host", "port", "token")}
        where |= {"who": args.who, "browser": args.browser}
        return label_in_browser(args.data, project, settings, **where)
    items, journal = open_project(args.data, project, settings, who=args.who)
    with journal:
        for note in items.notes(args.data):
            say("note", note)
        print(import_table(args.table, items, journal), file=sys.stderr)
    return 0


def export(args: Namespace) -> int:
    """Write the links, the labels, the log, or the agreement of people to a table."""
    from linkwise.journal.exports import check_format
    from linkwise.labelling.project import export as write
    from linkwise.tables import check_output

    what = {"labels_of": args.labels, "log": args.log, "agreement": args.agreement}
    if args.output == "-":
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "table.csv")
            told = write(args.project, table, **what)
            write_bytes(table.read_bytes())
    else:
        refuse_inputs(args.output, args.project, args.labels)
        check_format(args.output)
        check_output(args.output, force=args.force, projects=[args.project])
        told = write(args.project, args.output, **what)
    print(f"{'stdout' if args.output == '-' else args.output}: {told}", file=sys.stderr)
    return 0


def segment(args: Namespace) -> int:
    """Segment an image, or the images of a folder, into regions by strokes."""
    from linkwise.journal import default_project
    from linkwise.segment.project import KEPT, segment_file, settings_of

    project = args.project or default_project(args.image)
    if args.output is None and args.strokes is not None:
        raise UsageError("--strokes needs -o FILE for the mask; without both, a page opens")
    if args.output is None and args.cutout is not None:
        raise UsageError("--cutout needs -o FILE.png for the region")
    if args.strokes is not None and args.project is not None:
        raise UsageError("strokes come from --strokes or from --project; name one of them")
    several = os.path.isdir(args.image)
    if several and args.strokes is not None:
        raise UsageError("--strokes are lines on one image; name that image instead of a folder")
    given = {name: getattr(args, name) for name in KEPT}
    if args.strokes is not None:
        project, settings = None, given
    else:
        settings = settings_of(project, given)
    if args.output is not None and several:
        return write_folder(args, project, settings)
    if args.output is not None:
        return write_regions(args, segment_file, project, settings)
    from linkwise.app.start import segment_in_browser

    where = {name: getattr(args, name) for name in ("host", "port", "token")}
    return segment_in_browser(args.image, project, settings, browser=args.browser, **where)


def write_folder(args, project, settings):
    """Write the masks of a folder of images to another folder."""
    from linkwise.segment.project import segment_folder

    output = Path(args.output)
    if output.exists() and not output.is_dir():
        raise UsageError(f"{output} is a file; the masks of several images go to a folder")
    if output.resolve() == Path(args.image).resolve():
        raise UsageError(f"{output} has the images; name another folder for the masks")
    if output.exists() and any(output.iterdir()) and not args.force:
        raise FileExistsError(f"{output} is not empty; name another folder, or add --force")
    print(
        segment_folder(
            args.image, args.output, project=project, cutout=args.cutout, settings=settings
        ),
        file=sys.stderr,
    )
    return 0


def write_regions(args, write, project, settings):
    """Write the mask of an image without a page."""
    from linkwise.segment.masks import check_format
    from linkwise.tables import check_output

    refuse_inputs(args.output, args.image, args.strokes, project)
    check_format(args.output, cutout=args.cutout is not None)
    check_output(args.output, force=args.force, projects=[project] if project else [])
    if project is not None and args.project is None and not os.path.exists(project):
        project = None
    what = {"strokes": args.strokes, "project": project, "cutout": args.cutout}
    told = write(args.image, args.output, settings=settings, **what)
    print(told, file=sys.stderr)
    return 0
