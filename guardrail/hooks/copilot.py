"""The adapter of GitHub Copilot: the event preToolUse of Copilot CLI and the coding agent, and PreToolUse, which has
the field names of VS Code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guardrail.hooks.harness import (
    Answer,
    Asked,
    Harness,
    InputInvalid,
    action_of,
    directory,
    directory_of,
    printed,
    text,
    text_or_none,
)
from guardrail.vocabulary import Decision

EVENTS = ("preToolUse", "PreToolUse")


def read(members: Mapping[str, Any]) -> Asked:
    """Returns what a call of the hook asks. The camel-case form names no event: what it holds tells it apart."""
    named = text_or_none(members, "hook_event_name") or text_or_none(members, "hookEventName")
    if named is not None and named not in EVENTS:
        raise InputInvalid(f"the event {named[:60]!r} is none that this adapter knows ({', '.join(EVENTS)})")
    if "toolResult" in members or "tool_response" in members:
        raise InputInvalid("the input is of an event after the tool has run")
    camel = "toolName" in members
    tool = text(members, "toolName" if camel else "tool_name")
    arguments = members.get("toolArgs" if camel else "tool_input")
    return Asked(
        action=action_of(tool, arguments),
        cwd=directory_of(arguments, directory(members)),
        tool=tool,
        event="preToolUse" if camel else "PreToolUse",
        can_ask=True,
        session=text_or_none(members, "sessionId") or text_or_none(members, "session_id"),
    )


def answer(asked: Asked, decision: Decision, reason: str) -> Answer:
    """No objection says nothing."""
    if decision == "allow":
        return Answer("")
    said = {"permissionDecision": decision, "permissionDecisionReason": reason}
    if asked.event == "preToolUse":
        return printed(said)
    return printed({"hookSpecificOutput": {"hookEventName": asked.event, **said}})


def entries(command: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns what the settings have for each event."""
    return {"preToolUse": {"type": "command", "bash": command, "timeoutSec": 15}}


HARNESS = Harness(
    name="copilot",
    title="GitHub Copilot",
    written_for="Copilot CLI 1.0.24",
    documentation="https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-hooks-reference",
    settings="~/.copilot/hooks/svc-guardrail.json",
    if_it_dies=(
        "What happens after a hook that takes too long is not documented for all versions; take it that the tool runs. "
        "The coding agent on GitHub loads hooks from .github/hooks of the repository alone, and can't ask."
    ),
    read=read,
    answer=answer,
    entries=entries,
    settings_version=1,
)
