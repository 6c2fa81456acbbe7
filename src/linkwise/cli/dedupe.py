"""The command that finds the records of each entity."""

import json
import sys
from argparse import Namespace

from linkwise.cli.inputs import OUTPUTS, in_file, refuse_inputs, write_table
from linkwise.cli.output import UsageError


def dedupe(args: Namespace) -> int:
    """Find the records of each entity from scored pairs of records."""
    if args.output == "-" and args.json:
        raise UsageError("--json prints to stdout; name a file for the labels by -o")
    if args.output != "-":
        refuse_inputs(args.output, args.pairs, args.links)
        if not args.output.endswith(OUTPUTS):
            raise UsageError(f"-o {args.output}: expected a name that ends in {', '.join(OUTPUTS)}")
    import numpy as np

    from linkwise.constraints import Constraints
    from linkwise.partition.entities import resolve_entities
    from linkwise.tables import check_output, read_links
    from linkwise.tables.scored_pairs import read_scored_pairs

    if args.output != "-":
        check_output(args.output, force=args.force)
    given = read_scored_pairs(args.pairs, args.source)
    links = Constraints() if args.links is None else in_file(args.links, read_links, args.links)
    labels = resolve_entities(
        len(given.ids), given.pairs, given.score, source=given.source,
        links=links.resolve(given.ids, n=len(given.ids)), threshold=args.threshold,
        n_entities=args.k,
    )  # fmt: skip
    write_table(args, labels, given.ids)
    size = np.bincount(labels)
    report = {
        "records": len(labels), "pairs": len(given.pairs), "entities": len(size),
        "duplicates": int(len(labels) - len(size)), "largest": int(size.max()),
    }  # fmt: skip
    if args.json:
        print(json.dumps(report))
    elif not args.quiet:
        print(
            "{records} records, {pairs} pairs: {entities} entities, {duplicates} duplicates, the "
            "largest entity has {largest} records".format(**report),
            file=sys.stderr,
        )
    return 0
