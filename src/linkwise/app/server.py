"""A page of given routes, served to one person on this machine.

`serve` is the whole of it: it binds a port, prints the address with its launch token, opens the
browser, and runs until Ctrl-C. `application` makes the same for tests. A page is a list of
Starlette routes.
"""

import errno
import logging
import os
import socket
import sys
import webbrowser
from contextlib import asynccontextmanager
from threading import Timer
from typing import Any

from linkwise.app.security import Door, Guard, Kept, check_host, keep, recall
from linkwise.exceptions import MissingExtra
from linkwise.journal import NotSaved


def need_starlette():
    """Refuse in one line to work without the extra."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra("starlette and uvicorn", "app") from None


def api_routes(gets, posts):
    """Return routes at /api/PATH of handlers {path: handler}, for GET and for POST."""
    from starlette.routing import Route

    return [
        Route(f"/api/{path}", handler, methods=[method])
        for method, handlers in (("GET", gets), ("POST", posts))
        for path, handler in handlers.items()
    ]


def life_of(page):
    """Return the lifespan of a server: a page with async open() and close() lives as long."""

    @asynccontextmanager
    async def lifespan(app):
        await page.open()
        try:
            yield
        finally:
            await page.close()

    return lifespan


def application(routes, door, *, files=(), lifespan=None):
    """Return the ASGI application of routes behind a Door.

    A handler that raises ValueError or MissingExtra is answered with 400 and the sentence, one that
    raises NotSaved with 503; all as JSON {"error": ...}. Nothing else of an error is told to the
    browser.

    Parameters
    ----------
    routes : list of starlette Route
    door : Door
    files : paths whose POST bodies are files and not JSON
    lifespan : function(app) -> async context manager, or None
    """
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse

    def refused(status):
        def handler(request, error):
            return JSONResponse({"error": str(error)}, status_code=status)

        return handler

    def failed(request, error):
        text = "Something went wrong in the program; its terminal says what."
        return JSONResponse({"error": text}, status_code=500)

    handlers: Any = {
        ValueError: refused(400),
        MissingExtra: refused(400),
        NotSaved: refused(503),
        Exception: failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return Guard(app, door, files=files)


def listen(host, port):
    """Return a socket that listens; port None means any."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    if sys.platform != "win32":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port or 0))
        sock.listen(128)
    except OSError as error:
        sock.close()
        remedy = "is taken; name another by --port" if error.errno == errno.EADDRINUSE else (
            f"cannot be used ({error.strerror}); name another by --host and --port"
        )  # fmt: skip
        raise OSError(f"{host}, port {port or 'any'}, {remedy}") from error
    return sock


def open_door(project, *, host=None, port=None, token=None):
    """Return (Door, socket) for a project: the key, and if free the port, of the last time."""
    host = host or "127.0.0.1"
    check_host(host, token)
    kept = recall(project)
    try:
        sock = listen(host, port or kept.port)
    except OSError:
        if port or not kept.port:
            raise
        sock = listen(host, None)
    number = sock.getsockname()[1]
    if not keep(project, Kept(kept.key, number)):
        print(
            "linkwise: warning: the key of the page could not be kept; after a restart the page "
            "must be opened again by its new address",
            file=sys.stderr,
        )
    return Door(number, host=host, key=kept.key, token=token), sock


def serve(
    routes,
    *,
    project,
    host=None,
    port=None,
    token=None,
    browser=True,
    page=None,
    files=(),
    out=None,
):
    """Serve a page until Ctrl-C; return the exit code.

    Parameters
    ----------
    routes : list of starlette Route; see `static_files`
    project : str, the project file; key and port are kept for it
    host, port, token : where to listen, and a token if other machines may come; see `Door`
    browser : bool, open the page in the user's browser
    page : what is served, with async open() and close(), or None; close() ends open streams, and
        may be called twice
    files : paths whose POST bodies are files and not JSON
    out : file to print the address to, by default stdout
    """
    need_starlette()
    import uvicorn

    door, sock = open_door(project, host=host, port=port, token=token)
    app = application(routes, door, files=files, lifespan=page and life_of(page))
    address = door.url(door.launch_path)
    print(
        f"{os.path.basename(project)}: {address}\nCtrl-C ends it; every answer is saved at once.",
        file=out,
        flush=True,
    )
    if browser:
        timer = Timer(0.3, webbrowser.open, [address])
        timer.daemon = True
        timer.start()
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        ws="none",
        lifespan="on",
    )

    class Server(uvicorn.Server):
        async def shutdown(self, sockets=None):
            if page is not None:
                await page.close()  # else open streams would be waited for, and then cut
            await super().shutdown(sockets)

    server = Server(config)
    log = logging.getLogger("uvicorn.error")
    log.addFilter(lambda _: not server.should_exit)  # what is cut off by a Ctrl-C is no news
    try:
        server.run(sockets=[sock])
    except KeyboardInterrupt:
        pass
    finally:
        sock.close()
    return 0
