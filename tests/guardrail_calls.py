"""How tests of readers write the calls of a reading."""

from __future__ import annotations

from guardrail.model import Call, Reading, Word


def spelled(reading: Reading) -> list[str]:
    """Returns each call as its program and words, with `?` after anything unknown and `~` before calls that may never
    run."""
    return [_spelled(call) for call in reading.calls]


def _spelled(call: Call) -> str:
    words = [call.program, *(_word(word) for word in call.words)]
    words += [f"{redirection.operator}{redirection.target.text}" for redirection in call.redirections]
    return ("" if call.sure else "~") + " ".join(words)


def _word(word: Word) -> str:
    name = f"{word.name}=" if word.name is not None else ""
    return f"{name}{word.text}{'' if word.known else '?'}"
