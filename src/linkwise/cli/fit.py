"""The command that clusters."""

import json
import sys
import time
from argparse import Namespace

from linkwise._files import kind_of_file
from linkwise._wording import counted
from linkwise.cli.inputs import (
    check_output_arguments,
    labels_file,
    name_of,
    read_both,
    read_model,
    read_new,
    read_new_links,
    say_notes,
    streams,
    weighed_for,
    write_table,
)
from linkwise.cli.methods import method_class
from linkwise.cli.output import UsageError
from linkwise.cli.parts import check_arguments, fit_parts, others_of
from linkwise.exceptions import InfeasibleConstraints

SUFFIX = ".lwmodel"
NOT_INTO = (  # options of a fit that a saved model has
    "-k", "--method", "--effort", "--affinity", "--anchors", "--max-memory", "--max-time",
    "--standardize", "--seed", "--strict", "--size", "--balanced", "--size-weight", "--outliers",
    "--categories", "--missing",
)  # fmt: skip
NOT_INTO_PROJECT = {  # options that a project has itself, or that need a model
    "save": "--save", "levels": "--levels", "explain": "--explain", "id_column": "--id",
    "columns": "--columns", "ordered": "--ordinal", "delimiter": "--delimiter",
    "encoding": "--encoding", "sheet": "--sheet",
}  # fmt: skip
SHOWN = 5  # violations in a summary; --json lists all


def fit(args: Namespace) -> int:
    """Cluster the points of a file, or of parts."""
    from linkwise.blocks.parts import is_pattern

    if is_pattern(args.data):
        check_arguments(args)
        complete(args)
        complete_from(args, None, 0)
        return fit_parts(args, make_model, show)
    if args.scheduler is not None:
        raise UsageError(
            f"--scheduler is for rows in parts, and {args.data} is one file; name parts by a "
            'pattern, such as "parts/part-*.parquet"'
        )
    check_output_arguments(args)
    if args.into is not None:
        return fit_into(args)
    complete(args)
    check_save(args)
    points, links, project = read_both(args)
    complete_from(args, project, len(points.X))
    from linkwise.constraints import Constraints

    X, ids = points.X, points.ids
    links = links or Constraints()
    check_rows(args, len(X))
    if project is not None and args.save is not None:
        raise UsageError("--save keeps no corrections by hand; export the links of the project")
    model = make_model(args)
    check_feasible(args, links, hard=model.traits.hard)
    links = weighed_for(model, links, args)
    started = time.perf_counter()
    from linkwise.blocks import limits

    in_place = streams(args) and args.output.endswith(".npy") and not args.levels
    with labels_file(args, in_place) as out, limits(args.max_memory, args.max_time):
        if project is not None and args.method == "link-clustering":
            labels = labels_of_project(model, X, ids, links, project, args.k)
        else:
            labels = model.fit_predict(X, constraints=links, sample_id=ids, out=out)
    levels, ends = levels_of(args, model, X, labels, links.resolve(ids, n=len(labels)))
    seconds = round(time.perf_counter() - started, 3)

    if args.save is not None:
        from linkwise.saving import save

        if points.preparation is not None:
            model.preparation_ = points.preparation.as_dict()
        save(model, args.save)
    report = outcome(model, labels, links, ids, args) | {"seconds": seconds, "output": args.output}
    report |= ends
    if not in_place:
        write_table(args, labels, ids, levels)
    show(args, report)
    if args.explain:
        print(model.explain(), file=sys.stderr)
    return 0


def show(args, report):
    """Print the outcome of a fit, as JSON or in words."""
    if args.json:
        print(json.dumps(report))
    elif not args.quiet:
        print(summary(report), file=sys.stderr)


