"""What a log says: the replay of its events.

An event counts from its place in the log on, until an undo names it; a redo makes it count again.
An undo without a name takes the event that began to count last, a redo the one undone last, so
both reach any depth. A new event empties the list of what redo brings back; a redo by name is
still possible. Nothing is ever removed: two answers that contradict each other both count, and
`conflict` reports them.

To apply one event costs O(1) besides the rows it names.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from linkwise.journal.corrections import taken_back
from linkwise.journal.events import Body, Event, Id, constraints_of
from linkwise.journal.people import Person, people_of, weights_of

if TYPE_CHECKING:
    from linkwise.constraints import Constraints


SAID = {True: "same", False: "different", None: "unsure"}
SEVERAL = "about several rows"  # answers to questions about a label or a set


class Name(NamedTuple):
    """A name, and the rows of the cluster it was given to."""

    rows: list[Id]
    name: str


class State:
    """The events of a log that count.

    Attributes
    ----------
    n_events : int, events applied, undos and redos among them
    """

    def __init__(self) -> None:
        self.n_events = 0
        self._events: dict[int, Event] = {}  # all but undo and redo
        self._counting: dict[int, None] = {}  # in the order they began to count
        self._undone: dict[int, None] = {}  # what redo brings back, the last first
        self._active: list[Event] | None = None  # those that count, in the order of the log
        self._shared = False  # whether another state has the same list
        self._said: Counter[str] = Counter()  # how many answers that count say what
        self._named: set[int] = set()  # the events that name clusters and count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        order = [[*state._counting, 0, *state._undone] for state in (self, other)]
        same = self.n_events == other.n_events and self._events == other._events
        return same and order[0] == order[1]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"State({len(self._counting)} of {self.n_events} events count)"

    def copy(self) -> "State":
        """Return a copy that later events of this one do not change."""
        new = State()
        new.n_events = self.n_events
        new._events, new._counting = self._events.copy(), self._counting.copy()
        new._undone = self._undone.copy()
        new._active, new._shared = self._active, True
        new._said, new._named = self._said.copy(), self._named.copy()
        return new

    def target(self, kind: str, event: int | None = None) -> int:
        """Return the number of the event that an undo or a redo would take.

        Raises ValueError if there is none, or if the named event cannot be undone or redone.
        """
        counts = kind == "undo"
        if event is None:
            event = next(reversed(self._counting if counts else self._undone), None)
            if event is None:
                raise ValueError(f"there is nothing to {kind}")
        elif event not in self._events or (event in self._counting) != counts:
            does = "does not count" if event in self._events else "is no event"
            raise ValueError(f"{kind} of event {event}: it {'counts' if not counts else does}")
        return event

    def apply(self, event: Event) -> None:
        """Apply the next event of the log."""
        if event.kind == "undo":
            target = self.target("undo", event.body["event"])
            del self._counting[target]
            self._undone[target], self._active = None, None
            self._tally(self._events[target], -1)
        elif event.kind == "redo":
            target = self.target("redo", event.body["event"])
            self._undone.pop(target, None)
            self._counting[target], self._active = None, None
            self._tally(self._events[target], 1)
        else:
            self._events[event.seq] = event
            self._counting[event.seq] = None
            self._tally(event, 1)
            self._undone.clear()
            if self._active is not None:
                self._active = [*self._active] if self._shared else self._active
                self._active.append(event)
                self._shared = False
        self.n_events += 1

    def _tally(self, event: Event, change: int) -> None:
        """Count an event that begins (1) or stops (-1) to count."""
        if event.kind == "answer":
            self._said[SAID[event.body["same"]]] += change
        elif event.kind == "group" and event.source == "answer":
            self._said[SEVERAL] += change
        elif event.kind == "rename":
            (self._named.add if change > 0 else self._named.remove)(event.seq)

    def counts_now(self, seq: int) -> bool:
        """Tell whether an event counts."""
        return seq in self._counting

    def counts_as(self, other: "State") -> bool:
        """Tell whether the same events count in another state of the same log."""
        return self._counting.keys() == other._counting.keys()

    def event(self, seq: int) -> Event:
        """Return an event by its number, whether it counts or not."""
        return self._events[seq]

    @property
    def active(self) -> list[Event]:
        """The events that count, in the order of the log."""
        if self._active is None:
            self._active = [self._events[seq] for seq in sorted(self._counting)]
            self._shared = False
        return self._active

    @property
    def newest(self) -> Event | None:
        """The last event of the log, None if it is an undo or a redo, or if there is none."""
        return self._events.get(self.n_events)

    @property
    def undone(self) -> list[Event]:
        """The events that redo would bring back; the next one is the last."""
        return [self._events[seq] for seq in self._undone]

    @property
    def unsure(self) -> list[tuple[Id, Id]]:
        """The pairs (a, b) to which "don't know" was answered, by the user's ids."""
        bodies = [e.body for e in self.active if e.kind == "answer"]
        return [(body["a"], body["b"]) for body in bodies if body["same"] is None]

    @property
    def marks(self) -> dict[Id, str]:
        """The rows that are marked, by the user's ids: "unclear" or "stray".

        A mark holds until a later event says where the row belongs, or marks it again.
        """
        found: dict[Id, str] = {}
        for event in self.active:
            for row in event.placed:
                found.pop(row, None)
            if event.kind == "mark":
                found |= dict.fromkeys(event.body["rows"], event.body["mark"])
        return found

    @property
    def counts(self) -> dict[str, int]:
        """How many answers count: {"same": ..., "different": ..., "unsure": ...}.

        Answers about several rows, if there are any, have a key of their own, SEVERAL.
        """
        found = {word: self._said[word] for word in SAID.values()}
        return found | ({SEVERAL: self._said[SEVERAL]} if self._said[SEVERAL] else {})

    @property
    def people(self) -> list[Person]:
        """The people who answered, and how reliable each is."""
        return people_of(self.active)

    @property
    def names(self) -> list[Name]:
        """The names of clusters, a list of Name, the latest last; "" removes a name."""
        bodies = [self._events[seq].body for seq in sorted(self._named)]
        return [Name(body["rows"], body["name"]) for body in bodies]

    @property
    def strokes(self) -> list[Body]:
        """The strokes on an image, a list of their bodies."""
        return [e.body for e in self.active if e.kind == "stroke"]

    def constraints(self) -> "Constraints":
        """Return all pairs that count as Constraints by the user's ids, in the order of the log.

        Every pair carries its weight, its source and the number of its event. Answers of people
        who share pairs are weighted by their reliability (`people`). Pairs by hand that a later
        correction takes back are left out.
        """
        active = self.active
        links = constraints_of(active)
        links = links.select(~taken_back(links))
        weights = weights_of(active)
        if not weights:
            return links
        found = [weights.get(number, 1.0) for number in links.event.tolist()]
        return links.with_weight(links.weight * found)

    def events_about(self, links: "Constraints") -> list[Event]:
        """Return the events that state one of these pairs, the same way, in the order of the log.

        Several events may state the same pair. All of them are returned: the pair stops counting
        only when all of them are undone.
        """
        wanted = {(frozenset((pair.a, pair.b)), pair.sign) for pair in links}
        every = self.constraints()
        numbers = {
            number
            for pair, number in zip(every, every.event.tolist(), strict=True)
            if (frozenset((pair.a, pair.b)), pair.sign) in wanted
        }
        return [self._events[number] for number in sorted(numbers)]

    def conflict(self, n_clusters: int | None = None) -> list[Event]:
        """Return events that cannot all hold; without any one of them they could. [] if none."""
        found = self.constraints().conflict(n_clusters)
        return [] if found is None else self.events_about(found)

    def cluster_names(self, label_of: dict[Any, int]) -> dict[int, str]:
        """Return {label: name} for the present clusters.

        Parameters
        ----------
        label_of : dict, the label of each id

        Notes
        -----
        A name belongs to the cluster that most of its rows are in; of several the latest holds.
        """
        found: dict[int, str] = {}
        for rows, name in self.names:
            votes: dict[int, int] = {}
            for row in rows:
                if label_of.get(row, -1) >= 0:  # strays have no cluster
                    votes[label_of[row]] = votes.get(label_of[row], 0) + 1
            if votes:
                found[max(votes, key=lambda label: votes[label])] = name
        return {label: name for label, name in found.items() if name}


def replay(events: Iterable[Event]) -> State:
    """Return the State that a list of events leads to."""
    state = State()
    for event in events:
        state.apply(event)
    return state
