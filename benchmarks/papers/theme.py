"""The colours of the papers' pictures, which follow the page, light or dark.

Pictures are SVG. Every colour is a CSS variable with the light colour as fallback, so that a
picture follows the page it stands in, or by itself the reader's setting.
"""

import re

from benchmarks.reports.figures import as_svg

COLOURS = {  # name: light, dark
    "ink": ("#222222", "#e6e6e6"),
    "rule": ("#dddddd", "#3a3f45"),
    "c0": ("#0b5fa5", "#6fb7f2"),
    "c1": ("#c2410c", "#ff9b6a"),
    "c2": ("#11714f", "#5fd3a8"),
    "c3": ("#8b3a8b", "#e2a0e2"),
    "c4": ("#8a6d00", "#e3c44b"),
    "c5": ("#5f6368", "#b4b9bf"),
    "c6": ("#0e7490", "#67d5ee"),
}
INK, RULE = (COLOURS[name][0] for name in ("ink", "rule"))
LOOK = {  # settings of matplotlib
    "font.size": 13,
    "axes.labelsize": 13,
    "axes.titlesize": 14,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.edgecolor": INK,
    "font.family": "sans-serif",
    "axes.facecolor": "none",
    "figure.facecolor": "none",
}


def variables(dark):
    """Return the colours as CSS variables."""
    return " ".join(f"--{name}: {pair[dark]};" for name, pair in COLOURS.items())


STYLE = f"""
:root {{ {variables(0)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {variables(1)} }} }}
"""


def themed(svg):
    """Return an SVG whose colours are variables, with no more digits than can be seen.

    >>> themed('<path d="M 1.23456 2" style="stroke: #0b5fa5"/>')
    '<path d="M 1.23 2" style="stroke: var(--c0, #0b5fa5)"/>'
    """
    for name, (light, _) in COLOURS.items():
        svg = re.sub(rf"(?<=[ :]){light}", f"var(--{name}, {light})", svg)
    svg = re.sub(r"font-family: [^;\"]*", "font-family: system-ui, sans-serif", svg)
    svg = re.sub(r"font: ([0-9.]+px) [^;\"]*", r"font: \1 system-ui, sans-serif", svg)
    return re.sub(r"(\d\.\d\d)\d+", r"\1", re.sub(r"\n\s*", "\n", svg))


def alone(svg):
    """Return a picture that follows the reader's setting by itself, with a ground of its own."""
    ground = '<rect width="100%" height="100%" style="fill: var(--ground)"/>'
    style = (
        f"<style>:root {{ {variables(0)} --ground: #ffffff; }}"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(1)} --ground: #16181b; }} }}"
        "</style>"
    )
    text = svg.decode()
    start = text.index(">", text.index("<svg")) + 1
    return (text[:start] + style + ground + text[start:]).encode()


def svg_of(figure, plt):
    """Return a figure as SVG in the colours of the page, and close it."""
    return themed(as_svg(figure, plt, ground="none").decode()).encode()
