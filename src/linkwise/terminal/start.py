"""Labelling in a terminal from its start to its end: `linkwise label --terminal`."""

import os
import shlex

from linkwise._wording import counted
from linkwise.journal import default_project
from linkwise.labelling.project import open_project
from linkwise.terminal.dialogue import Dialogue, label
from linkwise.terminal.keys import open_keys
from linkwise.terminal.screen import Screen


def label_in_terminal(data, path, settings, *, who=None, stdin=None, stdout=None):
    """Ask about the rows of a data file until the person has finished; return the exit code."""
    screen = Screen(stdout)
    items, journal = open_project(data, path, settings, who=who)
    with journal:
        for note in items.notes(data):
            screen.say(note)
        screen.say(
            f"{data}: {counted(len(items.X), 'row')}, clustered by {items.used}; one moment ..."
        )
        dialogue = Dialogue(items, journal, n_clusters=settings["k"], seed=settings["seed"] or 0)
        code = 0
        try:
            label(dialogue, screen, open_keys(stdin), title=os.path.basename(path))
        except KeyboardInterrupt:
            screen.write("\n")
            code = 130
        if dialogue.question() is None:
            screen.say("Nothing is left to ask.")
        say_goodbye(screen, journal.state, data, path)
    return code


def say_goodbye(screen, state, data, path):
    """Print what is saved and what can be done with it."""
    counts = ", ".join(f"{number} {word}" for word, number in state.counts.items())
    screen.say(f"Saved in {path}: {counted(sum(state.counts.values()), 'answer')} ({counts}).")
    elsewhere = [] if path == default_project(data) else ["--project", path]
    go_on = shlex.join(["linkwise", "label", data, *elsewhere, "--terminal"])
    clusters = shlex.join(["linkwise", "export", path, "--labels", data, "-o", "labels.csv"])
    screen.say(f"To go on: {go_on}", wrap=False)
    screen.say(f"For the clusters: {clusters}", wrap=False)
