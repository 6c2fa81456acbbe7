"""Questions, clusters, a quick map and likely errors: the work of the worker process."""

import numpy as np

from linkwise.app.map_layout import flat
from linkwise.app.messages import Job, Map, Outlook, Refined, Result, Suspects
from linkwise.labelling.cluster_model import ClusterModel, model_of

AHEAD = 3  # questions computed at once: the next ones are shown while the model works


class Engine:
    """The model of the points, which does the jobs it is given.

    Parameters
    ----------
    X : array (n, d)
    seed : int
    k : int, (least, most) or None, the number of clusters that is asked for first
    """

    def __init__(self, X, *, seed=0, k=None):
        self.model = model_of(X, seed=seed, n_clusters=k)

    def map(self, k=None):
        """Return a quick Map."""
        if not isinstance(self.model, ClusterModel):
            return Map(np.zeros((1, 2), dtype=np.float32))
        data = self.model.data
        return Map(flat(data.positions(min(max(data.likely_count(k), 3), 12))))

    def result(self, job: Job):
        """Return the Result of a job."""
        self.model.follow(job.task)
        questions = self.model.questions(AHEAD)
        labels, exact = self.model.quick_labels()
        wider = self.model.wider_question(questions[0]) if questions else None
        return Result(job.number, labels, questions, exact, wider, self.model.runners_up())

    def refined(self, job: Job):
        """Return the Refined clusters of the last job; takes seconds."""
        return Refined(job.number, self.model.labels(), self.model.runners_up())

    def outlook(self, job: Job):
        """Return the Outlook of the last job."""
        return Outlook(job.number, self.model.progress())

    def suspects(self, job: Job):
        """Return the Suspects of the last job; takes seconds."""
        return Suspects(job.number, self.model.suspects())
