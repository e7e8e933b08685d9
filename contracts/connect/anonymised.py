"""What is told of a session outside the ledger: counts and states, and of nobody whose it is. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from contracts.canonical import sha256_hex
from contracts.connect.progress import Progress


def session_key(session_id: str) -> str:
    """What names a session in the graph and in the warehouse; its id can't be worked out from it."""
    return sha256_hex(f"connect session in the graph {session_id}".encode())[:32]


def session_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A session of `connect_changed` as its table has it. Who asked to be forgotten has a plan and no progress."""
    progress = _progress(row)
    states = Counter(step.state for step in progress.steps) if progress else Counter()
    return {
        "session_key": session_key(row["session_id"]),
        "day": row["day"],
        "assistant": row["assistant"],
        "os": row["os"],
        "runtime_profile": row["runtime_profile"],
        "steps": states.total(),
        "done": states["done"],
        "skipped": states["skipped"],
        "failed": states["failed"],
        "finished": progress is not None and progress.finished,
        "registered": row["intake_id"] is not None,
        "closed": row["closed_at"] is not None,
        "forgotten": row["assistant"] is not None and progress is None,
    }


def step_rows(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of a session of `connect_changed` as their table has them; positions count from 1."""
    progress = _progress(row)
    return [
        {
            "session_key": session_key(row["session_id"]),
            "position": position,
            "step_id": step.step_id,
            "state": step.state,
            "failures": step.failures,
        }
        for position, step in enumerate(progress.steps if progress else (), start=1)
    ]


def _progress(row: Mapping[str, Any]) -> Progress | None:
    return None if row["progress_json"] is None else Progress.model_validate_json(row["progress_json"])
