"""A12: whichever store is broken in whichever way, every command ends in one line with a cure and no traceback."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
from holder_rows import TOKEN
from publishing import FEW, commands_publish
from rounds import ROUNDS
from typer.testing import CliRunner, Result

from cli.app import app
from contracts.errors import StoreUnusable
from contracts.settings import Settings
from pipelines.runs import opened_instance
from warehouse.publish.generations import current_generation
from warehouse.world.served import SNAPSHOT_DIR

COMMANDS = (
    ("doctor",),
    ("pipeline", "status"),
    ("world", "load"),
    ("world", "audit"),
    ("world", "pending"),
    ("keys", "list"),
    ("keys", "create", "--tier", "free", "--owner", "ada"),
    ("keys", "rotate-signing"),
    ("claim", "unmatched"),
    ("intake", "list"),
    ("pair",),
    ("verify", "http://127.0.0.1:1"),
)
WRITERS = (
    ("publish",),
    ("pipeline", "run"),
    ("world", "forget", "local:ada"),
)
"""Commands that take seconds."""

STORES = (
    "warehouse.duckdb",
    "ledger.db",
    "counters.db",
    "guardrail.db",
    "master.secret",
    "signing.pem",
    "current",
    "current/manifest.json",
    "current/serving.duckdb",
    "current/world/snapshot.json",
    "run.lock",
    "dagster",
    "dagster/history/runs.db",
    "dagster/history/runs/index.db",
    "dagster/schedules/schedules.db",
)
STOPPED_BY = {
    "warehouse.duckdb": {"pipeline status", "publish", "pipeline run", "world forget local:ada", "doctor"},
    "ledger.db": {"world audit", "keys list", "publish", "pipeline run", "doctor"},
    "counters.db": {"doctor"},
    "guardrail.db": {"doctor", "world forget local:ada"},
    "current": {"doctor", "publish", "pipeline status"},
    "current/manifest.json": {"doctor", "publish", "pipeline status"},
    "dagster/history/runs.db": {"doctor", "pipeline run"},
}
"""Commands that can't do without a store, by the store that contains garbage."""


def with_garbage(path: Path) -> None:
    _move_away(path)
    path.write_bytes(b"garbage, " * 1000)


