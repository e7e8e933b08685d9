"""From the fields of a document to its bytes: freshness and key order. Publishing and the API share it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from pydantic import BaseModel

from contracts.projections import Projection

Fields = Mapping[str, Any]
"""A document's own fields by their Python names, with `source`, `quality`, `reason`, `observed_at` and `fetched_at` of
the freshness block. Times are UTC (naive ones too); values are plain, pydantic models or raw JSON (`msgspec.Raw`)."""

ADDED = ("ok", "stale_after", "stale", "generation", "generated_at")
"""What rendering adds; `Fields` hold everything else of the model."""

EXPIRED = "expired"
"""The reason of a body whose `staleAfter` has passed without a newer one."""


@dataclass(frozen=True)
class Origin:
    """The generation in which a document's inputs last changed: its id, and when it was built (UTC)."""

    generation: str
    generated_at: datetime


def render(projection: Projection, fields: Fields, origin: Origin, *, now: datetime | None = None) -> bytes:
    """The JSON body, keys in the model's order with `ok` first. It is stale where `now` is past its `staleAfter`.

    Raises `ValueError` where `fields` are not exactly those of the model.
    """
    names = list(projection.model.model_fields)
    if (difference := set(fields) ^ (set(names) - set(ADDED))) != set():
        raise ValueError(f"{projection.name}: fields and model differ in {', '.join(sorted(difference))}")
    stale_after = stale_after_of(projection, fields)
    values = {**fields, "ok": True, "stale_after": stale_after, "stale": False}
    values |= {"generation": origin.generation, "generated_at": origin.generated_at}
    if now is not None and stale_after is not None and now >= stale_after:
        values |= {"stale": True, "reason": fields["reason"] or EXPIRED}
    ordered = ["ok", *(name for name in names if name != "ok")]
    return _encode({_alias(projection, name): _plain_time(values[name]) for name in ordered})


def stale_after_of(projection: Projection, fields: Fields) -> datetime | None:
    """When the content stops counting as fresh: `fetched_at` + `max_age_s`; None where nothing was fetched."""
    fetched_at = fields["fetched_at"]
    return None if fetched_at is None else _utc(fetched_at) + timedelta(seconds=projection.max_age_s)


def mark_stale(body: bytes, reason: str) -> bytes:
    """The same body with `stale: true` and `reason`; everything else keeps its bytes."""
    values = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    values["stale"] = msgspec.Raw(b"true")
    values["reason"] = msgspec.Raw(msgspec.json.encode(reason))
    return msgspec.json.encode(values)


def inputs_sha256(projection: Projection, fields: Fields) -> str:
    """SHA-256 over all that a document is made of, its origin apart: equal hashes, equal content."""
    nowhere = Origin(generation="", generated_at=datetime(1970, 1, 1, tzinfo=UTC))
    return hashlib.sha256(render(projection, fields, nowhere)).hexdigest()


def _alias(projection: Projection, name: str) -> str:
    return projection.model.model_fields[name].serialization_alias or name


def _utc(value: datetime) -> datetime:
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return aware.replace(microsecond=0)


def _plain_time(value: Any) -> Any:
    return _utc(value) if isinstance(value, datetime) else value


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _encode(values: dict[str, Any]) -> bytes:
    return msgspec.json.encode(values, enc_hook=_plain)
