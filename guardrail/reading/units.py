"""Reads a unit file of systemd as the commands that it runs later: blanks all other text, so that the rest is a shell
text in which every command keeps its position."""

from __future__ import annotations

import re

_SECTIONS = ("[Unit]", "[Service]")
_COMMAND = re.compile(r"[ \t]*Exec(?:Start(?:Pre|Post)?|Stop(?:Post)?|Reload|Condition)[ \t]*=[ \t]*[-@:+!|]{0,3}")
"""The beginning of a line with a command, and the prefixes that say how it is run."""


def is_unit(text: str) -> bool:
    """Decides whether a text is a unit file with commands."""
    return commands_of_unit(text) is not None


def commands_of_unit(text: str) -> str | None:
    """Returns the commands of a unit file with blanks in place of all other text, or None if the text is no unit."""
    if not text.lstrip().startswith(_SECTIONS):
        return None
    lines = text.split("\n")
    found = continues = False
    for number, line in enumerate(lines):
        command = _COMMAND.match(line)
        if command is not None:
            lines[number] = " " * command.end() + line[command.end() :]
        elif not continues:
            lines[number] = " " * len(line)
        found = found or command is not None
        continues = (command is not None or continues) and line.endswith("\\")
    return "\n".join(lines) if found else None
