"""Labelling on a page, from its start to its end: `linkwise label`."""

import os
import sys

from linkwise.app.security import check_host
from linkwise.app.server import need_starlette, serve
from linkwise.labelling.project import open_project
from linkwise.tables.ids import recognised_note


def label_in_browser(data, path, settings, *, host=None, port=None, token=None, browser=True):
    """Serve the page of a data file and its project until Ctrl-C; return the exit code."""
    need_starlette()
    check_host(host or "127.0.0.1", token)
    from linkwise.app.hub import Hub
    from linkwise.app.routes import FILES, label_routes

    items, journal = open_project(data, path, settings, least=1)
    if items.recognised is not None:
        print(recognised_note(data, items.recognised), file=sys.stderr)
    with journal:
        hub = Hub(items, journal, data=data, k=settings["k"], seed=settings["seed"] or 0)
        code = serve(
            label_routes(hub), project=path, title=os.path.basename(path), host=host, port=port,
            token=token, browser=browser, files=FILES, page=hub,
        )  # fmt: skip
    counts = ", ".join(f"{number} {word}" for word, number in journal.state.counts.items())
    print(f"Saved in {path}: {counts}.", file=sys.stderr)
    return code
