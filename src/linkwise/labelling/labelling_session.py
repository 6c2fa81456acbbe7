"""One person's work on a project: the journal, what it says by row, and what to ask again.

The terminal and the page both label through a LabellingSession. The journal holds the truth; a
Snapshot is what it says at one moment, by row number. Besides the journal a session keeps only the
questions that were undone and wait to be asked again, the last first. After a restart these are
the undone answers that the journal would redo.

Every method that writes returns when the event is on the disk and the snapshot includes it. The
methods may be called from several threads.
"""

from collections import deque
from collections.abc import Callable
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from linkwise._wording import STRAY, UNCLEAR
from linkwise.constraints import Constraints
from linkwise.constraints.cluster_numbers import NClusters, checked_n_clusters, most_clusters
from linkwise.constraints.conflicts import explain
from linkwise.journal import Event, Journal, State, default_project
from linkwise.journal.corrections import taken_back
from linkwise.journal.events import BY_HAND
from linkwise.journal.people import Person, one_more_answer
from linkwise.journal.state import SAID
from linkwise.labelling.cluster_model import Task
from linkwise.labelling.edits import edits_of
from linkwise.labelling.items import Items
from linkwise.labelling.portraits import called
from linkwise.labelling.project import (
    RULES,
    import_table,
    is_outliers,
    open_project,
    outliers_of,
    settings_of,
    task_of,
)
from linkwise.labelling.texts import clean
from linkwise.query import Known

RECENT = 16  # snapshots that an undo or a redo may come back to without reading the log
MARKED = {UNCLEAR: "unclear", STRAY: "in no cluster"}  # in words


class Asked(NamedTuple):
    """A question about rows a and b.

    Attributes
    ----------
    a, b : int
    why : str, the reason for this pair
    before : int or None, the event that answered it before it was undone
    """

    a: int
    b: int
    why: str
    before: int | None = None


class Snapshot(NamedTuple):
    """What a project says at one moment.

    Attributes
    ----------
    state : State of the journal
    known : Known, what follows from them
    task : Task, what a ClusterModel is to follow
    conflict : Constraints by the user's ids, answers and imported pairs that cannot all hold, none
        of which can be left out; or None. Corrections by hand are never part of one: the last one
        holds
    conflict_events : list of Event, those that state the pairs of the conflict
    again : Asked, the question to ask again, or None
    redo : Event that a redo would bring back, or None
    people : list of Person, who answered and how reliable each is
    """

    state: State
    known: Known
    task: Task
    conflict: Constraints | None
    conflict_events: list[Event]
    again: Asked | None
    redo: Event | None
    people: list[Person]

    @property
    def links(self) -> Constraints:
        """Constraints by row, all that count and have a weight > 0."""
        return self.task.links


def event_text(event: Event, called: Callable[[Any], str] = clean) -> str:
    """Return what an event says in a few words; ``called`` says what an id is called."""
    body = event.body
    if event.kind == "answer":
        return f"{called(body['a'])} and {called(body['b'])}: {SAID[body['same']]}"
    if event.kind == "link" and len(body["pairs"]) == 1:
        a, b, sign, _ = body["pairs"][0]
        return f"{called(a)} {'with' if sign > 0 else 'not with'} {called(b)}"
    if event.kind == "mark":
        rows = called(body["rows"][0]) if len(body["rows"]) == 1 else f"{len(body['rows'])} rows"
        return f"{rows}: {MARKED[body['mark']]}"
    if event.kind == "rename":
        return f"a cluster is called {clean(body['name'])!r}" if body["name"] else "a name removed"
    return clean(event.why) or event.kind


