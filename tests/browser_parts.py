"""Parts of the tests in a browser: a server in a thread, and what goes wrong on a page."""

import contextlib
import threading

import pytest

pytest.importorskip("playwright.sync_api")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

import uvicorn

from benchmarks.page.browser import chromium

needs_chromium = pytest.mark.skipif(chromium() is None, reason="no Chromium")


def watch(page, faults, origin):
    """Add to faults what goes wrong on a page: errors, dialogs, requests to another origin."""

    def requested(request):
        if not request.url.startswith((origin, "blob:")):
            faults.append(f"foreign {request.url}")

    page.on("console", lambda m: m.type == "error" and faults.append(m.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: faults.append(f"dialog {dialog.message}"))
    page.on("request", requested)


@contextlib.contextmanager
def serving(app, sock):
    """Serve an application at a listening socket, in a thread of this process."""
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, lifespan="on")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(20)
        sock.close()
