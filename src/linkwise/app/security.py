"""Who may request what: checked on every request, before any handler.

A page on this machine can be reached by every other page in the same browser, and by every program
of every user. A request is accepted if all of this holds:

    Host             a name of this server; another one means that a foreign name resolves to it
    Origin           absent, or ours; a POST must have it
    Sec-Fetch-Site   absent, same-origin, or none (typed, or opened by a program) for a GET
    method           GET or POST
    cookie           the key, of 256 bits, which scripts in the browser cannot read
    body             JSON, or a file for an import, of a limited length

A browser gets the key for a launch token, which works once. The key stays the same when the server
is started again for the same project, so an open page goes on; it is stored in a folder that only
this user can read.
"""

import hmac
import ipaddress
import json
import os
import re
import secrets
import socket
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

BODY = 1 << 20  # bytes of a command: a selection of 100,000 rows fits
FILE = 32 << 20  # bytes of a file: links and logs of millions of rows are imported by the CLI
LEAST_TOKEN = 16  # characters, too many to guess
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Kept(NamedTuple):
    """What is stored for the next start of a server: its key and its port."""

    key: str
    port: int


def state_folder():
    """Return the folder where programs of the user store their state."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "linkwise"


def _place(project):
    name = sha256(os.path.realpath(project).encode(errors="surrogateescape")).hexdigest()[:32]
    return state_folder() / f"{name}.json"


def recall(project):
    """Return the stored key and port of a project, or a new key and port 0."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(_place(project).read_text())
        key, port = kept["key"], kept["port"]
        if re.fullmatch(r"[0-9a-f]{64}", key) and 0 < port < 65536:
            return Kept(key, port)
    return Kept(secrets.token_hex(32), 0)


def keep(project, kept):
    """Store a key and a port, readable by this user alone; tell whether that worked."""
    place = _place(project)
    beside = place.with_suffix(f".{secrets.token_hex(8)}")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(kept._asdict(), file)
        os.replace(beside, place)
    except OSError:
        return False
    return True


def is_loopback(host):
    """Tell whether a host is this machine alone."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def check_host(host, token):
    """Refuse to serve other machines without a good token."""
    if token is not None and len(token) < LEAST_TOKEN:
        raise ValueError(f"--token must have {LEAST_TOKEN} characters or more; got {len(token)}")
    if not is_loopback(host) and token is None:
        raise ValueError(
            f"--host {host} is open to other machines; give a --token that they must show, or "
            "leave --host out"
        )


def split_host(value):
    """Return (name, port) of a Host header, the port 80 if it has none, or None if it is none."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?", value)
    return found and (found[1].lower().strip("[]"), int(found[2] or 80))


