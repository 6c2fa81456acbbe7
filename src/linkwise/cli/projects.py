"""The commands around a project: label, export, segment."""

import os
import sys

from linkwise.cli.output import UsageError


def label(args):
    """Ask about pairs of rows and keep the answers."""
    from linkwise.journal import default_project
    from linkwise.labelling.project import KEPT, import_table, open_project, settings_of

    if args.data == "-":
        raise UsageError("DATA is -, but standard input is where answers come from; name a file")
    if args.terminal and (args.host or args.port or args.token or not args.browser):
        raise UsageError("--host, --port, --token, --no-browser are for the page, not --terminal")
    project = args.project or default_project(args.data)
    settings = settings_of(project, {name: getattr(args, name) for name in KEPT})
    if args.table is None and args.terminal:
        from linkwise.terminal.start import label_in_terminal

        return label_in_terminal(args.data, project, settings)
    if args.table is None:
        from linkwise.app.label_page import label_in_browser

        where = {name: getattr(args, name) for name in ("host", "port", "token")}
        return label_in_browser(args.data, project, settings, browser=args.browser, **where)
    items, journal = open_project(args.data, project, settings)
    with journal:
        print(import_table(args.table, items, journal), file=sys.stderr)
    return 0


def export(args):
    """Write the links, the labels or the log of a project to a table."""
    from linkwise.journal.exports import check_format
    from linkwise.labelling.project import export as write
    from linkwise.tables import check_output

    if os.path.realpath(args.output) in (
        os.path.realpath(p) for p in (args.project, args.labels) if p
    ):
        raise UsageError(f"-o {args.output} is what is read; name another file")
    check_format(args.output)
    check_output(args.output, force=args.force, projects=[args.project])
    print(write(args.project, args.output, labels_of=args.labels, log=args.log), file=sys.stderr)
    return 0


def segment(args):
    """Cut a picture into regions by strokes drawn on it."""
    from linkwise.journal import default_project
    from linkwise.segment.project import KEPT, segment_file, settings_of

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
    check_output(args.output, force=args.force, projects=[project] if project else [])
    if project is not None and args.project is None and not os.path.exists(project):
        project = None
    told = write(args.image, args.output, strokes=args.strokes, project=project, settings=settings)
    print(told, file=sys.stderr)
    return 0
