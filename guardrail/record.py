"""Here belongs how the package's records are made: data with names, compared by its values, which nothing changes.

The type checker sees to it that nobody sets a field. At run time a record is an ordinary object, since a frozen
dataclass takes four times as long to make, and a check makes some dozens.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[_Record]) -> type[_Record]:
    """Makes a class a dataclass with slots and a hash, which is frozen to the type checker."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
