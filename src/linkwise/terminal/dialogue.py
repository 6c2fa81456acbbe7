"""Labelling in a terminal: ask, take a key, write it down, ask the next.

Every answer is on the disk before the next question is shown, so that the program may end at any
moment and in any way. What was taken back is asked again, the last first, also after a restart.
"""

import signal
from contextlib import contextmanager
from typing import NamedTuple

from linkwise.constraints.conflicts import explain
from linkwise.journal import NotSaved
from linkwise.query import Session
from linkwise.terminal.screen import View, question_lines

SAME = {"same": True, "different": False, "unsure": None}
WORD = {value: word for word, value in SAME.items()}
HELP = (
    "Two rows are shown. Say whether they belong together; what differs is marked, by * and, for "
    "numbers far apart, by **. Differing words of a text are in brackets or in colour.",
    "s same: they belong in one cluster. d different: they do not. u or space, unsure: you do not "
    "know, and the pair is not asked again.",
    "b back: takes the last answer back and asks again; press it as often as you like. r redo: "
    "answers as before what was taken back.",
    "q finished: ends. So does Ctrl-C. Every answer is saved at once, and the same command goes on "
    "where you stopped.",
    "Press any key to return.",
)


class Asked(NamedTuple):
    """A question, and the event that answered it before it was taken back, if one did."""

    a: int
    b: int
    why: str
    before: int | None = None


class Desk:
    """One person's work on a project: the journal, the session that follows it, what is asked.

    Parameters
    ----------
    items : Items
    journal : Journal, open
    n_clusters : int or None
    seed : int
    """

    def __init__(self, items, journal, *, n_clusters=None, seed=0):
        self.items, self.journal, self.n_clusters = items, journal, n_clusters
        self.session = Session(items.X, n_clusters=n_clusters, random_state=seed)
        ids = range(len(items.X)) if items.ids is None else items.ids
        self._row = {name: row for row, name in enumerate(ids)}
        self._again: list[Asked] = []
        for event in journal.state.undone:
            self._ask_again(event)
        self.follow()

    def follow(self):
        """Tell the session what the journal says."""
        answers = self.journal.state.answers
        self.session.replay([(self._row[a], self._row[b], same) for a, b, same in answers])

    def _ask_again(self, event):
        if event.kind == "answer":
            a, b = self._row[event.body["a"]], self._row[event.body["b"]]
            why = event.why or "It was taken back."
            self._again.append(Asked(a, b, why, event.seq))

    def question(self):
        """Return what to ask now, Asked, or None if nothing is left."""
        if self._again:
            return self._again[-1]
        found = self.session.ask(1)
        return Asked(*found[0][:3]) if found else None

    def answer(self, asked, same):
        """Write an answer down, then let the session know."""
        name = self.items.name
        self.journal.answer(name(asked.a), name(asked.b), same, why=asked.why)
        if self._again:
            self._again.pop()
        self.session.tell(asked.a, asked.b, same)

    def back(self):
        """Take back what was said last; return it in words."""
        undo = self.journal.undo(why="taken back in the terminal")
        event = self.journal.state.event(undo.body["event"])
        self._ask_again(event)
        self.follow()
        return f"Taken back: {told(event)}."

    def redo(self, asked):
        """Say again what was taken back; return it in words."""
        undone = self.journal.state.undone
        if undone:
            event = undone[-1]
            self.journal.redo(why="said again in the terminal")
            if self._again and self._again[-1].before == event.seq:
                self._again.pop()
            self.follow()
        elif asked.before is not None:
            event = self.journal.state.event(asked.before)
            self.answer(asked, event.body["same"])
        else:
            raise ValueError("nothing was taken back")
        return f"Said again: {told(event)}."

    def note(self, asked):
        """Return what is to be said of a question that was asked before."""
        if asked.before is None:
            return ""
        before = self.journal.state.event(asked.before).body["same"]
        return f"You said: {WORD[before]}; r says it again."

    def warning(self):
        """Return answers that cannot all hold in a sentence, or "" if there are none."""
        conflict = self.journal.state.constraints().conflict(self.n_clusters)
        if conflict is None:
            return ""
        return f"These answers cannot all hold: {explain(conflict, shown=4)}."


def told(event):
    """Return an event in words."""
    if event.kind == "answer":
        return f"{event.body['a']} and {event.body['b']}, {WORD[event.body['same']]}"
    return f"{event.kind}{f', {event.why}' if event.why else ''}"


def view_of(desk, asked, title, note):
    """Return what is told around a question."""
    return View(
        title,
        desk.journal.state.counts,
        asked.why,
        desk.session.progress().words,
        desk.warning(),
        " ".join(part for part in (note, desk.note(asked)) if part),
    )


@contextmanager
def ended_in_order():
    """Let a request to end put the terminal in order first."""

    def leave(number, _):
        raise SystemExit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def label(desk, screen, keys, *, title):
    """Ask until the person has finished or nothing is left; return how many answers came."""
    start, note = desk.journal.state.n_events, ""
    with ended_in_order(), keys:
        while (asked := desk.question()) is not None:
            view = view_of(desk, asked, title, note)

            def draw(asked=asked, view=view):
                screen.show(question_lines(desk.items, asked.a, asked.b, view, screen.look))

            draw()
            key = keys.next(lambda stopped, draw=draw: (screen.resized() or stopped) and draw())
            if key == "finished":
                break
            try:
                note = act(desk, asked, key, screen, keys)
            except (NotSaved, ValueError) as error:
                desk.follow()
                note = f"{error}."
    screen.write("\n")
    return desk.journal.state.n_events - start


def act(desk, asked, key, screen, keys):
    """Do what a key means; return what there is to say about it."""
    if key in SAME:
        desk.answer(asked, SAME[key])
        return ""
    if key == "back":
        return desk.back()
    if key == "redo":
        return desk.redo(asked)
    if key == "help":
        screen.show([[(line, "")] for line in _help_lines(screen)])
        keys.next(lambda stopped: None)
        return ""
    return f"{key} is no key; s, d, u, b, r, q, or ? for help."


def _help_lines(screen):
    from textwrap import wrap

    return [line for text in HELP for line in [*wrap(text, screen.look.columns - 1), ""]]
