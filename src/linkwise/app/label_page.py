"""A project while it is labelled on a page: the labelling session, the worker, and what is shown.

The journal holds the truth. The page follows it: it sends the worker what counts, keeps what comes
back, and notifies every open browser of each change. Besides the journal it keeps only the question
on the page and the last clusters, so a server that was killed goes on where it was.
"""

import asyncio
import re
import secrets
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.app.label_view import clusters
from linkwise.app.messages import Job, Map, Outlook, Refined, Result, Suspects
from linkwise.app.requests import fingerprint
from linkwise.app.updates import Watched
from linkwise.app.worker import Worker
from linkwise.journal import Project, write_links, write_log
from linkwise.journal.exports import FORMATS
from linkwise.labelling.actions import act
from linkwise.labelling.cluster_model import NOTHING
from linkwise.labelling.items import rows_in
from linkwise.labelling.labelling_session import Asked, LabellingSession
from linkwise.labelling.previews import preview
from linkwise.query import Question
from linkwise.query.prepared_data import teaching
from linkwise.tables import write_labels

WAIT = 0.15  # seconds to wait for a question that knows the last answer: a person does not notice
ONCE = 10.0  # seconds to wait for clusters requested by hand
LONGEST = 600.0  # seconds to wait for exact clusters: a browser gives up then as well
RESTARTS = 3  # of the worker; a fault that occurs more often does not go away
EARLIER = 8  # clusterings that a correction may still refer to


