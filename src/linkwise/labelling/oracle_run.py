"""Labelling by a program from its start to its end: `linkwise label --oracle COMMAND`."""

import sys

from linkwise.labelling.cluster_model import ClusterModel
from linkwise.labelling.labelling_session import Asked, LabellingSession
from linkwise.labelling.oracle_command import Cache, OracleCommand, summary
from linkwise.labelling.project import open_project

BATCH = 10  # questions at once; later ones of a batch do not know the answers to the first
BUDGET = 100  # questions; enough for most sets, and a surprise on no bill


def label_by_oracle(data, path, settings, *, command, budget=None, batch=None, max_cost=None):
    """Ask a program about the rows of a data file; return the exit code.

    Parameters
    ----------
    data, path : str, the data file and its project
    settings : dict, those of the project
    command : str, the program, see `linkwise.labelling.oracle_command`
    budget : int or None, questions that may be asked of the program
    batch : int or None, questions at once
    max_cost : float or None, no question is asked once the answers have cost this much
    """
    items, journal = open_project(data, path, settings)
    budget, batch = budget or BUDGET, batch or BATCH
    asked = cached = 0
    cost = 0.0
    journal.who = f"oracle {command}"
    with journal, OracleCommand(command, items, Cache(f"{path}.oracle.jsonl")) as oracle:
        for note in items.notes(data):
            print(note, file=sys.stderr)
        project = LabellingSession(items, journal, n_clusters=settings["k"])
        model = ClusterModel(items.X, seed=settings["seed"] or 0)
        while asked < budget and (max_cost is None or cost < max_cost):
            model.follow(project.current.task)
            found = model.questions(min(batch, budget - asked))
            questions = [Asked(*question) for question in found]
            if not questions:
                break
            replies = oracle.ask([(question.a, question.b) for question in questions])
            for question, reply in zip(questions, replies, strict=True):
                project.answer(question.a, question.b, reply.same, why=question.why)
                asked, cached = asked + (not reply.cached), cached + reply.cached
                cost += reply.cost
            print(f"\r{summary(asked, cached, cost)}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        counts = ", ".join(f"{number} {word}" for word, number in journal.state.counts.items())
        print(f"Saved in {path}: {counts}; {summary(asked, cached, cost)}.", file=sys.stderr)
    return 0
