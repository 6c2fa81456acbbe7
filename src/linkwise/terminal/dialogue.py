"""Labelling in a terminal: ask, read a key, write the answer, ask the next question.

Every answer is on the disk before the next question is shown, so the program may end at any moment
and in any way. What was undone is asked again, the last first, also after a restart.
"""

import signal
from contextlib import contextmanager

from linkwise._wording import MARKS
from linkwise.journal import NotSaved
from linkwise.journal.state import SAID
from linkwise.labelling.cluster_model import ClusterModel
from linkwise.labelling.labelling_session import Asked, LabellingSession
from linkwise.labelling.portraits import called
from linkwise.query import Progress, Question, SetQuestion
from linkwise.query.session import LAST
from linkwise.terminal.layout import cut
from linkwise.terminal.screen import View, question_lines

ANSWERS = {word: same for same, word in SAID.items()}
CONFLICT = 4  # pairs of a conflict that are named
HELP = (
    "Two rows are shown. Say whether they belong together; what differs is marked, by * and, for "
    "numbers far apart, by **. Differing words of a text are in brackets or in colour.",
    "s same: they belong in one cluster. d different: they do not. u or space, unsure: you do not "
    "know, and the pair is not asked again.",
    "w: a question about several rows, if it tells more than the pair. Type the numbers of rows, "
    "and end by Return.",
    "c unclear: the first row cannot be judged, and is not asked about again. x: the first row "
    "belongs to no cluster.",
    "b back: undoes the last answer and asks again; press it as often as you like. r redo: "
    "gives the undone answer again.",
    "q finished: ends. So does Ctrl-C. Every answer is saved at once, and the same command goes on "
    "where you stopped.",
    "Press any key to return.",
)


class Dialogue:
    """The questions of a project, one after the other.

    Parameters
    ----------
    items : Items
    journal : Journal, open
    n_clusters : int, (least, most) or None
    seed : int

    Attributes
    ----------
    project : LabellingSession
    model : ClusterModel that follows it
    """

    def __init__(self, items, journal, *, n_clusters=None, seed=0):
        self.project = LabellingSession(items, journal, n_clusters=n_clusters)
        self.model = ClusterModel(items.X, seed=seed, n_clusters=n_clusters)
        self._follow()

    def _follow(self):
        self.model.follow(self.project.current.task)

    def follow(self):
        """Read the journal again, after an event that may not have been written."""
        self.project.follow()
        self._follow()

    def question(self):
        """Return what to ask now, Asked, or None if nothing is left."""
        if self.project.current.again is not None:
            return self.project.current.again
        found = self.model.questions(1)
        return Asked(*found[0]) if found else None

    def answer(self, asked, same):
        """Write an answer."""
        self.project.answer(asked.a, asked.b, same, why=asked.why)
        self._follow()

    def mark(self, asked, mark):
        """Write that the first row of a question is unclear, or in no cluster."""
        self.project.mark([asked.a], mark, why=asked.why)
        self._follow()

    def wider(self, asked):
        """Return a question about several rows that tells more than a pair, or None."""
        return self.model.wider_question(Question(asked.a, asked.b, asked.why))

    def choose(self, question, numbers):
        """Write the answer to a wider question: the numbers of the rows that were named."""
        if isinstance(question, SetQuestion):
            out = [question.rows[i - 1] for i in numbers if 0 < i <= len(question.rows)]
            self.project.judge_set(question.rows, out)
        else:
            named = [question.anchors[i - 1] for i in numbers if 0 < i <= len(question.anchors)]
            if len(named) > 1:
                raise ValueError("name one of these, or none")
            self.project.label(question.row, question.anchors, named[0] if named else None)
        self._follow()

    def back(self):
        """Undo the last event; return it in words."""
        undo = self.project.undo(why="taken back in the terminal")
        self._follow()
        undone = self.project.current.state.event(undo.body["event"])
        return f"Taken back: {self.project.words(undone)}."

    def redo(self):
        """Redo what was undone last; return it in words."""
        event = self.project.current.redo
        self.project.redo(why="said again in the terminal")
        self._follow()
        return f"Said again: {self.project.words(event)}." if event else ""

    def note(self, asked):
        """Return a sentence about the earlier answer to a question, or ""."""
        before = self.project.same_before(asked)
        return f"You said: {before}; r says it again." if before else ""

    def warning(self):
        """Return a sentence about answers that cannot all hold, or ""."""
        found = self.project.conflict_words(CONFLICT)
        return f"These answers cannot all hold: {found}." if found else ""