def levels_of(args, model, X, labels, links):
    """Return ({number of clusters: labels} of --levels or None, what the report says of it)."""
    if not args.levels:
        return None, {}
    from linkwise.partition.tree import LEAVES, MOST_ROWS, link_tree

    leaves = 2 * args.levels[-1]  # the last level of the tree would have clusters by k-means alone
    enough = len(labels) <= MOST_ROWS or leaves <= LEAVES
    own = getattr(model, "_tree_of", None)
    if own is not None:
        tree = own(labels, None if enough else leaves)
    else:
        tree = link_tree(X, labels, links, leaves=None if enough else leaves)
    found = {number: tree.cut(number) for number in args.levels}
    return found, {"levels": args.levels, "tree_ends_at": tree.n_roots}


def check_save(args):
    """Refuse a model that cannot be written, before anything is read."""
    if args.save is None:
        return
    from linkwise.tables import check_output

    if not args.save.endswith(SUFFIX):
        raise UsageError(f"--save {args.save}: expected a name that ends in {SUFFIX}")
    check_output(args.save, force=args.force)


def fit_into(args):
    """Add the rows of a file to the clusters of a saved model, or of a project."""
    for flag in NOT_INTO:
        given = getattr(args, flag.strip("-").replace("-", "_"))
        if given is not None and given is not False:
            raise UsageError(f"{flag} is that of {args.into}; leave it out with --into")
    if kind_of_file(args.into) == "project":
        return fit_into_project(args)
    from linkwise.saving import save

    model = read_model(args.into)
    if not hasattr(model, "moves_"):
        raise ValueError(
            f"{args.into} is a {type(model).__name__}; only link-clustering adds rows to clusters"
        )
    n_old = len(model.labels_)
    if model._sample_id is None and args.id_column is None:
        args.id_column = "none"
    points, links = read_new(args, model), read_new_links(args)
    say_notes(args, points)
    started = time.perf_counter()
    model.extend(points.X, constraints=links, sample_id=points.ids)
    levels, ends = levels_of(args, model, model._fit_X, model.labels_, None)
    seconds = round(time.perf_counter() - started, 3)
    save(model, args.save or args.into)
    ids = None if points.ids is None else [str(name) for name in model._sample_id]
    write_table(args, model.labels_, ids, levels)
    report = {"n": len(model.labels_), "k": model.n_clusters_, "seconds": seconds} | ends
    show_growth(args, n_old, model.moves_, report)
    if args.explain:
        print(model.explain(), file=sys.stderr)
    return 0


def fit_into_project(args):
    """Add the rows of a file to a project of `linkwise label`, and to its data."""
    for name, flag in NOT_INTO_PROJECT.items():
        if getattr(args, name):
            raise UsageError(f"{flag} does not go with --into a project; leave it out")
    if args.data == "-":
        raise UsageError("DATA is -, but rows that are added to a project come from a file")
    from linkwise.labelling.growth import add_rows

    links = read_new_links(args)
    started = time.perf_counter()
    found = add_rows(args.data, args.into, links)
    seconds = round(time.perf_counter() - started, 3)
    write_table(args, found.labels, found.items.ids, names=found.names)
    report = {"n": len(found.labels), "k": int(found.labels.max()) + 1, "seconds": seconds}
    show_growth(args, found.n_old, found.moves, report)
    return 0


def show_growth(args, n_old, moves, report):
    """Print what --into changed, as JSON or in words."""
    report |= {
        "new": report["n"] - n_old,
        "moves": [
            {"id": move.sample, "before": move.before, "after": move.after, "why": move.reason()}
            for move in moves
        ],
        "output": args.output,
    }
    if args.json:
        print(json.dumps(report))
    elif not args.quiet:
        print(growth(report), file=sys.stderr)


def growth(report):
    """Return in words what --into changed."""
    lines = [
        "{new} new rows, n = {n}, k = {k}, {seconds:.2f} s".format(**report),
        f"old rows in another cluster: {len(report['moves'])}",
    ]
    lines += [
        f"  {move['id']}: from {move['before']} to {move['after']}, because {move['why']}"
        for move in report["moves"][:SHOWN]
    ]
    if len(report["moves"]) > SHOWN:
        lines.append(f"  and {len(report['moves']) - SHOWN} more; --json lists all")
    lines += level_lines(report)
    return "\n".join(lines)


