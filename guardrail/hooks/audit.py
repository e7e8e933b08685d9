"""The audit log: one line of JSON per decision, readable only by the owner, rotated by size, with secrets masked."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guardrail.formats import masked
from guardrail.hooks.directories import make_private, state_directory
from guardrail.hooks.files import PRIVATE

MOST_BYTES = 4 * 1024 * 1024
KEPT = 3
LONGEST_ACTION = 500


def audit_file() -> Path:
    """Returns the path of the current user's log."""
    return Path(state_directory()) / "audit.jsonl"


def write_audit(line: Mapping[str, Any], path: Path, most_bytes: int = MOST_BYTES) -> None:
    """Appends a line. Several processes may write: each holds a lock while it writes its line and rotates the log."""
    make_private(str(path.parent))
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"
    lock = os.open(path.with_suffix(".lock"), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists() and path.stat().st_size + len(text) > most_bytes:
            _rotate(path)
        log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
        try:
            os.write(log, text.encode("utf-8", "replace"))
        finally:
            os.close(log)
    finally:
        os.close(lock)


def _rotate(path: Path) -> None:
    for number in range(KEPT - 1, 0, -1):
        older = path.with_suffix(f".{number}.jsonl")
        if older.exists():
            older.replace(path.with_suffix(f".{number + 1}.jsonl"))
    path.replace(path.with_suffix(".1.jsonl"))


def audit_line(
    *,
    now: float,
    harness: str,
    tool: str,
    action: str,
    cwd: str,
    session: str | None,
    decision: str,
    reason: str,
    rules: tuple[str, ...],
    digest: str,
    milliseconds: float,
) -> dict[str, Any]:
    """Builds a line of the log."""
    return {
        "at": datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds"),
        "harness": harness,
        "tool": tool,
        "session": session,
        "cwd": cwd,
        "action": masked(action)[:LONGEST_ACTION],
        "decision": decision,
        "reason": masked(reason),
        "rules": list(rules),
        "digest": digest,
        "ms": round(milliseconds, 1),
    }


def recent_objections(path: Path, since: float) -> Iterator[dict[str, Any]]:
    """Yields the lines of refused actions and questions since a time, newest first, each digest once."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - 256 * 1024))
            lines = log.read().splitlines()
    except OSError:
        return
    seen = set()
    for line in reversed(lines):
        try:
            found = json.loads(line)
            recent = datetime.fromisoformat(found["at"]).timestamp() >= since
            objected = found["decision"] in ("ask", "deny") and found["digest"]
        except (ValueError, KeyError, TypeError):
            continue
        if not recent:
            return
        if objected and found["digest"] not in seen:
            seen.add(found["digest"])
            yield found
