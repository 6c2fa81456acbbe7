"""What LinkClustering chose: as a table, and in words."""

import numpy as np

from linkwise.choice.candidates import Candidate

SHOWN = 0.01  # least weight of a candidate in the text
RUNNERS_UP = 3  # numbers of clusters in the text; runners_up_ has all


def fit_call(method, *, by_id):
    """Return the Python expression that fits a method; X, links and ids are the user's.

    >>> fit_call("CCSKL(n_clusters=3)", by_id=True)
    'CCSKL(n_clusters=3).fit(X, constraints=links, sample_id=ids)'
    """
    return f"{method}.fit(X, constraints=links{', sample_id=ids' if by_id else ''})"


def report(combination):
    """Return one dict for each candidate, best first."""
    rows = []
    for one, weight in zip(combination.candidates, combination.weights, strict=True):
        if not isinstance(one, Candidate):
            name, belief = one
            rows.append({"candidate": name, "weight": float(weight), "belief": belief})
            continue
        row = {"candidate": one.name, "weight": float(weight), "seconds": one.seconds}
        if one.held_out is not None:
            row["score"] = float(one.held_out.mean())
            row["error"] = float(one.held_out.std() / np.sqrt(one.answers))
            row["answers"] = one.answers
        rows.append(row)
    return rows


def _clusters(model):
    if not model.runners_up_:
        return []
    others = ", ".join(f"{k} ({score:.3g})" for k, score in model.runners_up_[:RUNNERS_UP])
    return [f"{model.n_clusters_} clusters; the runners-up, with their scores: {others}."]


def _evidence(model):
    first = model.report_[0]
    if "belief" in first:
        return (
            f"No constraints: {first['candidate']}, the partition that agrees most with the others "
            "and with the neighbour graphs."
        )
    if model.score_ is None:
        return "Too few constraints to judge by: they correct the partition that the data suggest."
    return (
        f"Held-out constraints have mean log-likelihood {model.score_:.3f}, by chance "
        f"{model.chance_:.3f}; about {model.wrong_:.0%} of the constraints seem wrong."
    )


def _candidates(model):
    for row in model.report_:
        if row["weight"] > SHOWN:
            score = f", {row['score']:.3f} ± {row['error']:.3f}" if "score" in row else ""
            yield f"  {row['weight']:4.0%}  {row['candidate']}{score}"


def own_expression(model):
    """Return the constructor of a fitted LinkClustering, with the number of clusters it found.

    A random_state that is an object stands as ``random_state``, a name of the user's.
    """
    effort, seed = model.effort, model.random_state
    effort = repr(effort) if isinstance(effort, str) else repr(float(effort))
    seed = repr(seed) if seed is None else str(seed) if np.isscalar(seed) else "random_state"
    unknown = "" if model.on_unknown == "raise" else f"on_unknown={model.on_unknown!r}, "
    if model.size is not None or model.balanced:
        unknown = f"size={model.size!r}, balanced={model.balanced!r}, {unknown}"
    if model.outliers is not None:
        unknown = f"outliers={model.outliers!r}, {unknown}"
    return (
        f"LinkClustering(n_clusters={model.n_clusters_}, effort={effort}, "
        f"respect={model.respect!r}, {unknown}random_state={seed})"
    )


def explanation(model, *, by_id):
    """Return in words what a fitted LinkClustering chose and why.

    Parameters
    ----------
    model : LinkClustering, fitted
    by_id : bool, whether the constraints name ids
    """
    lines = [*_clusters(model), _evidence(model), *_candidates(model)]
    lines.append(f"Again: {fit_call(own_expression(model), by_id=by_id)}")
    return "\n".join(lines)