def complete_from(args, project, n):
    """Fill in what the command line leaves open: what a project says, else the defaults."""
    from linkwise.query.prepared_data import effort_for

    settings = {} if project is None else project.settings
    if args.k is None and "k" in settings and args.method == "link-clustering":
        from linkwise.labelling.project import n_clusters_of

        args.k = n_clusters_of(settings)
    if args.seed is None:
        args.seed = settings.get("seed") or 0
    if args.effort is None:
        args.effort = "balanced" if project is None else effort_for(n)


def labels_of_project(model, X, ids, links, project, k):
    """Return the labels of a project, as its page shows them."""
    from linkwise.labelling.cluster_model import project_labels
    from linkwise.labelling.project import outliers_of, task_of

    task = task_of(project.state, ids, len(X), k, outliers_of(project.settings))
    return project_labels(model, X, task, links=links, sample_id=ids)


def check_rows(args, n):
    """Refuse data with fewer rows than clusters, or with one row."""
    from linkwise.constraints.cluster_numbers import most_clusters

    rows = f"{name_of(args.data)} has {counted(n, 'row')}"
    if n < 2:
        raise ValueError(f"{rows}; clustering needs at least 2")
    most = most_clusters(args.k)
    if most is not None and n < most:
        raise ValueError(f"{rows}, too few for {most:,} clusters; -k is at most {n:,}")


def check_feasible(args, links, *, hard):
    """Raise InfeasibleConstraints if links that must all hold cannot: --strict, or a hard method.

    Links that pass may still need more than K clusters; the method finds out.
    """
    if not (args.strict or hard):
        return
    from linkwise.constraints.cluster_numbers import most_clusters
    from linkwise.constraints.conflicts import explain

    most = most_clusters(args.k)
    conflict = links.conflict(most)
    if conflict is None:
        return
    where = "" if most is None else f" in {counted(most, 'cluster')}"
    remedy = "" if args.strict else f", or choose another --method: {args.method} keeps all links"
    raise InfeasibleConstraints(
        f"{name_of(args.links)}: the links cannot all hold{where}: {explain(conflict)}; "
        f"correct or remove one of them{remedy}",
        conflict,
    )


def complete(args):
    """Fill in the method if none is named, and refuse options that do not go together."""
    if args.method is None:
        args.method = "ccskl" if args.affinity or args.anchors else "link-clustering"
    if args.k is None and args.method != "link-clustering":
        raise UsageError(
            f"{args.method} needs the number of clusters, -k; link-clustering does not"
        )
    if isinstance(args.k, tuple) and args.method != "link-clustering":
        raise UsageError(f"{args.method} needs one number of clusters, -k; got a range")
    for flag, given in (("--effort", args.effort), ("--explain", args.explain)):
        if given and args.method != "link-clustering":
            raise UsageError(f"{flag} is for link-clustering, not for {args.method}")
    if args.effort is not None and args.effort not in ("fast", "balanced", "thorough"):
        if not (args.effort.isdecimal() and int(args.effort) > 0):
            raise UsageError(
                f"--effort is fast, balanced, thorough or a number of seconds; got {args.effort!r}"
            )
        args.effort = int(args.effort)


def make_model(args):
    """Return the estimator that the command line describes."""
    method = method_class(args.method)
    options = {
        "on_conflict": "raise" if method.traits.hard else "drop",
        "random_state": args.seed,
        "respect": "hard" if args.strict else "soft",
        "effort": args.effort,
        "size": args.size,
        "balanced": args.balanced,
        "size_weight": args.size_weight,
        "outliers": args.outliers,
    }
    known = method._get_param_names()
    if "outliers" not in known and args.outliers is not None:
        raise UsageError(f"--outliers is for link-clustering, not for {args.method}")
    if "size_weight" not in known and args.size_weight is not None:
        raise UsageError(f"--size-weight is for link-clustering, not for {args.method}")
    if "size" not in known and (args.size or args.balanced):
        raise UsageError(
            f"--size and --balanced are for link-clustering and cop-kmeans, not {args.method}"
        )
    options = {name: value for name, value in options.items() if name in known}
    affinity = args.affinity or ("anchors" if args.anchors else None)
    if affinity is None:
        return method(args.k, **options)
    if "affinity_params" not in known:
        raise UsageError(f"--affinity is for spectral methods, not for {args.method}")
    if args.anchors and affinity != "anchors":
        raise UsageError(f"--anchors goes with --affinity anchors, not {affinity}")
    params = {"n_anchors": args.anchors} if args.anchors else None
    return method(args.k, affinity=affinity, affinity_params=params, **options)


