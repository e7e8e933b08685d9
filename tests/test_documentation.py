"""The repository's documentation names what exists: paths, commands, codes of invariants, links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from cli.app import app
from cli.library_commands import LibraryCommands

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
INVARIANTS = (ROOT / "docs" / "invariants.md").read_text()
TOP_FOLDERS = "api|benchmarks|cli|clients|contracts|docs|pipelines|site|tests|warehouse"

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def paths_in(page: Path) -> list[str]:
    return re.findall(rf"`((?:{TOP_FOLDERS})/[\w./<>-]*)`", page.read_text())


@pages
def test_every_path_that_a_page_names_exists(page: Path):
    assert not [path for path in paths_in(page) if "<" not in path and not (ROOT / path).exists()]


def test_every_promise_names_its_code_and_its_test():
    promises = ROOT / "docs" / "promises.md"
    rows = [line for line in promises.read_text().splitlines() if re.match(r"\| [A-Z]", line)]
    assert len(rows) > 50
    assert not [row for row in rows if "`tests/" not in row.rsplit("|", 2)[-2]]
    assert len(paths_in(promises)) > 2 * len(rows)


@pages
def test_every_link_between_pages_leads_somewhere(page: Path):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    assert not [link for link in links if "://" not in link and not (page.parent / link).exists()]


@pages
def test_every_command_that_a_page_names_exists(page: Path):
    root = get_command(app)
    assert isinstance(root, TyperGroup)
    for name, subcommand in re.findall(r"`svc ([a-z]+)(?: ([a-z]+(?:-[a-z]+)*))?", page.read_text()):
        assert name in root.commands
        command = root.commands[name]
        if subcommand and isinstance(command, TyperGroup) and not isinstance(command, LibraryCommands):
            assert subcommand in command.commands


def test_the_map_of_the_readme_names_every_folder():
    readme = (ROOT / "README.md").read_text()
    assert not [folder for folder in TOP_FOLDERS.split("|") if f"`{folder}/" not in readme]


def test_every_code_of_an_invariant_that_a_test_cites_is_defined():
    defined = re.findall(r"^\| ([SL]\d+) \|", INVARIANTS, re.MULTILINE)
    cited = {
        code
        for test in (ROOT / "tests").rglob("*.py")
        if test != Path(__file__)
        for code in re.findall(r"(?<![\w:'\"\[])([SL]\d{1,2})(?![\w:])", test.read_text())
    }
    assert len(cited) > 30
    assert cited <= set(defined)
    assert len(defined) == len(set(defined))


def test_every_invariant_names_the_tests_that_hold_it():
    rows = re.findall(r"^\| [SL]\d+ \|.*$", INVARIANTS, re.MULTILINE)
    assert rows and not [row for row in rows if "`tests/" not in row.rsplit("|", 2)[-2]]


def test_packages_of_this_checkout_are_installed_from_it_since_no_index_has_them():
    places = [*PAGES, *ROOT.glob("clients/*/README.md"), ROOT / "guardrail/README.md", *ROOT.glob("site/pages/*.j2")]
    from_an_index = re.compile(r"(?:pip|npm) install [^`\n]*\bsvc[-_]|additional_dependencies:.*\bsvc-")
    assert [place.name for place in places if from_an_index.search(place.read_text())] == []
