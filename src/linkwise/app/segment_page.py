"""An image while it is segmented on a page: the journal, the segmenter, and what is shown.

The journal says which strokes count, and the regions follow from them alone. Strokes are polylines
in pixels of the full-size image. The requests of the page:

    GET   /api/state              all the page shows besides pixels, as JSON
    GET   /api/events             the same as server-sent events, whenever something changes
    GET   /api/image              the image, as a jpeg of a size for the screen
    GET   /api/mask               bytes (h, w) at the working size: the value of each region
    GET   /api/export/NAME        mask.png, mask.npy at full size; strokes.json; with ?region=V
                                  cutout.png, the image with the rest transparent
    POST  /api/stroke, undo, redo, count, touching, name     commands, JSON; answered with the state
"""

import asyncio
import io
import json
import os
from threading import Lock
from typing import Any

from starlette.responses import JSONResponse, Response

from linkwise.app.requests import (
    BINARY,
    command,
    file_response,
    fingerprint,
    number,
    step_route,
)
from linkwise.app.server import api_routes
from linkwise.app.static_files import static_routes
from linkwise.app.updates import Watched, event_route
from linkwise.segment.colour import working_shape
from linkwise.segment.image_files import pillow
from linkwise.segment.masks import PALETTE, cut_out, encoded
from linkwise.segment.project import checked_names, names_of, segmenter_of, strokes_of
from linkwise.segment.strokes import COLOURS, checked_stroke, values_of

SCREEN = 3_000_000  # pixels of the image on the page: more than most screens have
EXPORTS = ("mask.png", "mask.npy", "strokes.json", "cutout.png")


