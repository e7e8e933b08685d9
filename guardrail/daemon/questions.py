"""Answers a hook's question: the adapter reads it, the decision is made and logged, and the adapter spells the
answer."""

from __future__ import annotations

import json
import time
from typing import Any

from guardrail.hooks.adapters import HARNESSES
from guardrail.hooks.audit import audit_file, audit_line, write_audit
from guardrail.hooks.client import refusal
from guardrail.hooks.decide import Judged, decide
from guardrail.hooks.harness import Answer, Asked, Harness, InputInvalid
from guardrail.hooks.once import own_once
from guardrail.loading import default_guardrail

WARM_UP = ("git status", "DELETE FROM a WHERE b = 1", 'Write {"file_path": "a", "content": "b"}')
"""Actions that make the readers load what they otherwise load at first use."""


class Answering:
    """The engine, loaded and warm."""

    def __init__(self) -> None:
        self._guardrail = default_guardrail()
        for action in WARM_UP:
            self._guardrail.check(action)

    def answer(self, harness_name: str, given: str, home: str) -> Answer:
        """Returns the hook's answer. Never raises: input that can't be read or judged is refused."""
        harness = HARNESSES.get(harness_name)
        if harness is None:
            return _refused(harness_name, f"no adapter is called {harness_name[:40]!r}")
        started = time.monotonic()
        try:
            asked = _asked(harness, given)
        except InputInvalid as error:
            return self._refused(harness_name, str(error), given, started)
        except Exception as fault:
            return self._refused(harness_name, f"the input can't be read ({type(fault).__name__})", given, started)
        try:
            judged = decide(asked, self._guardrail, own_once(), int(time.time()), home)
            answer = harness.answer(asked, judged.decision, judged.reason)
        except Exception as fault:
            return self._refused(harness_name, f"the check failed ({type(fault).__name__})", asked.action, started)
        _log(harness_name, asked, judged, started)
        return answer

    def _refused(self, harness_name: str, reason: str, given: str, started: float) -> Answer:
        _write(
            harness=harness_name,
            tool="",
            action=given,
            cwd="",
            session=None,
            decision="deny",
            reason=reason,
            rules=(),
            digest="",
            started=started,
        )
        return _refused(harness_name, reason)


def _refused(harness_name: str, reason: str) -> Answer:
    return Answer(*refusal(harness_name, reason))


def _asked(harness: Harness, given: str) -> Asked:
    try:
        members = json.loads(given)
    except (ValueError, RecursionError):
        raise InputInvalid("the input is not JSON") from None
    if not isinstance(members, dict):
        raise InputInvalid("the input is not a JSON object")
    return harness.read(members)


def _log(harness_name: str, asked: Asked, judged: Judged, started: float) -> None:
    _write(
        harness=harness_name,
        tool=asked.tool,
        action=asked.action,
        cwd=asked.cwd,
        session=asked.session,
        decision=judged.decision,
        reason=judged.reason,
        rules=judged.verdict.matched_guardrails,
        digest=judged.verdict.digest,
        started=started,
    )


def _write(*, started: float, **known: Any) -> None:
    elapsed = (time.monotonic() - started) * 1_000
    try:
        write_audit(audit_line(now=time.time(), milliseconds=elapsed, **known), audit_file())
    except OSError:
        # A full disk must not stop the work: the decision is made, and the harness records it too.
        return
