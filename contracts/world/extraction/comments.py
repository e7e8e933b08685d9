"""Finds the comments in a text, which no node contains: "<!-- hidden -->", and Obsidian's "%% hidden %%". Pure."""

from __future__ import annotations

import re

from contracts.world.extraction.findings import Part

_COMMENT = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n(?:.*?^[ \t]*(?P=fence)|.*\Z)|\Z)"
    r"|(?<!`)(?P<code>`{1,3})(?!`)[^\n]{1,1000}?(?<!`)(?P=code)(?!`)"
    r"|(?P<comment><!--(?:[^<-]|<(?!!--)|-(?!->))*+-->"
    r"|(?<![\w%\\])%%(?!%)(?:(?:[^%\n]|%(?!%)){1,1000}%%(?!%)|(?:[^%]|%(?!%)){1,20000}%%(?![\w%])))",
    re.DOTALL | re.MULTILINE,
)
"""A comment, or code, which contains no comments. "100 %%" begins no comment, and a notebook's "%%time" ends none."""


def comments_in(text: str) -> list[Part]:
    """Returns the comments of a text, with their marks."""
    if "%%" not in text and "<!--" not in text:
        return []
    return [Part(*match.span("comment")) for match in _COMMENT.finditer(text) if match["comment"] is not None]
