"""Distinguishes sentences from shell lines, which share most of their words, by points for the shapes of both."""

from __future__ import annotations

import re
from collections.abc import Container
from functools import lru_cache

from guardrail.catalogue.loader import default_catalogue
from guardrail.reading.marks import JAVASCRIPT, PYTHON


def is_prose(text: str, programs: Container[str], least: int) -> bool:
    """Decides whether a text looks more like a sentence than like shell or code."""
    prose = prose_points(text, programs)
    if prose < least:
        return False
    ahead = prose - shell_points(text, programs)
    return ahead > 0 and ahead > max(PYTHON.points(text), JAVASCRIPT.points(text))


def is_sentence(text: str, programs: Container[str]) -> bool:
    """Decides whether a text that has no certain form and is not SQL counts as a sentence, without any facts."""
    return is_prose(text, programs, least=2)


def could_be_said(text: str, programs: Container[str]) -> bool:
    """Decides whether a text, where actions are stated in words, has no sign of a command: no program with typed
    operands, no form of shell or code."""
    line = text.partition("\n")[0]
    words = line.split()
    if len(words) < 2 or _SHELL_SHAPES.search(text) is not None or PYTHON.points(text) or JAVASCRIPT.points(text):
        return False
    if sum(1 for word in words if _WORD.match(word)) * 4 < len(words) * 3:
        return False
    if not begins_with_program(line, programs):
        return True
    return len(words) > 2 and any(word.lower().strip(".,:;!?'\"") in _COMMON_WORDS for word in words[1:])


_COMMON_WORDS = frozenset(
    (
        *(
            "the",
            "a",
            "an",
            "all",
            "any",
            "every",
            "each",
            "and",
            "or",
            "but",
            "to",
            "of",
            "in",
            "on",
            "at",
            "by",
            "from",
        ),
        *("for", "with", "without", "into", "onto", "about", "that", "this", "these", "those", "which", "who", "whose"),
        *("my", "our", "your", "their", "his", "her", "its", "me", "us", "them", "it", "i", "we", "you", "they", "is"),
        *("are", "was", "were", "be", "been", "has", "have", "had", "will", "would", "should", "could", "can", "may"),
        *("must", "please", "then", "than", "so", "if", "when", "after", "before", "until", "while", "because", "as"),
        *("not", "no", "only", "also", "more", "less", "new", "old", "everyone", "everything", "what", "how", "why"),
        # the same in other languages in which people write to agents
        *("der", "die", "das", "den", "dem", "und", "alle", "bitte", "mit", "auf", "von", "zu", "für", "ein", "eine"),
        *("le", "la", "les", "des", "du", "et", "tous", "toutes", "avec", "pour", "dans", "sur", "une", "que", "qui"),
        *("el", "los", "las", "y", "todos", "todas", "con", "para", "por", "en", "un", "una", "del", "il", "gli", "di"),
        *(
            "tutti",
            "tutte",
            "per",
            "che",
            "os",
            "dos",
            "das",
            "todos",
            "com",
            "uma",
            "não",
            "het",
            "een",
            "alle",
            "van",
        ),
    )
)
_SHELL_SHAPES = re.compile(
    r"(?:^|\s)--?[A-Za-z][\w-]*(?:=|\s|$)|\s\|\s|&&|\|\||;\s*\w|(?:^|\s)\d?>>?\s?[\w/&.$~]|<<|\$\w|\$\(|\$\{|=`"
)
_PATH_SHAPES = re.compile(r"(?:^|\s)(?:\.{0,2}/|~/?|[A-Za-z]:\\)\S*|\*\.\w+|\S+/\S+")
_TYPED_PATH = re.compile(r"\s*(?:\.{0,2}|~)/\S{1,200}\s--?[A-Za-z]")
"""A program by its path, with an option: whatever words follow, it is not a sentence."""
_SENTENCE_END = re.compile(r"[a-z0-9)'\"’]{2}[.!?](?:\s+[A-Z]|\s*$)|\w, \w|\w[’']s? ")
_TICKED = re.compile(r"`[^`]{1,500}`")
_WORD = re.compile(r"^[\"'(]?[A-Za-zÀ-ÿ]+(?:['’-][A-Za-zÀ-ÿ]+)?[.,:;!?)\"']*$")


