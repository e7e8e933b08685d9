"""Checks the texts of the graph: any script, but nothing that breaks stores, lines or the reading order."""

from __future__ import annotations

import unicodedata

_BREAKS = "\t\n\r"
_TITLE_BREAKS = frozenset(_BREAKS + "\u2028\u2029")
_DIRECTION_OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that can make the displayed text differ from the stored one.

Right-to-left scripts don't need them.
"""


def folded(text: str) -> str:
    """Returns the form in which texts are compared, which ignores case, width, composition and spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_blank(text: str) -> bool:
    """Decides whether a text has no visible characters."""
    if text.isprintable():
        return not text or text.isspace()
    return all(character.isspace() or unicodedata.category(character) == "Cf" for character in text)


def fault_of_text(text: str) -> str | None:
    """Returns the reason why a text can't be stored, or None. Line breaks and tabs are fine."""
    if text.isprintable():
        return None
    for character in text:
        if character >= " " and character < "\x7f":
            continue
        category = unicodedata.category(character)
        if category == "Cs":
            return "contains half a surrogate pair, which is not a character"
        if category == "Cc" and character not in _BREAKS:
            return f"contains the control character U+{ord(character):04X}"
    return None


def fault_of_title(text: str, longest: int) -> str | None:
    """Returns the reason why a text can't be a title of one line and at most `longest` characters, or None."""
    if is_blank(text):
        return "is empty"
    if len(text) > longest:
        return f"has {len(text):,} characters; the maximum is {longest}"
    if text.isprintable():  # so it has no line breaks, control or format characters
        return None
    for character in text:
        if character in _TITLE_BREAKS:
            return "contains a line break or a tab"
        if character in _DIRECTION_OVERRIDES:
            return f"contains U+{ord(character):04X}, which reorders the displayed text"
    return fault_of_text(text)
