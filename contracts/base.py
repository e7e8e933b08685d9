"""Defines the shapes that every answer shares: the closed camelCase document and the freshness block.

Each room's models are in that room's own modules.
"""

import re
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, FailFast, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticKnownError


def _utc_seconds(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise ValueError("a time needs an offset, such as Z")
    return value.replace(microsecond=0)


def storable(text: str) -> str:
    """Returns `text`. Raises `ValueError` for null characters, which PostgreSQL can't store."""
    if "\0" in text:
        raise ValueError("the text must not contain null characters")
    return text


Timestamp = Annotated[datetime, AfterValidator(_utc_seconds)]
"""A UTC instant in whole seconds, written as RFC 3339 with `Z`."""

RawAmount = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,77})$")]
"""A token amount in the token's smallest unit, as a decimal string; exact over all of uint256."""

DecimalAmount = Annotated[str, Field(pattern=r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$")]
"""An amount in whole tokens, as a decimal string."""

HexHash = Annotated[str, Field(pattern=r"^0x[0-9a-f]{64}$")]
Sha256Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
AddressText = Annotated[str, Field(pattern=r"^0x[0-9a-f]{40}$")]
"""A 20-byte address as the service publishes it: lower case."""


_DIGITS = re.compile(r"-?[0-9]+")


def _digits(value: Any) -> Any:
    """Returns `value`. Raises `int_parsing` for a text that Python reads as an integer and JSON does not."""
    if isinstance(value, str) and _DIGITS.fullmatch(value) is None:
        raise PydanticKnownError("int_parsing")
    return value


DIGITS = BeforeValidator(_digits)
"""Validates an integer in a path or query: decimal digits, without the `1_0`, `1.0`, plus or spaces that `int` accepts.

Place it after the integer's bounds: pydantic's schemas lack `minimum` and `maximum` if they come after a validator.
"""

T = TypeVar("T")
Listed = Annotated[list[T], FailFast()]
"""A list that a client sends. Validation stops at the first bad element, so thousands of them cost no more than one."""


class Document(BaseModel):
    """A closed model, camelCase on the wire and snake_case in Python. Every field is present, every number finite."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,
    )


class Quality(StrEnum):
    """The degree to which a reader can trust a number."""

    EXACT = "exact"
    DERIVED = "derived"
    ESTIMATED = "estimated"
    UNAVAILABLE = "unavailable"


class Freshness(Document):
    """The source of a body's numbers, and the time until which they count as fresh."""

    source: str | None = Field(
        description="Where it comes from: a host, a contract, `warehouse`; null when nothing was read"
    )
    quality: Quality
    reason: str | None = Field(
        default=None,
        description="Why the value is missing, degraded or stale, as a stable code; null when it is none of these",
    )
    observed_at: Timestamp | None = Field(description="Time of the source's own data (UTC)")
    fetched_at: Timestamp | None = Field(description="When we read it (UTC)")
    stale_after: Timestamp | None = Field(
        description="From this instant the document counts as stale (UTC); null if nothing was read, or if the data "
        "does not age, such as that of a past block"
    )
    stale: bool = Field(description="Whether `staleAfter` has passed, or a check of its numbers failed")
    generation: str = Field(description="The generation in which this document's inputs last changed")
    generated_at: Timestamp = Field(description="When that generation was built (UTC)")


NEVER = datetime(1970, 1, 1, tzinfo=UTC)

NEVER_STALE = datetime(9999, 12, 31, tzinfo=UTC)
"""The `stale_after` of numbers that do not age, such as those of a past block; it is published as null."""


def unpublished(
    *,
    source: str | None,
    quality: Quality,
    reason: str | None,
    observed_at: datetime | None,
    fetched_at: datetime | None,
    stale: bool = False,
    stale_after: datetime | None = None,
) -> dict[str, Any]:
    """Returns the fields of `Freshness` before publishing, which sets the origin and a missing `stale_after`."""
    return {
        "source": source,
        "quality": quality,
        "reason": reason,
        "observed_at": observed_at,
        "fetched_at": fetched_at,
        "stale_after": stale_after,
        "stale": stale,
        "generation": "",
        "generated_at": NEVER,
    }


class TelemetryDocument(Freshness):
    """A published telemetry body: `ok`, the freshness block, and the document's fields."""

    ok: Literal[True] = True


class TelemetryEnvelope(Document):
    """A published telemetry body in an envelope: `ok`, and `data` with freshness block and fields."""

    ok: Literal[True] = True
    data: Freshness


@cache
def schema_of(model: type[BaseModel], mode: Literal["serialization", "validation"]) -> dict[str, Any]:
    """Returns the JSON Schema of a model, by aliases. All callers share the result and must not change it.

    Building one takes up to 0.1 s, and every publication needs five.
    """
    return model.model_json_schema(by_alias=True, mode=mode)
