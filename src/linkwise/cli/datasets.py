"""The commands datasets, which lists the data sets, and demo, which clusters one of them."""

import json
from argparse import Namespace
from importlib import import_module

from linkwise.cli.output import print_table


def demo(args: Namespace) -> int:
    """Cluster handwritten digits with more and more answers."""
    import_module("linkwise.cli.demo").run(args.out)
    return 0


def datasets(args: Namespace) -> int:
    """List the data sets: those at hand, and how to get the others."""
    from linkwise.datasets import folder_of, listing

    folder = folder_of(args.data)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; name a folder of NAME.npz files by --data")
    rows = listing(data=args.data)
    if args.json:
        print(json.dumps(rows))
        return 0
    print_table(rows)
    return 0
