"""axe-core in a page: https://github.com/dequelabs/axe-core, by `npm install axe-core`."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def axe():
    """Return the path of axe.min.js, None if it is not installed."""
    places = [
        Path(os.environ.get("LINKWISE_AXE", "none")),
        ROOT / "node_modules/axe-core/axe.min.js",
    ]
    return next((place for place in places if place.is_file()), None)


needs_axe = pytest.mark.skipif(axe() is None, reason="no axe-core; npm install axe-core")


def violations(page):
    """Return what axe-core finds on a page, a list of texts."""
    page.evaluate(axe().read_text("utf-8"))  # not as a script element: the policy forbids it
    found = page.evaluate("axe.run()")["violations"]
    return [
        f"{rule['id']}: {node['target']} {node.get('failureSummary', '')}"
        for rule in found
        for node in rule["nodes"]
    ]
