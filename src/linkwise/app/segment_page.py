"""Images while they are segmented on a page: the journal, the segmenters, and what is shown.

The journal says which strokes count, and the regions follow from them alone. Strokes are polylines
in pixels of the full-size image. A project has one image, or those of a folder; then every browser
shows the same one of them. The requests of the page:

    GET   /api/state              all the page shows besides pixels, as JSON
    GET   /api/events             the same as server-sent events, whenever something changes
    GET   /api/image              the image, as a jpeg of a size for the screen
    GET   /api/mask               bytes (h, w) at the working size: the value of each region
    GET   /api/export/NAME        mask.png, mask.npy at full size; strokes.json; with ?region=V
                                  cutout.png, the image with the rest transparent
    POST  /api/stroke, undo, redo, count, touching, name     commands, JSON; answered with the state
    POST  /api/open {"image": NAME}                          show another image of the folder

image, mask and export take ?image=I, the place of an image in the list of the state; otherwise they
are about the image shown. A stroke says which image it is on ("image", its name; null: the one).
"""

import asyncio
import io
import json
import os
import secrets
from pathlib import PurePosixPath
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
from linkwise.segment.project import checked_names, names_of, strokes_of
from linkwise.segment.strokes import COLOURS, checked_stroke, values_of

SCREEN = 3_000_000  # pixels of the image on the page: more than most screens have
EXPORTS = ("mask.png", "mask.npy", "strokes.json", "cutout.png")


