"""Erases forgotten data from every file: after the ledger forgot it, its texts remain in copies and free pages.

The operator's commands do so at once; erasures by owners are handled together once a day.

Every step can be repeated, so an operator can rerun a killed command. Backups and deleted files that the disk retains
are the operator's responsibility: docs/erasure.md.
"""

import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contracts.errors import ErasureUnfinished, OperatorProblem
from contracts.settings import Settings
from contracts.world.erasure import files_due
from pipelines.initial_publish import LOCK_WAIT_S, publish_again
from pipelines.instance import prepare_home
from pipelines.runs import databases, delete_diary, opened_instance
from warehouse.duck.connection import Warehouse, run_lock
from warehouse.guardrail.log import open_guardrail_log
from warehouse.ledger.drivers import scrub_file
from warehouse.ledger.ledger import open_ledger
from warehouse.publish.generations import remove_older
from warehouse.publish.stored_generations import forget_older, origin_of
from warehouse.world.fold import fold_events
from warehouse.world.forget import finish_erasures, waiting_erasures
from warehouse.world.served import SNAPSHOT_DIR

DATABASE_WAIT_S = 30.0
"""The longest wait for one of Dagster's databases."""


@dataclass(frozen=True)
class Erased:
    """The numbers of deleted older generations, records of runs, and log files."""

    generations: int
    runs: int
    logs: int


def erase_traces(
    settings: Settings, callers: Sequence[str], on_step: Callable[[str], None] = lambda text: None
) -> Erased:
    """Rewrites every store without the data that the ledger has forgotten, and deletes files that can't be rewritten.

    `callers` are ids of keys and sessions whose texts in the guardrail log are erased too; `on_step` is called before
    each step. Every step is tried, whatever the outcome of the others. Raises `ErasureUnfinished`, which lists the
    unfinished ones.
    """
    counts = {"generations": 0, "runs": 0, "logs": 0}

    def generations() -> None:
        with run_lock(settings.data_dir, wait_s=LOCK_WAIT_S):
            counts["generations"] = remove_older(settings.data_dir)
        if settings.publish_url is not None:
            forget_older(origin_of(settings), settings.data_dir, datetime.now(UTC))

    def dagster() -> None:
        counts["runs"] = _erase_diary(settings.data_dir)

    def logs() -> None:
        counts["logs"] = _delete_logs(settings.data_dir / "logs")

    steps: dict[str, Callable[[], None]] = {
        "the ledger": lambda: _rewrite_ledger(settings),
        "the warehouse and what is published": lambda: _rewrite_warehouse(settings),
        "Dagster's records of runs": dagster,
        "the logs": logs,
        "the guardrail log": lambda: _erase_judged(settings, callers),
        # Last, when every process has followed the pointer to the new one.
        "older generations": generations,
    }
    problems: dict[str, OperatorProblem | OSError] = {}
    for name, step in steps.items():
        on_step(f"erasing in {name}")
        try:
            step()
        except (OperatorProblem, OSError) as problem:
            problems[name] = problem
    if problems:
        what = "; ".join(f"{name}: {getattr(problem, 'what', problem)}" for name, problem in problems.items())
        cures = " ".join(dict.fromkeys(problem.cure for problem in problems.values() if hasattr(problem, "cure")))
        raise ErasureUnfinished(
            f"Forgotten in the ledger, but not yet erased everywhere. Left: {what}",
            cure=f"{cures} Then run the same command again.".strip(),
        )
    return Erased(**counts)


def files_due_for_erasures(settings: Settings, now: datetime) -> str | None:
    """Returns why the files must be rewritten for erasures by owners, in a few words, or None."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger, ledger.read() as reader:
        waiting = waiting_erasures(reader)
    is_due = files_due(waiting.since, waiting.last_finished, now)
    return f"{len(waiting.ids)} erasures wait for the files" if is_due else None


def erase_for_owners(settings: Settings, on_step: Callable[[str], None] = lambda text: None) -> int:
    """Erases the data that owners erased from every file and records this. Returns the number of finished erasures.

    Erasures that are requested meanwhile wait for the next time. Raises `ErasureUnfinished`; then all of them keep
    waiting.
    """
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        with ledger.read() as reader:
            waiting = waiting_erasures(reader)
        erase_traces(settings, waiting.callers, on_step)
        finish_erasures(ledger, waiting.ids)
    return len(waiting.ids)


def _rewrite_ledger(settings: Settings) -> None:
    with closing(open_ledger(settings, settings.data_dir, wait_s=DATABASE_WAIT_S)) as ledger:
        ledger.rewrite()


def _rewrite_warehouse(settings: Settings) -> None:
    """Publishes a generation without the forgotten data, for the served address, and rewrites the warehouse."""
    publish_again(settings)
    warehouse = Warehouse(settings.data_dir)
    with run_lock(settings.data_dir, wait_s=LOCK_WAIT_S):
        if warehouse.path.exists():
            with (
                warehouse.connect() as connection,
                closing(open_ledger(settings, settings.data_dir)) as ledger,
            ):
                fold_events(connection, ledger)
        warehouse.rewrite()
        # The snapshot's files are linked into the generation; anything else there was left by a killed run.
        shutil.rmtree(settings.data_dir / SNAPSHOT_DIR, ignore_errors=True)


def _erase_diary(data_dir: Path) -> int:
    if not (data_dir / "dagster").exists():
        return 0
    home = prepare_home(data_dir)
    with opened_instance(data_dir) as instance:
        deleted = delete_diary(instance, home)
    for database in databases(home):
        scrub_file(database, DATABASE_WAIT_S)
    return deleted


def _delete_logs(logs_dir: Path) -> int:
    """Deletes the logs of a `svc run`, which continues with new files."""
    logs = [path for path in logs_dir.glob("*.log*") if path.is_file()]
    for log in logs:
        log.unlink(missing_ok=True)
    return len(logs)


def _erase_judged(settings: Settings, callers: Sequence[str]) -> None:
    with closing(open_guardrail_log(settings, settings.data_dir, wait_s=DATABASE_WAIT_S)) as log:
        log.forget(callers)
