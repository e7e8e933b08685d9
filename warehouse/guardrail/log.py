"""Logs every answered guardrail check in a store beside the ledger, in batches, and keeps it for a month.

A check waits for no disk: a crash loses those of the last second. Decisions on the graph are not logged here but in
their chained audit.
"""

from __future__ import annotations

import json
import logging
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pysqlite3.dbapi2 as sqlite

from contracts.access.api_keys import redact_keys
from contracts.errors import OperatorProblem
from contracts.guardrail import GuardrailResult
from contracts.secret_texts import secret_in
from contracts.settings import Settings
from guardrail import formats
from guardrail.reading.decoding import decoded_runs, encoded_runs
from guardrail.vocabulary import Reversible, Severity
from warehouse.ledger.drivers import (
    assert_sqlite_version,
    create_private_file,
    driver_statement,
    problem_of,
    scrub,
    use_wal,
)
from warehouse.ledger.ledger import utc_text

if TYPE_CHECKING:
    from warehouse.ledger.raw_postgresql import RawPostgresql

SQL = (Path(__file__).with_name("log.sql"),)

WRITE_EVERY_S = 1.0
KEEP = timedelta(days=30)
LONGEST_ACTION = 2_000
"""Stored characters of a judged action."""

MOST_EFFECTS = 20
"""Stored effects of one action."""

_MOST_WAITING = 50_000
_SCHEMA_LOCK = 0x67756172646C
"""Key of the PostgreSQL advisory lock under which the table is created and batches are written."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoggedCheck:
    """A check as pipelines read it, without the action's text and the caller. `seq` follows the order of commits."""

    seq: int
    checked_at: datetime
    check_id: str
    source: str
    asked_severity: str
    severity: str
    passed: bool
    matched: list[str]
    warned_stages: list[str]
    failed_stages: list[str]
    rules_checked: int
    ruleset_version: str
    latency_us: int


@dataclass(frozen=True, slots=True)
class KnownCheck:
    """A check as a person sees it who is asked to approve its action. `effects` say what the action would do."""

    checked_at: datetime
    source: str
    caller: str
    action: str
    asked_severity: str
    severity: str
    passed: bool
    matched: list[str]
    effects: list[str]


class CheckStore(Protocol):
    """Stores checks."""

    def append(self, rows: list[dict[str, Any]], before: str) -> None:
        """Writes all of `rows` and deletes those older than `before`. Raises `StoreBusy` or `StoreUnusable`."""

    def after(self, seq: int, limit: int) -> list[tuple[Any, ...]]: ...

    def of_digest(self, digest: str) -> tuple[Any, ...] | None: ...

    def forget(self, callers: Iterable[str]) -> None:
        """Blanks the texts of these callers in every byte of the store. Raises `StoreBusy` or `StoreUnusable`."""

    def close(self) -> None: ...


