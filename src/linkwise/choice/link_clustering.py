"""LinkClustering."""

from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.utils import ClassifierTags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linkwise._check import check_constraints, check_n_clusters
from linkwise.blocks.executors import one_thread
from linkwise.blocks.row_sampling import content_sample
from linkwise.blocks.rows import row_blocks, take_rows
from linkwise.choice import choose, counting
from linkwise.choice.combine import SCORED_ERROR, average
from linkwise.choice.effort import EFFORTS
from linkwise.class_models import learners, views
from linkwise.class_models.beliefs import Answers, probability_wrong, propagate
from linkwise.class_models.co_training import log_probabilities
from linkwise.constraints.closure import components
from linkwise.estimators.base import AT_LEAST_ONE, InductiveClusterer, Traits
from linkwise.exceptions import ConvergenceWarning, InfeasibleConstraints, warn
from linkwise.partition.hard import assign
from linkwise.partition.k_means import by_appearance

MOST_CLUSTERS = 40  # when their number is open
LIKELY = 0.5  # probability of being wrong from which on an answer need not be kept


class LinkClustering(InductiveClusterer):
    """Constrained clustering without a choice of method: the data and the answers choose.

    Several preparations of the features, neighbour graphs, kernels and class models are tried
    from many starts: plain partitions, a similarity learnt from the answers, and the constrained
    methods of this library. What each says about answers that it has not seen decides how much it
    counts, and the soft labels are averaged. Without constraints the partition that agrees most
    with the others is taken, and `explain` says so.

    Answers may be wrong: their share is estimated, and ``suspects_`` ranks them.

    Parameters
    ----------
    n_clusters : int or None
        None: chosen by data and answers, see ``n_clusters_`` and ``runner_up_``.
    effort : "fast", "balanced", "thorough" or number
        How much is tried. A number is a budget in seconds for the candidates: as many as fit, at
        least two; results then depend on the speed of the machine.
    respect : {"soft", "hard"}
        "soft" keeps an answer unless the rest of the evidence says it is wrong. "hard" keeps all,
        or raises InfeasibleConstraints with the smallest conflict.
    on_unknown : {"raise", "drop"}
        What to do with constraints that name a sample outside ``sample_id``: raise ValueError, or
        leave them out and count them in ``n_dropped_``. Use "drop" in cross-validation, which
        fits parts of the data.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : int array (n_samples,)
    probabilities_ : array (n_samples, n_clusters_), of the clusters, answers included
    n_clusters_ : int
    runner_up_ : int or None, the second best number of clusters when it was open
    score_ : float or None
        Mean log-likelihood of answers in a combination made without them; higher is better.
    chance_ : float or None, the same for the share of must-links alone: what knows nothing
    wrong_ : float, estimated share of wrong answers
    suspects_ : list of (Pair, float)
        Every answer with the probability that it is wrong, most likely first.
    report_ : list of dict, the candidates, best first
    violations_ : list of Pair, the constraints not kept
    n_dropped_ : int, number of constraints left out by ``on_unknown="drop"``

    Notes
    -----
    Landmarks and folds are drawn by row number: another order of the rows, or of the constraints,
    may give slightly other clusters.

    Beyond some thousand points (2,000, 3,000 or 5,000 by effort) the models are learnt from a
    sample that holds the points with answers first; all others are placed by the models, and all
    answers count in the end. Memory grows like n_samples times n_clusters, and like the sample
    times some hundred.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from linkwise import Constraints, LinkClustering
    >>> X, y = load_wine(return_X_y=True)
    >>> links = Constraints.sample(y, n_pairs=60, random_state=0)
    >>> model = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    >>> model.score_ > model.chance_
    True
    """

    _traits = Traits(rows=10_000_000)
    _parameter_constraints: ClassVar[dict] = {
        "n_clusters": [AT_LEAST_ONE, None],
        "effort": [StrOptions(set(EFFORTS)), Interval(Real, 0, None, closed="neither")],
        "respect": [StrOptions({"soft", "hard"})],
        "on_unknown": [StrOptions({"raise", "drop"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters=None,
        *,
        effort="balanced",
        respect="soft",
        on_unknown="raise",
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.effort = effort
        self.respect = respect
        self.on_unknown = on_unknown
        self.random_state = random_state

    def _check_clusters(self, n):
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, n)

    def _check_links(self, constraints, n, sample_id):
        checked = check_constraints(
            constraints, n, sample_id, on_conflict="keep", on_unknown=self.on_unknown
        )
        if self.respect == "hard":
            checked.by_id.check(self.n_clusters)
        return checked

    def _prepare(self, X, rng):
        self._rows = np.zeros(0, dtype=np.intp)  # nothing is learnt from yet

    def _learn(self, X, links, rng, *, out=None):
        with one_thread():  # the products are small: more threads only wait for each other
            return self._learn_all(X, links, rng)

    def _learn_all(self, X, links, rng):
        effort = EFFORTS.get(self.effort, EFFORTS["thorough"])
        pairs, sign, weight = links.pairs, links.sign, links.weight
        answers = Answers(links.ids[pairs].reshape(-1, 2), sign, weight)
        self._look(X, answers, effort)
        inside = np.isin(answers.pairs, self._rows).all(axis=1)
        known = answers.take(inside)
        known = known._replace(pairs=np.searchsorted(self._rows, known.pairs))
        self._choose_count(known, links, effort)
        k = self.n_clusters_
        if len(known.sign):
            budget = float(self.effort) if isinstance(self.effort, Real) else np.inf
            choice = choose.by_answers(
                self._views, self._learners, known, k, effort, budget=budget, seed=self._seed
            )
        else:
            choice = choose.by_consensus(self._views, self._learners, k, self._seed)
        self._members, self._soft, self.wrong_, self.score_, self.chance_ = choice[:5]
        self.report_, self._expression = choice[5:]
        return self._settle(X, answers, rng)

    def _look(self, X, answers, effort):
        """Choose the points to learn from, and see them in every view."""
        touched = np.unique(answers.pairs)
        rng = np.random.default_rng([self._seed, 3])
        n = X.shape[0]
        if n <= effort.rows:
            rows = np.arange(n)
        else:
            if len(touched) > effort.rows // 2:
                touched = np.sort(rng.choice(touched, effort.rows // 2, replace=False))
            rows = np.union1d(touched, content_sample(X, effort.rows - len(touched), rng))
        if not np.array_equal(rows, self._rows):
            self._rows = rows
            sample = take_rows(X, rows)
            self._views = views.views(sample, kinds=effort.views, seed=self._seed)
            self._learners = learners.make_learners(self._views, effort.learners, self._seed)

    def _choose_count(self, known, links, effort):
        self.runner_up_ = None
        n = len(self._rows)
        if self.n_clusters is not None:
            self.n_clusters_ = self.n_clusters
            return
        most = min(MOST_CLUSTERS, n)
        least = min(counting.forced(links, most), most)
        if len(known.sign) >= counting.ENOUGH:
            found = counting.by_answers(
                self._views, self._learners, known, least=least, most=most,
                folds=effort.folds, seed=self._seed,
            )  # fmt: skip
            scores = {k: float(each.mean()) for k, each in found.items()}
        else:
            scores = counting.by_silhouette(self._views, least=least, most=most, seed=self._seed)
        ranked = sorted(scores, key=lambda k: (-scores[k], k)) or [least]
        self.n_clusters_ = ranked[0]
        self.runner_up_ = ranked[1] if len(ranked) > 1 else None

    def _settle(self, X, answers, rng):
        """Return the labels of all points under all answers."""
        n, k = X.shape[0], self.n_clusters_
        soft = np.empty((n, k), dtype=np.float64)
        soft[self._rows] = self._soft
        rest = np.setdiff1d(np.arange(n), self._rows, assume_unique=True)
        for part in row_blocks(len(rest), max(X.shape[1], 1000)):
            soft[rest[part]] = self._soft_of(X[rest[part]])
        evidence = np.log(np.maximum(soft, 1e-6))
        error = max(self.wrong_, SCORED_ERROR)
        found = propagate(evidence, answers, error)
        wrong = probability_wrong(found.same, answers.sign, error)
        self._suspicion = wrong
        labels = self._kept(found.q, answers, wrong, rng)
        labels, names = by_appearance(labels)
        missing = np.setdiff1d(np.arange(k), names)
        if self.n_clusters is None:
            self.n_clusters_ = len(names)
            self._names = names.astype(np.intp)
        else:
            self._names = np.concatenate((names, missing)).astype(np.intp)
        q = found.q[:, self._names]
        self.probabilities_ = q / q.sum(axis=1, keepdims=True)
        if len(missing) and self.n_clusters is not None:
            warn(
                f"only {len(names)} of {k} clusters found: answers and data leave no point to the "
                "others; ask for fewer clusters",
                ConvergenceWarning,
            )
        return labels

    def _kept(self, q, answers, wrong, rng):
        """Return labels (n,) that keep the answers, or those that are not likely wrong.

        Of soft answers that contradict each other all the same, the cannot-links give way.
        """
        kept = answers if self.respect == "hard" else answers.take(wrong < LIKELY)
        must, cannot = kept.pairs[kept.sign > 0], kept.pairs[kept.sign < 0]
        if self.respect == "soft":
            of = components(len(q), must)
            cannot = cannot[of[cannot[:, 0]] != of[cannot[:, 1]]]
        labels = assign(-np.log(np.maximum(q, 1e-12)), must, cannot, rng)
        if labels is not None:
            return labels
        if self.respect == "hard":
            raise InfeasibleConstraints(
                f"no assignment to {self.n_clusters_} clusters that keeps all answers was found "
                'within the bound of the search; raise n_clusters, or use respect="soft"'
            )
        return np.argmax(q, axis=1)

    def _fit_links(self, checked, out):
        super()._fit_links(checked, out)
        self._given = checked.by_id
        pairs, wrong = list(checked.by_id), self._suspicion
        self.suspects_ = [(pairs[i], float(wrong[i])) for i in np.argsort(-wrong, kind="stable")]
        return self

    def _soft_of(self, X):
        """Return soft labels (q, k) of new points, in the order of the members' clusters."""
        seen = [views.place(view, X) for view in self._views]
        placed = [learners.place(one, seen[one.view]) for one in self._learners]
        parts = []
        for member in self._members:
            evidence = np.zeros((X.shape[0], member.labels.shape[1]))
            for v in np.flatnonzero(member.pool > 0):
                f = learners.predict(
                    self._learners[v], member.strengths[v], member.labels, placed[v]
                )
                evidence += member.pool[v] * log_probabilities(f)
            parts.append(softmax(evidence, axis=1))
        weights = [member.weight for member in self._members]
        total = average(parts, weights, [member.order for member in self._members])
        return total / sum(weights)

    def _assign(self, X):
        soft = self._soft_of(X)[:, self._names]
        return np.argmax(soft, axis=1)

    def predict_proba(self, X):
        """Return the probability of every cluster for every point, (n_samples, n_clusters_).

        Points given to `fit` have what they got there, answers included.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        seen = self._seen(X)
        out = self.probabilities_[seen]
        new = np.flatnonzero(seen < 0)
        for start in range(0, len(new), self._block()):
            rows = new[start : start + self._block()]
            out[rows] = self._soft_of(X[rows].astype(self._fit_X.dtype, copy=False))[:, self._names]
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn's checks look there in anything that has predict_proba and takes sparse X
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def trusted(self, most=LIKELY):
        """Return the constraints that are wrong with a probability of at most ``most``.

        ``model.refit(model.trusted())`` clusters again without the others.
        """
        check_is_fitted(self)
        return self._given.select(self._suspicion <= most)

    def explain(self):
        """Return in words what was chosen and why, with expressions that can be pasted."""
        check_is_fitted(self)
        own = (
            f"LinkClustering(n_clusters={self.n_clusters_}, effort={self.effort!r}, "
            f"respect={self.respect!r}, random_state={self.random_state!r})"
        )
        lines = []
        if self.runner_up_ is not None:
            lines.append(f"{self.n_clusters_} clusters; the runner-up is {self.runner_up_}.")
        if self.score_ is None and "agreement" in self.report_[0]:
            lines.append(
                f"Without answers: {self.report_[0]['candidate']}, which agrees most with the "
                "other partitions."
            )
        elif self.score_ is None:
            lines.append("Too few answers to judge by: all candidates count alike.")
        else:
            lines.append(
                f"Answers held out have mean log-likelihood {self.score_:.3f}, by chance "
                f"{self.chance_:.3f}; about {self.wrong_:.0%} of the answers seem wrong."
            )
        for row in self.report_:
            if row["weight"] > 0.01:
                shown = f", {row['score']:.3f} ± {row['error']:.3f}" if "score" in row else ""
                lines.append(f"  {row['weight']:4.0%}  {row['candidate']}{shown}")
        lines.append(f"Again: {own}.fit(X, constraints=links)")
        if self._expression:
            lines.append(f"The best single method among them: {self._expression}")
        return "\n".join(lines)
