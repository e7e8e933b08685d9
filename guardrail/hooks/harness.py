"""Here belongs what adapters have in common: what a harness asks, what it is answered, and how a tool's call is spelled
as an action."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a harness asks: may this run? `can_ask`: the harness can put a question to the person at this event."""

    action: str
    cwd: str
    tool: str
    event: str
    can_ask: bool
    session: str | None = None
    root: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the hook prints and how it exits."""

    output: str
    error: str = ""
    code: int = 0


@dataclass(frozen=True, slots=True)
class Harness:
    """An adapter. `written_for` and `documentation` say what it was written for, `settings` is the file of the user's
    settings, `entries` are what the installer adds to it by event, `if_it_dies` says what the harness does when the
    hook can't answer."""

    name: str
    title: str
    written_for: str
    documentation: str
    settings: str
    if_it_dies: str
    read: Callable[[Mapping[str, Any]], Asked]
    answer: Callable[[Asked, Decision, str], Answer]
    entries: Callable[[str], Mapping[str, Mapping[str, Any]]]
    settings_version: int | None = None


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


def text(members: Mapping[str, Any], name: str) -> str:
    """A member that has to be there and to be text."""
    value = members.get(name)
    if not isinstance(value, str) or not value:
        raise InputInvalid(f"the input has no {name}")
    return value


def text_or_none(members: Mapping[str, Any], name: str) -> str | None:
    """A member that is text, if it is there."""
    value = members.get(name)
    return value if isinstance(value, str) and value else None


def directory(members: Mapping[str, Any], name: str = "cwd") -> str:
    """The directory of the session, which has to be absolute."""
    value = text(members, name)
    if not value.startswith("/"):
        raise InputInvalid(f"{name} is no absolute path")
    return value


def event_of(members: Mapping[str, Any], known: tuple[str, ...]) -> str:
    """The event that the harness names, which has to be one that the adapter knows."""
    event = text(members, "hook_event_name")
    if event not in known:
        raise InputInvalid(f"the event {event[:60]!r} is none that this adapter knows ({', '.join(known)})")
    return event


def printed(members: Mapping[str, Any]) -> Answer:
    """An answer of one JSON object."""
    return Answer(json.dumps(members, ensure_ascii=False))


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        raise InputInvalid("the tool's arguments are no JSON") from None
