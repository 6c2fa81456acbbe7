"""The files of a page, served from app/static.

A page has a folder of its own and uses the folder `shared`. Its routes are made from what these two
folders hold, so no path of a request ever becomes a path on the disk, and a new module or
style sheet needs no change here.
"""

from importlib.resources import files
from pathlib import PurePath
from string import Template

FOLDER = files("linkwise.app") / "static"
SHARED = "shared"
KINDS = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def names(page):
    """Return the files that a page may request, as sorted texts "folder/name"."""
    return sorted(name for folder in (SHARED, page) for name in _listed(FOLDER / folder, folder))


def _listed(folder, path):
    for entry in folder.iterdir():
        name = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _listed(entry, name)
        elif PurePath(entry.name).suffix in KINDS:
            yield name


def document(page):
    """Return the HTML of a page: the shared frame around its own tools and main part."""
    parts = {
        part: (FOLDER / page / f"{part}.html").read_text("utf-8") for part in ("tools", "main")
    }
    frame = (FOLDER / SHARED / "page.html").read_text("utf-8")
    return Template(frame).substitute(parts, page=page)


def static_routes(page):
    """Return the routes of a page's files: its HTML at /, the rest at /static/NAME.

    Parameters
    ----------
    page : str, the folder of the page in app/static
    """
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route

    def html(request):
        return HTMLResponse(document(page))

    def route(name):
        def handler(request):
            return Response((FOLDER / name).read_bytes(), media_type=KINDS[PurePath(name).suffix])

        return Route(f"/static/{name}", handler)

    return [Route("/", html), *map(route, names(page))]
