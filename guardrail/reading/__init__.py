"""Reads texts into calls, effects, passages and the parts that could not be read.

There is a module or package per language; `deciding.py` decides which language a text is written in, using `marks.py`
and `prose_or_shell.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module

from guardrail.facts import Facts, readable
from guardrail.model import Passage, Reading, Span
from guardrail.reading.deciding import FENCES, decide
from guardrail.vocabulary import Language

_READERS: Mapping[Language, tuple[str, str]] = {
    Language.BASH: ("guardrail.reading.shell", "read"),
    Language.POWERSHELL: ("guardrail.reading.powershell", "read"),
    Language.CMD: ("guardrail.reading.powershell", "read_cmd"),
    Language.PYTHON: ("guardrail.reading.python", "read"),
    Language.JAVASCRIPT: ("guardrail.reading.javascript", "read"),
    Language.SQL: ("guardrail.reading.sql", "read"),
    Language.TOOL_CALL: ("guardrail.reading.tool_calls", "read"),
    Language.HTTP: ("guardrail.reading.http", "read"),
    Language.DOCKERFILE: ("guardrail.reading.ci", "read_dockerfile"),
    Language.CI: ("guardrail.reading.ci", "read_ci"),
    Language.MANIFEST: ("guardrail.reading.manifests", "read"),
    Language.HCL: ("guardrail.reading.terraform", "read"),
    Language.CODE: ("guardrail.reading.other_code", "read"),
    Language.PROSE: ("guardrail.reading.sentences", "read"),
}
_Read = Callable[..., Reading]


@cache
def reader_of(language: Language) -> _Read:
    """Returns the reader of a language, imported at first use: grammars and parsers take time to load."""
    module, name = _READERS[language]
    reader: _Read = getattr(import_module(module), name)
    return reader


def read(action: str, facts: Facts, programs: Container[str] | None = None) -> Reading:
    """Reads an action in the language that it is written in. Also reads code in a sentence's fences and backticks, if
    the sentence asks to run it. `programs` are the names of known programs."""
    action = readable(action)
    language = decide(action, facts, programs)
    if language is Language.BASH and facts.tool is not None and action.strip():
        from guardrail.reading.tool_calls import typed_into

        if (typed := typed_into(facts.tool, action)) is not None:
            return typed
    reading = reader_of(language)(action)
    if language is not Language.PROSE:
        # Text that addresses a model is read as prose, whatever language it resembles.
        if language is Language.BASH and not reading.passages and _speaks_to_a_model(action):
            reading = replace(reading, passages=(Passage(action, Span(0, len(action))),))
        return reading
    for code, start, fenced in _code_in_prose(action):
        inner_language = decide(code, facts, programs) if not fenced else FENCES.get(fenced, Language.BASH)
        if inner_language is Language.PROSE:
            continue
        inner = reader_of(inner_language)(code, offset=start)
        reading = replace(
            reading,
            calls=(*reading.calls, *inner.calls),
            effects=(*reading.effects, *inner.effects),
            passages=(*reading.passages, *inner.passages),
            uncovered=(*reading.uncovered, *inner.uncovered),
        )
    if not reading.passages:
        whole = Passage(action, Span(0, len(action)))
        reading = replace(reading, passages=(whole,))
    return reading


def _speaks_to_a_model(text: str) -> bool:
    # Most texts contain none of these strings, which is quicker to test than whether one is a separate word.
    return any(map(text.__contains__, _PARTS_OF_MODELS)) and _MODELS.search(text) is not None


_MODELS = re.compile(r"\b(?:AI|[Aa]ssistants?|[Cc]opilot|[Cc]hatbot|[Ll]anguage models?|LLMs?)\b")
_PARTS_OF_MODELS = ("AI", "ssistant", "opilot", "hatbot", "anguage model", "LLM")
_FENCE = "```"
_LANGUAGE_OF_FENCE = re.compile(r"[ \t]*([\w-]*)")
_RUN = "run|execute|exec|type|enter|use|call|invoke|launch|paste|try"
_TICKS = re.compile(rf"(?i)\b(?:{_RUN}|using|with|do)\b[^`\n]{{0,40}}`([^`\n]{{2,500}})`")


def _code_in_prose(text: str) -> Iterator[tuple[str, int, str]]:
    """Yields code in a text's fences, with its start and the fence's language, and in backticks after a verb that asks
    to run it."""
    yield from _fences(text)
    for found in _TICKS.finditer(text):
        if not _is_forbidden(text, found):
            yield found[1], found.start(1), ""


_FORBIDS = re.compile(
    r"(?i)(?:^|[.!?;:,\n])\s*(?:please\s+)?(?:(?:you|we|they|agents?|nobody|no one)\s+)?"
    r"(?:do not|don['’]t|never|(?:must|should|shall|may|can|will) not|mustn['’]t|shouldn['’]t|won['’]t|can['’]t|cannot"
    r"|(?<=nobody )(?:should|must|shall|may|can)|(?<=no one )(?:should|must|shall|may|can))"
    rf"\s+(?:ever\s+)?(?:{_RUN})\s+(?:the\s+command\s+)?`\Z"
)
_BUT = re.compile(r"(?i)[^.!?\n]*\b(?:until|till|unless|before|without|except|yet|but|only|if|when|now)\b")
_AFTER_ALL = re.compile(
    r"(?i)\b(?!because\b|since\b|as\b|that\b)\w{1,40} (?:it|them)\b"
    r"|\b(?:do|run|execute|use|try) (?:this|that|so|the command)\b"
)


def _is_forbidden(text: str, found: re.Match[str]) -> bool:
    """Decides whether a sentence only forbids running its code: "Never run `rm -rf /`". The verb directly precedes the
    code, the ban precedes the verb, and nothing limits the ban: "don't run `make clean` before Monday" runs it on
    Monday, and "don't run `make clean` here. Run it there" runs it there."""
    before = text[max(0, found.start() - _LONGEST_BAN) : found.start(1)]
    if _FORBIDS.search(before) is None:
        return False
    end = found.end()
    return _BUT.match(text, end, end + _FAR) is None and _AFTER_ALL.search(text, end, end + _FAR) is None


_LONGEST_BAN = 60
_FAR = 400
"""Number of characters after the code in which the ban may be limited or the code referred to again."""


def _fences(text: str) -> Iterator[tuple[str, int, str]]:
    """Yields each text between fences, with its start and the language that the opening fence names. The last may end
    with the whole text. A regular expression would search to the end of the line from each sign of a row."""
    at = text.find(_FENCE)
    while at >= 0 and (end_of_line := text.find("\n", at)) >= 0:
        named = _LANGUAGE_OF_FENCE.match(text, at + len(_FENCE))
        start, end = end_of_line + 1, text.find(_FENCE, end_of_line)
        yield text[start : None if end < 0 else end], start, (named[1] if named else "").lower() or "bash"
        at = -1 if end < 0 else text.find(_FENCE, end + len(_FENCE))
