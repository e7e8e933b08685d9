"""Renders the content of a document to bytes, with freshness and key order. Publishing and the API share it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

import msgspec
from pydantic import BaseModel

from contracts.base import NEVER, NEVER_STALE
from contracts.canonical import sha256_hex
from contracts.publish.projection import Content, ExpiringBody, Fields, Projection

EXPIRED = "expired"
"""The reason for staleness of a body whose `staleAfter` has passed without a newer one."""


@dataclass(frozen=True)
class Origin:
    """The generation in which a document's inputs last changed: its id, and when it was built (UTC)."""

    generation: str
    generated_at: datetime


NOWHERE = Origin(generation="", generated_at=NEVER)
"""The origin of a document that has not been published yet."""


@dataclass(frozen=True)
class Rendered:
    """A document rendered once. Its bodies differ in their origin and in the members that mark them as stale.

    `members` are the encoded members of the body, or of its `data`, in order, or None if the body is whole. `expired`
    is a whole body's version after `stale_after`.
    """

    projection: Projection
    from_nowhere: bytes
    expired: bytes | None = None
    members: dict[str, msgspec.Raw] | None = None
    stale_after: datetime | None = None
    reason: str | None = None

    @property
    def inputs_sha256(self) -> str:
        """Returns the SHA-256 of all inputs of a document except its origin: equal hashes mean equal content."""
        return sha256_hex(self.from_nowhere)

    def body(self, origin: Origin, *, now: datetime | None = None) -> bytes:
        """Returns the body, stale if `now` is past its `staleAfter`."""
        if self.members is None:
            is_expired = now is not None and self.stale_after is not None and now >= self.stale_after
            return self.expired if is_expired and self.expired is not None else self.from_nowhere
        place = {"generation": origin.generation, "generatedAt": origin.generated_at}
        members = self.members | _encoded(place)
        if now is not None and self.stale_after is not None and now >= self.stale_after:
            members = with_stale_parts(members, EXPIRED, partial(_ends_by, now))
            members |= _stale(self.projection, self.reason or EXPIRED)
        return _whole(self.projection, members)


def rendered(projection: Projection, content: Content) -> Rendered:
    """Encodes the members of the content. JSON keys come in the model's order, `ok` first.

    Raises `ValueError` if the fields are not exactly those of the model, or the row has no model.
    """
    if isinstance(content, bytes):
        return Rendered(projection, content)
    if isinstance(content, ExpiringBody):
        return Rendered(projection, content.fresh, content.stale, stale_after=content.stale_after)
    model = projection.freshness or projection.model
    if model is None:
        raise ValueError(f"{projection.name}: fields without a model")
    values = _values(projection, model, content)
    aliases = _aliases(model)
    members = _encoded({alias: values[name] for name, alias in aliases.items()} | _dumped(content, values, aliases))
    body = _whole(projection, members)
    if projection.freshness is None:
        return Rendered(projection, body)
    return Rendered(projection, body, members=members, stale_after=values["stale_after"], reason=values["reason"])


def render(projection: Projection, content: Content, origin: Origin, *, now: datetime | None = None) -> bytes:
    """Renders one body of the content. Raises the same errors as `rendered`."""
    return rendered(projection, content).body(origin, now=now)


def validate(projection: Projection, content: Content) -> None:
    """Validates the content with the document's model. Raises `pydantic.ValidationError` if it does not fit."""
    model = projection.freshness or projection.model
    if model is None or isinstance(content, bytes | BaseModel | ExpiringBody):
        return
    values = _values(projection, model, content)
    embedded = {name: msgspec.json.decode(value) for name, value in values.items() if isinstance(value, msgspec.Raw)}
    model.model_validate(values | embedded)


def fields_of(content: Content) -> Fields:
    """Returns the fields of content that is not a whole body."""
    assert not isinstance(content, bytes | ExpiringBody), "a whole body has no fields"
    return dict(content)


def stale_after_of(projection: Projection, content: Content) -> datetime | None:
    """Returns `fetched_at` + `max_age_s`, the end of freshness, or None if nothing was fetched or nothing ages.

    Content that combines parts of different ages has its own `stale_after`.
    """
    if isinstance(content, ExpiringBody):
        return content.stale_after
    if isinstance(content, bytes) or projection.max_age_s is None:
        return None
    values = fields_of(content)
    if is_of_the_past(content):
        return None
    if values.get("stale_after") is not None:
        return _utc(values["stale_after"])
    fetched_at = values["fetched_at"]
    return None if fetched_at is None else _utc(fetched_at) + timedelta(seconds=projection.max_age_s)


