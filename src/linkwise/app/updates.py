"""Updates of open browsers: server-sent events, one for each change."""

import asyncio
import json
from contextlib import suppress

from starlette.responses import StreamingResponse

BEAT = 10.0  # seconds between two signs of life; proxies close silent connections after 30 or more


class Watched:
    """A page that open browsers watch.

    Attributes
    ----------
    tick : int, how often it has changed
    closing : bool, whether streams to open browsers end
    """

    tick, closing = 0, False

    async def open(self):
        """Start, in the event loop of the server."""
        self.news = asyncio.Condition()

    async def close(self):
        """End the streams to open browsers."""
        self.closing = True
        await self.changed()

    async def changed(self):
        """Notify every open browser."""
        self.tick += 1
        async with self.news:
            self.news.notify_all()

    async def change(self, seen):
        """Wait for something to change after the tick that was seen."""
        async with self.news:
            await self.news.wait_for(lambda: self.tick != seen)


def event_route(watched, view):
    """Return the handler of the updates of a Watched page; each sends view() as JSON.

    The view of a change is made once for all open browsers. One that has just been opened gets its
    own, because something may have happened since the last change.
    """
    latest = -1, ""  # a tick, and the view of it as text

    def text_of(tick, seen):
        nonlocal latest
        if latest[0] != tick or seen < 0:
            latest = tick, json.dumps(view())
        return latest[1]

    async def events(request):
        async def stream():
            seen = -1
            yield "retry: 1000\n\n"
            while not watched.closing:
                before, seen = seen, watched.tick
                yield f"data: {text_of(seen, before)}\n\n" if seen != before else ": here\n\n"
                with suppress(TimeoutError):
                    await asyncio.wait_for(watched.change(seen), BEAT)

        return StreamingResponse(stream(), media_type="text/event-stream")

    return events
