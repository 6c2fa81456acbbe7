"""The command that clusters rows in parts, here or on a Dask cluster.

Labels are written to a hidden folder beside the output, one part for each part of the rows. The
folder gets its name when all parts are complete. It also holds the steps that the cluster has
finished (`blocks.memo`), so that a command that is run again continues.
"""

import hashlib
import json
import os
import shutil
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from linkwise import __version__
from linkwise._files import write_whole
from linkwise._wording import counted
from linkwise.cli.inputs import PREPARING, in_file, read_answers, read_project_of
from linkwise.cli.output import UsageError, say

STATE = "fit.json"  # what the hidden folder belongs to
WAIT = "20s"  # for a scheduler to answer
# whose messages are not shown: errors are told in one sentence
LOGS = ("distributed", "distributed.client", "distributed.core", "tornado.application")


def check_arguments(args):
    """Refuse options that rows in parts do not have."""
    folder = Path(args.output)
    if args.output == "-" or folder.suffix:
        raise UsageError(
            f"-o {args.output}: rows in parts get a folder of labels, such as -o labels/"
        )
    single = ("standardize", "save", "into", "explain", "levels")
    flags = {name: f"--{name}" for name in single} | PREPARING
    for name, flag in flags.items():
        if getattr(args, name):
            raise UsageError(f"{flag} is for one file, not for rows in parts; leave it out")
    if folder.exists() and not args.force:
        raise FileExistsError(f"{args.output} exists; --force replaces the labels in it")
    if folder.exists() and not holds_labels_only(folder):
        raise FileExistsError(
            f"{args.output} has other files than parts of labels, and is not replaced; name "
            "another folder"
        )
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"-o {args.output}: its folder does not exist; make it first")


def holds_labels_only(folder):
    """Tell whether a path is a folder of nothing but parts of labels."""
    return folder.is_dir() and all(
        path.is_file() and path.suffix in (".npy", ".parquet") for path in folder.iterdir()
    )


@contextmanager
def cluster(address):
    """Yield a client of the scheduler at an address, or None without one."""
    if address is None:
        yield None
        return
    from linkwise.blocks.cluster import dask_modules

    _, distributed = dask_modules()
    import logging

    for name in LOGS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        client = distributed.Client(address, timeout=WAIT)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"--scheduler {address}: no scheduler answers there; start one, or check the address"
        ) from error
    try:
        yield client
    finally:
        client.close(timeout=2)


def open_data(args):
    """Return (PartFiles, the column of ids that was recognised or None)."""
    from linkwise.blocks.parts import open_parts, parquet_columns
    from linkwise.tables.id_columns import NO_IDS, is_id_name

    column, recognised = args.id_column, None
    if column == NO_IDS:
        column = None
    elif column is None:
        named = parquet_columns(args.data)
        ids = [name for j, name in enumerate(named) if is_id_name(name, j)]
        ids = sorted(set(ids) - set(args.columns or ()), key=lambda name: name.casefold() != "id")
        column = recognised = ids[0] if ids else None
    return open_parts(args.data, id_column=column, columns=args.columns), recognised


def fit_parts(args, make_model, report_on):
    """Cluster rows in parts and write a folder of labels; return the exit code.

    Parameters
    ----------
    make_model : function (args) -> estimator
    report_on : function (args, report), which prints the outcome
    """
    with cluster(args.scheduler) as client:
        files, recognised = open_data(args)
        if recognised is not None and not args.quiet:
            from linkwise.tables.id_columns import recognised_note

            say("note", recognised_note(args.data, recognised))
        project = in_file(args.links, read_project_of, args.links)
        links = in_file(args.links, read_answers, args, None, project)
        model = make_model(args)
        started = time.perf_counter()
        with staging(args, files, links, model) as folder:
            report = run(args, files, links, model, client, folder)
        report |= {"seconds": round(time.perf_counter() - started, 3), "output": args.output}
        report_on(args, report)
    return 0


