"""Versions by tag, the release workflow and the recipe of conda-forge."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def section(text, name):
    """Return the items of the list `name` of a recipe."""
    items = re.search(rf"^ +{name}:\n((?: +- .*\n)+)", text, flags=re.MULTILINE)[1]
    return [line.strip().removeprefix("- ") for line in items.splitlines()]


def test_the_recipe_needs_what_the_package_needs():
    wanted = [re.sub(r"(>=)", r" \1", one) for one in PROJECT["project"]["dependencies"]]
    assert section(RECIPE, "run") == ["python >=${{ python_min }}", *wanted]
    oldest = PROJECT["project"]["requires-python"].removeprefix(">=")
    assert f'python_min: "{oldest}"' in RECIPE
    assert section(RECIPE, "host")[1:] == ["pip", *PROJECT["build-system"]["requires"]]
    command, function = next(iter(PROJECT["project"]["scripts"].items()))
    assert section(RECIPE, "entry_points") == [f"{command} = {function}"]
    assert PROJECT["project"]["description"] in RECIPE


def test_a_release_checks_the_version_before_it_publishes():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "needs: [build, test]" in text
    assert "fetch-depth: 0" in text
    assert "${GITHUB_REF_NAME#v}" in text


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


def version_in(folder):
    core = pytest.importorskip("hatchling.metadata.core")
    manager = pytest.importorskip("hatchling.plugin.manager")
    pytest.importorskip("hatch_vcs")
    return core.ProjectMetadata(str(folder), manager.PluginManager()).version


@pytest.fixture
def folder(tmp_path):
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def test_the_version_is_that_of_the_tag(folder):
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "one")
    assert re.fullmatch(r"0\.1(\.0)?\.dev\d+", version_in(folder))  # no tag yet
    git(folder, "tag", "v3.1.4")
    assert version_in(folder) == "3.1.4"
    git(folder, "commit", "--allow-empty", "-m", "two")
    assert version_in(folder) == "3.1.5.dev1"


def test_an_archive_without_git_has_the_fallback(folder):
    assert version_in(folder) == PROJECT["tool"]["hatch"]["version"]["fallback-version"]


def test_the_package_knows_its_version():
    import linkwise

    assert re.match(r"\d+\.", linkwise.__version__)
