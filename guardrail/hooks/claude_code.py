"""The adapter of Claude Code: the event PreToolUse."""

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
        can_ask=True,
        session=text_or_none(members, "session_id"),
    )


def answer(asked: Asked, decision: Decision, reason: str) -> Answer:
    """No objection says nothing, so that the harness's own permissions still hold."""
    if decision == "allow":
        return Answer("")
    return printed(
        {
            "hookSpecificOutput": {
                "hookEventName": asked.event,
                "permissionDecision": decision,
                "permissionDecisionReason": reason,
            }
        }
    )


def entries(command: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns what the settings have for each event."""
    hook = {"type": "command", "command": command, "timeout": 15, "onFailure": "block"}
    return {"PreToolUse": {"matcher": "*", "hooks": [hook]}}


HARNESS = Harness(
    name="claude-code",
    title="Claude Code",
    written_for="2.1.295",
    documentation="https://code.claude.com/docs/en/hooks",
    settings="~/.claude/settings.json",
    if_it_dies=(
        "A hook that can't start or takes too long blocks from 2.1.295 on (onFailure); before that version it lets "
        "the tool run."
    ),
    read=read,
    answer=answer,
    entries=entries,
)
