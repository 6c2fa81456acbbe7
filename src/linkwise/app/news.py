"""What open pages are told, and when: server-sent events, one for each change."""

import asyncio
import json
from contextlib import suppress

from starlette.responses import StreamingResponse

BEAT = 10.0  # seconds between two signs of life


class Watched:
    """Something that open pages look at.

    Attributes
    ----------
    tick : int, how often it has changed
    closing : bool, whether open pages are let go
    """

    tick, closing = 0, False

    async def open(self):
        """Begin, in the event loop of the server."""
        self.news = asyncio.Condition()

    async def close(self):
        """Let open pages go."""
        self.closing = True
        await self.changed()

    async def changed(self):
        """Tell every open page."""
        self.tick += 1
        async with self.news:
            self.news.notify_all()

    async def change(self, seen):
        """Wait for something to change after the tick that was seen."""
        async with self.news:
            await self.news.wait_for(lambda: self.tick != seen)


def event_route(watched, view):
    """Return the handler of the events of something Watched; view() is what they say, for JSON."""

    async def events(request):
        async def stream():
            seen = -1
            yield "retry: 1000\n\n"
            while not watched.closing:
                fresh, seen = seen != watched.tick, watched.tick
                yield f"data: {json.dumps(view())}\n\n" if fresh else ": here\n\n"
                with suppress(TimeoutError):
                    await asyncio.wait_for(watched.change(seen), BEAT)

        return StreamingResponse(stream(), media_type="text/event-stream")

    return events
