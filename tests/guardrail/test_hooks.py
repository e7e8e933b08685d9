"""The adapters translate each harness's JSON into a request and the decision into an answer; the installer."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from guardrail.hooks.adapters import HARNESSES
from guardrail.hooks.client import refusal
from guardrail.hooks.harness import Asked, InputInvalid
from guardrail.hooks.install import SettingsInvalid, plan
from guardrail.vocabulary import Decision

SESSION = {"session_id": "5e55", "transcript_path": "/home/u/.claude/t.jsonl", "cwd": "/home/u/app"}
CLAUDE = {**SESSION, "permission_mode": "default", "hook_event_name": "PreToolUse", "tool_use_id": "toolu_1"}
CODEX = {**SESSION, "hook_event_name": "PreToolUse", "turn_id": "t1", "model": "m", "tool_use_id": "call_1"}
GEMINI = {**SESSION, "hook_event_name": "BeforeTool", "timestamp": "2026-11-01T10:00:00Z"}
CURSOR = {
    "conversation_id": "c1",
    "generation_id": "g1",
    "model": "m",
    "cursor_version": "3.9.16",
    "workspace_roots": ["/home/u/app"],
}
COPILOT = {"timestamp": 1_793_000_000_000, "cwd": "/home/u/app", "sessionId": "s1"}

RECORDED: list[tuple[str, dict[str, Any], str, str, bool]] = [
    (
        "claude-code",
        {
            **CLAUDE,
            "tool_name": "Bash",
            "tool_input": {"command": "rm -rf build", "description": "Clean", "timeout": 5},
        },
        "rm -rf build",
        "/home/u/app",
        True,
    ),
    (
        "claude-code",
        {**CLAUDE, "tool_name": "Write", "tool_input": {"file_path": "/home/u/app/ä.txt", "content": "1\n"}},
        'Write {"file_path": "/home/u/app/ä.txt", "content": "1\\n"}',
        "/home/u/app",
        True,
    ),
    (
        "claude-code",
        {**CLAUDE, "tool_name": "mcp__github__create_issue", "tool_input": {"title": "A"}},
        'mcp__github__create_issue {"title": "A"}',
        "/home/u/app",
        True,
    ),
    (
        "claude-code",
        {**CLAUDE, "tool_name": "odd name", "tool_input": {"a": 1}},
        '{"tool": "odd name", "arguments": {"a": 1}}',
        "/home/u/app",
        True,
    ),
    (
        "codex",
        {**CODEX, "tool_name": "Bash", "tool_input": {"command": "git push --force"}},
        "git push --force",
        "/home/u/app",
        False,
    ),
    (
        "codex",
        {**CODEX, "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "rm -rf 'a b'"], "workdir": "sub"}},
        """bash -lc 'rm -rf '"'"'a b'"'"''""",
        "/home/u/app/sub",
        False,
    ),
    (
        "codex",
        {**CODEX, "tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch\n*** Delete File: a\n"}},
        'apply_patch {"command": "*** Begin Patch\\n*** Delete File: a\\n"}',
        "/home/u/app",
        False,
    ),
    (
        "gemini",
        {**GEMINI, "tool_name": "run_shell_command", "tool_input": {"command": "ls", "dir_path": "/srv"}},
        "ls",
        "/srv",
        False,
    ),
    (
        "cursor",
        {**CURSOR, "hook_event_name": "beforeShellExecution", "command": "npm ci", "cwd": "/home/u/app/web"},
        "npm ci",
        "/home/u/app/web",
        True,
    ),
    (
        "cursor",
        {
            **CURSOR,
            "hook_event_name": "beforeMCPExecution",
            "tool_name": "delete_page",
            "tool_input": '{"id": 7}',
            "url": "http://localhost:3000",
        },
        'mcp__delete_page {"id": 7}',
        "/home/u/app",
        True,
    ),
    (
        "cursor",
        {**CURSOR, "hook_event_name": "beforeReadFile", "file_path": "/home/u/.ssh/id_rsa", "content": "", "cwd": ""},
        'Read {"file_path": "/home/u/.ssh/id_rsa"}',
        "/home/u/app",
        False,
    ),
    (
        "cursor",
        {
            **CURSOR,
            "hook_event_name": "preToolUse",
            "tool_name": "Write",
            "tool_input": {"file_path": "a"},
            "cwd": "/home/u/app",
        },
        'Write {"file_path": "a"}',
        "/home/u/app",
        False,
    ),
    (
        "copilot",
        {**COPILOT, "toolName": "bash", "toolArgs": '{"command":"rm -rf dist","description":"Clean"}'},
        "rm -rf dist",
        "/home/u/app",
        True,
    ),
    (
        "copilot",
        {**COPILOT, "toolName": "create", "toolArgs": {"path": "a.txt", "file_text": "1"}},
        'create {"path": "a.txt", "file_text": "1"}',
        "/home/u/app",
        True,
    ),
    (
        "copilot",
        {**SESSION, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}},
        "ls",
        "/home/u/app",
        True,
    ),
    (
        "copilot",
        {
            **SESSION,
            "hook_event_name": "PreToolUse",
            "tool_name": "powershell",
            "tool_input": {"command": "Get-Item a"},
        },
        "Get-Item a",
        "/home/u/app",
        True,
    ),
]


@pytest.mark.parametrize(("harness", "given", "action", "cwd", "can_ask"), RECORDED)
def test_recorded_input_is_read(harness: str, given: dict[str, Any], action: str, cwd: str, can_ask: bool) -> None:
    asked = HARNESSES[harness].read(given)
    assert (asked.action, asked.cwd, asked.can_ask) == (action, cwd, can_ask)


@pytest.mark.parametrize(
    ("harness", "given", "wrong"),
    [
        ("claude-code", {**CLAUDE, "tool_name": "Bash", "tool_input": {}}, "no command"),
        ("claude-code", {**CLAUDE, "tool_name": "Bash", "tool_input": {"command": ["a", 1]}}, "no command"),
        ("claude-code", {**CLAUDE, "tool_name": "Bash"}, "no arguments"),
        ("claude-code", {**CLAUDE, "tool_input": {"command": "ls"}}, "no tool_name"),
        ("claude-code", {**CLAUDE, "cwd": "app", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "absolute"),
        ("claude-code", {**CLAUDE, "hook_event_name": "PostToolUse", "tool_name": "Read", "tool_input": {}}, "event"),
        ("codex", {**CODEX, "hook_event_name": "Stop", "tool_name": "Read", "tool_input": {}}, "event"),
        ("gemini", {**GEMINI, "hook_event_name": "AfterTool", "tool_name": "x", "tool_input": {}}, "event"),
        ("gemini", {**SESSION, "tool_name": "x", "tool_input": {}}, "no hook_event_name"),
        ("cursor", {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": "a"}, "event"),
        ("cursor", {**CURSOR, "hook_event_name": "beforeShellExecution", "cwd": "/"}, "no command"),
        ("cursor", {"hook_event_name": "beforeShellExecution", "command": "ls"}, "no directory"),
        ("copilot", {**COPILOT, "toolName": "bash", "toolArgs": "{"}, "not JSON"),
        ("copilot", {**COPILOT, "toolName": "bash", "toolArgs": "{}", "toolResult": {}}, "after the tool"),
        ("copilot", {**COPILOT, "toolName": "bash", "toolArgs": {}, "error": "it failed"}, "after the tool"),
        ("copilot", {**SESSION, "hook_event_name": "SessionStart", "tool_name": "x"}, "event"),
    ],
)
def test_other_input_is_refused(harness: str, given: dict[str, Any], wrong: str) -> None:
    with pytest.raises(InputInvalid, match=wrong):
        HARNESSES[harness].read(given)


def asked_by(harness: str, number: int = 0) -> Asked:
    given = [row[1] for row in RECORDED if row[0] == harness][number]
    return HARNESSES[harness].read(given)


def claude(decision: str) -> dict[str, Any]:
    inner = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "why"}
    return {"hookSpecificOutput": inner}


@pytest.mark.parametrize(
    ("harness", "number", "decision", "output"),
    [
        ("claude-code", 0, "allow", None),
        ("claude-code", 0, "ask", claude("ask")),
        ("claude-code", 0, "deny", claude("deny")),
        ("codex", 0, "allow", {}),
        ("codex", 0, "ask", claude("deny")),
        ("codex", 0, "deny", claude("deny")),
        ("gemini", 0, "allow", {}),
        ("gemini", 0, "ask", {"decision": "deny", "reason": "why"}),
        ("gemini", 0, "deny", {"decision": "deny", "reason": "why"}),
        ("cursor", 0, "allow", {"permission": "allow"}),
        ("cursor", 0, "ask", {"permission": "ask", "user_message": "why", "agent_message": "why"}),
        ("cursor", 0, "deny", {"permission": "deny", "user_message": "why", "agent_message": "why"}),
        ("cursor", 2, "ask", {"permission": "deny", "user_message": "why", "agent_message": "why"}),
        ("cursor", 3, "ask", {"permission": "deny", "user_message": "why", "agent_message": "why"}),
        ("copilot", 0, "allow", None),
        ("copilot", 0, "ask", {"permissionDecision": "ask", "permissionDecisionReason": "why"}),
        ("copilot", 0, "deny", {"permissionDecision": "deny", "permissionDecisionReason": "why"}),
        ("copilot", 2, "deny", claude("deny")),
    ],
)
def test_a_decision_is_spelled_as_the_harness_has_it(
    harness: str, number: int, decision: Decision, output: dict[str, Any] | None
) -> None:
    answer = HARNESSES[harness].answer(asked_by(harness, number), decision, "why")
    assert (json.loads(answer.output) if answer.output else None) == output
    assert (answer.error, answer.code) == ("", 0)


@pytest.mark.parametrize("harness", HARNESSES)
def test_no_objection_never_spares_the_harness_its_own_question(harness: str) -> None:
    answer = HARNESSES[harness].answer(asked_by(harness), "allow", "why").output
    assert "approve" not in answer
    assert harness == "cursor" or "allow" not in answer


@pytest.mark.parametrize("harness", [*HARNESSES, "nobody"])
def test_a_refusal_blocks_at_every_event(harness: str) -> None:
    output, error, code = refusal(harness, "why")
    assert code == 2 or "deny" in (json.loads(output).get("permissionDecision"), json.loads(output).get("permission"))
    assert "svc-guardrail: why." in error + output


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=lambda harness: harness.name)
def test_an_adapter_names_what_it_was_written_for(harness: Any) -> None:
    assert harness.written_for
    assert datetime.fromisoformat(harness.read_on)
    assert harness.documentation.startswith("https://")
    assert harness.if_it_dies


# --- the installer ---


@pytest.mark.parametrize("harness", HARNESSES.values(), ids=lambda harness: harness.name)
def test_an_installed_hook_can_be_removed_again(harness: Any, tmp_path: Path) -> None:
    change = plan(harness, home=tmp_path)
    change.apply()
    settings = json.loads(change.path.read_text())
    assert set(settings["hooks"]) == set(harness.settings.entries("x"))
    assert "|| exit 2" in change.path.read_text()
    assert not plan(harness, home=tmp_path).changes
    plan(harness, uninstall=True, home=tmp_path).apply()
    assert not change.path.exists() or json.loads(change.path.read_text()) == {}


@pytest.mark.parametrize(
    ("harness", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("copilot", "COPILOT_HOME", "hooks/svc-guardrail.json"),
    ],
)
def test_settings_are_where_the_harness_looks_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harness: str, variable: str, file: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(variable, raising=False)
    assert plan(HARNESSES[harness]).path.is_relative_to(tmp_path)
    monkeypatch.setenv(variable, str(tmp_path / "moved"))
    assert plan(HARNESSES[harness]).path == tmp_path / "moved" / file


def test_other_settings_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    other = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}
    before = {"model": "m", "hooks": {"PreToolUse": [other], "Stop": []}}
    file.write_text(json.dumps(before))
    file.chmod(0o640)
    harness = HARNESSES["claude-code"]
    plan(harness, home=tmp_path).apply()
    after = json.loads(file.read_text())
    assert after["model"] == "m"
    assert after["hooks"]["PreToolUse"][0] == other
    assert len(after["hooks"]["PreToolUse"]) == 2
    assert file.stat().st_mode & 0o777 == 0o640
    plan(harness, uninstall=True, home=tmp_path).apply()
    assert json.loads(file.read_text()) == before


def test_a_dry_run_shows_the_difference_and_changes_nothing(tmp_path: Path) -> None:
    change = plan(HARNESSES["codex"], home=tmp_path)
    assert change.changes
    assert "+++ " in change.diff()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["{", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}'])
def test_settings_that_are_not_understood_are_left_alone(tmp_path: Path, content: str) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(content)
    with pytest.raises(SettingsInvalid, match=r"settings\.json"):
        plan(HARNESSES["claude-code"], home=tmp_path)


def test_uninstalling_creates_nothing(tmp_path: Path) -> None:
    assert not plan(HARNESSES["gemini"], uninstall=True, home=tmp_path).changes
