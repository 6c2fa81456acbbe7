"""The requests of the segment page.

GET   /api/state              all the page shows besides pixels, as JSON
GET   /api/events             the same as server-sent events, whenever something changes
GET   /api/picture            the picture, as a jpeg of a size for the screen
GET   /api/mask               bytes (h, w) at the working size: the value of each region
GET   /api/export/NAME        mask.png, mask.npy at full size; strokes.json
POST  /api/stroke, undo, redo, count     commands, JSON; answered with the state
"""

import asyncio

from starlette.responses import JSONResponse, Response

from linkwise.app.requests import BINARY, command, file_response, step_route
from linkwise.app.server import api_routes
from linkwise.app.static_files import static_routes
from linkwise.app.updates import event_route

EXPORTS = ("mask.png", "mask.npy", "strokes.json")


def segment_routes(page):
    """Return the routes of a SegmentPage."""

    async def state(request):
        return JSONResponse(page.view())

    async def picture(request):
        return Response(await asyncio.to_thread(page.picture), media_type="image/jpeg")

    async def mask(request):
        found = await asyncio.to_thread(page.regions)
        return Response(found.mask.tobytes(), media_type=BINARY)

    async def export(request):
        name = request.path_params["name"]
        if name not in EXPORTS:
            return JSONResponse({"error": f"one of {', '.join(EXPORTS)}"}, status_code=404)
        raw = await asyncio.to_thread(page.exported, name)
        return file_response(raw, name)

    async def stroke(request):
        body = await command(request, "colour", "points", "width", "client")
        client = body.pop("client")
        await page.write(page.draw, body, client)
        return JSONResponse(page.view())

    async def count(request):
        body = await command(request, "k", client=None)
        await page.write(page.count, body["k"])
        return JSONResponse(page.view())

    gets = {
        "state": state, "events": event_route(page, page.view), "picture": picture, "mask": mask,
        "export/{name}": export,
    }  # fmt: skip
    posts = {
        "stroke": stroke,
        "undo": step_route(page.undo, page.view),
        "redo": step_route(page.redo, page.view),
        "count": count,
    }
    return [*static_routes("segment"), *api_routes(gets, posts)]
