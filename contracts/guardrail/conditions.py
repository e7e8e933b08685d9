"""The closed set of operators on the context. A new operator is a field of `rules.Condition` and a row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contracts.guardrail.numeric import number
from contracts.guardrail.rules import Condition, compiled

Lookup = Callable[[str], list[Any]]
"""From a field path to the values there: none when it is missing, several where the path has a `*`."""

Check = Callable[[Lookup], bool]

LONGEST_FIELD_TEXT = 16_384
"""Characters of a field that a pattern is searched in."""


def compile_condition(condition: Condition) -> Check:
    """The condition as a function of a field lookup."""
    return _COMPILERS[condition.operator](condition)


def same(left: Any, right: Any) -> bool:
    """Equal: numbers by value, text in any case, truth values only to truth values or their names."""
    if isinstance(left, bool) or isinstance(right, bool):
        return _truth(left) is not None and _truth(left) == _truth(right)
    if isinstance(left, int | float) or isinstance(right, int | float):
        numbers = number(left), number(right)
        return numbers[0] is not None and numbers[0] == numbers[1]
    return str(left).strip().casefold() == str(right).strip().casefold()


def _truth(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().casefold())
    return None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "\n".join(_text(each) for each in value)[:LONGEST_FIELD_TEXT]
    return str(value)[:LONGEST_FIELD_TEXT]


def _present(condition: Condition) -> Check:
    return lambda lookup: bool(lookup(condition.field)) is condition.present


def _is(condition: Condition) -> Check:
    if condition.is_ is None:
        return lambda lookup: not lookup(condition.field)
    return lambda lookup: any(same(each, condition.is_) for each in lookup(condition.field))


def _is_not(condition: Condition) -> Check:
    if condition.is_not is None:
        return lambda lookup: bool(lookup(condition.field))
    return lambda lookup: not any(same(each, condition.is_not) for each in lookup(condition.field))


def _in(condition: Condition) -> Check:
    allowed = condition.in_ or ()
    return lambda lookup: any(same(each, other) for each in lookup(condition.field) for other in allowed)


def _not_in(condition: Condition) -> Check:
    refused = condition.not_in or ()
    return lambda lookup: not any(same(each, other) for each in lookup(condition.field) for other in refused)


def _matches(condition: Condition) -> Check:
    search = compiled(condition.matches or "").search
    return lambda lookup: any(search(_text(each)) is not None for each in lookup(condition.field))


def _not_matches(condition: Condition) -> Check:
    search = compiled(condition.not_matches or "").search
    return lambda lookup: all(search(_text(each)) is None for each in lookup(condition.field))


def _above(condition: Condition) -> Check:
    bound = condition.above
    assert bound is not None
    return lambda lookup: any(value > bound for value in _numbers(lookup(condition.field)))


def _below(condition: Condition) -> Check:
    bound = condition.below
    assert bound is not None
    return lambda lookup: any(value < bound for value in _numbers(lookup(condition.field)))


def _above_field(condition: Condition) -> Check:
    other = condition.above_field or ""
    return lambda lookup: any(
        value > bound for value in _numbers(lookup(condition.field)) for bound in _numbers(lookup(other))
    )


def _below_field(condition: Condition) -> Check:
    other = condition.below_field or ""
    return lambda lookup: any(
        value < bound for value in _numbers(lookup(condition.field)) for bound in _numbers(lookup(other))
    )


def _in_field(condition: Condition) -> Check:
    other = condition.in_field or ""
    return lambda lookup: any(
        same(value, item) for value in _items(lookup(condition.field)) for item in _items(lookup(other))
    )


def _not_in_field(condition: Condition) -> Check:
    other = condition.not_in_field or ""

    def outside(lookup: Lookup) -> bool:
        values, allowed = _items(lookup(condition.field)), lookup(other)
        return bool(allowed) and any(not any(same(value, item) for item in _items(allowed)) for value in values)

    return outside


def _longer_than(condition: Condition) -> Check:
    bound = condition.longer_than
    assert bound is not None
    return lambda lookup: any(
        len(value) > bound for value in lookup(condition.field) if isinstance(value, str | list | dict)
    )


def _numbers(values: list[Any]) -> list[float]:
    return [found for value in _items(values) if (found := number(value)) is not None]


def _items(values: list[Any]) -> list[Any]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


_COMPILERS: dict[str, Callable[[Condition], Check]] = {
    "present": _present,
    "is_": _is,
    "is_not": _is_not,
    "in_": _in,
    "not_in": _not_in,
    "matches": _matches,
    "not_matches": _not_matches,
    "above": _above,
    "below": _below,
    "above_field": _above_field,
    "below_field": _below_field,
    "in_field": _in_field,
    "not_in_field": _not_in_field,
    "longer_than": _longer_than,
}