def cut_short(path: Path) -> None:
    body = b"" if path.is_dir() else path.read_bytes()
    _move_away(path)
    path.write_bytes(body[: len(body) // 2])


def emptied(path: Path) -> None:
    _move_away(path)
    path.touch()


def with_a_directory_in_its_place(path: Path) -> None:
    _move_away(path)
    path.mkdir()
    (path / "something").touch()


def with_holes(path: Path) -> None:
    if path.is_file():
        body = bytearray(path.read_bytes())
        body[4096:] = bytes(max(0, len(body) - 4096))
        _move_away(path)
        path.write_bytes(body)


def _move_away(path: Path) -> None:
    """Moves a store's file away, so that links to it under other names stay intact."""
    path.rename(path.with_name(f"{path.name}.aside"))


BREAKAGES: tuple[Callable[[Path], None], ...] = (
    with_garbage,
    cut_short,
    emptied,
    with_a_directory_in_its_place,
    with_holes,
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a data directory in which every command has run, and whose generation has few files to copy and to
    check."""
    data_dir = tmp_path_factory.mktemp("whole") / "var"
    with pytest.MonkeyPatch.context() as patch:
        environment(patch, data_dir)
        for command in (*WRITERS, *COMMANDS):
            run(command)
    fill(data_dir)
    for generation in (data_dir / "generations").iterdir():
        if generation != (data_dir / "current").resolve():
            shutil.rmtree(generation)
    shutil.rmtree(data_dir / SNAPSHOT_DIR)  # linked into the generation, and deleted by every erasure
    assert {"warehouse.duckdb", "ledger.db", "guardrail.db", "dagster", "current"} <= {
        path.name for path in data_dir.iterdir()
    }
    return data_dir


def copied(whole: Path, data_dir: Path) -> None:
    """Makes a copy to break. Files of a generation are linked, since nothing writes into them and breakages replace
    them."""

    def copy(source: str, target: str) -> None:
        if "/generations/" in source:
            os.link(source, target)
        else:
            shutil.copy2(source, target)

    shutil.copytree(whole, data_dir, symlinks=True, dirs_exist_ok=True, copy_function=copy)


def fill(data_dir: Path) -> None:
    """Writes Dagster's records, which a run without a chain doesn't reach."""

    @dg.job
    def nothing() -> None:
        pass

    with opened_instance(data_dir) as instance:
        nothing.execute_in_process(instance=instance)
        instance.all_instigator_state()


def environment(patch: pytest.MonkeyPatch, data_dir: Path) -> None:
    patch.setenv("SVC_DATA_DIR", str(data_dir))
    patch.setenv("SVC_RPC_URLS", "http://127.0.0.1:9")
    patch.setenv("SVC_TOKEN_ADDRESS", TOKEN)
    patch.setenv("DAGSTER_HOME", "")
    commands_publish(patch, *FEW)


def run(command: tuple[str, ...]) -> Result:
    return CliRunner().invoke(app, [*command, "--json"])


def problem_of(command: tuple[str, ...], result: Result) -> dict | None:
    """Returns what a command could not do, from its JSON, or None if it succeeded. Fails for a traceback."""
    assert result.exception is None or isinstance(result.exception, SystemExit), (command, result.exception)
    assert "Traceback" not in result.output, command
    answered = json.loads(result.stdout.splitlines()[-1])
    if result.exit_code == 0:
        return None
    if "faults" in answered:  # an audit that found differences in the store
        assert answered["faults"] != [], command
        return answered
    problems = [answered] if "detail" in answered else [row for row in answered["findings"] if row["status"] == "fail"]
    assert problems != []
    for problem in problems:
        assert problem["detail"] and problem["cure"], command
        assert "\n" not in problem["detail"] + problem["cure"], command
    return problems[0]


def commands_for(store: str, breakage: Callable[[Path], None]) -> list[tuple[str, ...]]:
    """In a soak, returns every command for a store that contains garbage, and the store's readers for other breakages.

    By default, returns the commands that garbage stops, and each of the others with one store; for other breakages, one
    of the store's readers.
    """
    stopped = STOPPED_BY.get(store, set())
    number = STORES.index(store)
    if breakage is with_garbage:
        every: list[tuple[str, ...]] = [*COMMANDS, *WRITERS]
        others = every if ROUNDS > 1 else every[number :: len(STORES)]
        return [command for command in every if " ".join(command) in stopped or command in others]
    readers: list[tuple[str, ...]] = [command for command in COMMANDS if " ".join(command) in stopped | {"doctor"}]
    return readers if ROUNDS > 1 else [readers[(number + BREAKAGES.index(breakage)) % len(readers)]]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.__name__)
@pytest.mark.parametrize("store", STORES)
def test_no_command_ends_in_a_traceback(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str, breakage: Callable[[Path], None]
):
    stopped = set()
    for command in commands_for(store, breakage):
        data_dir = tmp_path / "var"
        copied(whole, data_dir)
        environment(monkeypatch, data_dir)
        breakage(data_dir / store if store == "current" else (data_dir / store).parent.resolve() / Path(store).name)
        names = {str(path.relative_to(data_dir)) for path in data_dir.glob("*")}
        if problem_of(command, run(command)) is not None:
            stopped.add(" ".join(command))
        assert names <= {str(path.relative_to(data_dir)) for path in data_dir.glob("*")}, "nothing is deleted"
        shutil.rmtree(data_dir)
    if breakage is with_garbage:
        assert STOPPED_BY.get(store, set()) <= stopped


@pytest.mark.parametrize("store", ["history/runs.db", "history/runs/index.db", "schedules/schedules.db"])
@pytest.mark.parametrize(
    "breakage", [with_garbage, with_holes, with_a_directory_in_its_place], ids=lambda b: b.__name__
)
def test_records_of_dagster_that_are_broken_are_named(
    whole: Path, tmp_path: Path, store: str, breakage: Callable[[Path], None]
):
    shutil.copytree(whole / "dagster", tmp_path / "dagster")
    breakage(tmp_path / "dagster" / store)
    with pytest.raises(StoreUnusable, match=f"Move {tmp_path}/dagster away"):
        fill(tmp_path)


def test_a_problem_of_the_file_system_is_one_line_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    environment(monkeypatch, tmp_path)
    (tmp_path / "run.lock").mkdir()
    result = CliRunner().invoke(app, ["publish"])
    assert result.exit_code == 1
    assert f"{tmp_path}/run.lock can't be used: Is a directory." in result.stderr
    assert len(result.stderr.splitlines()) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
@pytest.mark.parametrize("store", ["warehouse.duckdb", "ledger.db", "current/manifest.json"])
def test_a_store_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str):
    environment(monkeypatch, tmp_path)
    assert run(("publish",)).exit_code == 0
    (tmp_path / store).chmod(0)
    problem = problem_of(("publish",), run(("publish",)))
    assert problem is not None
    assert Path(store).name in problem["detail"]


def test_a_pointer_that_leads_nowhere_is_named_with_a_cure_that_mends_it(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    environment(monkeypatch, tmp_path)
    copied(whole, tmp_path)
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("generations/none")
    with pytest.raises(StoreUnusable, match=f"Move {tmp_path}/current away and run `svc publish`"):
        current_generation(tmp_path)
    assert run(("publish",)).exit_code == 1
    (tmp_path / "current").rename(tmp_path / "aside")
    assert run(("publish",)).exit_code == 0
    assert Settings(_env_file=None).data_dir == tmp_path
