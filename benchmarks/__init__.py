"""Benchmarks of linkwise: `python -m benchmarks`, from the root of a clone.

runs (processes, cells, data sets), reports (documents, numbers, figures); then one folder for each
thing that is measured: speed, quality, queries, papers, methods, gpu, page, segment.

They measure the linkwise that Python finds; where it finds none, the one in src/ of the clone.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the clone

if find_spec("linkwise") is None:
    sys.path.insert(0, str(ROOT / "src"))
