"""A page of given routes, served to one person on this machine.

`serve` binds a port, prints the address with its launch token, opens the browser, and runs until
Ctrl-C. `application` returns the ASGI application alone, for tests. A page is a list of Starlette
routes.
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

from linkwise.app.security import Access, Guard, Kept, TooLong, check_host, keep, recall
from linkwise.exceptions import MissingExtra
from linkwise.journal import NotSaved


def need_starlette():
    """Refuse to work without the extra."""
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
    """Return the lifespan of a server, which opens a page at its start and closes it at its end."""

    @asynccontextmanager
    async def lifespan(app):
        await page.open()
        try:
            yield
        finally:
            await page.close()

    return lifespan


def application(routes, access, *, files=(), lifespan=None):
    """Return the ASGI application of routes behind an Access.

    A handler that raises ValueError or MissingExtra is answered with 400 and the message, one that
    raises NotSaved with 503, and a body that is too long with 413; all as JSON {"error": ...}. The
    browser learns nothing else of an error.

    Parameters
    ----------
    routes : list of starlette Route
    access : Access
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
        text = "An error occurred in the program; see its terminal."
        return JSONResponse({"error": text}, status_code=500)

    handlers: Any = {
        ValueError: refused(400),
        MissingExtra: refused(400),
        NotSaved: refused(503),
        TooLong: refused(413),
        Exception: failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    return Guard(app, access, files=files)


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


def open_access(project, *, host=None, port=None, token=None):
    """Return (Access, socket) for a project: the key of the last run, and its port if free."""
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
            "linkwise: warning: the key of the page could not be saved; after a restart, open the "
            "page by its new address",
            file=sys.stderr,
        )
    return Access(number, host=host, key=kept.key, token=token), sock


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
    host, port, token : where to listen, and a token if other machines may come; see `Access`
    browser : bool, open the page in the user's browser
    page : what is served, with async open() and close(), or None; close() ends open streams, and
        may be called twice
    files : paths whose POST bodies are files and not JSON
    out : file to print the address to, by default stdout
    """
    need_starlette()
    import uvicorn

    access, sock = open_access(project, host=host, port=port, token=token)
    app = application(routes, access, files=files, lifespan=page and life_of(page))
    address = access.url(access.launch_path)
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
                await page.close()  # the server would wait for open streams, then cut them
            await super().shutdown(sockets)

    server = Server(config)
    log = logging.getLogger("uvicorn.error")
    log.addFilter(lambda _: not server.should_exit)  # Ctrl-C cuts connections; that is expected
    try:
        server.run(sockets=[sock])
    except KeyboardInterrupt:
        pass
    finally:
        sock.close()
    return 0
