"""From the fields of a document to its bytes: freshness and key order. Publishing and the API share it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from pydantic import BaseModel

from contracts.publish.registry import Projection

Fields = Mapping[str, Any]
"""A document's own fields by their Python names, with `source`, `quality`, `reason`, `observed_at` and `fetched_at` of
the freshness block where it has one; rendering adds the rest of the block and `ok`. `stale` is given where content is
known to be out of date already. Times are UTC (naive ones too);
values are plain, pydantic models or raw JSON (`msgspec.Raw`)."""

EXPIRED = "expired"
"""The reason of a body whose `staleAfter` has passed without a newer one."""


@dataclass(frozen=True)
class Origin:
    """The generation in which a document's inputs last changed: its id, and when it was built (UTC)."""

    generation: str
    generated_at: datetime


Content = Fields | bytes
"""What a document is made of: its fields, or the whole body where the room makes the bytes itself."""


def render(projection: Projection, content: Content, origin: Origin, *, now: datetime | None = None) -> bytes:
    """The body. JSON keys come in the model's order, `ok` first; stale where `now` is past its `staleAfter`.

    Raises `ValueError` where fields are not exactly those of the model.
    """
    if isinstance(content, bytes):
        return content
    block = projection.freshness
    model = block or projection.model
    if model is None:
        raise ValueError(f"{projection.name}: fields without a model")
    values = dict(content)
    if block is not None:
        stale_after = stale_after_of(projection, content)
        values = {"stale": False} | values
        values |= {"stale_after": stale_after, "generation": origin.generation, "generated_at": origin.generated_at}
        if now is not None and stale_after is not None and now >= stale_after:
            values |= {"stale": True, "reason": content["reason"] or EXPIRED}
        if values["stale"]:
            values |= projection.when_stale
    names = list(model.model_fields)
    if "ok" in names:
        names.remove("ok")
        names.insert(0, "ok")
        values["ok"] = True
    if (difference := set(values) ^ set(names)) != set():
        raise ValueError(f"{projection.name}: fields and model differ in {', '.join(sorted(difference))}")
    body = {_alias(model, name): _plain_time(values[name]) for name in names}
    return _encode({"ok": True, "data": body} if projection.enveloped else body)


def stale_after_of(projection: Projection, content: Content) -> datetime | None:
    """When the content stops counting as fresh: `fetched_at` + `max_age_s`; None where nothing was fetched or ages.

    Content that is put together from parts of different ages gives its own `stale_after`.
    """
    if isinstance(content, bytes) or projection.max_age_s is None:
        return None
    if "stale_after" in content:
        return None if content["stale_after"] is None else _utc(content["stale_after"])
    fetched_at = content["fetched_at"]
    return None if fetched_at is None else _utc(fetched_at) + timedelta(seconds=projection.max_age_s)


def mark_stale(projection: Projection, body: bytes, reason: str) -> bytes:
    """The same body with `stale: true` and `reason`; everything else keeps its bytes."""
    values = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    if projection.enveloped:
        data = msgspec.json.decode(values["data"], type=dict[str, msgspec.Raw])
        values["data"] = msgspec.Raw(msgspec.json.encode(data | _stale(projection, reason)))
        return msgspec.json.encode(values)
    return msgspec.json.encode(values | _stale(projection, reason))


def inputs_sha256(projection: Projection, content: Content) -> str:
    """SHA-256 over all that a document is made of, its origin apart: equal hashes, equal content."""
    nowhere = Origin(generation="", generated_at=datetime(1970, 1, 1, tzinfo=UTC))
    return hashlib.sha256(render(projection, content, nowhere)).hexdigest()


def _stale(projection: Projection, reason: str) -> dict[str, msgspec.Raw]:
    changed: dict[str, Any] = {"stale": True, "reason": reason, **projection.when_stale}
    return {name: msgspec.Raw(msgspec.json.encode(value)) for name, value in changed.items()}


def _alias(model: type[BaseModel], name: str) -> str:
    return model.model_fields[name].serialization_alias or name


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
