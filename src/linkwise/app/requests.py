"""What both pages read from requests and send back."""

import hashlib
import json
from urllib.parse import quote

import numpy as np
from starlette.responses import JSONResponse, Response

BINARY = "application/octet-stream"

NAME = 80  # characters of the name of a person


async def command(request, *names, **optional):
    """Return the JSON object of a POST; it has these names, and may have the optional ones."""
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(body, dict):
        raise ValueError("the body must be a JSON object")
    unknown = [name for name in body if name not in names and name not in optional]
    missing = [name for name in names if name not in body]
    if unknown or missing:
        raise ValueError(f"expected {', '.join([*names, *optional])}")
    body = optional | body
    client = body.get("client")
    if client is not None and not (isinstance(client, str) and 8 <= len(client) <= 64):
        raise ValueError("client must be a text of 8 to 64 characters")
    who = body.get("who")
    if who is not None and not (isinstance(who, str) and 1 <= len(who.strip()) <= NAME):
        raise ValueError(f"who must be null or a name of 1 to {NAME} characters")
    return body


def number(request, name, default, high):
    """Return a whole number of the query string, in 0..high."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and int(text) <= high):
        raise ValueError(f"{name} must be a whole number in 0..{high}")
    return int(text)


def fingerprint(*parts):
    """Return 32 digits that tell texts or bytes from others.

    >>> fingerprint("a", "b") == fingerprint("ab")
    False
    """
    raw = [part.encode() if isinstance(part, str) else part for part in parts]
    sums = [hashlib.sha256(part).digest() for part in raw]
    return hashlib.sha256(b"".join(sums)).hexdigest()[:32]


def array_response(values, dtype, version=0):
    """Return the response with numbers as little-endian bytes."""
    raw = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()
    return Response(raw, media_type=BINARY, headers={"X-Version": str(version)})


def file_response(raw, name):
    """Return the response that a browser saves as a file."""
    called = quote(name, safe="", errors="replace")  # a name may have any character
    plain = called == name
    named = f'filename="{name}"' if plain else f"filename*=UTF-8''{called}"
    headers = {"Content-Disposition": f"attachment; {named}"}
    return Response(raw, media_type=BINARY, headers=headers)


def step_route(step, view, **optional):
    """Return the handler of an undo or a redo.

    Parameters
    ----------
    step : async function (event, client) -> Event; event is the number of one, or None: the last
    view : function () -> what the page shows, for JSON
    optional : what the request may have besides, with defaults; passed on to ``step``
    """

    async def handler(request):
        body = await command(request, "client", event=None, **optional)
        if not (body["event"] is None or type(body["event"]) is int):
            raise ValueError("event must be null or the number of an event")
        more = {name: body[name] for name in optional}
        event = await step(body["event"], body["client"], **more)
        return JSONResponse(view() | {"event": event.seq})

    return handler