def progress_text(progress: Progress) -> str:
    """Return how far the answers have come, in words."""
    if not progress.left:
        return "Nothing is left to ask."
    if not progress.answers:
        return "No answers yet."
    last = min(LAST, progress.answers)
    found = (
        f"The last {last} answers changed {progress.changed:.1%} of the labels; "
        f"{progress.expected:.1%} are still in doubt."
    )
    return f"{found} More answers would change little." if progress.enough else found


def view_of(dialogue, asked, title, note):
    """Return what is shown around a question."""
    return View(
        title,
        dialogue.project.current.state.counts,
        asked.why,
        progress_text(dialogue.model.progress()),
        dialogue.warning(),
        " ".join(part for part in (note, dialogue.note(asked)) if part),
    )


@contextmanager
def ended_in_order():
    """Restore the terminal before a request to end takes effect."""

    def leave(number, _):
        raise SystemExit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def label(dialogue, screen, keys, *, title):
    """Ask until the person has finished or nothing is left."""
    note = ""
    with ended_in_order(), keys:
        while (asked := dialogue.question()) is not None:
            view = view_of(dialogue, asked, title, note)

            def draw(asked=asked, view=view):
                screen.show(
                    question_lines(dialogue.project.items, asked.a, asked.b, view, screen.look)
                )

            draw()
            key = keys.next(lambda stopped, draw=draw: (screen.resized() or stopped) and draw())
            if key == "finished":
                break
            try:
                note = act(dialogue, asked, key, screen, keys)
            except (NotSaved, ValueError) as error:
                dialogue.follow()
                note = f"{error}."
    screen.write("\n")


def act(dialogue, asked, key, screen, keys):
    """Do what a key means; return a note about it, or ""."""
    if key in ANSWERS:
        dialogue.answer(asked, ANSWERS[key])
        return ""
    if key == "wider":
        return ask_widely(dialogue, asked, screen, keys)
    if key in MARKS:
        dialogue.mark(asked, key)
        return ""
    if key == "back":
        return dialogue.back()
    if key == "redo":
        return dialogue.redo()
    if key == "help":
        screen.show([[(line, "")] for line in _help_lines(screen)])
        keys.next(lambda stopped: None)
        return ""
    return f"{key} is no key; s, d, u, c, x, w, b, r, q, or ? for help."


def ask_widely(dialogue, asked, screen, keys):
    """Ask a question about several rows; return a note about it, or ""."""
    question = dialogue.wider(asked)
    if question is None:
        return "The pair tells more than a question about several rows."
    items = dialogue.project.items
    if isinstance(question, SetQuestion):
        head, rows = "Which of these do not belong to the others?", question.rows
    else:
        row = called(items, question.row)
        head, rows = f"Which of these is {row} like? None: no number.", question.anchors
    listed = [f"{i}  {called(items, row)}" for i, row in enumerate(rows, start=1)]
    end = "Type the numbers, and Return; q leaves the question."
    screen.show([[(cut(line, screen.look.columns), "")] for line in [head, "", *listed, "", end]])
    numbers: list[int] = []
    while (typed := keys.next(lambda stopped: None)).strip("'").isdecimal():
        numbers += map(int, typed.strip("'"))
    if typed == "finished":
        return "Left; nothing was written."
    dialogue.choose(question, dict.fromkeys(numbers))
    return ""


def _help_lines(screen):
    from textwrap import wrap

    return [line for text in HELP for line in [*wrap(text, screen.look.columns - 1), ""]]
