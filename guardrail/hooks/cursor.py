"""The adapter of Cursor: the events beforeShellExecution, beforeMCPExecution, beforeReadFile and preToolUse (the latter
for tools that have no event of their own). At the latter two it can't ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guardrail.hooks.harness import (
    Answer,
    Asked,
    Harness,
    InputInvalid,
    action_of,
    directory_of,
    event_of,
    printed,
    text,
    text_or_none,
)
from guardrail.vocabulary import Decision

EVENTS = ("beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse")
ASKING = frozenset(("beforeShellExecution", "beforeMCPExecution"))
TOOLS = "Write|StrReplace|Edit|MultiEdit|EditNotebook|Delete|TabWrite|Task"


def read(members: Mapping[str, Any]) -> Asked:
    """Returns what a call of the hook asks."""
    event = event_of(members, EVENTS)
    root = _root(members)
    arguments: Any = members.get("tool_input")
    if event == "beforeShellExecution":
        tool, arguments = "Shell", {"command": text(members, "command")}
    elif event == "beforeReadFile":
        tool, arguments = "Read", {"file_path": text(members, "file_path")}
    elif event == "beforeMCPExecution":
        tool = f"mcp__{text(members, 'tool_name')}"
    else:
        tool = text(members, "tool_name")
    cwd = text_or_none(members, "cwd") or root
    if cwd is None or not cwd.startswith("/"):
        raise InputInvalid("the input names no directory, neither cwd nor workspace_roots")
    return Asked(
        action=action_of(tool, arguments),
        cwd=directory_of(arguments, cwd),
        tool=tool,
        event=event,
        can_ask=event in ASKING,
        session=text_or_none(members, "conversation_id"),
        root=root,
    )


def _root(members: Mapping[str, Any]) -> str | None:
    roots = members.get("workspace_roots")
    return roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None


def answer(asked: Asked, decision: Decision, reason: str) -> Answer:
    """Cursor wants an answer each time. A question where it can't ask is deny."""
    if decision == "allow":
        return printed({"permission": "allow"})
    permission = "ask" if decision == "ask" and asked.can_ask else "deny"
    return printed({"permission": permission, "user_message": reason, "agent_message": reason})


def entries(command: str) -> Mapping[str, Mapping[str, Any]]:
    """Returns what the settings have for each event."""
    hook = {"command": command, "timeout": 15, "failClosed": True}
    return {event: {**hook, "matcher": TOOLS} if event == "preToolUse" else dict(hook) for event in EVENTS}


HARNESS = Harness(
    name="cursor",
    title="Cursor",
    written_for="2.4",
    documentation="https://cursor.com/docs/agent/hooks",
    settings="~/.cursor/hooks.json",
    if_it_dies="failClosed is set, so a hook that can't start, takes too long or prints nothing blocks.",
    read=read,
    answer=answer,
    entries=entries,
    settings_version=1,
)
