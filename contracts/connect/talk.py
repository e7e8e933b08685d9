"""Answers about a session, worked out from plan, progress and session; no model is asked."""

from __future__ import annotations

from datetime import datetime

from contracts.connect.plan import Said


class SessionFacts(Said):
    """What is told of a session besides its plan and progress. Times are UTC."""

    now: datetime
    expires_at: datetime
    base_url: str
    payments_live: bool


class TalkAnswer(Said):
    """An answer. `topic` is None where the question was not understood; `can_answer` has a question for each topic."""

    topic: str | None
    answer: str
    can_answer: tuple[str, ...]