class Access:
    """The keys of a server, and the checks of a request.

    Parameters
    ----------
    port : int
    host : str, the address it listens on
    key : str, the value of the cookie
    token : str or None, a token that always works; None: one that works once is made
    """

    def __init__(self, port, *, host="127.0.0.1", key, token=None):
        self.port, self.host, self.key = port, host, key
        self.lasting = token
        self._single = None if token else secrets.token_urlsafe(32)
        self.cookie = f"linkwise_{port}"  # browsers send cookies to all ports of a host

    @property
    def launch_path(self):
        """The path that gives a browser the key."""
        return f"/start?token={self.lasting or self._single}"

    def url(self, path="/"):
        """Return the address of a path, as it is printed for the user."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}{path}"

    def is_ours(self, host):
        """Tell whether a Host header names this server."""
        found = split_host(host)
        if not found or found[1] != self.port:
            return False
        name = found[0]
        if name in {self.host.lower(), "localhost"} or is_loopback(name):
            return True
        if self.host not in ("0.0.0.0", "::"):
            return False
        with suppress(ValueError):  # a number always means the same machine, a name may not
            return bool(ipaddress.ip_address(name))
        return name in {socket.gethostname().lower(), socket.getfqdn().lower()}

    def admits(self, cookies):
        """Tell whether a Cookie header holds the key."""
        pairs = [part.strip().partition("=") for part in cookies.split(";")]
        return any(
            name == self.cookie and hmac.compare_digest(value.encode(), self.key.encode())
            for name, _, value in pairs
        )

    def take(self, token):
        """Tell whether a token is right; one that works once is used up then."""
        right = self.lasting or self._single
        if not right or not hmac.compare_digest(token.encode(), right.encode()):
            return False
        self._single = None
        return True

    def refusal(self, scope, headers):
        """Return (status, sentence) of a request that is refused, or None.

        Parameters
        ----------
        scope : dict, the ASGI scope
        headers : list of (name, value), texts, names in lower case
        """

        def all_of(name):
            return [value for key, value in headers if key == name]

        hosts, origins, sites = (all_of(name) for name in ("host", "origin", "sec-fetch-site"))
        if len(hosts) != 1 or not self.is_ours(hosts[0]):
            return 421, "This server does not have that name."
        if scope["method"] not in ("GET", "POST"):
            return 405, "Only GET and POST are known here."
        if len(origins) > 1 or any(origin != f"http://{hosts[0]}" for origin in origins):
            return 403, "The request comes from another page."
        posts = scope["method"] == "POST"
        if posts and not origins:
            return 403, "A POST must say which page it comes from (Origin)."
        if any(
            site not in (("same-origin",) if posts else ("same-origin", "none")) for site in sites
        ):
            return 403, "The request comes from another page."
        if scope["path"] != "/start" and not self.admits("; ".join(all_of("cookie"))):
            return 401, "Access denied; open the address that the program printed when it started."
        return None


def length_of(headers):
    """Return the Content-Length of headers (name, value); None without one, -1 for a bad one."""
    found = [value for name, value in headers if name == "content-length"]
    if not found:
        return None
    return int(found[0]) if len(found) == 1 and re.fullmatch(r"\d{1,18}", found[0]) else -1


class Guard:
    """An ASGI application with access control.

    Parameters
    ----------
    app : ASGI application
    access : Access
    files : paths whose POST bodies are files; all others are JSON
    """

    def __init__(self, app, access, *, files=()):
        self.app, self.access, self.files = app, access, frozenset(files)

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope["headers"]]
        refused = self.access.refusal(scope, headers) or self._wrong_body(scope, headers)
        if refused:
            await say(send, *refused)
        elif scope["path"] == "/start":
            await self._start(scope, headers, send)
        else:
            await self._pass(scope, receive, send)

    def _limit(self, scope):
        return FILE if scope["path"] in self.files else BODY

    def _wrong_body(self, scope, headers):
        if scope["method"] != "POST":
            return None
        kinds = [value.split(";")[0].strip().lower() for name, value in headers
                 if name == "content-type"]  # fmt: skip
        wanted = "application/octet-stream" if scope["path"] in self.files else "application/json"
        if kinds != [wanted]:
            return 415, f"The body must be {wanted}."
        length = length_of(headers)
        if length == -1:
            return 400, "The length of the body is not a number."
        if (length or 0) > self._limit(scope):
            return 413, f"The body is longer than {self._limit(scope)} bytes."
        return None

    async def _start(self, scope, headers, send):
        tokens = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=5)
        token = (tokens.get("token") or [""])[0]
        cookies = "; ".join(value for name, value in headers if name == "cookie")
        if self.access.admits(cookies):
            await say(send, 303, "", {"Location": "/"})
        elif scope["method"] == "GET" and self.access.take(token):
            cookie = f"{self.access.cookie}={self.access.key}; HttpOnly; SameSite=Strict; Path=/"
            await say(send, 303, "", {"Location": "/", "Set-Cookie": cookie})
        else:
            await say(send, 403, "This address was used already, or is not right. Start the "
                      "program again for a new one.")  # fmt: skip

    async def _pass(self, scope, receive, send):
        """Pass a request on; count the bytes of its body, and add our headers to the response."""
        read, limit = 0, self._limit(scope)

        async def counted():
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise TooLong(f"The body is longer than {limit} bytes.")
            return message

        async def with_headers(message):
            if message["type"] == "http.response.start":
                own = {name.lower() for name in HEADERS}
                rest = [h for h in message["headers"] if h[0].lower().decode() not in own]
                message = message | {"headers": rest + _encoded(HEADERS)}
            await send(message)

        try:
            await self.app(scope, counted, with_headers)
        except TooLong as error:
            await say(send, 413, str(error))


class TooLong(Exception):
    """A body is longer than its limit."""


def _encoded(headers):
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]


async def say(send, status, text, headers=None):
    """Send a response of plain text."""
    body = text.encode()
    own = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
    every = HEADERS | own | (headers or {})
    await send({"type": "http.response.start", "status": status, "headers": _encoded(every)})
    await send({"type": "http.response.body", "body": body})
