"""The mechanism that all adapters share: the question of a harness, the answer to it, and the spelling of a tool call
as an action. The tables that it uses are in `adapters`."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from guardrail.record import record
from guardrail.vocabulary import Decision

SHELL_TOOLS = frozenset(
    (
        *("bash", "shell", "powershell", "run_shell_command", "local_shell", "shell_command", "exec_command"),
        *("container.exec", "unified_exec", "run_in_terminal", "runterminalcommand", "run_terminal_cmd", "terminal"),
    )
)
COMMANDS = ("command", "cmd", "script")
DIRECTORIES = ("cwd", "workdir", "directory", "dir_path")
_PLAIN_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,120}\Z")


class InputInvalid(ValueError):
    """Input of a hook that can't be understood. The message contains the reason."""


@record
class Asked:
    """A harness's question whether an action may run. `can_ask` is true if the harness can ask the person at this
    event."""

    action: str
    cwd: str
    tool: str
    event: str
    can_ask: bool
    session: str | None = None
    root: str | None = None


@record
class Answer:
    """The output and the exit code of the hook."""

    output: str
    error: str = ""
    code: int = 0


@record
class Event:
    """An event of a harness, and the format of its question. `tool` and `arguments` are the names of the members that
    contain them. An event for a single tool has its name in `of_tool`, and the names of its arguments in `members`.
    `prefix` precedes the tool's name. `unnamed` is true if the input does not name the event, which is then recognised
    by its members."""

    name: str
    can_ask: bool
    tool: str = "tool_name"
    arguments: str = "tool_input"
    of_tool: str | None = None
    members: tuple[str, ...] = ()
    prefix: str = ""
    unnamed: bool = False


@record
class Settings:
    """The location of the user's settings of a harness: a file below a directory, which a variable may override.
    `entries` are the entries that the installer adds, by event; `version` is the version number that such a file must
    contain."""

    directory: str
    file: str
    entries: Callable[[str], Mapping[str, Mapping[str, Any]]]
    variable: str | None = None
    version: int | None = None


@record
class Harness:
    """An adapter. `written_for` is the version, `documentation` the text that it follows as of `read_on`. `allowed` is
    the output without an objection, `spell` the JSON of any other decision at an event, `if_it_dies` describes what the
    harness does if the hook can't answer."""

    name: str
    title: str
    written_for: str
    documentation: str
    read_on: str
    events: tuple[Event, ...]
    settings: Settings
    allowed: str
    spell: Callable[[str, Decision, str], Mapping[str, Any]]
    if_it_dies: str

    def read(self, members: Mapping[str, Any]) -> Asked:
        """Returns the question in a call of the hook. Raises `InputInvalid`."""
        event = self._event(members)
        arguments: Any = members.get(event.arguments)
        if event.of_tool is not None:
            tool, arguments = event.of_tool, {name: _text(members, name) for name in event.members}
        else:
            tool = event.prefix + _text(members, event.tool)
        roots = members.get("workspace_roots")
        root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
        return Asked(
            action=action_of(tool, arguments),
            cwd=directory_of(arguments, _directory(members, root)),
            tool=tool,
            event=event.name,
            can_ask=event.can_ask,
            session=_first_text(members, ("session_id", "sessionId", "conversation_id")),
            root=root,
        )

    def answer(self, asked: Asked, decision: Decision, reason: str) -> Answer:
        """Returns the hook's answer. A question becomes a denial where the harness can't ask."""
        if decision == "allow":
            return Answer(self.allowed)
        spelled = decision if asked.can_ask else "deny"
        return Answer(json.dumps(self.spell(asked.event, spelled, reason), ensure_ascii=False))

    def _event(self, members: Mapping[str, Any]) -> Event:
        named = _first_text(members, ("hook_event_name", "hookEventName"))
        for event in self.events:
            if event.name == named or (named is None and event.unnamed and event.tool in members):
                if event.unnamed and any(name in members for name in _AFTERWARDS):
                    raise InputInvalid("the input is of an event after the tool has run")
                return event
        if named is None:
            raise InputInvalid("the input has no hook_event_name")
        known = ", ".join(event.name for event in self.events)
        raise InputInvalid(f"the event {named[:60]!r} is not one that this adapter knows ({known})")


_AFTERWARDS = ("toolResult", "tool_result", "tool_response", "error")
"""Members that occur only in events after a tool has run."""


def action_of(tool: str, arguments: Any) -> str:
    """Spells a tool call as an action: for a shell the command line itself, else the name with its arguments."""
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    if tool.lower() in SHELL_TOOLS:
        if not isinstance(arguments, Mapping):
            raise InputInvalid(f"the tool {tool} has no arguments")
        command = next((arguments[name] for name in COMMANDS if name in arguments), None)
        if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
            return shlex.join(command)
        if not isinstance(command, str) or not command.strip():
            raise InputInvalid(f"the tool {tool} has no command")
        return command
    if _PLAIN_NAME.match(tool) and isinstance(arguments, Mapping):
        return f"{tool} {json.dumps(arguments, ensure_ascii=False)}"
    return json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False)


def directory_of(arguments: Any, cwd: str) -> str:
    """Returns the directory that a tool's call runs in: that in its arguments, else that of the session."""
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    if isinstance(arguments, Mapping):
        for name in DIRECTORIES:
            value = arguments.get(name)
            if isinstance(value, str) and value:
                return value if value.startswith("/") else f"{cwd.rstrip('/')}/{value}"
    return cwd


def _text(members: Mapping[str, Any], name: str) -> str:
    """Returns a member that must be present and a text."""
    value = members.get(name)
    if not isinstance(value, str) or not value:
        raise InputInvalid(f"the input has no {name}")
    return value


def _first_text(members: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Returns the first of these members that is a text."""
    values = (members.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), None)


def _directory(members: Mapping[str, Any], root: str | None) -> str:
    """Returns the directory of the session, which must be absolute."""
    value = _first_text(members, ("cwd",)) or root
    if value is None:
        raise InputInvalid("the input names no directory")
    if not value.startswith("/"):
        raise InputInvalid("cwd is not an absolute path")
    return value


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        raise InputInvalid("the tool's arguments are not JSON") from None