class LabelPage(Watched):
    """What the label page shows and does.

    Parameters
    ----------
    items : Items
    journal : Journal, open
    data : str, the file of the items
    k : int, (least, most) or None
    seed : int
    worker : class of the worker, made with (X, seed=, k=, hear=)

    Attributes
    ----------
    project : LabellingSession
    current : Snapshot that the page shows
    asked : Asked, the question on the page, or None
    labels : int array (n,), the clusters shown, or None
    """

    def __init__(self, items, journal, *, data, k=None, seed=0, worker=Worker):
        self.items, self.journal, self.data = items, journal, data
        self.seed, self.n = seed, len(items.X)
        self.project = LabellingSession(items, journal, n_clusters=k)
        self.current = self.project.current
        self.mode, self.failure = "live", ""
        self.run = secrets.token_hex(8)  # updates of one run come in the order of ticks
        self.xy: Any = None
        self.map_follows, self.map_fault = False, ""  # whether a better map comes, or why not
        self.labels: Any = None
        self.labels_version = self.map_version = self.number = self.done = self.shown = 0
        self.key = fingerprint(str(Path(journal.path).resolve()), journal.data.sha256)
        self.seen = ""  # the fingerprint of the labels shown
        self.earlier: dict = {}  # labels by their fingerprint, the last few
        self.newest: Result | None = None
        self.outlook: Outlook | None = None
        self.suspected = NOTHING
        self.queue: list[Question] = []
        self.asked: Asked | None = None
        self._restarts, self._fault, self._make_worker = 0, "", worker
        self._tasks: set = set()

    @property
    def k(self):
        """The number of clusters, its limits (least, most), or None: free."""
        return self.project.n_clusters

    @cached_property
    def texts(self):
        """The text of every row, in lower case, for the search."""
        return [self.items.text_of(row).lower() for row in range(self.n)]

    # the life of the page: in the event loop of the server

    async def open(self):
        """Start the worker, and request the first question."""
        await super().open()
        self.loop = asyncio.get_running_loop()
        self.fresh, self.exact = asyncio.Event(), asyncio.Event()
        self._turn = asyncio.Lock()
        self._start_worker()
        await self.follow(wait=False)

    def _start_worker(self):
        def take(message):
            task = self.loop.create_task(self._hear(message))
            self._tasks.add(task)  # the loop itself does not hold on to it
            task.add_done_callback(self._tasks.discard)

        def hear(message):
            if not self.closing:
                self.loop.call_soon_threadsafe(take, message)

        self.worker = self._make_worker(self.items.X, seed=self.seed, k=self.k, hear=hear)

    async def close(self):
        """End the worker, and notify open browsers."""
        await super().close()
        await asyncio.to_thread(self.worker.close)

    async def _hear(self, message):
        """Take a message of the worker."""
        if isinstance(message, Map):
            self.xy, self.map_follows = message.xy, message.follows
            self.map_version += 1
        elif isinstance(message, Result):
            self._take(message)
        elif isinstance(message, Refined):
            self._refine(message)
        elif isinstance(message, Outlook):
            self.outlook = message
        elif isinstance(message, Suspects):
            self.suspected = message.found
        elif message[0] == "unmapped":
            self.map_follows, self.map_fault = False, message[1]
        elif message[0] == "stopped":
            self.done = max(self.done, message[1])
        elif message[0] == "failed":
            self._fault = message[1]
        elif message[0] == "ended":
            await self._recover()
        await self.changed()

    def _take(self, result):
        self.newest, self.done = result, result.number
        self.queue = list(result.questions)
        if self.mode == "live" or self.labels is None:
            self._show()
        if result.number == self.number:
            self.fresh.set()
            if result.exact:
                self.exact.set()
        if self.asked is None:
            self._choose()

    def _refine(self, refined):
        """Take the exact clusters of the newest job."""
        if self.newest is None or refined.number != self.newest.number:
            return
        same = np.array_equal(self.newest.labels, refined.labels)
        labels = self.newest.labels if same else refined.labels
        found = {"labels": labels, "runners_up": refined.runners_up}
        self.newest = self.newest._replace(exact=True, **found)
        if self.mode == "live":
            self._show()
        if refined.number == self.number:
            self.exact.set()

    @property
    def refining(self):
        """Whether the clusters shown are about to be replaced by the exact ones."""
        return self.newest is not None and not self.newest.exact

    async def exact_labels(self):
        """Return the exact clusters of all answers so far; wait for them."""
        try:
            await asyncio.wait_for(self.exact.wait(), LONGEST)
        except TimeoutError:
            raise ValueError(
                "the clusters are still being refined; wait, or run linkwise export --labels"
            ) from None
        assert self.newest is not None  # it has set the event
        return self.newest.labels

    def _show(self):
        """Show the newest clusters."""
        if self.newest is not None and self.newest.labels is not self.labels:
            self.labels = self.newest.labels
            self.labels_version += 1
            self.seen = fingerprint(np.asarray(self.labels, dtype="<i4").tobytes())
            self.earlier.pop(self.seen, None)  # it becomes the last one
            self.earlier[self.seen] = self.labels
            if len(self.earlier) > EARLIER:
                del self.earlier[next(iter(self.earlier))]
        self.shown = self.newest.number if self.newest else 0

    async def _recover(self):
        """Start the worker again, a few times."""
        self._restarts += 1
        await asyncio.to_thread(self.worker.close)
        if self._restarts > RESTARTS:
            self.failure = f"The clustering has stopped ({self._fault or 'its process ended'}). "
            self.failure += "Answers are still saved; start the program again."
            return
        self._start_worker()
        self._send()

    # what the journal says

    def _send(self):
        self.number += 1
        self.fresh.clear()
        self.exact.clear()
        self.worker.send(Job(self.number, self.current.task))

    async def follow(self, *, wait=True):
        """Follow the journal after an event: other clusters, another question."""
        async with self._turn:  # in the order of the journal
            self.current, self.asked = self.project.current, None  # at once: no browser sees half
            self._send()
        if self.current.again is None and wait and self.xy is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.fresh.wait(), WAIT)
        if self.asked is None:
            self._choose()
        await self.changed()

    def _choose(self):
        """Put a question on the page, if there is one."""
        self.asked = self.current.again
        while self.asked is None and self.queue:
            question = self.queue.pop(0)
            if self.current.known.is_open(question.a, question.b):
                self.asked = Asked(*question)

    # what browsers request

    async def write(self, function, *args, **kwargs):
        """Write to the journal, follow it, and return what the function returned."""
        found = await asyncio.to_thread(function, *args, **kwargs)
        await self.follow()
        return found

    async def answer(self, a, b, same, client, who=None):
        """Write an answer about two row numbers."""
        a, b = rows_in([a, b], self.n, least=2)
        if same is not None and not isinstance(same, bool):
            raise ValueError(f"same must be true, false or null; got {same!r}")
        asked = self.asked
        why = asked.why if asked is not None and {a, b} == {asked.a, asked.b} else "asked before"
        return await self.write(self.project.answer, a, b, same, why=why, client=client, who=who)

    async def mark(self, rows, mark, client, who=None):
        """Write that rows are "unclear", or belong to no cluster: "stray"."""
        rows = rows_in(rows, self.n)
        return await self.write(
            self.project.mark, rows, mark, why="marked on the page", client=client, who=who
        )

    async def label(self, row, anchors, chosen, client, who=None):
        """Write which of some rows, of a cluster each, a row is with; None: with none of them."""
        (row,), anchors = rows_in([row], self.n), rows_in(anchors, self.n)
        chosen = None if chosen is None else rows_in([chosen], self.n)[0]
        return await self.write(self.project.label, row, anchors, chosen, client=client, who=who)

    async def judge_set(self, rows, out, client, who=None):
        """Write which rows of a set do not belong to the others."""
        rows, out = rows_in(rows, self.n, least=2), rows_in(out, self.n, least=0)
        return await self.write(self.project.judge_set, rows, out, client=client, who=who)

    async def undo(self, event, client, who=None):
        """Undo an event by its number, by default the last one that counts."""
        said = {"why": "undo on the page", "client": client, "who": who}
        return await self.write(self.project.undo, event, **said)

    async def redo(self, event, client, who=None):
        """Redo an event by its number, by default the one undone last."""
        said = {"why": "redo on the page", "client": client, "who": who}
        return await self.write(self.project.redo, event, **said)

    async def _labels_of(self, seen):
        """Return the clusters with a fingerprint, or None.

        A page that goes on after a restart saw clusters that are computed again first.
        """
        if seen not in self.earlier and (self.labels is None or self.refining):
            await self.exact_labels()
        return self.earlier.get(seen)

    def _event_of(self, action, options, labels):
        """Return (kind, body, why) of a correction of the clusters that the person saw."""
        return act(self.items, labels, action, options, teaching(self.current.links))

    async def correct(self, action, options, seen, client, *, teach=False, who=None):
        """Write a correction by hand; with ``teach`` the models learn from it as well."""
        sent = await asyncio.to_thread(self.journal.sent, client)
        if sent is not None:  # sent again: the clusters may have changed since
            return sent
        labels = await self._labels_of(seen)
        kind, body, why = await asyncio.to_thread(self._event_of, action, options, labels)
        return await self.write(
            self.project.append, kind, body, why=why, client=client, teach=teach, who=who
        )

    async def preview(self, action, options, seen):
        """Return what a correction would change, a Preview."""
        labels = await self._labels_of(seen)

        def found():
            kind, body, _ = self._event_of(action, options, labels)
            return preview(self.items, labels, kind, body, self.current, self.project.row_of)

        return await asyncio.to_thread(found)

    async def set_count(self, k):
        """Fix or limit the number of clusters, or let it follow the answers (None)."""
        await self.write(self.project.set_n_clusters, k)

    async def set_outliers(self, outliers):
        """Leave a share of the rows out of clusters, "auto", or none of them (None)."""
        await self.write(self.project.set_outliers, outliers)

    async def set_mode(self, mode):
        """Show new clusters as they come ("live") or not ("pause"); "once", "stop" do it once."""
        if mode not in ("live", "pause", "once", "stop"):
            raise ValueError(f"mode must be live, pause, once or stop; got {mode!r}")
        if mode == "stop":
            self.worker.stop()
        elif mode == "once":
            self._show()
            if self.done < self.number or self.newest is None or self.newest.number < self.number:
                self._send()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.fresh.wait(), ONCE)
                self._show()
        else:
            self.mode = mode
            if mode == "live":
                self._show()
        await self.changed()

    # tables

    def exported(self, what, suffix, labels=None):
        """Return a table of the links, labels or log as bytes."""
        if suffix not in FORMATS:
            raise ValueError(f"expected one of {', '.join(FORMATS)}; got {suffix!r}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"table{suffix}")
            if what == "links":
                write_links(path, self.current.state)
            elif what == "log":
                write_log(
                    path, Project(self.journal.data, {}, self.journal.events(), self.current.state)
                )
            else:
                names = {c["label"]: c["name"] for c in clusters(self, labels)}
                write_labels(path, labels, self.items.ids, names)
            return path.read_bytes()

    async def imported(self, name, raw):
        """Add a table to the journal; return in words what came of it."""
        name = re.sub(r"[^\w.-]", "_", Path(name).name)[-80:]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name if Path(name).stem else f"table{name}")
            path.write_bytes(raw)
            try:
                text = await asyncio.to_thread(self.project.import_table, str(path))
            except ValueError as error:
                raise ValueError(str(error).replace(str(path), name)) from None
        await self.follow()
        return text.replace(str(path), name)