def as_dict(pair, name):
    """Return a pair as JSON has it."""
    kind = "must" if pair.sign > 0 else "cannot"
    return {"a": name(pair.a), "b": name(pair.b), "kind": kind, "weight": pair.weight}


def outcome(model, labels, links, ids, args):
    """Return the outcome of a fit: sizes, links kept and not kept, links that are likely wrong."""
    import numpy as np

    from linkwise.choice.final_labels import SUSPECT

    k = int(labels.max()) + 1 if hasattr(model, "n_clusters_") else args.k  # with corrections
    name = int if ids is None else str
    suspects = [
        as_dict(pair, name) | {"probability": round(wrong, 3)}
        for pair, wrong in getattr(model, "suspects_", [])
        if wrong > SUSPECT
    ]
    dropped = links.drop_conflicts()[1].n_pairs if hasattr(model, "on_conflict") else 0
    broken = links.resolve(ids, n=len(labels)).violated(labels, stray=-1)
    if args.method == "link-clustering":  # a correction holds, or a later one took it back
        broken &= links.source != "hand"
    kept = links.select(~broken)
    return {
        "method": args.method,
        "n": len(labels),
        "k": k,
        "sizes": np.bincount(labels[labels >= 0], minlength=k).tolist(),
        "strays": int((labels < 0).sum()),
        "links": {
            "given": links.n_pairs,
            "kept": kept.n_pairs,
            "must": links.n_must,
            "cannot": links.n_cannot,
            "kept_must": kept.n_must,
            "kept_cannot": kept.n_cannot,
        },
        "violations": [as_dict(pair, name) for pair in links.select(broken)],
        "dropped": dropped,
        "suspects": suspects,
        "runners_up": others_of(model),
    }


def level_lines(report):
    """Return in words what --levels wrote."""
    if "levels" not in report:
        return []
    ends = report["tree_ends_at"]
    end = f"; below {ends} clusters, cannot-links end the merges" if ends > 1 else ""
    return [f"levels: {', '.join(map(str, report['levels']))}{end}"]


def summary(report):
    """Return the outcome of a fit in words."""
    from linkwise.constraints.cluster_numbers import next_best

    links, broken = report["links"], report["violations"]
    sizes = ", ".join(map(str, report["sizes"][:20])) + (", ..." if report["k"] > 20 else "")
    lines = ["{method}: n = {n}, k = {k}, sizes {}, {seconds:.2f} s".format(sizes, **report)]
    if report["strays"]:
        lines.append(f"{counted(report['strays'], 'row')} in no cluster, label -1")
    if links["given"]:
        lines.append(
            f"links kept: {links['kept']} of {links['given']} (must {links['kept_must']} of "
            f"{links['must']}, cannot {links['kept_cannot']} of {links['cannot']})"
        )
    lines += [f"  not kept: {p['a']} {p['kind']} be with {p['b']}" for p in broken[:SHOWN]]
    if len(broken) > SHOWN:
        lines.append(f"  and {len(broken) - SHOWN} more; --json lists all")
    lines += [
        f"  likely wrong: {p['a']} {p['kind']} be with {p['b']} ({p['probability']:.0%})"
        for p in report["suspects"][:SHOWN]
    ]
    if report["runners_up"]:
        lines.append(next_best((one["k"], one["score"]) for one in report["runners_up"]))
    lines += level_lines(report)
    if "cluster" in report:
        lines.append(report["cluster"]["words"])
    return "\n".join(lines)
