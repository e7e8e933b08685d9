"""The adapter of Gemini CLI: the event BeforeTool. Its documentation knows allow and deny, so a question is deny."""

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

EVENTS = ("BeforeTool",)


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
    """An empty object is no objection; `allow` would spare the person the harness's own question."""
    return Answer("{}") if decision == "allow" else printed({"decision": "deny", "reason": reason})


def entries(command: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns what the settings have for each event. The time limit is in milliseconds."""
    hook = {"name": "svc-guardrail", "type": "command", "command": command, "timeout": 15_000}
    return {"BeforeTool": {"matcher": ".*", "hooks": [hook]}}


HARNESS = Harness(
    name="gemini",
    title="Gemini CLI",
    written_for="0.30",
    documentation="https://geminicli.com/docs/hooks/reference",
    settings="~/.gemini/settings.json",
    if_it_dies=(
        "A hook that is killed by the time limit lets the tool run with a warning; the command ends in `|| exit 2`, "
        "so that one that can't start blocks."
    ),
    read=read,
    answer=answer,
    entries=entries,
)
