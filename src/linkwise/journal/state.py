"""What a log says: the replay of its events.

An event counts from its place in the log on, until an undo names it; a redo makes it count again.
Undo without a name takes the event that began to count last, redo the one undone last, so that
both go to any depth; anything new empties what redo would bring back, but a redo by name still
can. Nothing is ever removed: two answers that contradict each other both count, and `conflict`
tells.

One event is O(1) to apply, besides what it names.
"""

from typing import NamedTuple

from linkwise.journal.events import Event


class Name(NamedTuple):
    """A name, and the rows of the cluster it was given to."""

    rows: list
    name: str


class State:
    """The events of a log that count.

    Attributes
    ----------
    n_events : int, events applied, undos and redos among them
    """

    def __init__(self):
        self.n_events = 0
        self._events: dict[int, Event] = {}  # all but undo and redo
        self._counting: dict[int, None] = {}  # in the order they began to count
        self._undone: dict[int, None] = {}  # what redo brings back, the last first

    def __eq__(self, other):
        if not isinstance(other, State):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        order = [[*state._counting, 0, *state._undone] for state in (self, other)]
        return mine == theirs and order[0] == order[1]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"State({len(self._counting)} of {self.n_events} events count)"

    def copy(self):
        """Return a state that goes on from here alone."""
        new = State()
        new.n_events = self.n_events
        new._events, new._counting = self._events.copy(), self._counting.copy()
        new._undone = self._undone.copy()
        return new

    def target(self, kind, event=None):
        """Return the number of the event that an undo or a redo would take.

        Raises ValueError if there is none, or if the one named is not there to take.
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

    def apply(self, event):
        """Take in the next event of the log."""
        if event.kind == "undo":
            target = self.target("undo", event.body["event"])
            del self._counting[target]
            self._undone[target] = None
        elif event.kind == "redo":
            target = self.target("redo", event.body["event"])
            self._undone.pop(target, None)
            self._counting[target] = None
        else:
            self._events[event.seq] = event
            self._counting[event.seq] = None
            self._undone.clear()
        self.n_events += 1

    def counts_now(self, seq):
        """Tell whether an event counts."""
        return seq in self._counting

    def event(self, seq):
        """Return an event by its number, whether it counts or not."""
        return self._events[seq]

    @property
    def active(self):
        """The events that count, in the order of the log."""
        return [self._events[seq] for seq in sorted(self._counting)]

    @property
    def undone(self):
        """The events that redo would bring back, the next one last."""
        return [self._events[seq] for seq in self._undone]

    @property
    def pairs(self):
        """What counts, as a list of (a, b, sign, weight, event)."""
        return [(*pair, e) for e in self.active for pair in e.pairs]

    @property
    def answers(self):
        """What counts as a list of (a, b, same), same None where somebody said "don't know"."""
        found = []
        for e in self.active:
            if e.kind == "answer":
                found.append((e.body["a"], e.body["b"], e.body["same"]))
            else:
                found += [(a, b, sign > 0) for a, b, sign, weight in e.pairs if weight > 0]
        return found

    @property
    def counts(self):
        """How many answers count: {"same": ..., "different": ..., "unsure": ...}."""
        said = [e.body["same"] for e in self.active if e.kind == "answer"]
        values = {"same": True, "different": False, "unsure": None}
        return {word: sum(answer is value for answer in said) for word, value in values.items()}

    @property
    def names(self):
        """The names of clusters, a list of Name, the latest last; "" takes a name away."""
        return [Name(e.body["rows"], e.body["name"]) for e in self.active if e.kind == "rename"]

    @property
    def strokes(self):
        """The strokes on an image, a list of their bodies."""
        return [e.body for e in self.active if e.kind == "stroke"]

    def constraints(self):
        """Return what counts as Constraints by the user's ids, all of it."""
        from linkwise.constraints import Constraints

        pairs = [pair[:4] for pair in self.pairs]
        must, cannot = ([pair for pair in pairs if pair[2] == sign] for sign in (1, -1))
        return Constraints(
            [pair[:2] for pair in must],
            [pair[:2] for pair in cannot],
            must_weight=[pair[3] for pair in must],
            cannot_weight=[pair[3] for pair in cannot],
        )

    def conflict(self, n_clusters=None):
        """Return the events of a smallest set found that cannot all hold, or [] if there is none.

        Several events may have said the same pair; all of them are returned, since the pair goes
        only if all of them do.
        """
        found = self.constraints().conflict(n_clusters)
        if found is None:
            return []
        clashing = {(frozenset((pair.a, pair.b)), pair.sign) for pair in found}
        events = {
            e.seq: e for a, b, sign, _, e in self.pairs if (frozenset((a, b)), sign) in clashing
        }
        return list(events.values())

    def cluster_names(self, label_of):
        """Return {label: name} for clusters as they are now.

        Parameters
        ----------
        label_of : dict, the label of each id

        Notes
        -----
        A name belongs to the cluster that most of its rows are in; the name given last wins.
        """
        found = {}
        for rows, name in self.names:
            votes: dict = {}
            for row in rows:
                if row in label_of:
                    votes[label_of[row]] = votes.get(label_of[row], 0) + 1
            if votes:
                found[max(votes, key=lambda label: votes[label])] = name
        return {label: name for label, name in found.items() if name}


def replay(events):
    """Return the State that a list of events leads to."""
    state = State()
    for event in events:
        state.apply(event)
    return state
