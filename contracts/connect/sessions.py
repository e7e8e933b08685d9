"""Defines a paired session as the ledger stores it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

SESSION_LIVES = timedelta(minutes=30)
KEPT = timedelta(days=30)
"""Time for which an ended session and its code's digest remain stored. During it, the code is refused."""


@dataclass(frozen=True, slots=True)
class Session:
    """One row of `connect_sessions`. `assistant`, `os` and `runtime_profile` are None before the first plan.

    `progress_json` is a `contracts.connect.progress.Progress`. `revision` counts the changes since the session opened.
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
        """Returns the owner of everything that the session writes."""
        return f"profile:{self.profile_id}"

    def is_open(self, now: datetime) -> bool:
        """Decides whether the session can still be used."""
        return self.closed_at is None and now < self.expires_at
