"""One row of every kind of document in the registry, with contents for each."""

from __future__ import annotations

from typing import Any, Literal

from publishing import NOON
from pydantic import BaseModel, ConfigDict

from contracts.base import Document, Freshness, TelemetryDocument, TelemetryEnvelope
from contracts.publish.projection import Alias, Content, Projection, PublishedVariant, Redirect


class Plain(TelemetryDocument):
    answer: int | None


class AnswerData(Freshness):
    answer: int | None


class Enveloped(TelemetryEnvelope):
    data: AnswerData


class Discovery(Document):
    title: str
    links: list[str]


class View(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    view: Literal["hero", "shell"] | None = None


SHARED: dict[str, Any] = {"summary": "A kind", "description": "A kind.", "group": "kinds"}
DEPRECATED = {
    "Deprecation": "@1795132800",
    "Link": '<{prefix}/api/kinds/plain>; rel="successor-version", <{prefix}/why>; rel="deprecation"',
    "Sunset": "Sat, 20 Nov 2027 00:00:00 GMT",
}

PLAIN = Projection(
    name="plain",
    path="/api/kinds/plain",
    model=Plain,
    max_age_s=300,
    aliases=(Alias("/api/kinds", DEPRECATED), Alias("/same")),
    **SHARED,
)
ENVELOPED = Projection(name="enveloped", path="/api/kinds/enveloped", model=Enveloped, max_age_s=300, **SHARED)
DISCOVERY = Projection(
    name="discovery",
    path="/folder/discovery.json",
    model=Discovery,
    media_type="application/feed+json",
    cache="discovery",
    headers={"X-Kind": "discovery", "X-Chain": "{network}"},
    **SHARED,
)
TEXT = Projection(
    name="text", path="/text.txt", model=None, media_type="text/plain; charset=utf-8", cache="discovery", **SHARED
)
RENDERED = Projection(
    name="rendered",
    path="/api/kinds/render",
    model=None,
    parameters=View,
    published_variants=(PublishedVariant("view=hero", "/api/kinds/render/hero"),),
    **SHARED,
)
PAGE = Projection(
    name="page",
    path="/page/",
    model=None,
    media_type="text/html; charset=utf-8",
    cache="discovery",
    markdown="/page/index.md",
    headers={"Link": '<{prefix}/page/index.md>; rel="alternate"; type="text/markdown"'},
    **SHARED,
)
TWIN = Projection(
    name="twin",
    path="/page/index.md",
    model=None,
    media_type="text/markdown; charset=utf-8",
    cache="discovery",
    **SHARED,
)
REDIRECT = Redirect(
    path="/api/kinds/old",
    to="/api/kinds/plain",
    name="old",
    summary="Leads on",
    headers={"Link": '<{prefix}/page/>; rel="describedby"'},
)

ANSWER: dict[str, Any] = {
    "source": "test", "quality": "exact", "reason": None, "observed_at": NOON, "fetched_at": NOON, "answer": 42,
}  # fmt: skip
CONTENTS: dict[Projection, dict[str, Content]] = {
    PLAIN: {PLAIN.path: ANSWER},
    ENVELOPED: {ENVELOPED.path: ANSWER},
    DISCOVERY: {DISCOVERY.path: {"title": "Kinds", "links": ["/api/kinds"]}},
    TEXT: {TEXT.path: b"A text.\n"},
    PAGE: {PAGE.path: b"<!doctype html><title>A page</title>"},
    TWIN: {TWIN.path: b"# A page\n"},
    RENDERED: {RENDERED.path: b'{"ok":true,"view":null}', "/api/kinds/render/hero": b'{"ok":true,"view":"hero"}'},
}
