"""Builds the object of a program from plain data that has been checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from guardrail.catalogue.entries import (
    Broader,
    Condition,
    DetailValue,
    EffectRow,
    Inner,
    Program,
    Request,
    Subcommand,
    option_name,
)
from guardrail.compiled import Plain
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity


def build_program(entry: Plain, name: str) -> Program:
    """Builds the object of one checked entry."""
    style = entry.get("style", "posix")
    ignore_case = style in ("windows", "powershell") or _ignores_case(entry)

    def normalise(options: Iterable[str]) -> tuple[str, ...]:
        return tuple(option_name(option, style, ignore_case) for option in options)

    return Program(
        name=name,
        source=entry["source"],
        style=style,
        prefixes=entry.get("prefixes", False) or style == "powershell",
        bundled=entry.get("bundled", False),
        ignore_case=ignore_case,
        level=_build_level(entry, name, normalise),
    )


def _ignores_case(level: Plain) -> bool:
    """Decides whether any level of the program ignores case; then its whole parser does."""
    return level.get("ignore_case", False) or any(
        _ignores_case(inner) for inner in level.get("subcommands", {}).values()
    )


_Normalise = Callable[[Iterable[str]], tuple[str, ...]]


def _build_level(level: Plain, name: str, normalise: _Normalise) -> Subcommand:
    patterns = tuple(
        (row["match"], _build_level(row, f"{name} {row['match']}", normalise))
        for row in level.get("subcommand_patterns", ())
    )
    subcommands: dict[str, Subcommand] | None = None
    if "subcommands" in level or patterns:
        subcommands = {}
        for inner_name, plain in level.get("subcommands", {}).items():
            built = _build_level(plain, f"{name} {inner_name}", normalise)
            for spelling in (inner_name, *plain.get("aliases", ())):
                subcommands[normalise((spelling,))[0]] = built
    values = normalise(level.get("values", ()))
    flags = normalise(level.get("flags", ()))
    every_other_takes_one = "flags" in level and level.get("groups", False)
    without_effect = normalise(level.get("without_effect", ()))
    request = level.get("request")
    return Subcommand(
        name=name,
        values=frozenset(values),
        flags=frozenset(flags) if every_other_takes_one else None,
        switches=frozenset(flags),
        known_options=frozenset((*values, *flags, *without_effect, *normalise(_options_of(level)))),
        without_effect=without_effect,
        effects=tuple(_build_row(row, normalise) for row in level.get("effects", ())),
        inner=tuple(_build_inner(inner, normalise) for inner in level.get("inner", ())),
        subcommands=subcommands,
        patterns=patterns,
        groups=level.get("groups", False),
        stop_at_operand=level.get("stop_at_operand", False),
        request=_build_request(request, normalise) if request is not None else None,
        other_subcommands_harmless="other_subcommands" in level,
    )


def _build_request(request: Plain, normalise: _Normalise) -> Request:
    return Request(
        method=_build_parts(request.get("method", ()), normalise),
        url=_build_parts(request["url"], normalise),
        body=_build_parts(request.get("body", ()), normalise),
        when=_build_condition(request["when"], normalise) if "when" in request else None,
        in_query=_build_condition(request["in_query"], normalise) if "in_query" in request else None,
    )


def _build_parts(parts: Iterable[str], normalise: _Normalise) -> tuple[str, ...]:
    return tuple(_build_part(part, normalise) for part in parts)


def _options_of(level: Plain) -> Iterator[str]:
    """Yields the options that a level's rows name, which a unique prefix is compared with."""
    rows = (*level.get("effects", ()), *level.get("inner", ()), *([level["request"]] if "request" in level else ()))
    for row in rows:
        for broader in row.get("broader", ()):
            yield from broader["options"]
        if "when" in row:
            yield from _options_of_condition(row["when"])


def _options_of_condition(condition: Plain) -> Iterator[str]:
    for key in ("any_option", "all_options", "no_option", "option_value"):
        yield from condition.get(key, ())
    for inner in (*condition.get("any", ()), *([condition["not"]] if "not" in condition else ())):
        yield from _options_of_condition(inner)


def _build_row(row: Plain, normalise: _Normalise) -> EffectRow:
    return EffectRow(
        kind=EffectKind(row["kind"]),
        object=ObjectKind(row["object"]),
        when=_build_condition(row["when"], normalise) if "when" in row else None,
        targets=_build_parts(row.get("targets", ()), normalise),
        default_target=row.get("default_target"),
        scope=Scope(row["scope"]) if "scope" in row else None,
        broader=tuple(
            Broader(normalise(broader["options"]), Scope(broader["scope"])) for broader in row.get("broader", ())
        ),
        place=Place(row["place"]) if "place" in row else None,
        reversible=Reversible(row.get("reversible", "yes")),
        sensitivity=Sensitivity(row["sensitivity"]) if "sensitivity" in row else None,
        elevated=row.get("elevated", False),
        detail=tuple(
            (name, DetailValue(value.get("text"), _build_part(value["part"], normalise) if "part" in value else None))
            for name, value in row.get("detail", {}).items()
        ),
        says=row.get("says"),
    )


def _build_part(part: str, normalise: _Normalise) -> str:
    head, separator, option = part.rpartition("option:")
    if separator and head in ("", "at_file:", "value_of:"):
        return f"{head}option:{normalise((option,))[0]}"
    return part


def _build_condition(condition: Plain, normalise: _Normalise) -> Condition:
    count = condition.get("operands")
    return Condition(
        any_option=normalise(condition.get("any_option", ())),
        all_options=normalise(condition.get("all_options", ())),
        no_option=normalise(condition.get("no_option", ())),
        option_value=tuple((normalise((name,))[0], text) for name, text in condition.get("option_value", {}).items()),
        operand=tuple(condition.get("operand", {}).items()),
        argument=tuple(condition.get("argument", {}).items()),
        no_operand=condition.get("no_operand"),
        operands=(count[0], count[1]) if count is not None else None,
        stdin=condition.get("stdin"),
        inverse=_build_condition(condition["not"], normalise) if "not" in condition else None,
        any_of=tuple(_build_condition(inner, normalise) for inner in condition.get("any", ())),
    )


def _build_inner(inner: Plain, normalise: _Normalise) -> Inner:
    return Inner(
        language=inner["language"],
        part=_build_part(inner["from"], normalise) if "from" in inner else None,
        after=normalise(inner.get("after", ())),
        until=tuple(inner.get("until", ())),
        repeated=inner.get("each", False),
        skip=inner.get("skip", 0),
        skip_assignments=inner.get("skip_assignments", False),
        append_stdin=inner.get("append_stdin", False),
        append_found=inner.get("append_found", False),
        typed=inner.get("typed", False),
        elevated=inner.get("elevated", False),
        host=inner.get("host"),
        program=_build_part(inner["program"], normalise) if "program" in inner else None,
        when=_build_condition(inner["when"], normalise) if "when" in inner else None,
    )
