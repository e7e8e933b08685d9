"""Converts between rows of the ledger and the dataclasses of rooms: each field is the column of the same name."""

from dataclasses import fields
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

import msgspec

from contracts.times import utc_text
from warehouse.ledger.ledger import Row

Record = TypeVar("Record")


def record_of(kind: type[Record], row: Row, **others: Any) -> Record:
    """Returns a row as a dataclass, with its times parsed. `others` are fields without a column of the same name."""
    return msgspec.convert({**row, **others}, kind)


def columns_of(record: Any) -> Row:
    """Returns the fields of a flat dataclass as parameters of a statement, which uses those that it names."""
    return {field.name: _column(getattr(record, field.name)) for field in fields(record)}


def _column(value: Any) -> Any:
    if isinstance(value, datetime):
        return utc_text(value)
    return value.value if isinstance(value, Enum) else value