def is_of_the_past(content: Content) -> bool:
    """Returns whether the content never ages."""
    if isinstance(content, bytes | ExpiringBody):
        return False
    own = fields_of(content).get("stale_after")
    return own is not None and _utc(own) == NEVER_STALE


def mark_stale(projection: Projection, body: bytes, reason: str, marked: Collection[str] = ()) -> bytes:
    """Returns the same body with `stale: true` and `reason`, also in parts of documents at the paths `marked`. All
    other bytes remain the same."""
    members = with_stale_parts(_members(projection, body), reason, lambda part: part.get("document") in marked)
    return _whole(projection, members | _stale(projection, reason))


def reason_in(projection: Projection, body: bytes) -> str | None:
    """Returns the reason code in the body of a document with a freshness block."""
    return msgspec.json.decode(_members(projection, body)["reason"], type=str | None)


def _members(projection: Projection, body: bytes) -> dict[str, msgspec.Raw]:
    members = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    return msgspec.json.decode(members["data"], type=dict[str, msgspec.Raw]) if projection.enveloped else members


Part = dict[str, Any]
"""A part of an overview, with `stale`, `reason` and `staleAfter` of the document that contains it in full."""


def with_stale_parts(
    members: dict[str, msgspec.Raw], reason: str, is_stale: Callable[[Part], bool]
) -> dict[str, msgspec.Raw]:
    """Returns the members with stale parts marked. Otherwise the whole would be stale but none of its parts."""

    def marked(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if value.get("stale") is False and "staleAfter" in value and is_stale(value):
            return {**value, "stale": True, "reason": value["reason"] or reason}
        return {name: marked(inner) for name, inner in value.items()}

    return {
        name: msgspec.Raw(msgspec.json.encode(marked(msgspec.json.decode(raw))))
        if b'"staleAfter"' in bytes(raw)
        else raw
        for name, raw in members.items()
    }


def _ends_by(now: datetime, part: Part) -> bool:
    end = part["staleAfter"]
    return end is not None and datetime.fromisoformat(end) <= now


@cache
def _aliases(model: type[BaseModel]) -> Mapping[str, str]:
    """Returns the alias of each field in the order of a body. Cached, because pydantic takes longer to list the aliases
    than to encode a body."""
    aliases = {name: field.serialization_alias or name for name, field in model.model_fields.items()}
    return {"ok": aliases["ok"], **aliases} if "ok" in aliases else aliases


@cache
def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    """Returns the default values of optional fields."""
    return {name: field.default for name, field in model.model_fields.items() if not field.is_required()}


def _values(projection: Projection, model: type[BaseModel], content: BaseModel | Fields) -> dict[str, Any]:
    """Returns the value of every field of the model, with `NOWHERE` as origin. Optional fields may be missing."""
    names = _aliases(model).keys()
    values = _defaults(model) | dict(content)
    if projection.freshness is not None:
        values = {"stale": False} | values
        values |= {"generation": NOWHERE.generation, "generated_at": NOWHERE.generated_at}
        values["stale_after"] = stale_after_of(projection, content)
        if values["stale"]:
            values |= projection.when_stale
    if "ok" in names:
        values["ok"] = True
    if difference := values.keys() ^ names:
        raise ValueError(f"{projection.name}: fields and model differ in {', '.join(sorted(difference))}")
    return {name: _utc(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _dumped(content: BaseModel | Fields, values: Fields, aliases: Mapping[str, str]) -> dict[str, Any]:
    """Converts the remaining members of a model to plain values together, which is faster than one by one."""
    if not isinstance(content, BaseModel):
        return {}
    plain = content.model_dump(mode="json", by_alias=True)
    return {alias: plain[alias] for name, alias in aliases.items() if values[name] is getattr(content, name)}


def _whole(projection: Projection, members: dict[str, msgspec.Raw]) -> bytes:
    return msgspec.json.encode({"ok": True, "data": members} if projection.enveloped else members)


def _stale(projection: Projection, reason: str) -> dict[str, msgspec.Raw]:
    return _encoded({"stale": True, "reason": reason, **projection.when_stale})


def _encoded(values: dict[str, Any]) -> dict[str, msgspec.Raw]:
    return {name: msgspec.Raw(msgspec.json.encode(value, enc_hook=_plain)) for name, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _utc(value: datetime) -> datetime:
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return aware.replace(microsecond=0)