class SegmentPage(Watched):
    """What the segment page shows and does.

    Parameters
    ----------
    rgb : uint8 array (height, width, 3)
    journal : Journal, open
    name : str, what the image is called
    settings : dict with "regions", "superpixels" and "only_touching", None for the default
    """

    def __init__(self, rgb, journal, *, name, settings):
        self.journal, self.name, self.k = journal, name, settings["regions"]
        self.segmenter = segmenter_of(rgb, settings)
        self.names = names_of(journal.settings, journal.path)
        self._mutex = Lock()
        self._computed: Any = (None, None)  # strokes and number of regions, and the Regions
        self._image: bytes | None = None
        self.key = fingerprint(os.path.realpath(journal.path), journal.data.sha256)

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
            asked = strokes, self.n_regions(strokes), self.segmenter.only_touching
            if self._computed[0] != asked:
                found = self.segmenter.regions(strokes, n_regions=asked[1])
                self._computed = asked, found
            return self._computed[1]

    def view(self):
        """Return what the page shows besides pixels."""
        state, (height, width) = self.journal.state, self.segmenter.shape
        strokes = self.strokes()
        events = [event.seq for event in state.active if event.kind == "stroke"]
        return {
            "name": self.name,
            "width": width,
            "height": height,
            "working": list(self.segmenter.working_shape),
            "superpixels": len(self.segmenter.superpixels.size),
            "version": [state.n_events, self.k or 0, int(self.segmenter.only_touching)],
            "k": self.k,
            "touching": self.segmenter.only_touching,
            "names": self.names,
            "strokes": [stroke._asdict() for stroke in strokes],
            "events": events,
            "values": values_of([stroke.colour for stroke in strokes]),
            "undo": any(e.kind == "stroke" for e in state.active),
            "redo": bool(state.undone),
            "palette": PALETTE,
            "key": self.key,
            "project": os.path.basename(self.journal.path),
        }

    def image(self):
        """Return the image for the screen, the bytes of a jpeg."""
        if self._image is None:
            Image, out = pillow(), io.BytesIO()
            height, width = working_shape(self.segmenter.shape, SCREEN)
            photo = Image.fromarray(self.segmenter.rgb)
            if photo.size != (width, height):
                photo = photo.resize((width, height), Image.Resampling.BOX)
            photo.save(out, "JPEG", quality=90)
            self._image = out.getvalue()
        return self._image

    def exported(self, name, region):
        """Return the bytes of a file to save; region is the value of the one to cut out."""
        strokes = self.strokes()
        if name == "strokes.json":
            kept = {"names": self.names, "strokes": [stroke._asdict() for stroke in strokes]}
            return json.dumps(kept, indent=1).encode()
        mask = self.segmenter.mask(strokes, n_regions=self.n_regions(strokes))
        if name == "cutout.png":
            if not (mask == region).any():
                raise ValueError(f"there is no region {region}; choose one of the list")
            return cut_out(self.segmenter.rgb, mask == region)
        return encoded(mask, os.path.splitext(name)[1])

    async def write(self, function, *args, **kwargs):
        """Write to the journal, notify open browsers, and return what the function returned."""
        found = await asyncio.to_thread(function, *args, **kwargs)
        await self.changed()
        return found

    async def undo(self, event, client):
        """Undo an event by its number, by default the last one that counts."""
        return await self.write(self.journal.undo, event, why="undo on the page", client=client)

    async def redo(self, event, client):
        """Redo an event by its number, by default the one undone last."""
        return await self.write(self.journal.redo, event, why="redo on the page", client=client)

    def draw(self, body, client):
        """Write a stroke."""
        stroke = checked_stroke(body, self.segmenter.shape)
        values_of([*(s.colour for s in self.strokes()), stroke.colour])
        return self.journal.stroke(*stroke, why="drawn on the page", client=client)

    def count(self, k):
        """Set the least number of regions; None: one for each colour."""
        most = min(COLOURS, len(self.segmenter.superpixels.size))
        whole = isinstance(k, int) and not isinstance(k, bool)
        if k is not None and not (whole and 1 <= k <= most):
            raise ValueError(f"k must be a whole number in 1..{most}, or null; got {k!r}")
        self.journal.configure(regions=k)
        self.k = k

    def touching(self, on):
        """Set whether every part of a region must touch one of its strokes."""
        if not isinstance(on, bool):
            raise ValueError(f"on must be true or false; got {on!r}")
        self.journal.configure(only_touching=on)
        self.segmenter.only_touching = on

    def call(self, colour, name):
        """Give a brush a name; an empty one removes it."""
        names = {c: text for c, text in self.names.items() if c != colour}
        names = checked_names(names | ({colour: name} if name != "" else {}))
        self.journal.configure(names=names)
        self.names = names


def segment_routes(page):
    """Return the routes of a SegmentPage."""

    async def state(request):
        return JSONResponse(page.view())

    async def image(request):
        return Response(await asyncio.to_thread(page.image), media_type="image/jpeg")

    async def mask(request):
        found = await asyncio.to_thread(page.regions)
        return Response(found.mask.tobytes(), media_type=BINARY)

    async def export(request):
        name = request.path_params["name"]
        if name not in EXPORTS:
            return JSONResponse({"error": f"one of {', '.join(EXPORTS)}"}, status_code=404)
        region = number(request, "region", 0, COLOURS)
        raw = await asyncio.to_thread(page.exported, name, region)
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

    async def touching(request):
        body = await command(request, "on", client=None)
        await page.write(page.touching, body["on"])
        return JSONResponse(page.view())

    async def name(request):
        body = await command(request, "colour", "name", client=None)
        if not isinstance(body["colour"], str):
            raise ValueError(f"colour must be a text; got {body['colour']!r}")
        await page.write(page.call, body["colour"], body["name"])
        return JSONResponse(page.view())

    gets = {
        "state": state, "events": event_route(page, page.view), "image": image, "mask": mask,
        "export/{name}": export,
    }  # fmt: skip
    posts = {
        "stroke": stroke,
        "undo": step_route(page.undo, page.view),
        "redo": step_route(page.redo, page.view),
        "count": count,
        "touching": touching,
        "name": name,
    }
    return [*static_routes("segment"), *api_routes(gets, posts)]
