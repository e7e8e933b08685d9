"""Decides where a command that fills a secret store takes the secret from."""

from __future__ import annotations

import re

from guardrail.model import Call
from guardrail.options import Parsed
from guardrail.reading.decoding import constant_output

_VALUES = frozenset(("--body", "-b", "--value", "--secret-string", "--plaintext", "--text", "--data", "--set"))
_FILES = frozenset(
    (
        *("--env-file", "--from-file", "--data-file", "--file", "--from-env-file", "--body-file", "--value-file"),
        *("--secret-file", "--input-file"),
    )
)
_FROM_FILE = re.compile(r"@|-\Z|file[b]?://")


def comes_from_elsewhere(parsed: Parsed, call: Call) -> bool:
    """Decides whether a secret comes from a file or a pipe, so that the command doesn't contain it: `gh secret set KEY
    < key.txt`. The text of `echo hunter2 | gh secret set KEY` is part of the command."""
    assigned = [word.text.partition("=")[2] for word in parsed.operands if "=" in word.text]
    given = [option.value.text for option in parsed.options if option.name in _VALUES and option.value is not None]
    if any(_FROM_FILE.match(value) is None for value in (*assigned, *given)):
        return False
    if call.stdin is not None:
        return constant_output(call.stdin) is None
    return (
        bool(assigned or given)
        or any(redirection.operator == "<" for redirection in call.redirections)
        or any(option.name in _FILES for option in parsed.options)
        or any(_FROM_FILE.match(word.text) is not None for word in parsed.operands)
        or (call.program == "gh" and parsed.has("-f"))
        or (call.program in ("docker", "podman") and len(parsed.operands) > 1)
    )