@contextmanager
def staging(args, files, links, model):
    """Yield the hidden folder of a fit, which becomes the output if no error occurs."""
    output = Path(os.path.abspath(args.output))
    folder = output.with_name(f".{output.name}.partial")
    state = {
        "version": __version__,
        "parts": [
            [part.path, os.stat(part.path).st_size, os.stat(part.path).st_mtime_ns]
            for part in files.parts
        ],
        "columns": list(files.columns),
        "ids": files.id_column,
        "links": digest_of(links),
        "model": repr(sorted(model.get_params().items(), key=lambda item: item[0])),
        "cluster": args.scheduler is not None,
    }
    text = json.dumps([type(model).__name__, state])
    if folder.is_dir() and (folder / STATE).is_file() and (folder / STATE).read_text() == text:
        if not args.quiet:
            say("note", f"{args.output}: continues an earlier run of the same command")
    else:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        write_whole(folder / STATE, text.encode())
    yield folder
    for path in folder.iterdir():
        if path.name == STATE or path.name.startswith((".", "step-")):
            path.unlink()
    old = output.with_name(f".{output.name}.old")
    if output.exists():
        os.replace(output, old)
    os.replace(folder, output)
    shutil.rmtree(old, ignore_errors=True)


def digest_of(links):
    """Return a text that differs for other links."""
    if links is None:
        return None
    pairs = json.dumps([[str(p.a), str(p.b), int(p.sign), float(p.weight)] for p in links])
    return hashlib.sha256(pairs.encode()).hexdigest()


def others_of(model):
    """Return the other numbers of clusters that were tried, with their scores, as JSON has them."""
    return [
        {"k": number, "score": round(score, 4)}
        for number, score in getattr(model, "runners_up_", [])
    ]


def run(args, files, links, model, client, folder):
    """Fit, write the parts of the labels, and return the outcome."""
    import numpy as np

    from linkwise.blocks.cost import limits
    from linkwise.constraints.cluster_numbers import most_clusters

    n = files.shape[0]
    most = most_clusters(args.k)
    if most is not None and n < most:
        raise ValueError(f"{args.data} has {counted(n, 'row')}, too few for {most:,} clusters")
    with ExitStack() as stack:
        stack.enter_context(limits(args.max_memory, args.max_time))
        rows: Any = files
        before: Any = None
        if client is not None:
            from linkwise.blocks.cluster import rows_of_parts
            from linkwise.blocks.memo import Memo, remembered
            from linkwise.blocks.usage import counts, usage_since

            before = counts(client)
            rows = rows_of_parts(files, client)
            stack.enter_context(remembered(Memo(folder)))
        model.fit(rows, constraints=links, sample_id=files.id_column)
    if client is None:
        sizes = write_here(files, model.labels_, folder)
        usage = None
    else:
        sizes = write_on_cluster(files, model._label_rows, folder)
        usage = usage_since(before, client)
    given = 0 if links is None else links.n_pairs
    broken = model.violations_
    k = getattr(model, "n_clusters_", args.k)
    must = 0 if links is None else links.n_must
    broken_must = sum(pair.sign > 0 for pair in broken)
    report = {
        "method": args.method,
        "n": n,
        "k": k,
        "sizes": np.pad(sizes, (0, max(0, k - len(sizes)))).tolist(),
        "links": {
            "given": given,
            "kept": given - len(broken),
            "must": must,
            "cannot": given - must,
            "kept_must": must - broken_must,
            "kept_cannot": given - must - (len(broken) - broken_must),
        },
        "violations": [
            {
                "a": pair.a,
                "b": pair.b,
                "kind": "must" if pair.sign > 0 else "cannot",
                "weight": pair.weight,
            }
            for pair in broken
        ],
        "dropped": 0,
        "suspects": [],
        "runners_up": others_of(model),
        "strays": 0,
        "parts": len(files.parts),
    }
    if usage is None:
        return report
    return report | {"cluster": usage._asdict() | {"words": usage.in_words()}}


def write_here(files, labels, folder):
    """Write the labels of every part in this process; return the sizes of the clusters."""
    import numpy as np

    from linkwise.blocks.label_parts import write_part

    block = 0
    for part, start in zip(files.parts, files.first_rows, strict=False):
        blocks = len(part.blocks)
        column = None if files.ids is None else files.ids.pieces[block : block + blocks]
        write_part(place_of(folder, part), [labels[start : start + part.rows]], column)
        block += blocks
    return np.bincount(labels)


def place_of(folder, part):
    """Return the file of the labels of a part."""
    return str(Path(folder) / Path(part.path).name)


def write_on_cluster(files, labels, folder):
    """Let the workers write the labels of the parts that are not written yet.

    Returns the sizes of the clusters.
    """
    from linkwise.blocks.label_parts import write_parts

    places = [place_of(folder, part) for part in files.parts]
    sizes = write_parts(files, labels, places)
    missing = [place for place in places if not os.path.isfile(place)]
    if missing:
        raise FileNotFoundError(
            f"the workers wrote {missing[0]} to a folder that this process does not see; name an "
            "output in a folder that they share with it"
        )
    return sizes