_LONGEST_KNOWN = 30
"""Maximum length of a cached word."""


@lru_cache(maxsize=20_000)
def _seen(word: str) -> tuple[bool, bool]:
    """Returns whether a word, with its punctuation, is plain, and whether it is a common one."""
    return _WORD.match(word) is not None, word.lower().strip(".,:;!?'\"") in _COMMON_WORDS


def prose_points(text: str, programs: Container[str]) -> int:
    """Returns points for how much a text looks like a sentence that people would say."""
    line = text.partition("\n")[0] if "```" not in text else text
    typed = begins_with_program(line, programs) or _TYPED_PATH.match(line) is not None
    if typed and ("'" in line or '"' in line):
        line = QUOTED.sub(" ", line)
    words = line.split()
    foreign = not line.isascii() and any(ord(char) > 0x2FF and char.isalpha() for char in line[:200])
    if len(words) < 2:
        return 4 if foreign and not typed else 0
    looked = words[:60]
    plain = common = 0
    for word in looked:
        is_plain, is_common = _seen(word) if len(word) <= _LONGEST_KNOWN else _seen.__wrapped__(word)
        plain += is_plain
        common += is_common
    points = min(common, 5)
    if words[0][:1].isupper() and words[0][1:].islower():
        points += 2
    if "`" in line and words[0][:1].isupper():
        points += 2
    if words[0].endswith((",", ":")) and words[0][:-1].isalpha():
        points += 1
    if plain == len(looked) and plain > 2:
        points += 1
    if plain * 2 < len(looked):
        points -= 1
    if _SENTENCE_END.search(line) is not None:
        points += 2
    if typed and not (common > 2 and plain >= len(looked) - 1):
        return points - 3
    return points + 4 if foreign else points


def shell_points(text: str, programs: Container[str]) -> int:
    """Returns points for how much a text looks like a line of shell."""
    line = text[:1_000]
    if line[:1].isupper():
        line = _TICKED.sub(" ", line)  # a sentence that quotes code
    words = line.split()
    if len(words) < 2:
        return 1
    points = min(len(_SHELL_SHAPES.findall(line)), 4) * 2 + min(len(_PATH_SHAPES.findall(line)), 2)
    first = words[0]
    if begins_with_program(line, programs):
        points += 2
        if words[1].startswith("-") or not words[1].isalpha():
            points += 1
    if "=" in first and first.partition("=")[0].isidentifier():
        points += 3
    if first in ("sudo", "for", "if", "while", "cd", "export", "set", "{", "(", "[", "[["):
        points += 1
    return points


_KEYWORDS = frozenset(
    (
        *(
            "import",
            "from",
            "for",
            "if",
            "while",
            "with",
            "let",
            "const",
            "var",
            "function",
            "async",
            "await",
            "export",
        ),
        *(
            "return",
            "class",
            "def",
            "try",
            "print",
            "del",
            "type",
            "switch",
            "new",
            "case",
            "global",
            "assert",
            "raise",
        ),
    )
)
QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_HERE_DOCUMENT = re.compile(r"<<-?\s*['\"\\]?(\w+)['\"]?[^\n]*\n")


def begins_with_program(text: str, programs: Container[str] | None = None) -> bool:
    """Decides whether the first word is a known program, as it would be typed, and not a keyword of a language."""
    programs = default_catalogue() if programs is None else programs
    first, _, rest = text.lstrip().partition(" ")
    first = first.partition("\n")[0]
    return (
        first == first.lower()
        and first not in _KEYWORDS
        and not rest.lstrip().startswith("=")
        and first.rpartition("/")[2] in programs
    )


def without_comments(text: str) -> str:
    """Returns the text from its first line that is not a shell comment."""
    while text.startswith("#"):
        _, newline, rest = text.partition("\n")
        if not newline:
            return text
        text = rest.lstrip()
    return text


def without_quoted(text: str) -> str:
    """Removes quoted text and here-documents from a script, since they may be in another language."""
    kept = []
    at = 0
    for found in _HERE_DOCUMENT.finditer(text):
        if found.start() < at:
            continue
        kept.append(text[at : found.end()])
        end = text.find(f"\n{found[1]}", found.end() - 1)
        at = end if end >= 0 else len(text)
    return QUOTED.sub(" ", "".join((*kept, text[at:])))
