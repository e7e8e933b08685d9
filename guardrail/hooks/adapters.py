"""The adapters: for each harness a table of its events, answers and settings, according to its documentation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from guardrail.hooks.harness import Event, Harness, Settings
from guardrail.vocabulary import Decision

SECONDS = 15
"""Time limit in seconds that the installer sets in a harness; the client gives up earlier."""

Entries = Mapping[str, Mapping[str, Any]]


def _nested(event: str, decision: Decision, reason: str) -> Mapping[str, Any]:
    """Returns the answer in Claude Code's format, which other harnesses adopted."""
    said = {"permissionDecision": decision, "permissionDecisionReason": reason}
    return {"hookSpecificOutput": {"hookEventName": event, **said}}


# --- Claude Code: without an answer, the harness applies its own permissions ---


def _claude_code_entries(command: str) -> Entries:
    hook = {"type": "command", "command": command, "timeout": SECONDS, "onFailure": "block"}
    return {"PreToolUse": {"matcher": "*", "hooks": [hook]}}


CLAUDE_CODE = Harness(
    name="claude-code",
    title="Claude Code",
    written_for="2.1.295",
    documentation="https://code.claude.com/docs/en/hooks",
    read_on="2026-11-22",
    events=(Event("PreToolUse", can_ask=True),),
    settings=Settings("~/.claude", "settings.json", _claude_code_entries, variable="CLAUDE_CONFIG_DIR"),
    allowed="",
    spell=_nested,
    if_it_dies=(
        "A hook that can't start or takes too long blocks from 2.1.295 on (onFailure); before that version it lets "
        "the tool run."
    ),
)


# --- Codex: it treats an answer with unknown members, or a question, as a failed hook, and then runs the tool ---


def _codex_entries(command: str) -> Entries:
    return {"PreToolUse": {"matcher": ".*", "hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}}


CODEX = Harness(
    name="codex",
    title="Codex",
    written_for="0.124.0",
    documentation="https://developers.openai.com/codex/hooks",
    read_on="2026-11-22",
    events=(Event("PreToolUse", can_ask=False),),
    settings=Settings("~/.codex", "hooks.json", _codex_entries, variable="CODEX_HOME"),
    allowed="{}",
    spell=_nested,
    if_it_dies=(
        "A hook that is killed by the time limit lets the tool run; the command ends in `|| exit 2`, so that one that "
        "can't start blocks. Codex runs a new hook after the person reviewed it with /hooks."
    ),
)


# --- Cursor: flat answers, one per call; `failClosed` blocks if there is none. A question is documented for two
# events; version 3.9 has been seen to block there without asking ---

_CURSOR_TOOLS = "Write|StrReplace|Edit|MultiEdit|EditNotebook|Delete|TabWrite|Task"
"""Tools without their own event."""
_CURSOR_EVENTS = (
    Event("beforeShellExecution", can_ask=True, of_tool="Shell", members=("command",)),
    Event("beforeMCPExecution", can_ask=True, prefix="mcp__"),
    Event("beforeReadFile", can_ask=False, of_tool="Read", members=("file_path",)),
    Event("preToolUse", can_ask=False),
)


def _cursor_answer(event: str, decision: Decision, reason: str) -> Mapping[str, Any]:
    return {"permission": decision, "user_message": reason, "agent_message": reason}


def _cursor_entries(command: str) -> Entries:
    hook = {"command": command, "timeout": SECONDS, "failClosed": True}
    return {
        event.name: {**hook, "matcher": _CURSOR_TOOLS} if event.name == "preToolUse" else dict(hook)
        for event in _CURSOR_EVENTS
    }


CURSOR = Harness(
    name="cursor",
    title="Cursor",
    written_for="3.9",
    documentation="https://cursor.com/docs/hooks",
    read_on="2026-11-22",
    events=_CURSOR_EVENTS,
    settings=Settings("~/.cursor", "hooks.json", _cursor_entries, version=1),
    allowed='{"permission": "allow"}',
    spell=_cursor_answer,
    if_it_dies="failClosed is set, so a hook that can't start, takes too long or prints nothing blocks.",
)


# --- Gemini CLI: its documentation lists allow and deny; `allow` skips the harness's own question to the person ---


def _gemini_answer(event: str, decision: Decision, reason: str) -> Mapping[str, Any]:
    return {"decision": decision, "reason": reason}


def _gemini_entries(command: str) -> Entries:
    hook = {"name": "svc-guardrail", "type": "command", "command": command, "timeout": SECONDS * 1_000}
    return {"BeforeTool": {"matcher": ".*", "hooks": [hook]}}


GEMINI = Harness(
    name="gemini",
    title="Gemini CLI",
    written_for="0.30",
    documentation="https://geminicli.com/docs/hooks/reference",
    read_on="2026-11-22",
    events=(Event("BeforeTool", can_ask=False),),
    settings=Settings("~/.gemini", "settings.json", _gemini_entries),
    allowed="{}",
    spell=_gemini_answer,
    if_it_dies=(
        "A hook that is killed by the time limit lets the tool run with a warning; the command ends in `|| exit 2`, "
        "so that one that can't start blocks."
    ),
)


# --- GitHub Copilot: its own camel-case event, and the one with the members of VS Code and Claude Code ---


def _copilot_answer(event: str, decision: Decision, reason: str) -> Mapping[str, Any]:
    if event == "PreToolUse":
        return _nested(event, decision, reason)
    return {"permissionDecision": decision, "permissionDecisionReason": reason}


def _copilot_entries(command: str) -> Entries:
    return {"preToolUse": {"type": "command", "bash": command, "timeoutSec": SECONDS}}


COPILOT = Harness(
    name="copilot",
    title="GitHub Copilot",
    written_for="Copilot CLI 1.0.24",
    documentation="https://docs.github.com/en/copilot/reference/hooks-reference",
    read_on="2026-11-22",
    events=(
        Event("preToolUse", can_ask=True, tool="toolName", arguments="toolArgs", unnamed=True),
        Event("PreToolUse", can_ask=True),
    ),
    settings=Settings("~/.copilot", "hooks/svc-guardrail.json", _copilot_entries, variable="COPILOT_HOME", version=1),
    allowed="",
    spell=_copilot_answer,
    if_it_dies=(
        "A hook that can't start or fails denies; one that takes too long lets the tool run with a warning. The cloud "
        "agent on GitHub loads hooks only from .github/hooks of the repository, and treats a question as deny."
    ),
)


HARNESSES: dict[str, Harness] = {harness.name: harness for harness in (CLAUDE_CODE, CODEX, CURSOR, GEMINI, COPILOT)}
