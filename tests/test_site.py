"""The pages of the site: names, commands and code on them are those of the program."""

import re
import shlex
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import linkwise
from linkwise.cli import METHODS, TRANSFORMERS
from linkwise.cli.arguments import parser

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*/plot_*.py"))
DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def code_blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE
    )


def test_the_api_page_lists_every_public_name():
    section = (DOCS / "api.rst").read_text().split(".. currentmodule:: linkwise.")[0]
    assert set(re.findall(r"^   (\w+)$", section, flags=re.MULTILINE)) == set(linkwise.__all__)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_on_a_page_is_one_that_the_program_takes(page):
    for block in code_blocks(page, ""):
        for line in re.findall(
            r"^(?:\$ )?(linkwise .*)$", block.replace("\\\n", " "), re.MULTILINE
        ):
            words = shlex.split(line.split(" | ")[0].split(" > ")[0], comments=True)[1:]
            if words[0].startswith("-") or words[-1] == "--help":
                continue
            parser().parse_args([word for word in words if word != "..."])  # UsageError if unknown


def test_every_method_has_a_page():
    titles = [p.read_text().split("\n")[1] for p in EXAMPLES if p.parent.name == "methods"]
    assert sorted(titles) == sorted({**METHODS, **TRANSFORMERS}.values())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_says_what_it_shows_and_ends_in_a_picture(path):
    """`make docs` runs them all."""
    text = path.read_text()
    title, line = re.match(r'r?"""\n(.+)\n(=+)\n\n[`\w]', text).groups()
    assert len(title) == len(line)
    assert text.endswith("plt.show()\n")


@pytest.fixture
def at_hand(tmp_path, monkeypatch):
    """Names and files that a page may use without making them: flowers, links, a fitted model."""
    pytest.importorskip("matplotlib").use("agg")
    image = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda prompt: "s")
    X, y = load_iris(return_X_y=True)
    ids = [f"{row:03}" for row in range(len(X))]
    lines = [",".join([name, *map(str, row)]) for name, row in zip(ids, X, strict=True)]
    for name in ("iris.csv", "people.csv"):
        Path(name).write_text("\n".join(["id,a,b,c,d", *lines, ""]))
    image.new("RGB", (400, 400), "green").save("flower.jpg")
    links = linkwise.sample_pairs(y, 40, random_state=0)
    model = linkwise.CCSKL(3, random_state=0).fit(X, constraints=links)

    def function(a, b=None):
        return y[a] == y[b] if b is not None else [y[i] == y[j] for i, j in a]

    return locals() | {"linkwise": linkwise, "labels": model.labels_}


NEED_DATA = {"performance"}  # sets that have to be downloaded
NEED = {"bertopic": "bertopic", "scanpy": "scanpy", "notebooks": "anywidget"}  # not in `make slow`


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of the plots of scanpy
@pytest.mark.filterwarnings("ignore::linkwise.ConvergenceWarning")
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if code_blocks(page, "python") and page.stem not in NEED_DATA],
    ids=lambda page: page.stem,
)
def test_the_code_on_a_page_runs(page, at_hand):
    pytest.importorskip(NEED.get(page.stem, "linkwise"))
    for block in code_blocks(page, "python"):
        exec(compile(block, page.name, "exec"), at_hand)
