"""The command line: fit, dedupe, check, label, export, segment, methods, demo, datasets.

Exit codes: 0 done, 2 a wrong command line or a protected output, 3 wrong data, 4 links that cannot
all hold (with --strict or a hard method).
NumPy is imported inside the commands, so that --help and --version are quick.
"""

import io
import os
import sys
import warnings
from argparse import ArgumentParser
from collections.abc import Sequence

from linkwise.cli.arguments import Parser, parser, whole
from linkwise.cli.methods import METHODS, TRANSFORMERS
from linkwise.cli.output import UsageError, reason, say
from linkwise.exceptions import InfeasibleConstraints, MissingExtra

__all__ = ["METHODS", "TRANSFORMERS", "Parser", "UsageError", "main", "run_command", "whole"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command of linkwise and return its exit code."""
    return run_command(parser(), argv)


def run_command(parser: ArgumentParser, argv: Sequence[str] | None = None) -> int:
    """Run the command that a command line names and return its exit code.

    Parameters
    ----------
    parser : Parser whose commands set ``run``, a function of the arguments that returns the code
    argv : list of str, or None for the command line of this process
    """
    if sys.stderr is None:  # closed: print would take stdout instead
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        say("error", "standard output is closed; send it to a file or a program")
        return 3
    if isinstance(sys.stdout, io.TextIOWrapper):  # an id may be beyond what the locale can write
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", UserWarning)
            warnings.simplefilter("default", RuntimeWarning)
            warnings.showwarning = lambda message, *_, **__: say("warning", message)
            args = parser.parse_args(argv)
            code: int = args.run(args)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # --help and --version
        return int(stop.code or 0)
    except KeyboardInterrupt:
        say("error", "interrupted")
        return 130
    except BrokenPipeError:  # the reader of stdout is gone; Python must not flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (UsageError, FileExistsError) as error:
        say("error", reason(error))
        return 2
    except InfeasibleConstraints as error:
        say("error", error)
        return 4
    except (ValueError, OSError, MemoryError, MissingExtra) as error:
        say("error", reason(error))
        return 3
