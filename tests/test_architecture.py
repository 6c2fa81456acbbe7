"""The shape of the code base, checked."""

import ast
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import linkwise
from benchmarks import __main__ as benchmarks
from linkwise.cli.methods import METHODS, TRANSFORMERS, describe

SOURCE = Path(linkwise.__file__).parent
ROOT = SOURCE.parent.parent
# imports point only up this list
ROOMS = [
    "_typing", "exceptions", "_wording", "_files", "arrays", "blocks", "linalg", "constraints",
    "graph", "kernel", "embedding", "partition", "evaluate", "_check", "estimators", "class_models",
    "choice", "query", "saving", "journal", "datasets", "plot", "tl", "tables", "segment",
    "labelling", "terminal", "app", "cli", "__main__",
]  # fmt: skip


def room(module):
    """Return the place of a module, named from the package on, in the list of rooms."""
    return ROOMS.index(module.split(".")[0])


def imports(path):
    """Yield what of linkwise a file imports when it runs, named from the package on."""
    tree = ast.parse(path.read_text())
    for part in tree.body:
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING":
            part.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "linkwise":
            yield from (alias.name for alias in node.names if alias.name != "__version__")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linkwise."):
            yield node.module.removeprefix("linkwise.")
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            yield from (name.removeprefix("linkwise.") for name in names if "linkwise." in name)


FILES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_only_up_the_rooms(path):
    own = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for module in imports(path):
        home = linkwise._HOME.get(module, module)  # a public name lives in its room
        assert room(home) <= room(own), f"{own} imports {module}"


