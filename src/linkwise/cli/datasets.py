"""The commands about data sets: datasets, and demo, which clusters one of them."""

import json
from importlib import import_module

from linkwise.cli.output import print_table


def demo(args):
    """Cluster handwritten digits with more and more answers."""
    import_module("linkwise.cli.demo").run(args.out)
    return 0


def datasets(args):
    """List the data sets: what is there, and how to get the rest."""
    from linkwise.datasets import folder_of, listing

    folder = folder_of(args.data)
    if folder is not None and not folder.is_dir():
        raise ValueError(f"{folder} is no folder; name one with sets as NAME.npz by --data")
    rows = listing(data=args.data)
    if args.json:
        print(json.dumps(rows))
        return 0
    print_table(rows)
    return 0
