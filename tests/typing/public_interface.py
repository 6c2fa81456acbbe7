"""linkwise as a user with a strict type checker sees it; mypy checks this file.

``assert_type`` pins what comes back. An ignored error is an error that mypy must find: without
it, the comment would be unused, which is an error in turn.
"""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import linkwise
from linkwise import (
    CCSKL,
    ITML,
    Closure,
    ConstrainedPCA,
    Constraints,
    COPKMeans,
    InfeasibleConstraints,
    LinkClustering,
    Pair,
    as_constraints,
    kept,
    load,
    sample_pairs,
    save,
    scores,
)
from linkwise.blocks import limits, run_blocks, take_rows
from linkwise.evaluate import Kept, adjusted_rand_index
from linkwise.journal import Journal, State, describe
from linkwise.query import Progress, Question, Session


def make_constraints(y: NDArray[np.int64], folder: Path) -> Constraints:
    """Return constraints after every way to make, change and ask them."""
    links = Constraints(must_link=[(0, 5), (1, 6)], cannot_link=[(0, 9)], must_weight=2.0)
    links = links + Constraints([("0", "5")]).resolve(np.arange(40).astype(str))
    links = links + sample_pairs(y, 20, scheme="balanced", random_state=0)
    links = links + Constraints.from_labels(np.where(y > 1, y, -1)[:9], pairs="spanning")
    links = links + Constraints.from_table([(0, 3, "must"), (4, 8, "cannot")])
    links = links + as_constraints(([(2, 3)], [(3, 30)]))
    links.write(folder / "links.csv")
    assert_type(Constraints.read(folder / "links.csv", format="csv"), Constraints)
    kept_pairs, dropped = links.drop_conflicts()
    assert_type(dropped.conflict(n_clusters=2), Constraints | None)
    assert_type(next(iter(kept_pairs)), Pair)
    assert_type(kept_pairs.closure(), Closure)
    assert_type(kept_pairs.n_pairs, int)
    try:
        Constraints([(0, 1)], [(0, 1)]).check()
    except InfeasibleConstraints as error:
        assert_type(error.conflict, Constraints | None)
    return kept_pairs


def cluster(X: NDArray[np.float64], y: NDArray[np.int64], links: Constraints, folder: Path) -> None:
    """Fit, predict, transform, measure, save and load."""
    ids = [str(row) for row in range(len(X))]
    model = CCSKL(3, n_neighbors=10, on_unknown="raise", random_state=0)
    assert_type(model.fit(X, constraints=links), CCSKL)
    assert_type(model.labels_, NDArray[np.integer[Any]])
    assert_type(model.violations_, list[Pair])
    assert_type(model.n_dropped_, int)
    assert_type(model.predict(X[:3]), NDArray[np.integer[Any]])
    assert_type(model.refit(links, out=None), CCSKL)
    model.fit(X.tolist(), constraints=None, sample_id=ids)

    chosen = LinkClustering(3, effort="fast", random_state=0).fit(X, constraints=links)
    assert_type(chosen.predict_proba(X[:3]), NDArray[np.floating[Any]])
    assert_type(chosen.suspects_, list[tuple[Pair, float]])
    assert_type(chosen.explain(), str)
    assert_type(chosen.trusted(), Constraints)

    assert_type(ConstrainedPCA(2).fit_transform(X, constraints=links), NDArray[np.floating[Any]])
    assert_type(ITML().fit(X, constraints=links).metric_, NDArray[np.floating[Any]])

    assert_type(kept(model.labels_, links), Kept)
    assert_type(scores(y, model.labels_, links, rows=np.arange(5)), dict[str, float])
    assert_type(adjusted_rand_index(y, model.labels_), float)
    save(model, folder / "model.lwmodel")
    again = load(folder / "model.lwmodel")
    assert np.array_equal(again.labels_, model.labels_)


def work_in_blocks(X: NDArray[np.float64]) -> list[float]:
    """Return the sum of every block of rows."""
    with limits(memory="1 GB", seconds=60):
        parts = linkwise.blocks.row_blocks(len(X), X.shape[1])
        assert_type(parts, list[slice])
        take_rows(X, [0, 1], np.float32)
        return list(run_blocks(lambda part: float(X[part].sum()), parts))


def ask(X: NDArray[np.float64], y: NDArray[np.int64], folder: Path) -> None:
    """Ask questions, answer them from labels, and keep the answers in a project."""
    np.save(folder / "points.npy", X)
    session = Session(X, n_clusters=3)
    data = describe(folder / "points.npy", len(X))
    with Journal(folder / "points.linkwise", data=data) as journal:
        for question in session.ask(2):
            assert_type(question, Question)
            a, b = question.a, question.b
            session.tell(a, b, bool(y[a] == y[b]), weight=1.0)
            journal.answer(a, b, bool(y[a] == y[b]))
        assert_type(journal.state, State)
    assert_type(session.links, Constraints)
    assert_type(session.progress(), Progress)


def refused(X: NDArray[np.float64], y: NDArray[np.int64], links: Constraints) -> None:
    """Make mistakes that a type checker finds; nothing calls this function."""
    Constraints.from_labels(y, pairs="some")  # type: ignore[arg-type]
    CCSKL(3).fit(X, links)  # type: ignore[arg-type]
    CCSKL(3).predict(X, links)  # type: ignore[arg-type, call-arg]
    CCSKL(3, affinity="neighbours")  # type: ignore[arg-type]
    COPKMeans(3, on_conflict="keep")  # type: ignore[arg-type]
    sample_pairs(y, "20")  # type: ignore[arg-type]
    Session(X, strategy=0)  # type: ignore[arg-type]
    linkwise.nonsense  # type: ignore[attr-defined]  # noqa: B018
