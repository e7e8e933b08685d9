"""Describes the errors in a request's fields, and their places, in words for the sender. Replaces the framework's
phrases. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from annotated_types import Ge, Le
from pydantic import BaseModel

from contracts.addresses import PATTERN

_SUBJECT = re.compile(r"^[A-Z]\w* should ")
_ADDRESS = "must be an address: 0x and 40 hexadecimal digits"
_BOUNDS = ("greater_than_equal", "less_than_equal", "int_parsing", "int_from_float", "int_parsing_size")


def in_words(fault: Mapping[str, Any], parameters: type[BaseModel] | None = None) -> str:
    """Describes one validation error of a field. `parameters` is the model of the route's query, if any.

    For a query parameter, the text names what is allowed: both bounds, the values, or the known parameters.
    """
    kind, facts = fault["type"], fault.get("ctx") or {}
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is not known" if parameters is None else f"is not known; there are {_listed(parameters)}"
    if kind == "value_error":
        return str(facts["error"])
    if kind == "string_pattern_mismatch" and facts["pattern"] == PATTERN:
        return _ADDRESS
    if kind in _BOUNDS and parameters is not None and (bounds := _bounds(parameters, fault["loc"][-1])):
        return f"must be an integer from {bounds[0]} to {bounds[1]}"
    if kind in ("model_attributes_type", "model_type", "dict_type"):
        return "must be an object"
    message = str(fault["msg"]).replace(" after validation", "").partition(", unable to parse")[0]
    return _SUBJECT.sub("must ", message)


def pointer_to(parts: Iterable[object]) -> str:
    """Returns the JSON pointer (RFC 6901) made of these names and positions."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _listed(parameters: type[BaseModel]) -> str:
    return ", ".join(field.alias or name for name, field in parameters.model_fields.items())


def _bounds(parameters: type[BaseModel], name: object) -> tuple[Any, Any] | None:
    """Returns the least and greatest value of an integer parameter, or None if it lacks one."""
    field = next(
        (info for field_name, info in parameters.model_fields.items() if (info.alias or field_name) == name), None
    )
    if field is None or field.annotation is not int:
        return None
    least = next((constraint.ge for constraint in field.metadata if isinstance(constraint, Ge)), None)
    most = next((constraint.le for constraint in field.metadata if isinstance(constraint, Le)), None)
    return None if least is None or most is None else (least, most)
