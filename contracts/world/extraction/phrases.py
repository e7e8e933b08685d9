"""Compiles the words and phrases of `phrases.yaml`, which serve to read sentences in several languages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import cast

import yaml

_SIGNS = {"'": "['’]", "*": r"\w*"}


def phrases(name: str, *languages: str) -> list[str]:
    """Returns the phrases of a list, in some languages or in all."""
    by_language = _load()[name]
    return [
        phrase for language, words in by_language.items() if not languages or language in languages for phrase in words
    ]


def any_of(name: str, *languages: str, space: str = r"\s") -> str:
    """Returns a pattern for the phrases of a list, in some languages or in all: "bis|bis\\szum".

    `space` is the pattern for a space within a phrase.
    """
    signs = _SIGNS | {" ": space}
    return "|".join(
        "".join(signs.get(sign) or re.escape(sign) for sign in phrase) for phrase in phrases(name, *languages)
    )


@cache
def _load() -> dict[str, dict[str, list[str]]]:
    text = (Path(__file__).parent / "phrases.yaml").read_text()
    return cast(dict[str, dict[str, list[str]]], yaml.load(text, yaml.CSafeLoader))
