"""The page of a picture: `linkwise segment`.

    GET   /api/state              all the page shows besides pixels, as JSON
    GET   /api/events             the same as server-sent events, whenever something changes
    GET   /api/picture            the picture, as a jpeg of a size for the screen
    GET   /api/mask               bytes (h, w) at the working size: the value of each region
    GET   /api/export/NAME        mask.png, mask.npy at full size; strokes.json
    POST  /api/stroke, undo, redo, count     commands, JSON; answered with the state

The journal says which strokes count, and the regions follow from them alone. Strokes are polylines
in pixels of the full-size picture.
"""

import asyncio
import io
import json
import os
import sys
from threading import Lock
from typing import Any

from starlette.responses import JSONResponse, Response

from linkwise.app.news import Watched, event_route
from linkwise.app.routes import command
from linkwise.app.security import check_host
from linkwise.app.server import api_routes, serve
from linkwise.app.static_files import static_routes
from linkwise.segment.colour import working_shape
from linkwise.segment.masks import PALETTE, encoded
from linkwise.segment.picture import pillow
from linkwise.segment.project import open_project, segmenter_of, strokes_of
from linkwise.segment.strokes import COLOURS, checked_stroke, values_of

SCREEN = 3_000_000  # pixels of the picture on the page
EXPORTS = ("mask.png", "mask.npy", "strokes.json")


class Easel(Watched):
    """A picture while it is drawn on: the journal, the segmenter, and what the page shows.

    Parameters
    ----------
    rgb : uint8 array (height, width, 3)
    journal : Journal, open
    name : str, what the picture is called
    settings : dict with "regions" and "superpixels", None for the default
    """

    def __init__(self, rgb, journal, *, name, settings):
        self.journal, self.name, self.k = journal, name, settings["regions"]
        self.segmenter = segmenter_of(rgb, settings)
        self._mutex = Lock()
        self._told: Any = (None, None)  # what regions were asked for, and the Regions
        self._picture: bytes | None = None

    def strokes(self):
        """Return the strokes that count."""
        return strokes_of(self.journal.state, self.segmenter.shape, self.journal.path)

    def n_regions(self, strokes):
        """Return how many regions there are: as many as asked for, and one for each colour."""
        return None if self.k is None else max(self.k, len({s.colour for s in strokes}))

    def regions(self):
        """Return the Regions of the strokes that count."""
        with self._mutex:
            strokes = self.strokes()
            asked = strokes, self.n_regions(strokes)
            if self._told[0] != asked:
                found = self.segmenter.regions(strokes, n_regions=asked[1])
                self._told = asked, found
            return self._told[1]

    def view(self):
        """Return what the page shows besides pixels."""
        state, (height, width) = self.journal.state, self.segmenter.shape
        strokes = self.strokes()
        return {
            "name": self.name,
            "width": width,
            "height": height,
            "working": list(self.segmenter.working_shape),
            "pieces": len(self.segmenter.pieces.size),
            "version": [state.n_events, self.k or 0],
            "k": self.k,
            "strokes": [stroke._asdict() for stroke in strokes],
            "values": values_of([stroke.colour for stroke in strokes]),
            "undo": any(e.kind == "stroke" for e in state.active),
            "redo": bool(state.undone),
            "palette": PALETTE,
            "project": os.path.basename(self.journal.path),
        }

    def picture(self):
        """Return the picture for the screen, the bytes of a jpeg."""
        if self._picture is None:
            Image, out = pillow(), io.BytesIO()
            height, width = working_shape(self.segmenter.shape, SCREEN)
            photo = Image.fromarray(self.segmenter.rgb)
            if photo.size != (width, height):
                photo = photo.resize((width, height), Image.Resampling.BOX)
            photo.save(out, "JPEG", quality=90)
            self._picture = out.getvalue()
        return self._picture

    def exported(self, name):
        """Return the bytes of a file to take away."""
        strokes = self.strokes()
        if name == "strokes.json":
            return json.dumps([stroke._asdict() for stroke in strokes], indent=1).encode()
        mask = self.segmenter.mask(strokes, n_regions=self.n_regions(strokes))
        return encoded(mask, os.path.splitext(name)[1])

    def draw(self, body, client):
        """Write down a stroke."""
        stroke = checked_stroke(body, self.segmenter.shape)
        values_of([*(s.colour for s in self.strokes()), stroke.colour])
        return self.journal.stroke(*stroke, why="drawn on the page", client=client)

    def count(self, k):
        """Ask for k regions at least; None: one for each colour."""
        most = min(COLOURS, len(self.segmenter.pieces.size))
        whole = isinstance(k, int) and not isinstance(k, bool)
        if k is not None and not (whole and 1 <= k <= most):
            raise ValueError(f"k must be a whole number in 1..{most}, or null; got {k!r}")
        self.journal.configure(regions=k)
        self.k = k


def segment_routes(easel):
    """Return the routes of the page of an Easel."""

    async def state(request):
        return JSONResponse(easel.view())

    async def picture(request):
        return Response(await asyncio.to_thread(easel.picture), media_type="image/jpeg")

    async def mask(request):
        found = await asyncio.to_thread(easel.regions)
        return Response(found.mask.tobytes(), media_type="application/octet-stream")

    async def export(request):
        name = request.path_params["name"]
        if name not in EXPORTS:
            return JSONResponse({"error": f"one of {', '.join(EXPORTS)}"}, status_code=404)
        raw = await asyncio.to_thread(easel.exported, name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(raw, media_type="application/octet-stream", headers=headers)

    async def answered(work, *args, **named):
        await asyncio.to_thread(work, *args, **named)
        await easel.changed()
        return JSONResponse(easel.view())

    async def stroke(request):
        body = await command(request, "colour", "points", "width", "client")
        client = body.pop("client")
        return await answered(easel.draw, body, client)

    def step(kind):
        async def handler(request):
            client = (await command(request, "client"))["client"]
            work = getattr(easel.journal, kind)
            return await answered(work, why=f"{kind} on the page", client=client)

        return handler

    async def count(request):
        body = await command(request, "k", client=None)
        return await answered(easel.count, body["k"])

    gets = {
        "state": state, "events": event_route(easel, easel.view), "picture": picture, "mask": mask,
        "export/{name}": export,
    }  # fmt: skip
    posts = {"stroke": stroke, "undo": step("undo"), "redo": step("redo"), "count": count}
    return [*static_routes("segment"), *api_routes(gets, posts)]


def segment_in_browser(image, path, settings, *, host=None, port=None, token=None, browser=True):
    """Serve the page of an image and its project until Ctrl-C; return the exit code."""
    check_host(host or "127.0.0.1", token)
    rgb, journal = open_project(image, path, settings)
    with journal:
        easel = Easel(rgb, journal, name=os.path.basename(image), settings=settings)
        code = serve(
            segment_routes(easel), project=path, title=os.path.basename(path), host=host,
            port=port, token=token, browser=browser, page=easel,
        )  # fmt: skip
    print(f"Saved in {path}: {len(journal.state.strokes)} strokes.", file=sys.stderr)
    return code
