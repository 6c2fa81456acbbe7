"""A picture while it is segmented on a page: the journal, the segmenter, and what is shown.

The journal says which strokes count, and the regions follow from them alone. Strokes are polylines
in pixels of the full-size picture.
"""

import asyncio
import io
import json
import os
from threading import Lock
from typing import Any

from linkwise.app.updates import Watched
from linkwise.segment.colour import working_shape
from linkwise.segment.masks import PALETTE, encoded
from linkwise.segment.picture import pillow
from linkwise.segment.project import segmenter_of, strokes_of
from linkwise.segment.strokes import COLOURS, checked_stroke, values_of

SCREEN = 3_000_000  # pixels of the picture on the page: more than most screens have


class SegmentPage(Watched):
    """What the segment page shows and does.

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
        self._computed: Any = (None, None)  # strokes and number of regions, and the Regions
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
            if self._computed[0] != asked:
                found = self.segmenter.regions(strokes, n_regions=asked[1])
                self._computed = asked, found
            return self._computed[1]

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
        """Return the bytes of a file to save."""
        strokes = self.strokes()
        if name == "strokes.json":
            return json.dumps([stroke._asdict() for stroke in strokes], indent=1).encode()
        mask = self.segmenter.mask(strokes, n_regions=self.n_regions(strokes))
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
        most = min(COLOURS, len(self.segmenter.pieces.size))
        whole = isinstance(k, int) and not isinstance(k, bool)
        if k is not None and not (whole and 1 <= k <= most):
            raise ValueError(f"k must be a whole number in 1..{most}, or null; got {k!r}")
        self.journal.configure(regions=k)
        self.k = k
