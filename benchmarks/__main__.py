"""python -m benchmarks: one command for each benchmark."""

import sys
from inspect import signature

from benchmarks import arguments
from linkwise import MissingExtra
from linkwise.cli import METHODS, TRANSFORMERS, UsageError, run_command


def options_of(kind, args):
    """Return the Options of a benchmark from its arguments."""
    return kind(**{name: getattr(args, name) for name in kind._fields})


def called(run, args):
    """Call a benchmark with those of the arguments that it takes."""
    run(**{name: getattr(args, name) for name in signature(run).parameters})
    return 0


def check_names(option, names, known):
    """Refuse names that an option does not know."""
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise UsageError(f"{option} {unknown[0]}: expected some of {', '.join(known)}")


def speed(args):
    """Measure time, memory and agreement over the sizes of data."""
    from benchmarks.speed.contestants import CONTESTANTS
    from benchmarks.speed.run import Options, run

    check_names("--only", args.only, CONTESTANTS)
    run(options_of(Options, args), args.out)
    return 0


def quality(args):
    """Measure agreement and answers kept over data sets, pairs and wrong answers."""
    from benchmarks.quality.entrants import ZSCORED, entrants, named
    from benchmarks.quality.jobs import PARTS
    from benchmarks.quality.protocol import BUDGETS
    from benchmarks.quality.run import Options, run

    check_names("--parts", args.parts, PARTS)
    check_names("--budgets", args.budgets, BUDGETS)
    options = options_of(Options, args)
    if args.methods:
        classes = METHODS | TRANSFORMERS
        names = [(word.removesuffix(ZSCORED), word.endswith(ZSCORED)) for word in args.methods]
        words = [classes.get(name, name) + ZSCORED * z for name, z in names]
        try:
            options = options._replace(methods=tuple(named(words, entrants())))
        except ValueError as error:
            raise UsageError(f"--methods: {error}") from None
    run(options, args.out)
    return 0


def queries(args):
    """Measure how many answers each strategy of asking needs."""
    from benchmarks.queries.run import Options, run
    from linkwise.query import STRATEGIES

    check_names("--strategies", args.strategies, STRATEGIES)
    run(options_of(Options, args), args.out)
    return 0


def wider(args):
    """Measure what questions about several rows tell, beside questions about pairs."""
    from benchmarks.queries.wider import run

    return called(run, args)


def corrections(args):
    """Measure what random right corrections by hand change."""
    from benchmarks.corrections.run import run

    return called(run, args)


def papers(args):
    """Re-run the experiments of the four papers and judge their claims."""
    from benchmarks.papers.run import Options, run

    run(options_of(Options, args), args.out)
    return 0


def agreement(args):
    """Print the agreement of every method on small real sets."""
    from benchmarks.methods.agreement import names, run

    check_names("--methods", args.methods, names())
    return called(run, args)


def hard(args):
    """Print how often COPKMeans keeps all of n consistent constraints."""
    from benchmarks.methods.hard import run

    return called(run, args)


def size(args):
    """Print the seconds of every method at one size of generated data."""
    from benchmarks.methods.agreement import names
    from benchmarks.methods.size import run

    check_names("--methods", args.methods, names())
    return called(run, args)


def gpu(args):
    """Measure CCSKL on a GPU by stage, beside the CPU of the same machine."""
    from benchmarks.gpu.cases import CASES
    from benchmarks.gpu.run import run

    check_names("--only", args.only, CASES)
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", "gpu") from None
    if not torch.cuda.is_available():
        raise UsageError("gpu: torch finds no GPU here; run it on a machine with one")
    run(args, args.out)
    return 0


def dask(args):
    """Measure CCSKL on a Dask cluster of two workers, some of them killed."""
    from benchmarks.dask_cluster.run import run

    return called(run, args)


def page(args):
    """Measure the label page: the time to the next question, or of a frame."""
    from benchmarks.page.run import run

    return called(run, args)


def segment(args):
    """Measure the strokes that regions of pictures need, and the time of a stroke."""
    from benchmarks.segment.run import run

    return called(run, args)


def fuzz(args):
    """Check the laws of every estimator on random problems."""
    from benchmarks.reliability.fuzz import names, run

    check_names("--methods", args.methods, names())
    return run(problems=args.problems, methods=args.methods, first=args.first, jobs=args.jobs)


def extend(args):
    """Add rows in ten steps, and compare with one fit of all."""
    from benchmarks.features.extend import run

    return called(run, args)


def sizes(args):
    """Compare balanced k-means with k-means-constrained."""
    from benchmarks.features.sizes import run

    return called(run, args)


def entities(args):
    """Resolve the entities of FEBRL records, beside connected components."""
    from benchmarks.features.entities import run

    return called(run, args)


def strays(args):
    """Find planted noise, beside HDBSCAN."""
    from benchmarks.features.strays import run

    return called(run, args)


def levels(args):
    """Cut the trees of texts at two levels of their classes."""
    from benchmarks.features.levels import run

    return called(run, args)


COMMANDS = {
    speed: arguments.add_speed,
    quality: arguments.add_quality,
    papers: arguments.add_papers,
    queries: arguments.add_queries,
    wider: arguments.add_wider,
    corrections: arguments.add_corrections,
    agreement: arguments.add_agreement,
    hard: arguments.add_hard,
    size: arguments.add_size,
    gpu: arguments.add_gpu,
    dask: arguments.add_dask,
    page: arguments.add_page,
    segment: arguments.add_segment,
    extend: arguments.add_extend,
    sizes: arguments.add_sizes,
    entities: arguments.add_entities,
    strays: arguments.add_strays,
    levels: arguments.add_levels,
    fuzz: arguments.add_fuzz,
}


def main(argv=None):
    """Run one benchmark and return its exit code; without arguments, list them."""
    argv = sys.argv[1:] if argv is None else argv
    return run_command(arguments.parser(COMMANDS), argv or ["--help"])


if __name__ == "__main__":
    sys.exit(main())
