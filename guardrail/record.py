"""The decorator of the package's records: data with named fields, compared by value, never changed.

The type checker ensures that nobody sets a field. At run time a record is an ordinary object, since a frozen dataclass
takes four times as long to create, and a check creates several dozen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_Record = TypeVar("_Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[_Record]) -> type[_Record]:
    """Makes a class a dataclass with slots and a hash, which the type checker treats as frozen."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
