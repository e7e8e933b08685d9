"""The entries of the catalogue as the interpreter uses them: programs, their levels, rows and conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity


class Condition(NamedTuple):
    """A condition that holds if all its parts do. `operand` pairs a position (`any`, `1`, `last`) with a regular
    expression."""

    any_option: tuple[str, ...] = ()
    all_options: tuple[str, ...] = ()
    no_option: tuple[str, ...] = ()
    option_value: tuple[tuple[str, str], ...] = ()
    operand: tuple[tuple[str, str], ...] = ()
    argument: tuple[tuple[str, str], ...] = ()
    no_operand: str | None = None
    operands: tuple[int, int | None] | None = None
    stdin: bool | None = None
    inverse: Condition | None = None
    any_of: tuple[Condition, ...] = ()


class Broader(NamedTuple):
    """Options that widen the scope."""

    options: tuple[str, ...]
    scope: Scope


class DetailValue(NamedTuple):
    """The source of a detail's value: `text`, or a part of the call named as in `targets`."""

    text: str | None = None
    part: str | None = None


class EffectRow(NamedTuple):
    """One effect of a program, with its condition and the parts of the call that it applies to."""

    kind: EffectKind
    object: ObjectKind
    when: Condition | None = None
    targets: tuple[str, ...] = ()
    default_target: str | None = None
    scope: Scope | None = None
    broader: tuple[Broader, ...] = ()
    place: Place | None = None
    reversible: Reversible = Reversible.YES
    sensitivity: Sensitivity | None = None
    elevated: bool = False
    detail: tuple[tuple[str, DetailValue], ...] = ()
    says: str | None = None


class Inner(NamedTuple):
    """The position of another action in a call's words or in its input."""

    language: str
    part: str | None = None
    after: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    repeated: bool = False
    skip: int = 0
    skip_assignments: bool = False
    append_stdin: bool = False
    append_found: bool = False
    typed: bool = False
    elevated: bool = False
    host: str | None = None
    program: str | None = None
    when: Condition | None = None


class Request(NamedTuple):
    """The HTTP request that a call sends, by parts of the call. If `in_query` holds, the body goes into the URL."""

    method: tuple[str, ...] = ()
    url: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    when: Condition | None = None
    in_query: Condition | None = None


class Subcommand(NamedTuple):
    """A level of a program: the program itself has the same keys.

    If `flags` is None, options take no value unless `values` lists them; otherwise (a client with groups) every option
    that is not in `flags` takes one. `switches` take no value although an outer level's options of the same name do.
    """

    name: str
    values: frozenset[str] = frozenset()
    flags: frozenset[str] | None = None
    switches: frozenset[str] = frozenset()
    known_options: frozenset[str] = frozenset()
    without_effect: tuple[str, ...] = ()
    effects: tuple[EffectRow, ...] = ()
    inner: tuple[Inner, ...] = ()
    subcommands: Mapping[str, Subcommand] | None = None
    patterns: tuple[tuple[str, Subcommand], ...] = ()
    groups: bool = False
    stop_at_operand: bool = False
    request: Request | None = None
    other_subcommands_harmless: bool = False


class Program(NamedTuple):
    """A catalogue entry: the style of its options and its outermost level."""

    name: str
    source: str
    style: str
    prefixes: bool
    bundled: bool
    ignore_case: bool
    level: Subcommand


@cache
def pattern(text: str) -> Any:
    """Compiles the RE2 expression of a condition, once per process."""
    import re2

    options = re2.Options()
    options.log_errors = False
    return re2.compile(text, options)


@cache
def beginnings(text: str) -> tuple[str, ...]:
    """Returns the lower-case prefixes of which an ASCII text must have one for the expression to match at its
    beginning.

    Returns none if they can't be derived from the expression.
    """
    anchored = _ANCHORED.match(text)
    if anchored is None or "[]" in text or "[^]" in text:
        return ()
    rest = _ESCAPED_OR_CLASS.sub("", text)
    while (inner := _GROUP.sub("", rest)) != rest:
        rest = inner
    if "|" in rest:
        return ()  # another alternative may begin differently
    return tuple((anchored[1] or anchored[2]).replace("\\", "").lower().split("|"))


_ANCHORED = re.compile(
    r"(?:\(\?i\))?\^(?:((?:[A-Za-z0-9_:/ -]|\\[.+-])+)|\(((?:[A-Za-z0-9_:/ -]|\\[.+-]|\|)+)\))(?![?*+{])"
)
_ESCAPED_OR_CLASS = re.compile(r"\\.|\[[^\]]*\]")
_GROUP = re.compile(r"\([^()]*\)")


def option_name(option: str, style: str, ignore_case: bool) -> str:
    """Normalises the spelling of an option, so that two spellings with the same meaning become one."""
    if ignore_case:
        option = option.lower()
    if style == "windows" and option[:1] in ("/", "-"):
        return "/" + option.lstrip("/-")
    if style == "single_dash" and option.startswith("--") and len(option) > 2:
        return option[1:]
    return option
