"""Decides whether a command that reads a file with secrets shows none of them: only counts, digests, or the names
before `=`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from guardrail.model import Effect, Word
from guardrail.options import Parsed
from guardrail.vocabulary import EffectKind, Sensitivity

_OF_SETTINGS = re.compile(r"(?i)\.env(?:\.[\w.-]+)?$|\.envrc$|\.properties$")
"""Ends of names of files in which each line is a name with its value. In other files, such as keys, a line without `=`
is itself the secret."""
_COUNTING = frozenset(
    ("wc", "cksum", "sum", "b2sum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum")
)
_GREPS = frozenset(("grep", "egrep", "fgrep"))
_QUIET = ("-c", "--count", "-q", "--quiet", "--silent", "-l", "--files-with-matches", "-L", "--files-without-match")
_NAME_PATTERN = re.compile(r"\^(?:\[\^=[^\]]*\]|\[[\w\\-]+\]|\\w)[*+]=?")
_PRINTS_FIRST = re.compile(r"\s*(?:!?/[^/]*/\s*)?\{\s*print\s+\$1\s*;?\s*\}\s*")
_REPLACES_VALUE = re.compile(
    r"s([/|,#])=\.[*+]\$?\1=?[^&\\]*\1g?|s([/|,#])\^\\?\(\[\^=\][*+]\\?\)=\.[*+]\$?\2\\1=?[^&\\]*\2"
)
_DELETES_LINES = re.compile(r"/[^/]*/d|\d+d|")
_KEYS_OF_JSON = re.compile(r"(?:keys(?:_unsorted)?(?:\[\])?|length|to_entries\[\]\.key|keys\s*\|\s*\.\[\])")


def reads_secrets(effects: Iterable[Effect]) -> bool:
    """Decides whether some effect reads a file with secrets."""
    return any(
        effect.kind is EffectKind.READ and any(target.sensitivity is Sensitivity.SECRET for target in effect.targets)
        for effect in effects
    )


def without_values(parsed: Parsed, effects: Sequence[Effect]) -> list[Effect]:
    """Returns the effects of a call, in which a file whose values the call doesn't show needs no care."""
    counts, names = _counts(parsed), _shows_names(parsed)
    return [
        replace(effect, targets=tuple(replace(target, sensitivity=Sensitivity.NONE) for target in effect.targets))
        if reads_secrets((effect,))
        and (counts or (names and all(_is_of_settings(target.text) for target in effect.targets)))
        else effect
        for effect in effects
    ]


def _is_of_settings(path: str) -> bool:
    return _OF_SETTINGS.search(posixpath.basename(path)) is not None


def _counts(parsed: Parsed) -> bool:
    program = parsed.call.program
    if program == "jq":
        return not _has(parsed, "-f", "--from-file") and all(map(_KEYS_OF_JSON.fullmatch, _texts(parsed.operands[:1])))
    if program in _COUNTING:
        return not _has(parsed, "--files0-from")
    return program in _GREPS and _has(parsed, *_QUIET)


def _shows_names(parsed: Parsed) -> bool:
    match parsed.call.program:
        case "cut":
            words = _texts(parsed.call.words)
            splits = "-d=" in words or _values(parsed, "-d", "--delimiter") == ["="]
            return splits and _values(parsed, "-f", "--fields") == ["1"] and not _has(parsed, "--complement")
        case "awk" | "gawk" | "mawk":
            words = _texts(parsed.call.words)
            splits = "-F=" in words or _values(parsed, "-F", "--field-separator") == ["="]
            return splits and not _has(parsed, "-f", "--file", "-e", "--source") and _all(_PRINTS_FIRST, parsed)
        case "grep" | "egrep":
            return (
                _has(parsed, "-o", "--only-matching")
                and not _has(parsed, "-f", "--file")
                and _all(_NAME_PATTERN, parsed)
            )
        case "sed" | "gsed":
            return not _has(parsed, "-f", "--file") and _strips_values(parsed)
        case _:
            return False


def _strips_values(parsed: Parsed) -> bool:
    """Decides whether a script of sed replaces everything after `=` in each line, and otherwise only deletes lines."""
    commands = [command.strip() for script in _scripts(parsed) for command in re.split(r"[;\n]", script)]
    return any(map(_REPLACES_VALUE.fullmatch, commands)) and all(
        _REPLACES_VALUE.fullmatch(command) or _DELETES_LINES.fullmatch(command) for command in commands
    )


def _all(shape: re.Pattern[str], parsed: Parsed) -> bool:
    scripts = _scripts(parsed)
    return bool(scripts) and all(map(shape.fullmatch, scripts))


def _scripts(parsed: Parsed) -> list[str]:
    """Returns the patterns or scripts of a call: those of its options, or else its first operand."""
    return _values(parsed, "-e", "--expression", "--regexp") or _texts(parsed.operands[:1])


def _has(parsed: Parsed, *names: str) -> bool:
    return any(map(parsed.has, names))


def _values(parsed: Parsed, *names: str) -> list[str]:
    return [word.text for name in names for word in parsed.values_of(name)]


def _texts(words: Iterable[Word]) -> list[str]:
    return [word.text for word in words]
