"""The `svc` command line as people expect it: quick help with examples, suggestions, a version, exit codes."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from pkgutil import resolve_name

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from cli.app import app
from cli.commands import buying, checking, deciding, running, world

HEAVY = {"aiohttp", "alembic", "dagster", "duckdb", "fastapi", "httpx", "pyarrow", "sqlalchemy", "uvicorn", "web3"}

READ_EVERY_HELP = """
import sys
from typer.testing import CliRunner
from cli.app import app
for line in sys.stdin.read().splitlines():
    result = CliRunner().invoke(app, [*line.split(), "--help"])
    assert result.exit_code == 0, result.output
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def commands_of(group: TyperGroup, path: str = "") -> dict[str, TyperCommand | TyperGroup]:
    found: dict[str, TyperCommand | TyperGroup] = {}
    for name, command in group.commands.items():
        assert isinstance(command, TyperCommand | TyperGroup)
        found[f"{path}{name}"] = command
        if isinstance(command, TyperGroup):
            found |= commands_of(command, f"{path}{name} ")
    return found


ROOT = get_command(app)
assert isinstance(ROOT, TyperGroup)
COMMANDS = commands_of(ROOT)


def svc(*arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == exit_code, result.output
    return " ".join(result.output.replace("│", " ").split())


def work_of(command: Callable[..., None]) -> Callable[..., None]:
    """Returns the function that a declared command names, as `runs` stores it."""
    work: Callable[..., None] = resolve_name(inspect.getclosurevars(command).nonlocals["work"])
    return work


DECLARED = [
    command
    for module in (running, checking, buying, deciding, world)
    for command in vars(module).values()
    if hasattr(command, "__wrapped__")
]


@pytest.mark.parametrize("command", DECLARED, ids=lambda command: command.__name__)
def test_the_function_behind_a_command_takes_its_options_by_the_same_names(command: Callable[..., None]):
    assert set(inspect.signature(work_of(command)).parameters) == set(inspect.signature(command).parameters)


def test_help_of_every_command_is_read_without_importing_what_the_commands_do():
    own_help = [name for name in COMMANDS if name != "bench"]  # the benches print their own
    done = subprocess.run(
        [sys.executable, "-c", READ_EVERY_HELP],
        input="\n".join(["", *own_help]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert not HEAVY & set(done.stdout.split())


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if isinstance(command, TyperCommand)])
def test_the_help_of_every_command_has_a_summary_and_an_example(name: str):
    summary, *rest = (COMMANDS[name].help or "").split("\n\n")
    assert summary.endswith(".") and summary[0].isupper()
    assert f"Example: `svc {name}" in rest[-1] or f" svc {name}`" in rest[-1]


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if isinstance(command, TyperCommand)])
def test_every_command_prints_json_when_asked(name: str):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert "--json" in options or name == "bench"


def test_commands_are_listed_in_groups():
    shown = svc("--help")
    for panel in (running.RUNNING, checking.CHECKING, buying.BUYING, deciding.DECIDING):
        assert panel in shown
    assert "Commands ─" not in shown
    assert "Exit codes: 0 the work is done;" in shown


@pytest.mark.parametrize(
    ("typed", "meant"), [("docter", "doctor"), ("piepline", "pipeline"), ("keys crete", "create"), ("vrify", "verify")]
)
def test_a_mistyped_command_is_answered_with_the_nearest_one(typed: str, meant: str):
    assert f"Did you mean '{meant}'" in svc(*typed.split(), exit_code=2)


@pytest.mark.parametrize(
    ("typed", "detail"),
    [
        ("keys create --json --tier gold --owner x", "Invalid value for '--tier': 'gold' is not one of"),
        ("world approve nope --json", "Invalid value for 'decision': it should be a valid integer"),
        ("docs check --json", "Missing argument 'base_url'."),
        ("intake review x --json", "Missing option '--approve' / '--request-changes'."),
        ("docter --json", "No such command 'docter'. Did you mean 'doctor'"),
    ],
)
def test_wrong_arguments_are_refused_as_one_json_value_on_request(typed: str, detail: str):
    result = CliRunner().invoke(app, typed.split())
    said = json.loads(result.stdout)
    assert (result.exit_code, said["ok"], said["code"]) == (2, False, "arguments_invalid")
    assert said["detail"].startswith(detail) and said["cure"]
    assert CliRunner().invoke(app, typed.replace("--json", "").split()).stdout == ""


def test_a_bench_that_does_not_exist_is_refused_as_one_json_value():
    done = subprocess.run(
        [Path(sys.executable).with_name("svc"), "bench", "--json", "nope"], capture_output=True, text=True
    )
    said = json.loads(done.stdout)
    assert (done.returncode, said["ok"], said["code"]) == (2, False, "arguments_invalid")
    assert "'nope' is not a bench" in said["detail"]


def test_the_version_is_printed():
    name, version = svc("--version").split()
    assert name == "svc" and version[0].isdigit()


def test_completion_knows_the_commands():
    done = subprocess.run(
        [Path(sys.executable).with_name("svc")],
        env={"_SVC_COMPLETE": "complete_bash", "COMP_WORDS": "svc pi", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["pipeline"]


def test_benches_that_are_not_installed_are_named_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checking, "CHECKOUT", tmp_path)
    assert svc("bench", exit_code=2).startswith("svc: the benchmarks are in the repository, not in the package")


def test_the_benches_get_the_arguments_and_print_their_own_help():
    done = subprocess.run(
        [Path(sys.executable).with_name("svc"), "bench", "--help"], capture_output=True, text=True, check=True
    )
    assert "Benchmark ingestion" in done.stdout and "--graph-nodes" in done.stdout
