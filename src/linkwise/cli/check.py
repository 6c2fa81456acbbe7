"""The command that checks links."""

import json
from argparse import Namespace

from linkwise._wording import counted
from linkwise.cli.fit import as_dict
from linkwise.cli.inputs import read_both
from linkwise.cli.output import UsageError


def check(args: Namespace) -> int:
    """Tell what links imply, and whether they can all hold."""
    if args.data is None and (args.id_column or args.columns):
        raise UsageError("--id-column and --columns say how to read --data; name it too")
    _, links, _ = read_both(args)
    from linkwise.constraints.conflicts import explain

    possible, contradicted = links.drop_conflicts()
    closure = possible.closure()
    conflict = links.conflict(args.k)
    report = {
        "pairs": links.n_pairs,
        "must": links.n_must,
        "cannot": links.n_cannot,
        "points": len(links.ids),
        "repeated": links.n_pairs - links.merged().n_pairs,
        "groups": len(closure.groups()),
        "largest_group": max(map(len, closure.groups()), default=0),
        "groups_apart": len(closure.cannot),
        "contradicted": contradicted.n_pairs,
        "conflict": None if conflict is None else explain(conflict),
        "conflict_pairs": [as_dict(pair, type(pair.a)) for pair in conflict or ()],
    }
    print(json.dumps(report) if args.json else findings(report, args.k))
    return 4 if args.strict and conflict is not None else 0


def findings(report, k):
    """Return a report on links in words."""
    lines = [
        "links: {pairs} (must {must}, cannot {cannot}, repeated {repeated}), points: {points}",
        "groups joined by must-links: {groups}, largest: {largest_group}, "
        "pairs of groups apart: {groups_apart}",
    ]
    within = "" if k is None else f" in {counted(k, 'cluster')}"
    if report["conflict"] is not None:
        lines.append("cannot all hold{within}: {conflict}")
        if report["contradicted"]:
            lines.append("cannot-links that contradict must-links: {contradicted}")
    elif k is None or k <= 2:
        lines.append("all can hold{within}")
    else:
        lines.append("no contradiction found{within} (a search, not a proof)")
    return "\n".join(lines).format(within=within, **report)
