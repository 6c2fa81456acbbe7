"""A project while it is labelled on a page: the journal, the worker, and what the page shows.

The journal says what is true. The hub follows it: it sends the worker what counts, keeps what
comes back, and tells every open page of each change. Nothing is kept here that the journal
does not have, except which question is on the page and the last clusters; so a server that was
killed goes on where it was.
"""

import asyncio
import re
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.app.corrections import ACTIONS, Hands, rows_in
from linkwise.app.display import clusters
from linkwise.app.messages import Hand, Job, Map, Outlook, Result, Suspects
from linkwise.app.news import Watched
from linkwise.app.worker import Worker
from linkwise.constraints.conflicts import explain
from linkwise.journal import Project, write_links, write_log
from linkwise.journal.exports import FORMATS
from linkwise.labelling.project import import_table
from linkwise.query import Known, Question
from linkwise.tables import write_labels

WAIT = 0.15  # seconds that a question made with the last answer is waited for
ONCE = 10.0  # seconds that clusters asked for by hand are waited for
RESTARTS = 3
EARLIER = 8  # clusterings that a correction may still speak of


class Hub(Watched):
    """What a page shows and does.

    Parameters
    ----------
    items : Items
    journal : Journal, open
    data : str, the file of the items
    k : int or None
    seed : int
    worker : class of the worker, made with (X, seed=, k=, hear=)
    """

    def __init__(self, items, journal, *, data, k=None, seed=0, worker=Worker):
        self.items, self.journal, self.data = items, journal, data
        self.k, self.seed, self.n = k, seed, len(items.X)
        ids = range(self.n) if items.ids is None else items.ids
        self.row_of = {name: row for row, name in enumerate(ids)}
        self.mode, self.failure = "live", ""
        self.run = secrets.token_hex(8)  # news of one run come in the order of ticks
        self.xy: Any = None
        self.labels: Any = None
        self.labels_version = self.map_version = self.number = self.done = self.shown = 0
        self.earlier: dict = {}  # labels by version, the last few
        self.newest: Result | None = None
        self.outlook: Outlook | None = None
        self.suspected: list = []
        self.queue: list[Question] = []
        self.asked: Question | None = None
        self.state: Any = None
        self.answers: list = []
        self.known = Known()
        self.conflict: list = []
        self.conflict_words, self.n_links = "", 0
        self._texts: list | None = None
        self._restarts, self._fault, self._make_worker = 0, "", worker
        self._tasks: set = set()
        vars(self).update(self._follow())

    # the life of the hub: in the event loop of the server

    async def open(self):
        """Start the worker, and take the first question."""
        await super().open()
        self.loop, self.fresh = asyncio.get_running_loop(), asyncio.Event()
        self._turn = asyncio.Lock()
        self._start_worker()
        await self.told_of_change(wait=False)

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
        """End the worker, and let open pages know."""
        await super().close()
        await asyncio.to_thread(self.worker.close)

    async def _hear(self, message):
        """Take what the worker sends."""
        if isinstance(message, Map):
            self.xy = message.xy
            self.map_version += 1
        elif isinstance(message, Result):
            self._take(message)
        elif isinstance(message, Outlook):
            self.outlook = message
        elif isinstance(message, Suspects):
            self.suspected = message.found
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
        if self.asked is None:
            self._choose()

    def _show(self):
        """Show the newest clusters."""
        if self.newest is not None and self.newest.labels is not self.labels:
            self.labels = self.newest.labels
            self.labels_version += 1
            self.earlier[self.labels_version] = self.labels
            self.earlier.pop(self.labels_version - EARLIER, None)
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

    def _follow(self):
        """Return what follows from the journal now, attributes of the hub by name."""
        state, row = self.journal.state, self.row_of
        answers = [(row[a], row[b], same) for a, b, same in state.answers]
        conflict = state.constraints().conflict(self.k)
        return {
            "state": state,
            "answers": answers,
            "known": Known(answers),
            "conflict": [] if conflict is None else state.conflict(self.k),
            "conflict_words": "" if conflict is None else explain(conflict, shown=6),
            "n_links": len(state.pairs),
        }

    def _hand(self):
        events = [e for e in self.state.active if e.by_hand]
        pairs = [p for e in events for p in e.pairs]

        def ends(sign):
            found = [(self.row_of[a], self.row_of[b]) for a, b, s, w in pairs if s == sign and w]
            return np.array(found, dtype=np.intp).reshape(-1, 2)

        def rows(kind, parts):
            return [
                [self.row_of[i] for part in parts(e.body) for i in part]
                for e in events
                if e.kind == kind
            ]

        merged = rows("merge", lambda body: (body["first"], body["second"]))
        return Hand(ends(1), ends(-1), merged, rows("split", lambda body: body["parts"]))

    def _plain(self):
        """Return the answers without corrections."""
        pairs = [p for e in self.state.active if not e.by_hand for p in e.pairs]
        return [(self.row_of[a], self.row_of[b], s > 0) for a, b, s, w in pairs if w]

    def _send(self):
        self.number += 1
        self.fresh.clear()
        self.worker.send(Job(self.number, self.answers, self._plain(), self._hand(), self.k))

    async def told_of_change(self, *, wait=True):
        """Follow the journal after an event: other clusters, another question."""
        async with self._turn:  # in the order of the journal
            found = await asyncio.to_thread(self._follow)
            vars(self).update(found, asked=None)  # at once: no page sees half of it
            self._send()
        if self.again() is None and wait and self.xy is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.fresh.wait(), WAIT)
        if self.asked is None:
            self._choose()
        await self.changed()

    def again(self):
        """Return the answer taken back last as a question, or None."""
        undone = self.state.undone
        if undone and undone[-1].kind == "answer":
            body = undone[-1].body
            why = undone[-1].why or "It was taken back."
            return Question(self.row_of[body["a"]], self.row_of[body["b"]], why)
        return None

    def _choose(self):
        """Put a question on the page, if there is one."""
        self.asked = self.again()
        while self.asked is None and self.queue:
            question = self.queue.pop(0)
            if self.known.is_open(question.a, question.b):
                self.asked = question

    # what pages ask for

    async def write(self, function, *args, **kwargs):
        """Write to the journal, follow it, and return the event."""
        event = await asyncio.to_thread(function, *args, **kwargs)
        await self.told_of_change()
        return event

    async def answer(self, a, b, same, client):
        """Write an answer down; ends come as row numbers."""
        a, b = rows_in([a, b], self.n, least=2)
        if same is not None and not isinstance(same, bool):
            raise ValueError(f"same must be true, false or null; got {same!r}")
        asked = self.asked
        why = asked.reason if asked is not None and {a, b} == set(asked[:2]) else "asked before"
        name = self.items.name
        return await self.write(self.journal.answer, name(a), name(b), same, why=why, client=client)

    async def correct(self, action, options, version, client):
        """Write down what was done by hand."""
        if action not in ACTIONS:
            raise ValueError(f"action must be one of {', '.join(ACTIONS)}; got {action!r}")
        if self.labels is None:
            raise ValueError("there are no clusters yet; wait a moment")
        labels = self.earlier.get(version) if isinstance(version, int) else None
        if labels is None:
            raise ValueError("the clusters have changed since; look again, and repeat it")
        unknown = [name for name in options if name not in ACTIONS[action]]
        missing = [
            n for n in ACTIONS[action] if n not in options and (action, n) != ("split", "rows")
        ]
        if unknown or missing:
            raise ValueError(f"{action} takes {', '.join(ACTIONS[action])}")
        hands = Hands(self.items, labels)  # the clusters that the person saw
        kind, body, why = await asyncio.to_thread(getattr(hands, action), **options)
        return await self.write(self.journal.append, kind, body, why=why, client=client)

    async def set_count(self, k):
        """Fix the number of clusters, or let it follow the answers (None)."""
        bad = isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= self.n
        if k is not None and bad:
            raise ValueError(f"k must be null or a whole number in 1..{self.n}; got {k!r}")
        await asyncio.to_thread(self.journal.configure, k=k)
        self.k = k
        await self.told_of_change()

    async def set_mode(self, mode):
        """Show new clusters as they come ("live"), or not ("pause"); "once", "stop" do it once."""
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

    def exported(self, what, suffix):
        """Return a table of the links, labels or log as bytes."""
        if suffix not in FORMATS:
            raise ValueError(f"expected one of {', '.join(FORMATS)}; got {suffix!r}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"table{suffix}")
            if what == "links":
                write_links(path, self.state)
            elif what == "log":
                write_log(path, Project(self.journal.data, {}, self.journal.events(), self.state))
            elif self.labels is None:
                raise ValueError("there are no clusters yet; wait a moment")
            else:
                names = {c["label"]: c["name"] for c in clusters(self)}
                write_labels(path, self.labels, self.items.ids, names)
            return path.read_bytes()

    async def imported(self, name, raw):
        """Add a table to the journal; return what came of it in words."""
        name = re.sub(r"[^\w.-]", "_", Path(name).name)[-80:]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name if Path(name).stem else f"table{name}")
            path.write_bytes(raw)
            try:
                text = await asyncio.to_thread(import_table, str(path), self.items, self.journal)
            except ValueError as error:
                raise ValueError(str(error).replace(str(path), name)) from None
        await self.told_of_change()
        return text.replace(str(path), name)