class LabellingSession:
    """One person's work on a project.

    Parameters
    ----------
    items : Items
    journal : Journal, open
    n_clusters : int, (least, most) or None
    data : str or None, the data file or folder; images are read from there

    Attributes
    ----------
    row_of : dict, the row number of each id
    current : Snapshot
    """

    def __init__(
        self,
        items: Items,
        journal: Journal,
        *,
        n_clusters: NClusters = None,
        data: str | None = None,
    ) -> None:
        self.items, self.journal, self.n_clusters, self.data = items, journal, n_clusters, data
        ids: Any = range(len(items.X)) if items.ids is None else items.ids
        self.row_of: dict[Any, int] = {name: row for row, name in enumerate(ids)}
        self._mutex = RLock()
        undone = [event for event in journal.state.undone if event.kind == "answer"]
        self._again = [self._asked(event) for event in undone]
        self.current = self._snapshot()
        self._recent = deque([self.current], maxlen=RECENT)

    @classmethod
    def open(
        cls,
        data: str,
        project: str | None = None,
        *,
        n_clusters: NClusters = None,
        who: str | None = None,
        **settings: Any,
    ) -> "LabellingSession":
        """Return the session of a data file and its project, which is created if it is new.

        Close it, or use it in a ``with`` statement: no other program can label the project before.

        Parameters
        ----------
        data : str, a file or folder that `linkwise label` takes
        project : str or None, the project file; default: the one of `linkwise label`
        n_clusters : int, (least, most) or None
        who : str or None, the author of the answers; default: the user of this computer
        settings : other settings of the project, such as ``text="comment"``; see `KEPT`
        """
        path = default_project(data) if project is None else project
        strange = sorted(set(settings) - set(RULES) | {"k"} & set(settings))
        if strange:
            names = ", ".join(name for name in RULES if name != "k")
            raise TypeError(f"{strange[0]!r} is no setting of a project; these are: {names}")
        given = dict.fromkeys(RULES) | settings | {"k": checked_n_clusters(n_clusters)}
        chosen = settings_of(path, given)
        items, journal = open_project(data, path, chosen, who=who)
        return cls(items, journal, n_clusters=chosen["k"], data=data)

    def __enter__(self) -> "LabellingSession":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal; every answer is on the disk already."""
        self.journal.close()

    def widget(self) -> Any:
        """Return the questions as a widget for a Jupyter notebook; needs the extra ``notebook``."""
        from linkwise.labelling.widget import LabelWidget

        return LabelWidget(self)

    def _asked(self, event: Event) -> Asked:
        a, b = self.row_of[event.body["a"]], self.row_of[event.body["b"]]
        return Asked(a, b, event.why or "It was undone.", event.seq)

    def _to_ask_again(self, state: State) -> tuple[Asked | None, Event | None]:
        """Return the question to ask again, and the event that a redo would bring back."""
        again = self._again[-1] if self._again else None
        redo = state.undone[-1] if state.undone else None
        if redo is None and again is not None and again.before is not None:
            redo = state.event(again.before)
        return again, redo

    def _grown(self, before: Snapshot) -> Snapshot | None:
        """Return the snapshot after one more event, made of the one before.

        It does not go over the log. None: the log says something else, so that it must be read.
        """
        state, event = self.journal.state, self.journal.state.newest
        if state.n_events != before.state.n_events + 1 or event is None or event.kind == "keep":
            return None
        weighted = any(person.shared for person in before.people)
        placed = {self.row_of[name] for name in event.placed}
        if weighted or before.conflict is not None or placed & set(before.task.marks):
            return None
        if event.kind == "answer":
            return self._answered(before, event)
        task = before.task
        if event.kind == "mark":
            rows = [self.row_of[name] for name in event.body["rows"]]
            mark: str = event.body["mark"]
            task = task._replace(marks={**task.marks, **dict.fromkeys(rows, mark)})
        else:
            new = event.constraints().resolve(self.items.ids, n=len(self.items.X))
            task = task._replace(links=task.links + new.active())
            if event.by_hand and taken_back(task.links).any():
                return None
        if event.edits_labels:
            task = task._replace(edits=[*task.edits, *edits_of(event, self.row_of)])
        elif self._found_conflict(task.links) is not None:
            return None
        known = Known(task.links, task.unsure, dict(task.marks))
        again, redo = self._to_ask_again(state)
        return Snapshot(state, known, task, None, [], again, redo, before.people)

    def _answered(self, before: Snapshot, event: Event) -> Snapshot | None:
        """Return the snapshot after one more answer, None if it is not simply added."""
        a, b, same = *(self.row_of[event.body[end]] for end in "ab"), event.body["same"]
        if before.known.answer(a, b) is not None:
            return None
        known, task, people = before.known.copy(), before.task, before.people
        known.add(a, b, same)
        if same is None:
            task = task._replace(unsure=[*task.unsure, (a, b)])
        else:
            new = Constraints.from_table([(a, b, 1 if same else -1, 1.0)])
            new = new.with_source([event.source], [event.seq])
            task = task._replace(links=task.links + new)
            known.links = task.links
            people = one_more_answer(people, event.who)
            if known.contradicted or self._found_conflict(task.links) is not None:
                return None
        again, redo = self._to_ask_again(self.journal.state)
        return Snapshot(self.journal.state, known, task, None, [], again, redo, people)

    def _as_before(self) -> Snapshot | None:
        """Return the snapshot of earlier, if the log says the same again after an undo or redo."""
        state = self.journal.state
        for one in reversed(self._recent):
            same = one.task.n_clusters == self.n_clusters and one.task.outliers == self.outliers
            if same and one.state.counts_as(state):
                again, redo = self._to_ask_again(state)
                return one._replace(state=state, again=again, redo=redo)
        return None

    def _found_conflict(self, links: Constraints) -> Constraints | None:
        """Return answers and imported pairs that cannot all hold, or None."""
        return links.select(np.isin(links.source, BY_HAND, invert=True)).conflict(
            most_clusters(self.n_clusters)
        )

    def _snapshot(self) -> Snapshot:
        state = self.journal.state
        task = task_of(state, self.items.ids, len(self.items.X), self.n_clusters, self.outliers)
        known = Known(task.links, task.unsure, dict(task.marks))
        conflict = self._found_conflict(task.links)
        if conflict is not None:
            conflict = self._found_conflict(state.constraints())  # by the user's ids
        events = [] if conflict is None else state.events_about(conflict)
        return Snapshot(
            state, known, task, conflict, events, *self._to_ask_again(state), state.people
        )

    def follow(self) -> Snapshot:
        """Read the journal again; return the new snapshot."""
        with self._mutex:
            self.current = self._as_before() or self._grown(self.current) or self._snapshot()
            self._recent.append(self.current)
            return self.current

    @property
    def outliers(self) -> float | str | None:
        """The share of rows that are left out of clusters, "auto", or None."""
        return outliers_of(self.journal.settings)

    def set_outliers(self, outliers: float | str | None) -> None:
        """Leave a share of the rows out of clusters, or those far from all others ("auto")."""
        if outliers is not None and not is_outliers(outliers):
            raise ValueError(f'outliers must be null, "auto" or in [0, 1); got {outliers!r}')
        with self._mutex:
            self.journal.configure(outliers=outliers)
            self.follow()

    def set_n_clusters(self, k: NClusters) -> None:
        """Fix the number of clusters, or limit it (least, most), or leave it free (None)."""
        k = checked_n_clusters(k, len(self.items.X), name="k")
        with self._mutex:
            self.journal.configure(k=k)
            self.n_clusters = k
            self.follow()

    def answer(
        self,
        a: int,
        b: int,
        same: bool | None,
        *,
        why: str = "",
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Write the answer about rows a and b: True, False, or None for "don't know"."""
        body = {"a": self.items.name(a), "b": self.items.name(b), "same": same}
        with self._mutex:
            before = self.journal.state.n_events
            event = self.journal.append("answer", body, why=why, client=client, who=who)
            if self.journal.state.n_events > before:
                top = self._again[-1] if self._again else None
                if top is not None and {a, b} == {top.a, top.b}:
                    self._again.pop()
                else:
                    self._again.clear()
            self.follow()
        return event

    def mark(
        self,
        rows: list[int],
        mark: str,
        *,
        why: str = "",
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Write that rows are "unclear", or belong to no cluster: "stray"."""
        body = {"rows": [self.items.name(row) for row in rows], "mark": mark}
        with self._mutex:
            event = self.journal.append("mark", body, why=why, client=client, who=who)
            self._again = [one for one in self._again if not {one.a, one.b} & set(rows)]
            self.follow()
        return event

    def label(
        self,
        row: int,
        anchors: list[int],
        chosen: int | None,
        *,
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Write which of some rows, of a cluster each, a row is with; None: with none of them."""
        if row in anchors or (chosen is not None and chosen not in anchors):
            raise ValueError("chosen must be null or one of the anchors, and row none of them")
        like = "none of these" if chosen is None else called(self.items, chosen)
        why = f"{called(self.items, row)}: like {like}"
        to, apart = ([], anchors) if chosen is None else ([chosen], [])
        return self._group([row], to, apart, why=why, client=client, who=who)

    def judge_set(
        self,
        rows: list[int],
        out: list[int],
        *,
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Write which rows of a set do not belong to the others."""
        if not set(out) <= set(rows) or len(set(rows)) - len(set(out)) < 1 or len(rows) < 2:
            raise ValueError("out must be some of two or more rows, and leave at least one")
        kept = [row for row in rows if row not in out]
        why = f"of {len(rows)} rows, {len(out)} do not belong to the others"
        return self._group(kept, [], out, why=why, client=client, who=who)

    def _group(self, rows: list[int], to: list[int], apart: list[int], **said: str | None) -> Event:
        """Write a group as an answer, which teaches the models."""
        parts = {"rows": rows, "to": to, "apart": apart}
        body = {name: [self.items.name(row) for row in part] for name, part in parts.items()}
        with self._mutex:
            event = self.journal.append("group", body, source="answer", **said)  # type: ignore[arg-type]
            self._again.clear()
            self.follow()
        return event

    def append(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        why: str = "",
        client: str | None = None,
        teach: bool = False,
        who: str | None = None,
    ) -> Event:
        """Write a correction; nothing is asked again after it.

        With ``teach`` models learn from it as well. Then other clusters may change too.
        """
        source = "taught" if teach else None
        with self._mutex:
            before = self.journal.state.n_events
            event = self.journal.append(kind, body, why=why, client=client, source=source, who=who)
            if self.journal.state.n_events > before:
                self._again.clear()
            self.follow()
        return event

    def import_table(self, path: str) -> str:
        """Add a table to the journal; return in words what came of it."""
        with self._mutex:
            before = self.journal.state.n_events
            text = import_table(path, self.items, self.journal)
            if self.journal.state.n_events > before:
                self._again.clear()
            self.follow()
        return text

    def undo(
        self,
        event: int | None = None,
        *,
        why: str = "",
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Undo an event, by default the last one that counts; an answer is then asked again."""
        with self._mutex:
            before = self.journal.state.n_events
            undo = self.journal.undo(event, why=why, client=client, who=who)
            undone = self.journal.state.event(undo.body["event"])
            if self.journal.state.n_events > before and undone.kind == "answer":
                self._again.append(self._asked(undone))
            self.follow()
        return undo

    def redo(
        self,
        event: int | None = None,
        *,
        why: str = "",
        client: str | None = None,
        who: str | None = None,
    ) -> Event:
        """Redo an event, by default the one undone last; see `Snapshot.redo`.

        After a new answer the journal has nothing left to redo. The questions that wait to be asked
        again are then answered as before.
        """
        with self._mutex:
            sent = None if client is None else self.journal.sent(client)
            if sent is not None:
                return sent
            again, state = self._again[-1] if self._again else None, self.journal.state
            if event is None and not state.undone and again is not None:
                same = self.current.redo.body["same"] if self.current.redo else None
                return self.answer(again.a, again.b, same, why=again.why, client=client, who=who)
            redo = self.journal.redo(event, why=why, client=client, who=who)
            self._again = [one for one in self._again if one.before != redo.body["event"]]
            self.follow()
        return redo

    def words(self, event: Event) -> str:
        """Return what an event says in a few words, rows called by their contents."""
        return event_text(event, lambda name: called(self.items, self.row_of[name]))

    def conflict_words(self, shown: int) -> str:
        """Return the conflict as a sentence that names at most so many pairs; "" without one."""
        conflict = self.current.conflict
        if conflict is None:
            return ""
        return explain(conflict, shown=shown, called=lambda a: called(self.items, self.row_of[a]))

    def same_before(self, asked: Asked) -> str | None:
        """Return "same", "different" or "unsure", as a question was answered before; else None."""
        if asked.before is None:
            return None
        return SAID[self.journal.state.event(asked.before).body["same"]]