class GuardrailLog:
    """Logs checks. Create it with `open_guardrail_log`. Threads may share it; a forked process needs its own."""

    def __init__(self, store: CheckStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._waiting: deque[dict[str, Any]] = deque(maxlen=_MOST_WAITING)
        self._timer: threading.Timer | None = None

    def record(
        self,
        result: GuardrailResult,
        *,
        action: str,
        asked: Severity,
        source: str,
        caller: str,
        latency_us: int,
    ) -> None:
        """Logs a check, to be written within a second. `source` is the room, `caller` the id of a key or session."""
        row = {
            "checked_at": utc_text(result.checked_at),
            "check_id": result.check_id,
            "source": source,
            "caller": caller,
            "action": _stored_text(action),
            "digest": result.digest,
            "effects": json.dumps(_effects_in_words(result)),
            "asked_severity": asked.value,
            "severity": result.severity,
            "passed": int(result.passed),
            "matched": json.dumps(result.matched_guardrails),
            "warned_stages": json.dumps([stage.stage for stage in result.stages if stage.result == "warn"]),
            "failed_stages": json.dumps([stage.stage for stage in result.stages if stage.result == "fail"]),
            "rules_checked": result.rules_checked,
            "ruleset_version": result.ruleset_version,
            "latency_us": latency_us,
        }
        with self._lock:
            self._waiting.append(row)
            if self._timer is None:
                self._timer = threading.Timer(WRITE_EVERY_S, self.write)
                self._timer.daemon = True
                self._timer.start()

    def write(self) -> None:
        """Writes the waiting checks. If that fails they are kept for the next attempt, at most the newest 50,000."""
        with self._writing:
            with self._lock:
                self._timer = None
                rows = list(self._waiting)
            if not rows:
                return
            newest = datetime.fromisoformat(rows[-1]["checked_at"])
            try:
                self._store.append(rows, utc_text(newest - KEEP))
            except OperatorProblem as problem:
                _log.warning("%d guardrail checks are not written yet: %s", len(rows), problem)
                return
            with self._lock:
                while self._waiting and rows and self._waiting[0] is rows[0]:
                    self._waiting.popleft()
                    rows.pop(0)

    def after(self, seq: int, limit: int) -> list[LoggedCheck]:
        """Returns at most `limit` written checks above `seq`, oldest first. Raises `StoreBusy` or `StoreUnusable`."""
        return [_logged(row) for row in self._store.after(seq, limit)]

    def known(self, digest: str) -> KnownCheck | None:
        """Returns the newest written check of this digest; None if there is none or its text was forgotten. Raises as
        `after`."""
        row = self._store.of_digest(digest)
        return None if row is None else _known(row)

    def forget(self, callers: Iterable[str]) -> None:
        """Deletes the texts that these callers (ids of keys or sessions) had judged. Raises as `after`."""
        self._store.forget(callers)

    def close(self) -> None:
        """Writes the waiting checks and closes the store."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.write()
        self._store.close()


def open_guardrail_log(settings: Settings, data_dir: Path, *, wait_s: float = 2.0) -> GuardrailLog:
    """Opens the log beside the configured ledger: `guardrail.db`, or a PostgreSQL table.

    Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    if settings.ledger_url is None:
        return GuardrailLog(_SqliteChecks(data_dir / "guardrail.db", wait_s))
    from warehouse.ledger.engine import postgresql_address
    from warehouse.ledger.raw_postgresql import RawPostgresql

    url = postgresql_address(settings.ledger_url)
    raw = RawPostgresql(url, f"The guardrail log {url.render_as_string(hide_password=True)}", wait_s, SQL)
    raw.set_up(_SCHEMA_LOCK, "schema")
    return GuardrailLog(_PostgresqlChecks(raw))


class _SqliteChecks:
    def __init__(self, path: Path, wait_s: float) -> None:
        assert_sqlite_version()
        create_private_file(path)
        self._name = f"The guardrail log {path}"
        self._lock = threading.Lock()
        self._connection = sqlite.connect(str(path), timeout=wait_s, isolation_level=None, check_same_thread=False)
        try:
            use_wal(self._connection, wait_s)
            self._connection.execute("pragma synchronous = normal")
            self._connection.execute("pragma secure_delete = on")
            self._connection.execute(driver_statement(SQL, "schema", "sqlite"))
            self._bring_up_to_date()
        except sqlite.Error as error:
            self._connection.close()
            raise (problem_of(self._name, error) or error) from error

    def _bring_up_to_date(self) -> None:
        """Changes the table of an earlier version. The log is a file of its own, which the ledger's migrations don't
        reach; on PostgreSQL they do."""
        if not self._outdated():
            return
        with self._transaction():
            for step in self._outdated():  # asked again: another process may have been faster
                self._connection.execute(driver_statement(SQL, step, "sqlite"))

    def _outdated(self) -> list[str]:
        columns = {name for (name,) in self._connection.execute(driver_statement(SQL, "columns", "sqlite"))}
        missing = [f"add_{name}" for name in ("digest", "effects") if name not in columns]
        return missing + [f"drop_{name}" for name in ("drafts", "problem") if name in columns]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("begin immediate")
        try:
            yield
            self._connection.execute("commit")
        except BaseException:
            self._connection.execute("rollback")
            raise

    def append(self, rows: list[dict[str, Any]], before: str) -> None:
        with self._lock:
            try:
                with self._transaction():
                    self._connection.executemany(driver_statement(SQL, "append", "sqlite"), rows)
                    self._connection.execute(driver_statement(SQL, "delete_old", "sqlite"), {"before": before})
            except sqlite.Error as error:
                raise (problem_of(self._name, error) or error) from error

    def after(self, seq: int, limit: int) -> list[tuple[Any, ...]]:
        return self._fetch_all("after", {"seq": seq, "limit": limit})

    def of_digest(self, digest: str) -> tuple[Any, ...] | None:
        return next(iter(self._fetch_all("of_digest", {"digest": digest})), None)

    def _fetch_all(self, question: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return list(self._connection.execute(driver_statement(SQL, question, "sqlite"), parameters).fetchall())
            except sqlite.Error as error:
                raise (problem_of(self._name, error) or error) from error

    def forget(self, callers: Iterable[str]) -> None:
        with self._lock:
            try:
                statement = driver_statement(SQL, "forget_caller", "sqlite")
                self._connection.executemany(statement, [{"caller": caller} for caller in callers])
                scrub(self._connection, self._name)
            except sqlite.Error as error:
                raise (problem_of(self._name, error) or error) from error

    def close(self) -> None:
        self._connection.close()


class _PostgresqlChecks:
    def __init__(self, raw: RawPostgresql) -> None:
        self._raw = raw
        self.close = raw.close

    def append(self, rows: list[dict[str, Any]], before: str) -> None:
        # Under the lock, numbers follow the order of commits, so a reader that continues by number misses nothing.
        self._raw.write(_SCHEMA_LOCK, [("append", rows), ("delete_old", [{"before": before}])])

    def forget(self, callers: Iterable[str]) -> None:
        self._raw.write(_SCHEMA_LOCK, [("forget_caller", [{"caller": caller} for caller in callers])])
        self._raw.fetch("rewrite", {})

    def after(self, seq: int, limit: int) -> list[tuple[Any, ...]]:
        return self._raw.fetch_all("after", {"seq": seq, "limit": limit})

    def of_digest(self, digest: str) -> tuple[Any, ...] | None:
        return self._raw.fetch("of_digest", {"digest": digest})


def _logged(row: Iterable[Any]) -> LoggedCheck:
    seq, checked_at, check_id, source, asked, severity, passed, matched, warned, failed, rules, version, latency = row
    return LoggedCheck(
        seq,
        datetime.fromisoformat(checked_at),
        check_id,
        source,
        asked,
        severity,
        bool(passed),
        json.loads(matched),
        json.loads(warned),
        json.loads(failed),
        rules,
        version,
        latency,
    )


def _known(row: tuple[Any, ...]) -> KnownCheck:
    checked_at, source, caller, action, asked, severity, passed, matched, effects = row
    return KnownCheck(
        datetime.fromisoformat(checked_at),
        source,
        caller,
        action,
        asked,
        severity,
        bool(passed),
        json.loads(matched),
        json.loads(effects),
    )


def _effects_in_words(result: GuardrailResult) -> list[str]:
    """Returns what an action would do in words of closed lists, such as `delete path, all, home, not reversible`: what
    the effects reach is left to the action's text, which can be forgotten."""
    said = []
    for effect in result.effects:
        places = dict.fromkeys(target.place.value for target in effect.targets)
        parts = [f"{effect.kind.value} {effect.object.value.replace('_', ' ')}", effect.scope.value, *places]
        if effect.reversible is Reversible.NO:
            parts.append("not reversible")
        said.append(", ".join(part for part in parts if part != "unknown"))
    return list(dict.fromkeys(said))[:MOST_EFFECTS]


def _stored_text(action: str) -> str:
    """Returns the text to store for an action.

    An action with a seed phrase or a private key is left out, because they span many words and lines. Other secrets are
    shortened to their first characters.
    """
    if kind := secret_in(redact_keys(action)):
        return f"(left out: {kind})"
    return _without_secrets(action[: 2 * LONGEST_ACTION])[:LONGEST_ACTION]


def _without_secrets(action: str) -> str:
    """Returns the action with every secret shortened to its first characters, even if it is encoded once or twice."""
    shown = formats.masked(redact_keys(action))
    for encoded, plain in encoded_runs(shown):
        if formats.find("\n".join((plain, *decoded_runs(plain)))):
            shown = shown.replace(encoded, f"{encoded[:4]}***")
    return shown
