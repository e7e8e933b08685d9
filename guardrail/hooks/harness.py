"""Here belongs the mechanism of all adapters: what a harness asks, what it is answered, and how a tool's call is
spelled as an action. `adapters` has the tables that it works by."""

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
    """Input of a hook that can't be understood. The message says what is wrong."""


@record
class Asked:
    """What a harness asks: may this run? `can_ask`: the harness can put a question to the person at this event."""

    action: str
    cwd: str
    tool: str
    event: str
    can_ask: bool
    session: str | None = None
    root: str | None = None


@record
class Answer:
    """What the hook prints and how it exits."""

    output: str
    error: str = ""
    code: int = 0


@record
class Event:
    """An event of a harness, and how it spells its question. `tool` and `arguments` are the members that hold them. An
    event for one tool names that in `of_tool`, and in `members` what its arguments are. `prefix` stands before the
    tool's name. `unnamed`: the input names no event and is told by its members."""

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
    """Where the user's settings of a harness are: a file below a directory, which a variable may move. `entries` are
    what the installer adds by event; `version` is what such a file has to say of itself."""

    directory: str
    file: str
    entries: Callable[[str], Mapping[str, Mapping[str, Any]]]
    variable: str | None = None
    version: int | None = None


@record
class Harness:
    """An adapter. `written_for` is the version, `documentation` what it follows as it was read on `read_on`. `allowed`
    is what no objection prints, `spell` the JSON of any other decision at an event, `if_it_dies` says what the harness
    does when the hook can't answer."""

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
        """Returns what a call of the hook asks. Raises `InputInvalid`."""
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
        """Returns what the hook prints. A question where none can be asked is deny."""
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
        raise InputInvalid(f"the event {named[:60]!r} is none that this adapter knows ({known})")


_AFTERWARDS = ("toolResult", "tool_result", "tool_response", "error")
"""Members that only events after a tool's run have."""


def action_of(tool: str, arguments: Any) -> str:
    """A tool's call as an action: the command line itself for a shell, else the name with its arguments."""
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
    """The directory in which a tool's call runs: what its arguments say, else that of the session."""
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    if isinstance(arguments, Mapping):
        for name in DIRECTORIES:
            value = arguments.get(name)
            if isinstance(value, str) and value:
                return value if value.startswith("/") else f"{cwd.rstrip('/')}/{value}"
    return cwd


def _text(members: Mapping[str, Any], name: str) -> str:
    """A member that has to be there and to be text."""
    value = members.get(name)
    if not isinstance(value, str) or not value:
        raise InputInvalid(f"the input has no {name}")
    return value


def _first_text(members: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first of these members that is text."""
    values = (members.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value), None)


def _directory(members: Mapping[str, Any], root: str | None) -> str:
    """The directory of the session, which has to be absolute."""
    value = _first_text(members, ("cwd",)) or root
    if value is None:
        raise InputInvalid("the input names no directory")
    if not value.startswith("/"):
        raise InputInvalid("cwd is no absolute path")
    return value


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        raise InputInvalid("the tool's arguments are no JSON") from None
