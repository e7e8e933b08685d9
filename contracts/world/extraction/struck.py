"""Blanks the struck-through parts of a text, which state nothing. Every other character keeps its offset."""

from __future__ import annotations

import re

from contracts.world.extraction.findings import Part

_GOES_ON = r"\n(?![ \t]*(?:\n|$|[-*+#>|]|\d{1,3}[.)]))"
"""The end of a line whose paragraph continues."""
_WITHIN = rf"(?:[^~\n|]|~(?!~)|{_GOES_ON}){{1,1000}}?"
_ARROW = r"(?:[ \t]{0,3}(?:→|⇒|->|=>)(?=\s))?"
"""Signs between struck text and its replacement: "~~Ada~~ → Bo"."""
_STRUCK = re.compile(
    r"(?<!`)(?P<code>`{1,3})(?!`).{1,1000}?(?<!`)(?P=code)(?!`)"
    rf"|(?P<struck>(?:(?<![\\~])~~(?=\w)|(?<![\w\\~])~~(?=[^\s~])){_WITHIN}(?<![\s])~~(?!~){_ARROW}"
    rf"|<(?P<tag>del|s|strike)>(?:[^<\n]|<(?!/?(?:del|s|strike)>)|{_GOES_ON}){{1,1000}}?</(?P=tag)>{_ARROW})",
    re.DOTALL | re.IGNORECASE,
)
"""Text that is struck through: "~~Ada~~", "<del>Ada</del>". Code is skipped."""


def struck_in(text: str) -> list[Part]:
    """Returns the struck-through parts of a text, including their marks."""
    if "~~" not in text and "</" not in text:
        return []
    return [Part(*match.span("struck")) for match in _STRUCK.finditer(text) if match["struck"] is not None]


def without(text: str, struck: list[Part]) -> str:
    """Returns a text with white space in place of these parts."""
    kept: list[str] = []
    start = 0
    for part in struck:
        kept += [text[start : part.start], re.sub(r"[^\r\n]", " ", text[part.start : part.end])]
        start = part.end
    return "".join([*kept, text[start:]])
