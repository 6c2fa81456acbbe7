"""A page from its start to its end: `linkwise label`, `linkwise segment`."""

import sys

from linkwise._wording import counted
from linkwise.app.security import check_host
from linkwise.app.server import need_starlette, serve


def label_in_browser(
    data, path, settings, *, who=None, host=None, port=None, token=None, browser=True
):
    """Serve the page of a data file and its project until Ctrl-C; return the exit code."""
    _check(host, token)
    from linkwise.app.label_page import LabelPage
    from linkwise.app.label_routes import FILES, label_routes
    from linkwise.labelling.project import open_project

    items, journal = open_project(data, path, settings, least=1, who=who)
    for note in items.notes(data):
        print(note, file=sys.stderr)
    with journal:
        page = LabelPage(items, journal, data=data, k=settings["k"], seed=settings["seed"] or 0)
        where = {"host": host, "port": port, "token": token, "browser": browser}
        code = serve(label_routes(page), project=path, page=page, files=FILES, **where)
    counts = ", ".join(f"{number} {word}" for word, number in journal.state.counts.items())
    print(f"Saved in {path}: {counts}.", file=sys.stderr)
    return code


def segment_in_browser(image, path, settings, *, host=None, port=None, token=None, browser=True):
    """Serve the page of an image or a folder of them until Ctrl-C; return the exit code."""
    _check(host, token)
    from linkwise.app.segment_page import SegmentPage, segment_routes
    from linkwise.segment.project import open_project

    album, journal = open_project(image, path, settings)
    with journal:
        page = SegmentPage(album, journal, settings=settings)
        where = {"host": host, "port": port, "token": token, "browser": browser}
        code = serve(segment_routes(page), project=path, page=page, **where)
    print(f"Saved in {path}: {counted(len(journal.state.strokes), 'stroke')}.", file=sys.stderr)
    return code


def _check(host, token):
    """Refuse what cannot be served before any data are read."""
    need_starlette()
    check_host(host or "127.0.0.1", token)
