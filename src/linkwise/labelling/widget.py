"""The questions of a project in a Jupyter notebook, as an anywidget.

The widget is a front end of a `LabellingSession`, as the page and the terminal are: answers go into
the same journal, and each is on the disk before the next question is shown. The kernel computes
the questions. It shows what `view` says; the browser sends

    {"do": "answer", "a": 3, "b": 7, "same": true, false or null, "client": ID}
    {"do": "mark", "row": 3, "mark": "unclear" or "stray", "client": ID}
    {"do": "undo", "client": ID}    {"do": "redo", "client": ID}

A command that is sent again with the same client ID is not written twice.
"""

import base64
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._wording import MARKS
from linkwise.estimators.summary import PALETTE, plane
from linkwise.exceptions import MissingExtra
from linkwise.journal import NotSaved
from linkwise.labelling.cluster_model import model_of
from linkwise.labelling.images import image_file, kind_of
from linkwise.labelling.items import fields_of, rows_in, whole
from linkwise.labelling.labelling_session import Asked, LabellingSession
from linkwise.labelling.portraits import called
from linkwise.labelling.texts import clean

try:
    import anywidget
    import traitlets
except ImportError:
    raise MissingExtra("anywidget", "notebook") from None

FILES = Path(__file__).parent / "static"
SHOWN = 2000  # points on the map at most
CONFLICT = 4  # pairs of a conflict that are named


def checked(message: Any, n: int) -> dict[str, Any]:
    """Return a command of the browser about n rows, checked."""
    if not isinstance(message, dict) or message.get("do") not in ("answer", "mark", "undo", "redo"):
        raise ValueError("do must be answer, mark, undo or redo")
    found = {"do": message["do"], "client": message.get("client")}
    if not isinstance(found["client"], str) or not 0 < len(found["client"]) <= 80:
        raise ValueError("client must be a text of 1 to 80 characters")
    if found["do"] == "answer":
        found["rows"] = rows_in([message.get("a"), message.get("b")], n, least=2)
        if message.get("same") not in (True, False, None):
            raise ValueError("same must be true, false or null")
        found["same"] = message.get("same")
    if found["do"] == "mark":
        if message.get("mark") not in MARKS:
            raise ValueError(f"mark must be one of {', '.join(MARKS)}")
        found |= {"row": whole(message.get("row"), "row", n), "mark": message["mark"]}
    return found


class LabelWidget(anywidget.AnyWidget):
    """The next question of a project, with buttons for the answers and a map of the clusters.

    Parameters
    ----------
    session : LabellingSession

    Attributes
    ----------
    session : LabellingSession, with the journal
    labels : int array (n,), the clusters that follow from the answers so far
    view : dict, what is shown
    map : dict, the positions of points and their clusters
    """

    _esm = FILES / "widget.js"
    _css = FILES / "widget.css"
    view = traitlets.Dict().tag(sync=True)
    map = traitlets.Dict().tag(sync=True)

    def __init__(self, session: LabellingSession) -> None:
        self.session = session
        seed = session.journal.settings.get("seed") or 0
        self._model = model_of(session.items.X, seed=seed, n_clusters=session.n_clusters)
        n = len(session.items.X)
        self._rows = np.unique(np.linspace(0, n - 1, min(n, SHOWN)).astype(np.int64))
        self._xy = plane(np.asarray(session.items.X[self._rows], dtype=np.float64))
        self._asked: Asked | None = None
        super().__init__()
        self.on_msg(lambda _, message, buffers: self._take(message))
        self.refresh()

    def _take(self, message: Any) -> None:
        """Do what a message of the browser says, and show the next question."""
        note = ""
        try:
            note = self._do(checked(message, len(self.session.items.X)))
        except (ValueError, NotSaved) as error:
            self.session.follow()
            note = f"{error}."
        self.refresh(note)

    def _do(self, command: dict[str, Any]) -> str:
        """Carry out a checked command; return a note about it, or ""."""
        session, client = self.session, command["client"]
        if command["do"] == "answer":
            (a, b), asked = command["rows"], self._asked
            why = asked.why if asked is not None and {asked.a, asked.b} == {a, b} else ""
            session.answer(a, b, command["same"], why=why, client=client)
            return ""
        if command["do"] == "mark":
            session.mark([command["row"]], command["mark"], client=client)
            return ""
        if command["do"] == "undo":
            undo = session.undo(client=client)
            return f"Undone: {session.words(session.current.state.event(undo.body['event']))}."
        session.redo(client=client)
        return ""

    def refresh(self, note: str = "") -> None:
        """Show what the journal says now, for example after other answers were imported."""
        current = self.session.current
        self._model.follow(current.task)
        found = [] if current.again is not None else self._model.questions(1)
        self._asked = current.again or (Asked(*found[0]) if found else None)
        self.labels = self._model.quick_labels()[0]
        self.map = {
            "x": self._xy[:, 0].round(4).tolist(),
            "y": self._xy[:, 1].round(4).tolist(),
            "labels": self.labels[self._rows].tolist(),
            "palette": list(PALETTE),
        }
        conflict = self.session.conflict_words(CONFLICT)
        self.view = {
            "question": None if self._asked is None else self._question(self._asked),
            "counts": dict(current.state.counts),
            "progress": self._progress(),
            "warning": f"These answers cannot all hold: {conflict}." if conflict else "",
            "note": note,
            "undo": bool(current.state.active),
            "redo": current.redo is not None,
        }

    def _question(self, asked: Asked) -> dict[str, Any]:
        items = self.session.items
        fields = [
            {"name": clean(f.name), "a": clean(f.a), "b": clean(f.b), "sign": f.sign}
            for f in fields_of(items, asked.a, asked.b)
        ]
        return {
            "rows": [asked.a, asked.b],
            "at": [self._place(asked.a), self._place(asked.b)],
            "called": [called(items, asked.a), called(items, asked.b)],
            "images": [self._image(asked.a), self._image(asked.b)],
            "fields": fields,
            "why": asked.why,
            "before": self.session.same_before(asked),
        }

    def _place(self, row: int) -> int:
        """Return the position of a row among the points of the map, -1 if it is not shown."""
        place = int(np.searchsorted(self._rows, row))
        return place if self._rows[place] == row else -1

    def _image(self, row: int) -> str | None:
        """Return the image of a row as a data URL, or None."""
        items, data = self.session.items, self.session.data
        if items.image is None or data is None:
            return None
        raw = Path(image_file(items.cells[row][items.image], data)).read_bytes()
        kind = kind_of(raw)
        return kind and f"data:{kind};base64,{base64.b64encode(raw).decode()}"

    def _progress(self) -> str:
        found = self._model.progress()
        if not found.left:
            return "Nothing is left to ask."
        if not found.answers:
            return ""
        enough = " More answers would change little." if found.enough else ""
        return f"{found.expected:.1%} of the labels are still in doubt.{enough}"
