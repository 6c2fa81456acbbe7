"""Questions, clusters and doubts from what a project says: the work of the worker process."""

import warnings
from typing import Any

import numpy as np

from linkwise.app.clusters import count, renumbered, settle
from linkwise.app.messages import Map, Outlook, Result, Suspects
from linkwise.blocks.thread_limits import one_thread
from linkwise.choice import LinkClustering
from linkwise.constraints import Constraints
from linkwise.journal import HAND
from linkwise.query import Known, Session
from linkwise.query.model import fit
from linkwise.query.seeds import classes_of

AHEAD = 3  # questions worked out at once
SUSPECT = 0.8  # probability of being wrong from which on an answer is shown for review
SUSPECTS_FROM = 5  # answers
SHOWN = 20  # suspects
PERPLEXITY = 30
LEAST = 10  # points that are worth a better map
SAMPLE = 5000  # points that the directions of the map are found by


def filled(xy):
    """Return places (n, 2) scaled to -1..1 along each axis, float32; the outermost are drawn in."""
    low, high = np.quantile(xy, [0.002, 0.998], axis=0)
    reach = np.maximum((high - low) / 2, 1e-9 * max(float(abs(xy).max()), 1.0))
    return np.clip((xy - (low + high) / 2) / reach, -1, 1).astype(np.float32)


def flat(E):
    """Return two principal coordinates of points E (n, r), each within -1..1, float32 (n, 2)."""
    E = np.asarray(E, dtype=np.float64)
    rng = np.random.default_rng(0)
    sample = E if len(E) <= SAMPLE else E[rng.choice(len(E), SAMPLE, replace=False)]
    centre = sample.mean(axis=0)
    _, _, V = np.linalg.svd(sample - centre, full_matrices=False)
    xy = (E - centre) @ V[:2].T
    if xy.shape[1] < 2:
        xy = np.hstack([xy, np.zeros((len(xy), 2 - xy.shape[1]))])
    return filled(xy)


def islands(E, core, start):
    """Return points E (n, r) in two dimensions by t-SNE, each within -1..1, float32 (n, 2).

    The core (c,) is laid out from the places start (n, 2), all others at the mean of the nearest
    points of it. O(c log c) a step.
    """
    from sklearn.manifold import TSNE
    from sklearn.neighbors import NearestNeighbors

    layout = TSNE(
        init=start[core], perplexity=min(PERPLEXITY, (len(core) - 1) / 3), random_state=0, n_jobs=1
    )
    with one_thread():
        placed = layout.fit_transform(E[core].astype(np.float32))
    xy = np.empty((len(E), 2))
    xy[core] = placed
    rest = np.setdiff1d(np.arange(len(E)), core, assume_unique=True)
    if len(rest):
        search = NearestNeighbors(n_neighbors=3).fit(E[core])
        near = search.kneighbors(E[rest], return_distance=False)  # (rest, 3)
        xy[rest] = placed[near].mean(axis=1)
        spread = 0.01 * np.ptp(placed, axis=0)
        xy[rest] += np.random.default_rng(0).normal(scale=spread, size=(len(rest), 2))
    return filled(xy)


def weighed(job):
    """Return the answers of a job with their weights: (a, b, same, weight), a < b."""
    by_hand = {tuple(sorted(p)) for p in np.r_[job.hand.must, job.hand.cannot].tolist()}
    ordered = [(min(a, b), max(a, b), same) for a, b, same in job.answers]
    return [(*said, HAND if said[:2] in by_hand else 1.0) for said in ordered]


class Single:
    """What there is to say of a single row: one cluster, and nothing to ask."""

    def map(self, k=None):
        return Map(np.zeros((1, 2), dtype=np.float32))

    def result(self, job):
        return Result(job.number, np.zeros(1, dtype=np.int32), [])

    def outlook(self, job):
        return Outlook(job.number, 0.0, 0.0, True, "Nothing is left to ask.")

    def suspects(self, job):
        return Suspects(job.number, [])


def engine_of(X, *, seed=0):
    """Return what does the jobs about points X (n, d)."""
    return Engine(X, seed=seed) if len(X) > 1 else Single()


class Engine:
    """A session that follows the jobs it is given.

    Parameters
    ----------
    X : array (n, d)
    seed : int
    """

    def __init__(self, X, *, seed=0):
        self.X, self.seed = X, seed
        self.session = Session(X, random_state=seed)
        self.scene = self.session.scene
        self._shown: Any = None
        self._told: list = []
        self._k: int | None = None
        self._sure = False  # that the session is as the last job left it

    def map(self, k=None):
        """Return a quick Map."""
        r = min(max(k or self.scene.likely_count, 3), 12)
        return Map(flat(self.scene.positions(r)))

    def arranged(self, job):
        """Return a better Map, on which what is alike forms islands; takes seconds."""
        E = self.scene.positions(min(max(job.k or 0, self.scene.likely_count, 10), 20))
        return Map(islands(E, self.scene.core, flat(E)))

    def follow(self, job):
        """Let the session know what a job says."""
        now = weighed(job)
        self.session.n_clusters = job.k
        goes_on = self._sure and self._told == now[: len(self._told)] and self._k == job.k
        self._sure, self._k = False, job.k
        if goes_on:
            for a, b, same, weight in now[len(self._told) :]:
                self.session.tell(a, b, same, weight=weight)
        else:
            self.session.replay(now)
        self._told, self._sure = now, True

    def result(self, job):
        """Return the Result of a job."""
        self.follow(job)
        state = self.session.state
        questions = self.session.ask(AHEAD)
        model = state.model
        if job.k is None and (job.hand.split or job.hand.merged):
            likely = self.scene.likely_count
            k = max(likely, len(classes_of(self.scene, Known(job.plain), None, likely)))
            k = count(k, job.hand, len(model.classes))
            model = fit(self.scene, state.known, min(k, self.scene.n))

        def q(rows):
            place = np.minimum(np.searchsorted(model.rows, rows), len(model.rows) - 1)
            seen = model.rows[place] == rows
            plain = np.eye(model.q.shape[1])[model.labels[rows]]
            return np.where(seen[:, None], model.q[place], plain)

        E = self.scene.positions(max(model.k, 2))
        labels = settle(model.labels, q, E, job.hand, free=job.k is None)
        self._shown = renumbered(labels, self._shown)
        return Result(job.number, self._shown, questions)

    def outlook(self, job):
        """Return the Outlook of the last job."""
        progress = self.session.progress()
        return Outlook(job.number, *progress[1:])

    def suspects(self, job):
        """Return the Suspects of a job, by a LinkClustering; takes seconds.

        The session must hold them for wrong too: what is asked about is in doubt by its nature,
        and one model alone takes too many right answers for wrong.
        """
        table = [
            (a, b, 1 if same else -1, weight)
            for a, b, same, weight in weighed(job)
            if same is not None
        ]
        if len({(a, b) for a, b, *_ in table}) < SUSPECTS_FROM:
            return Suspects(job.number, [])
        k = job.k or len(np.unique(self._shown))
        model = LinkClustering(k, effort="fast", random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer clusters than asked for are no news here
            model.fit(self.X, constraints=Constraints.from_table(table))
        labels = self.session.labels
        likely = [
            (pair, wrong)
            for pair, wrong in model.suspects_
            if wrong > SUSPECT and (labels[pair.a] == labels[pair.b]) != (pair.sign > 0)
        ]
        found = [(int(p.a), int(p.b), p.sign, round(wrong, 3)) for p, wrong in likely[:SHOWN]]
        return Suspects(job.number, found)