def private_names(path):
    """Yield private names and modules of other rooms that a file imports."""
    own = path.relative_to(SOURCE).parts[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linkwise."):
            room, *module = node.module.split(".")[1:]
            names = [*module, *(alias.name for alias in node.names)]
            if room != own:
                yield from (name for name in names if name.startswith("_"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_rooms_import_only_public_names_of_each_other(path):
    assert not list(private_names(path))


BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))


def public(module, name):
    """Tell whether linkwise, or one of its public rooms, gives a name to its users."""
    if module == "linkwise":
        return name in {*linkwise.__all__, *linkwise._ROOMS, "cli"}
    room = module.removeprefix("linkwise.")
    return room in {*linkwise._ROOMS, "cli"} and name in import_module(module).__all__


def names_used(path):
    """Yield (module, name) of what a benchmark uses of a package, also by "module:name"."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name.rpartition(".")[::2] for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(r"(linkwise[\w.]*):(\w+)", node.value)
            yield from [found.groups()] if found else []


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_benchmarks_use_public_names_only(path):
    for module, name in names_used(path):
        package = module.split(".")[0]
        if package == "linkwise":
            assert public(module, name), f"{module} gives no {name}"
        if package == "benchmarks":
            assert not name.startswith("_"), f"{name} is private to {module}"


def test_the_package_knows_nothing_of_its_benchmarks():
    for path in FILES:
        used = {module.split(".")[0] for module, _ in names_used(path) if module}
        assert "benchmarks" not in used, path


def documented_in(text):
    return set(re.findall(r"`([A-Za-z_]+)`", text))


def test_every_public_name_is_documented():
    reference = documented_in((ROOT / "docs" / "reference.md").read_text())
    for name in linkwise.__all__:
        assert getattr(linkwise, name).__doc__, f"{name} has no docstring"
        assert name in reference, f"{name} is missing in docs/reference.md"


def test_every_room_says_what_it_is_and_documents_what_it_gives():
    for name in (
        "arrays",
        "blocks",
        "constraints",
        "graph",
        "kernel",
        "embedding",
        "partition",
        "evaluate",
        "linalg",
        "class_models",
        "choice",
        "query",
        "saving",
        "journal",
        "segment",
    ):
        module = getattr(linkwise, name)
        assert module.__doc__
        for public in module.__all__:
            assert getattr(module, public).__doc__, f"linkwise.{name}.{public} has no docstring"


def test_every_parameter_of_an_estimator_is_documented():
    for name in [*linkwise.estimators.__all__, "LinkClustering", "WithConstraints"]:
        estimator = getattr(linkwise, name)
        for parameter in estimator._get_param_names():
            assert re.search(rf"\b{parameter}\b", estimator.__doc__), f"{name}: {parameter}"


def test_public_names_are_listed_once_and_exist():
    assert set(linkwise.__all__) == set(linkwise._HOME)
    assert set(linkwise.__all__) <= set(dir(linkwise))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = linkwise.nonsense


def test_importing_the_package_loads_nothing_heavy():
    code = "import linkwise, sys; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "scipy", "sklearn", "matplotlib"} & set(run.stdout.split())


def test_the_package_is_marked_as_typed():
    assert (SOURCE / "py.typed").exists()


def test_the_readmes_table_of_methods_is_in_step_with_the_classes():
    table = (ROOT / "README.md").read_text().split("<!-- methods -->")[1].strip().splitlines()
    rows = [describe(name) for name in METHODS | TRANSFORMERS]
    expected = [
        " | ".join(f"`{value}`" if key == "class" else value for key, value in row.items())
        for row in rows
    ]
    assert table[0].strip("| ") == " | ".join(rows[0])
    assert [line.strip("| ") for line in table[2:]] == expected
    # LinkClustering, "Nineteen methods from the literature" of the README, and ManifoldLayout
    assert len(rows) == 21


def test_the_examples_of_the_readme_run():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    space: dict = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), space)


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def anchors(page):
    """Return the anchors of the headings of a page, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_page
def test_every_link_of_the_docs_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            assert anchor in anchors(file), f"{page.name}: {target}"


@each_page
def test_every_file_named_in_the_docs_exists(page):
    """Paths begin at the repository or at a room; `file.py: name` names what the file defines."""
    for path, name in re.findall(r"([\w/]+\.py)\b(?::\s+([\w.]+))?", page.read_text()):
        files = [folder / path for folder in (ROOT, SOURCE) if (folder / path).exists()]
        assert files, f"{page.name}: {path}"
        for part in filter(None, name.split(".")):
            defined = rf"^\s*(def|class) {part}\b"
            assert re.search(defined, files[0].read_text(), flags=re.MULTILINE), f"{path}: {part}"


@each_page
def test_every_module_named_in_the_docs_exists(page):
    for name in re.findall(r"(?<![\w.-])linkwise(?:\.\w+)+", page.read_text()):
        pkgutil.resolve_name(name)  # raises ImportError or AttributeError


def test_the_page_of_the_benchmarks_describes_every_command_and_option():
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    parser = benchmarks.arguments.parser(benchmarks.COMMANDS)
    for command in parser._subparsers._group_actions[0].choices.values():
        assert f"`{command.prog}`" in page
        section = page.split(f"## {command.prog}\n")[1].split("\n## ")[0]
        for action in command._actions[1:]:  # after --help
            assert f"`{action.option_strings[0]}" in section, (
                f"{command.prog} {action.option_strings}"
            )


def rooms_imported(own):
    """Return the rooms that the files of a room import when they run, in their order."""
    paths = [path for path in FILES if path.relative_to(SOURCE).with_suffix("").parts[0] == own]
    homes = {linkwise._HOME.get(name, name) for path in paths for name in imports(path)}
    return sorted({home.split(".")[0] for home in homes} - {own}, key=ROOMS.index)


def test_the_architecture_page_lists_the_rooms_in_order_and_their_imports():
    page = (ROOT / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|.*\|(.*)\|$", page, flags=re.MULTILINE)
    assert [own for own, _ in rows] == ROOMS
    for own, listed in rows:
        assert re.findall(r"\w+", listed) == rooms_imported(own), f"imports of {own}"


def test_the_picture_of_the_architecture_shows_the_rooms_in_order():
    picture = (ROOT / "docs" / "architecture.svg").read_text()
    assert re.findall(r'class="name">(\w+)<', picture) == ROOMS[:-1]  # all but __main__


def test_the_oldest_versions_tested_are_those_stated():
    import tomllib

    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = stated["optional-dependencies"]
    wanted = [
        *stated["dependencies"],
        *(x for e in ("plot", "io", "app", "image", "test") for x in extras[e]),
    ]
    least = {part for part in wanted if ">=" in part}
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line)
    for part in least:
        name, version = part.split(">=")
        pin = pins[name]
        assert pin == version or pin.startswith(f"{version}."), part
    assert set(pins) == {part.split(">=")[0] for part in least}
