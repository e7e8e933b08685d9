"""Logs every answered guardrail check in a store next to the ledger, in batches, and keeps it for a month.

A check doesn't wait for the disk, so a crash loses those of the last second. Decisions on the graph are not logged here
but in their chained audit.
"""

import json
import logging
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from contracts.access.api_keys import redact_keys
from contracts.errors import OperatorProblem
from contracts.guardrail import LOGGED_CHARACTERS, LOGGED_FOR, GuardrailResult
from contracts.secret_texts import secret_in
from contracts.settings import Settings
from guardrail import formats
from guardrail.reading.decoding import decoded_runs, encoded_runs
from guardrail.vocabulary import Reversible, Severity
from warehouse.ledger.ledger import utc_text
from warehouse.ledger.raw_store import RawStore, open_raw_store

SQL = (Path(__file__).with_name("log.sql"),)

WRITE_EVERY_S = 1.0
MOST_EFFECTS = 20
"""The most effects that are stored per action."""

_MOST_WAITING = 50_000
_SCHEMA_LOCK = 0x67756172646C
"""Key of the PostgreSQL advisory lock under which the table is created and batches are written."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoggedCheck:
    """A check for the pipelines, without the action's text and the caller. `seq` follows the order of commits."""

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
    """A check as shown to a person who is asked to approve its action. `effects` describes what the action would do."""

    checked_at: datetime
    source: str
    caller: str
    action: str
    asked_severity: str
    severity: str
    passed: bool
    matched: list[str]
    effects: list[str]


class GuardrailLog:
    """Logs checks. Create it with `open_guardrail_log`. Threads may share it; a forked process needs its own log."""

    def __init__(self, store: RawStore) -> None:
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
        """Logs a check; it is written within a second. `source` is the room, `caller` the id of a key or session."""
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
        """Writes the waiting checks. If that fails, up to 50,000 of the newest ones wait for the next attempt."""
        with self._writing:
            with self._lock:
                self._timer = None
                rows = list(self._waiting)
            if not rows:
                return
            newest = datetime.fromisoformat(rows[-1]["checked_at"])
            try:
                self._store.write([("append", rows), ("delete_old", [{"before": utc_text(newest - LOGGED_FOR)}])])
            except OperatorProblem as problem:
                _log.warning("%d guardrail checks are not written yet: %s", len(rows), problem)
                return
            with self._lock:
                while self._waiting and rows and self._waiting[0] is rows[0]:
                    self._waiting.popleft()
                    rows.pop(0)

    def after(self, seq: int, limit: int) -> list[LoggedCheck]:
        """Returns at most `limit` written checks after `seq`, oldest first. Raises `StoreBusy` or `StoreUnusable`."""
        return [_logged(row) for row in self._store.fetch_all("after", {"seq": seq, "limit": limit})]

    def known(self, digest: str) -> KnownCheck | None:
        """Returns the newest written check with this digest; None if there is none or its text was forgotten.

        Raises what `after` raises.
        """
        row = self._store.fetch("of_digest", {"digest": digest})
        return None if row is None else _known(row)

    def forget(self, callers: Iterable[str]) -> None:
        """Deletes the texts checked for these callers (ids of keys or sessions). Raises what `after` raises."""
        self._store.write([("forget_caller", [{"caller": caller} for caller in callers])])
        self._store.scrub()

    def close(self) -> None:
        """Writes the waiting checks and closes the store."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.write()
        self._store.close()


def open_guardrail_log(settings: Settings, data_dir: Path, *, wait_s: float = 2.0) -> GuardrailLog:
    """Opens the log next to the configured ledger: `guardrail.db`, or a PostgreSQL table.

    Raises `SettingsInvalid`, `StoreBusy`, `StoreUnusable`.
    """
    # Under the lock, numbers follow the order of commits, so a reader that continues by number misses nothing.
    return GuardrailLog(
        open_raw_store(
            settings,
            "The guardrail log",
            data_dir / "guardrail.db",
            SQL,
            wait_s=wait_s,
            lock=_SCHEMA_LOCK,
            pragmas=("secure_delete = on",),
            outdated=_outdated,
        )
    )


def _outdated(columns: frozenset[str]) -> list[str]:
    """Returns the steps that update the table of an earlier version in the SQLite file, which the ledger's migrations
    don't reach. On PostgreSQL they do."""
    missing = [f"add_{name}" for name in ("digest", "effects") if name not in columns]
    return missing + [f"drop_{name}" for name in ("drafts", "problem") if name in columns]


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
    """Describes the effects of an action in words of closed lists, such as `delete path, all, home, not reversible`.
    Their exact targets are only in the action's text, which can be deleted."""
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
    return _without_secrets(action[: 2 * LOGGED_CHARACTERS])[:LOGGED_CHARACTERS]


def _without_secrets(action: str) -> str:
    """Returns the action with every secret shortened to its first characters, even if it is encoded once or twice."""
    shown = formats.masked(redact_keys(action))
    for encoded, plain in encoded_runs(shown):
        if formats.find("\n".join((plain, *decoded_runs(plain)))):
            shown = shown.replace(encoded, f"{encoded[:4]}***")
    return shown
