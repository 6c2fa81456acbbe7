"""A report as a list of blocks, written as Markdown or as one HTML page that needs nothing else."""

import re
from html import escape
from typing import NamedTuple

from benchmarks.runs.output import write

NO_PICTURES = "No pictures: they need `pip install 'linkwise[plot]'`."
STYLE = """
:root { color-scheme: light dark; --ink: #222222; --page: #ffffff; --line: #dddddd;
  --code: #f3f3f3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --page: #16181b; --line: #3a3f45; --code: #262a2f; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: var(--page); }
th { border-bottom: 2px solid var(--ink); vertical-align: bottom; white-space: normal; }
.words { text-align: left; white-space: normal; }
svg { max-width: 100%; height: auto; }
code { background: var(--code); padding: 0 .2rem; }
"""


class Heading(NamedTuple):
    text: str
    level: int = 2


class Words(NamedTuple):
    text: str


class Table(NamedTuple):
    head: list
    rows: list  # of lists of text


class Picture(NamedTuple):
    name: str  # of the file
    words: str  # for readers who cannot see it


def left_out_lines(reasons):
    """Return a line for every reason why methods or sets, {name: reason}, were left out."""
    names: dict = {}
    for name, why in reasons.items():
        names.setdefault(why, []).append(name)
    return [f"Left out: {', '.join(these)}: {why}." for why, these in names.items()]


def markdown_table(head, rows):
    """Return the lines of a table; none if there are no rows."""
    if not rows:
        return []
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(map(str, line)) + " |" for line in lines] + [""]


def markdown_page(title, blocks):
    """Return the report as Markdown; pictures are files beside it."""
    lines = [f"# {title}", ""]
    for block in blocks:
        if isinstance(block, Heading):
            lines += [f"{'#' * block.level} {block.text}", ""]
        elif isinstance(block, Words):
            lines += [block.text, ""]
        elif isinstance(block, Table):
            rows = [[cell.replace("|", "\\|") for cell in row] for row in block.rows]
            lines += markdown_table(block.head, rows)
        else:
            lines += [f"![{block.words}]({block.name})", ""]
    return "\n".join(lines).rstrip() + "\n"


def in_line(text):
    """Return text with its `code` marked, safe in HTML.

    >>> in_line("a < b by `x`")
    'a &lt; b by <code>x</code>'
    """
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def is_number(text):
    """Tell whether a text has no letters."""
    return not any(char.isalpha() for char in text)


def holds_words(column):
    """Tell whether most cells of a column that are not empty are words."""
    filled = [text for text in column if text]
    return 2 * sum(not is_number(text) for text in filled) > len(filled)


def html_table(block):
    """Return the lines of a table: words from the left, numbers to the right."""
    words = [holds_words(column) for column in zip(*block.rows, strict=True)]

    def row(cells, tag):
        found = []
        for place, text in enumerate(cells):
            kind = ' class="words"' if place and words and words[place] else ""
            found.append(f"<{tag}{kind}>{in_line(text)}</{tag}>")
        return "<tr>" + "".join(found) + "</tr>"

    head, body = row(block.head, "th"), [row(cells, "td") for cells in block.rows]
    return ['<div class="wide"><table>', head, *body, "</table></div>"]


def drawing(image):
    """Return an SVG file as it may stand in a page, beside others."""
    text = image.decode()
    return re.sub(r'<g id="[^"]*"', "<g", text[text.index("<svg") :])  # these count from 1 in each


def html_page(title, blocks, images, *, style=""):
    """Return the report as one HTML page, with its pictures, {name: SVG}, in it.

    ``style`` is CSS after that of all reports.
    """
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{STYLE}{style}</style></head><body>",
        f"<h1>{escape(title)}</h1>",
    ]
    for block in blocks:
        if isinstance(block, Heading):
            lines.append(f"<h{block.level}>{in_line(block.text)}</h{block.level}>")
        elif isinstance(block, Words):
            lines.append(f"<p>{in_line(block.text)}</p>")
        elif isinstance(block, Table):
            lines += html_table(block) if block.rows else []
        else:
            lines.append(f'<figure role="img" aria-label="{escape(block.words)}">')
            lines += [drawing(images[block.name]), "</figure>"]
    return "\n".join([*lines, "</body></html>", ""])


def write_report(out, name, results, images, *, markdown, html):
    """Write NAME.md, NAME.html and the pictures to a folder.

    Parameters
    ----------
    images : {file name: bytes}
    markdown, html : functions (results, images) -> text
    """
    for file, image in images.items():
        write(out / file, image)
    write(out / f"{name}.md", markdown(results, images))
    write(out / f"{name}.html", html(results, images))
