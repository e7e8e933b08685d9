"""Prose told from commands: a sentence that asks for something, or a request to document a command that it quotes."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"^\s*[A-Za-z][a-z']+(?:,?\s+[A-Za-z'(][A-Za-z'()-]*,?){4,}")
_SHELL_SIGNS = re.compile(r"(?:^|\s)--?[A-Za-z]|[|;&<>$`\\=]|(?:^|\s)[~./]*/[\w.-]")
_ENGLISH = re.compile(
    r"(?i)\b(?:the|an?|to|of|and|in|is|are|for|with|that|this|on|from|into|by|your|my|our|all|any|be|or|as|at|which|should"
    r"|must|please|using|without|before|after|when|if|how|their|its|has|have|not|them|then|so)\b"
)
_DOCUMENTS = re.compile(
    r"(?i)(?:please\s+)?(?:document|explain|describe|mention|warn|note\s+that|write\s+(?:docs|documentation)"
    r"|(?:write|add)\s+(?:an?|the)\s+(?:\w+\s+)?"
    r"(?:note|comment|section|paragraph|warning|sentence|entry|example|page|guide|article|runbook|tutorial|readme))\b"
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|`[^`\n]+`|“[^”\n]*”")


def is_prose(text: str) -> bool:
    """A sentence and no command: several words, English function words among them, and no sign of a shell.

    What a request for documentation quotes is code that it speaks of, not a command to run or to substitute.
    """
    if _DOCUMENTS.match(text):
        return not _SHELL_SIGNS.search(_QUOTED.sub("code", text))
    if not _SENTENCE.match(text) or _SHELL_SIGNS.search(text):
        return False
    return len(_ENGLISH.findall(text)) * 6 >= len(text.split())
