"""Builds anonymised rows of sessions for the warehouse and the graph: counts and states without an owner. Pure."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from contracts.canonical import sha256_hex
from contracts.connect.progress import Progress


def session_key(session_id: str) -> str:
    """Returns the name of a session in the graph and in the warehouse. Nobody can compute the session's id from it."""
    return sha256_hex(f"connect session in the graph {session_id}".encode())[:32]


def session_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a session of `connect_changed` as a row of its table.

    A session that was erased at its owner's request still has its assistant, but no progress.
    """
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
    """Returns the steps of a session of `connect_changed` as rows of their table. Positions count from 1."""
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
