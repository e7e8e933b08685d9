"""A paired session as the ledger holds it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

SESSION_LIVES = timedelta(minutes=30)
KEPT = timedelta(days=30)
"""How long a session and the digest of its code are kept after their end: that code is refused for so long."""


@dataclass(frozen=True, slots=True)
class Session:
    """One row of `connect_sessions`. `assistant`, `os` and `runtime_profile` are None until a plan was asked for.

    `progress_json` is a `contracts.connect.progress.Progress`; `revision` counts what changed since the session opened.
    """

    session_id: str
    profile_id: str
    agent: str | None
    created_at: datetime
    expires_at: datetime
    closed_at: datetime | None
    assistant: str | None
    os: str | None
    runtime_profile: str | None
    progress_json: str | None
    revision: int
    intake_id: str | None

    @property
    def owner(self) -> str:
        """Whom what the session writes belongs to."""
        return f"profile:{self.profile_id}"

    def is_open(self, now: datetime) -> bool:
        """Whether the session may still be used."""
        return self.closed_at is None and now < self.expires_at
