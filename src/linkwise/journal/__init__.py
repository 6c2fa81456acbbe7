"""The log of answers: append-only events in one file, and what they say.

events (the kinds of events, and the pairs that each means), state (the replay of a log), people
(who answered, and how reliable each is), file (the SQLite file and its faults), data_identity (the
data a project is about), journal (writing and reading), corrections (merge, split and move as
events), exports (tables for other programs, and back), settings (what a project keeps).

The room does not depend on who asks: a terminal, a page and a script write the same events.
NumPy is imported when constraints are requested, so a log opens at once.
"""

from linkwise.journal.corrections import merging, moving, representatives, splitting
from linkwise.journal.data_identity import Data, check_data, check_rows, describe
from linkwise.journal.events import HAND, Draft, Event
from linkwise.journal.exports import (
    read_table,
    restored_links,
    write_agreement,
    write_links,
    write_log,
)
from linkwise.journal.file import InUse, NotSaved, default_project, is_project
from linkwise.journal.journal import Journal, Project, project_data, read_project
from linkwise.journal.state import State, replay

__all__ = [
    "HAND",
    "Data",
    "Draft",
    "Event",
    "InUse",
    "Journal",
    "NotSaved",
    "Project",
    "State",
    "check_data",
    "check_rows",
    "default_project",
    "describe",
    "is_project",
    "merging",
    "moving",
    "project_data",
    "read_project",
    "read_table",
    "replay",
    "representatives",
    "restored_links",
    "splitting",
    "write_agreement",
    "write_links",
    "write_log",
]
