"""The command that labels new rows by a saved model."""

import json
import sys
import time
from argparse import Namespace

from linkwise._wording import counted
from linkwise.cli.inputs import (
    check_output_arguments,
    read_model,
    read_new,
    say_notes,
    write_table,
)


def predict(args: Namespace) -> int:
    """Label new rows by a saved model, without fitting again."""
    check_output_arguments(args)
    model = read_model(args.model)
    if not hasattr(model, "labels_"):
        raise ValueError(f"{args.model}: the model is not fitted; write one by linkwise fit --save")
    if not hasattr(model, "predict"):
        raise ValueError(
            f"{args.model} is a {type(model).__name__}, which does not label new rows; linkwise "
            "methods lists the methods that do"
        )
    points = read_new(args, model, unseen=args.unseen)
    say_notes(args, points)
    started = time.perf_counter()
    labels = model.predict(points.X)
    seconds = round(time.perf_counter() - started, 3)
    write_table(args, labels, points.ids)
    import numpy as np

    sizes = np.bincount(labels[labels >= 0]).tolist()
    strays = int((labels < 0).sum())
    report = {
        "model": args.model, "n": len(labels), "sizes": sizes, "strays": strays,
        "seconds": seconds, "output": args.output,
    }  # fmt: skip
    if args.json:
        print(json.dumps(report))
    elif not args.quiet:
        apart = f", {counted(strays, 'row')} in no cluster" if strays else ""
        shown = ", ".join(map(str, sizes[:20])) + (", ..." if len(sizes) > 20 else "")
        print(f"{args.model}: n = {len(labels)}, sizes {shown}{apart}", file=sys.stderr)
    return 0
