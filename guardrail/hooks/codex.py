"""The adapter of Codex: the event PreToolUse. It can't ask, and it takes an answer with unknown fields for a failed
hook, after which the tool runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guardrail.hooks.harness import (
    Answer,
    Asked,
    Harness,
    action_of,
    directory,
    directory_of,
    event_of,
    printed,
    text,
    text_or_none,
)
from guardrail.vocabulary import Decision

EVENTS = ("PreToolUse",)


def read(members: Mapping[str, Any]) -> Asked:
    """Returns what a call of the hook asks."""
    tool, arguments = text(members, "tool_name"), members.get("tool_input")
    return Asked(
        action=action_of(tool, arguments),
        cwd=directory_of(arguments, directory(members)),
        tool=tool,
        event=event_of(members, EVENTS),
        can_ask=False,
        session=text_or_none(members, "session_id"),
    )


def answer(asked: Asked, decision: Decision, reason: str) -> Answer:
    """An empty object is no objection. A question would be refused as unsupported and the tool would run: deny."""
    if decision == "allow":
        return Answer("{}")
    return printed(
        {
            "hookSpecificOutput": {
                "hookEventName": asked.event,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        }
    )


def entries(command: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns what the settings have for each event."""
    return {"PreToolUse": {"matcher": ".*", "hooks": [{"type": "command", "command": command, "timeout": 15}]}}


HARNESS = Harness(
    name="codex",
    title="Codex",
    written_for="0.124.0",
    documentation="https://developers.openai.com/codex/hooks",
    settings="~/.codex/hooks.json",
    if_it_dies=(
        "A hook that is killed by the time limit lets the tool run; the command ends in `|| exit 2`, so that one that "
        "can't start blocks. Codex runs a new hook after the person reviewed it with /hooks."
    ),
    read=read,
    answer=answer,
    entries=entries,
)
