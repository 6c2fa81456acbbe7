"""The requests of the label page.

    GET   /api/state                 all the page shows besides points, as JSON
    GET   /api/events                the same as server-sent events, whenever something changes
    GET   /api/map, labels, links    float32 (n, 2), int32 (n,), int32 (m, 3): little-endian bytes
    GET   /api/rows?q=&cluster=&from=&count=    rows by a text in them, or ?rows=1,2,3
    GET   /api/image/ROW             the image of a row
    GET   /api/export/WHAT.SUFFIX    links, labels or log
    POST  /api/answer, undo, redo, correct, count, mode     commands, JSON; answered with the state
    POST  /api/import?name=          a table

Rows are whole numbers. A command carries an id of its sender, and sent again is the same command.
"""

import asyncio
import json
from pathlib import Path

import numpy as np
from starlette.responses import JSONResponse, Response

from linkwise.app.display import FIELDS, find, lines, listed, view
from linkwise.app.news import event_route
from linkwise.app.server import api_routes
from linkwise.app.static_files import static_routes
from linkwise.labelling.images import image_file, kind_of

FILES = ("/api/import",)
ROWS = 200  # of a list


async def command(request, *names, **optional):
    """Return what a POST says: an object with these names."""
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
    return body


def number(request, name, default, high):
    """Return a whole number of the query, in 0..high."""
    text = request.query_params.get(name)
    if text is None or text == "":
        return default
    if not (text.isascii() and text.isdecimal() and len(text) < 12 and int(text) <= high):
        raise ValueError(f"{name} must be a whole number in 0..{high}")
    return int(text)


def array(values, dtype, version=0):
    """Return numbers as little-endian bytes."""
    raw = np.ascontiguousarray(values, dtype=np.dtype(dtype).newbyteorder("<")).tobytes()
    return Response(raw, media_type="application/octet-stream", headers={"X-Version": str(version)})


def label_routes(hub):
    """Return the routes of the label page of a Hub."""

    async def state(request):
        return JSONResponse(view(hub))

    async def xy(request):
        found = np.zeros((0, 2)) if hub.xy is None else hub.xy
        return array(found, np.float32, hub.map_version)

    async def labels(request):
        found = np.zeros(0) if hub.labels is None else hub.labels
        return array(found, np.int32, hub.labels_version)

    async def links(request):
        return array(lines(hub), np.int32, hub.state.n_events)

    async def rows(request):
        query = request.query_params
        start, count = number(request, "from", 0, hub.n), number(request, "count", 50, ROWS)
        if "rows" in query:
            wanted = query["rows"].split(",")[:ROWS] if query["rows"] else []
            bad = [w for w in wanted if not (w.isascii() and w.isdecimal() and len(w) < 12)]
            if bad or any(int(w) >= hub.n for w in wanted):
                raise ValueError(f"rows must be row numbers in 0..{hub.n - 1}, with commas")
            found, total = [int(w) for w in wanted], len(wanted)
        else:
            cluster = number(request, "cluster", None, hub.n)
            text = query.get("q", "")[:500]
            found, total = await asyncio.to_thread(find, hub, text, cluster, start, count)
        names = hub.items.names[:FIELDS]
        return JSONResponse({"rows": listed(hub, found), "total": total, "names": names})

    async def image(request):
        row = request.path_params["row"]
        if hub.items.image is None or row >= hub.n:
            return JSONResponse({"error": "there is no such image"}, status_code=404)
        path = image_file(hub.items.cells[row][hub.items.image], hub.data)
        raw = await asyncio.to_thread(Path(path).read_bytes)
        kind = kind_of(raw)
        if kind is None:
            raise ValueError("the file is no image")
        return Response(raw, media_type=kind)

    async def export(request):
        what, suffix = request.path_params["what"], f".{request.path_params['suffix']}"
        if what not in ("links", "labels", "log"):
            return JSONResponse({"error": "links, labels or log"}, status_code=404)
        raw = await asyncio.to_thread(hub.exported, what, suffix)
        headers = {"Content-Disposition": f'attachment; filename="{what}{suffix}"'}
        return Response(raw, media_type="application/octet-stream", headers=headers)

    async def imported(request):
        name = request.query_params.get("name", "")
        text = await hub.imported(name, await request.body())
        return JSONResponse(view(hub) | {"said": text})

    async def answer(request):
        body = await command(request, "a", "b", "same", "client")
        event = await hub.answer(**body)
        return JSONResponse(view(hub) | {"event": event.seq})

    def step(kind):
        async def handler(request):
            body = await command(request, "client", event=None)
            if not (body["event"] is None or type(body["event"]) is int):
                raise ValueError("event must be null or the number of an event")
            event = await hub.write(
                getattr(hub.journal, kind), body["event"], why=f"{kind} on the page",
                client=body["client"],
            )  # fmt: skip
            return JSONResponse(view(hub) | {"event": event.seq})

        return handler

    async def correct(request):
        body = await command(request, "action", "options", "client", labels=None)
        if not isinstance(body["options"], dict) or not isinstance(body["action"], str):
            raise ValueError("action must be a text, options an object")
        event = await hub.correct(body["action"], body["options"], body["labels"], body["client"])
        return JSONResponse(view(hub) | {"event": event.seq})

    async def count(request):
        await hub.set_count((await command(request, "k"))["k"])
        return JSONResponse(view(hub))

    async def mode(request):
        await hub.set_mode((await command(request, "mode"))["mode"])
        return JSONResponse(view(hub))

    gets = {
        "state": state, "events": event_route(hub, lambda: view(hub)), "map": xy, "labels": labels,
        "links": links, "rows": rows, "image/{row:int}": image, "export/{what}.{suffix}": export,
    }  # fmt: skip
    posts = {
        "answer": answer, "undo": step("undo"), "redo": step("redo"), "correct": correct,
        "count": count, "mode": mode, "import": imported,
    }  # fmt: skip
    return [*static_routes("label"), *api_routes(gets, posts)]