class SegmentPage(Watched):
    """What the segment page shows and does.

    Parameters
    ----------
    album : Album, the images
    journal : Journal, open
    settings : dict with "regions", "superpixels" and "only_touching", None for the default

    Attributes
    ----------
    shown : the name of the image on the page, None if there is only one
    """

    def __init__(self, album, journal, *, settings):
        self.album, self.journal, self.k = album, journal, settings["regions"]
        self.settings = dict(settings)
        last = journal.settings.get("image")
        self.shown = last if last in album.names else album.names[0]
        self.names = names_of(journal.settings, journal.path)
        self._mutex = Lock()
        self._computed: Any = (None, None)  # image, strokes, number of regions; and the Regions
        self._image: tuple = (None, b"")  # the name of an image, and its bytes for the screen
        self.key = fingerprint(os.path.realpath(journal.path), journal.data.sha256)
        self.run, self.turn = secrets.token_hex(8), 0  # turn: how often another image was shown
        self.segmenter_of(self.shown)

    @property
    def only_touching(self):
        """Whether every part of a region must touch one of its strokes."""
        return bool(self.settings["only_touching"])

    def segmenter_of(self, image):
        """Return the Segmenter of an image."""
        found = self.album.segmenter(image, self.settings)
        found.only_touching = self.only_touching
        return found

    @property
    def segmenter(self):
        """The Segmenter of the image shown."""
        return self.segmenter_of(self.shown)

    def image_at(self, place):
        """Return the name of an image by its place in the list, None for the one shown."""
        return self.shown if place is None else self.album.names[place]

    def strokes(self, image):
        """Return the strokes on an image that count."""
        shape = self.segmenter_of(image).shape
        return strokes_of(self.journal.state, shape, self.journal.path, image)

    def n_regions(self, strokes):
        """Return how many regions there are: as many as asked for, and one for each colour."""
        return None if self.k is None else max(self.k, len({s.colour for s in strokes}))

    def regions(self, image):
        """Return the Regions of the strokes on an image that count."""
        with self._mutex:
            strokes = self.strokes(image)
            asked = image, strokes, self.n_regions(strokes), self.only_touching
            if self._computed[0] != asked:
                found = self.segmenter_of(image).regions(strokes, n_regions=asked[2])
                self._computed = asked, found
            return self._computed[1]

    def drawn(self, events):
        """Return those of some events that are strokes on the image shown."""
        return [e for e in events if e.kind == "stroke" and e.body.get("image") == self.shown]

    def images(self):
        """Return the images of a folder with their numbers of strokes, [] of a single one."""
        if not self.album.is_folder:
            return []
        drawn = [body.get("image") for body in self.journal.state.strokes]
        return [{"name": name, "strokes": drawn.count(name)} for name in self.album.names]

    def view(self):
        """Return what the page shows besides pixels."""
        state, shown, segmenter = self.journal.state, self.shown, self.segmenter
        (height, width), strokes = segmenter.shape, self.strokes(shown)
        place = self.album.names.index(shown)
        return {
            "name": self.album.title(shown),
            "image": shown,
            "place": place,
            "images": self.images(),
            "run": self.run,
            "turn": self.turn,
            "width": width,
            "height": height,
            "working": list(segmenter.working_shape),
            "superpixels": len(segmenter.superpixels.size),
            "version": [state.n_events, self.k or 0, int(self.only_touching), place],
            "k": self.k,
            "touching": self.only_touching,
            "names": self.names,
            "strokes": [stroke._asdict() for stroke in strokes],
            "events": [event.seq for event in self.drawn(state.active)],
            "values": values_of([stroke.colour for stroke in strokes]),
            "undo": bool(self.drawn(state.active)),
            "redo": bool(self.drawn(state.undone)),
            "palette": PALETTE,
            "key": self.key,
            "project": os.path.basename(self.journal.path),
        }

    def image(self, image):
        """Return an image for the screen, the bytes of a jpeg."""
        name, raw = self._image
        if name != image or not raw:
            Image, out, segmenter = pillow(), io.BytesIO(), self.segmenter_of(image)
            height, width = working_shape(segmenter.shape, SCREEN)
            photo = Image.fromarray(segmenter.rgb)
            if photo.size != (width, height):
                photo = photo.resize((width, height), Image.Resampling.BOX)
            photo.save(out, "JPEG", quality=90)
            raw = out.getvalue()
            self._image = image, raw
        return raw

    def exported(self, name, image, region):
        """Return the bytes of a file to save; region is the value of the one to cut out."""
        strokes, segmenter = self.strokes(image), self.segmenter_of(image)
        if name == "strokes.json":
            kept = {"names": self.names, "strokes": [stroke._asdict() for stroke in strokes]}
            return json.dumps(kept, indent=1).encode()
        mask = segmenter.mask(strokes, n_regions=self.n_regions(strokes))
        if name == "cutout.png":
            if not (mask == region).any():
                raise ValueError(f"there is no region {region}; choose one of the list")
            return cut_out(segmenter.rgb, mask == region)
        return encoded(mask, os.path.splitext(name)[1])

    async def write(self, function, *args, **kwargs):
        """Write to the journal, notify open browsers, and return what the function returned."""
        found = await asyncio.to_thread(function, *args, **kwargs)
        await self.changed()
        return found

    def target(self, kind, event, client):
        """Return the number of the event to undo or redo, by default the last on the image."""
        if event is not None or not self.album.is_folder or self.journal.sent(client):
            return event
        state = self.journal.state
        found = self.drawn(state.active if kind == "undo" else state.undone)
        if not found:
            raise ValueError(f"there is nothing to {kind} on this image")
        return found[-1].seq

    async def undo(self, event, client):
        """Undo an event by its number, by default the last one on the image that counts."""
        event = self.target("undo", event, client)
        return await self.write(self.journal.undo, event, why="undo on the page", client=client)

    async def redo(self, event, client):
        """Redo an event by its number, by default the one on the image that was undone last."""
        event = self.target("redo", event, client)
        return await self.write(self.journal.redo, event, why="redo on the page", client=client)

    def draw(self, body, image, client):
        """Write a stroke on an image, by its name."""
        stroke = checked_stroke(body, self.segmenter_of(image).shape)
        values_of([*(s.colour for s in self.strokes(image)), stroke.colour])
        return self.journal.stroke(*stroke, image=image, why="drawn on the page", client=client)

    def open_image(self, image):
        """Show another image of the folder."""
        self.segmenter_of(image)
        self.journal.configure(image=image)
        self.shown = image
        self.turn += 1

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
        self.settings["only_touching"] = on

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

    def wanted(request):
        return page.image_at(number(request, "image", None, len(page.album.names) - 1))

    async def image(request):
        raw = await asyncio.to_thread(page.image, wanted(request))
        return Response(raw, media_type="image/jpeg")

    async def mask(request):
        found = await asyncio.to_thread(page.regions, wanted(request))
        return Response(found.mask.tobytes(), media_type=BINARY)

    async def export(request):
        name = request.path_params["name"]
        if name not in EXPORTS:
            return JSONResponse({"error": f"one of {', '.join(EXPORTS)}"}, status_code=404)
        region = number(request, "region", 0, COLOURS)
        image = wanted(request)
        raw = await asyncio.to_thread(page.exported, name, image, region)
        stem = "" if image is None else f"{PurePosixPath(image).stem}-"
        return file_response(raw, f"{stem}{name}")

    async def stroke(request):
        body = await command(request, "colour", "points", "width", "client", image=None)
        client, image = body.pop("client"), body.pop("image")
        await page.write(page.draw, body, image, client)
        return JSONResponse(page.view())

    async def opened(request):
        body = await command(request, "image", client=None)
        await page.write(page.open_image, body["image"])
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
        "open": opened,
    }
    return [*static_routes("segment"), *api_routes(gets, posts)]
