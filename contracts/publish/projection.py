"""Declares what a published document is: a row of `contracts.publish.registry`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from pydantic import BaseModel

from contracts.base import Freshness, TelemetryEnvelope
from contracts.discovery.encoding import document_bytes
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import Bodies
from contracts.errors import RequestProblem
from contracts.publish.routes import Cache
from contracts.site.page import PageContent

PAGE_GROUP = "site"
"""The group of pages for people."""

Fields = Mapping[str, Any]
"""A document's own fields by their Python names, with `source`, `quality`, `reason`, `observed_at` and `fetched_at` of
the freshness block where it has one; rendering adds the rest of the block and `ok`. `stale` is given where content is
known to be out of date already. Times are UTC (naive ones too);
values are plain, pydantic models or raw JSON (`msgspec.Raw`)."""


@dataclass(frozen=True)
class ExpiringBody:
    """The whole body of a document that shows others, and the one that is served once the first of them has expired."""

    fresh: bytes
    stale: bytes | None = None
    stale_after: datetime | None = None


Content = BaseModel | Fields | bytes | ExpiringBody
"""The content of a document: its model, its fields, or the whole body where the room makes the bytes itself."""


@dataclass(frozen=True)
class Alias:
    """A second path of a document, with header fields of its own as `Projection.headers` has them; one with
    `Deprecation` is described as deprecated."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class PublishedVariant:
    """A variant that is published too: its query string, and its own path."""

    query: str
    path: str


@dataclass(frozen=True)
class Projection:
    """One published document: its name, fixed path, model and how long its content counts as fresh.

    The model says where the freshness block lies: at the top (`TelemetryDocument`), in `data` (`TelemetryEnvelope`), or
    nowhere: such a document does not age and has no `max_age_s`. The model is None where the body is a text, or JSON
    whose shape is somebody else's.
    """

    name: str
    path: str
    group: str
    summary: str
    description: str
    capability: str | None = None
    """The capability that the document belongs to, where `capabilities.yaml` does not list its route."""
    model: type[BaseModel] | None = None
    make: Callable[[Installation], BaseModel | Fields | bytes] | None = None
    """Makes the content where it needs no store, clock or network."""
    describe: Callable[[Installation, Bodies], bytes | PageContent] | None = None
    """Makes the content of a document that shows the bodies of others, after them."""
    shows: tuple[str, ...] = ()
    """The paths of those documents, where it is made again as soon as one of them is."""
    reader: str | None = None
    """The function of the warehouse that reads the content, `<room>.<module>:<function>`. It takes a `DocumentContext`,
    then `reader_argument` or `parameters` where the row has them."""
    reader_argument: str | None = None
    shape: str | None = None
    """The check of `contracts/discovery/checks/` that `svc docs check` applies to it; None where it looks for none."""
    max_age_s: int | None = None
    when_stale: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Fields (one word each) that have other values once the document is stale."""
    parameters: type[BaseModel] | None = None
    """Query parameters of variants that are computed on request; None where the file is the only answer."""
    refusals: tuple[type[RequestProblem], ...] = ()
    """Errors that reading raises for parameters that fit their model but name nothing."""
    published_variants: tuple[PublishedVariant, ...] = ()
    aliases: tuple[Alias, ...] = ()
    media_type: str = "application/json"
    cache: Cache = "revalidated"
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Header fields beside those that every published document has. `{prefix}` in a value is the base URL's path,
    `{network}` the chain."""
    template: str | None = None
    """The template under `site/` that makes the body of the fields; publishing fills it in."""
    markdown: str | None = None
    """The path of the document with the same content in Markdown, served here to clients that prefer it."""
    collection: str | None = None
    """The collection of many small documents that it belongs to. They are one asset, and are published without encoded
    siblings."""

    def made_for(self, installation: Installation) -> Content:
        """Returns the content that `make` gives for an installation. JSON of a foreign shape is whole."""
        assert self.make is not None, f"{self.name} is made of more than the installation"
        content = self.make(installation)
        if isinstance(content, bytes) or self.model is not None or self.template is not None:
            return content
        return document_bytes(dict(content))

    @property
    def is_described(self) -> bool:
        """Returns whether it is part of the API that OpenAPI describes. Pages for people are not."""
        return self.group != PAGE_GROUP

    @property
    def freshness(self) -> type[Freshness] | None:
        """Returns the model with the freshness block: the document's own, or that of its `data`; None without one."""
        if self.model is None:
            return None
        if issubclass(self.model, TelemetryEnvelope):
            inner: object = self.model.model_fields["data"].annotation
            assert isinstance(inner, type) and issubclass(inner, Freshness)
            return inner
        return self.model if issubclass(self.model, Freshness) else None

    @property
    def enveloped(self) -> bool:
        """Returns whether the freshness block and the document's own fields are in `data`."""
        return self.model is not None and issubclass(self.model, TelemetryEnvelope)

    @property
    def bodies(self) -> tuple[tuple[str, BaseModel | None], ...]:
        """Returns every published body: its path and its parameters, the default (None) first."""
        parse = None if self.parameters is None else self.parameters.model_validate
        variants = (
            (variant.path, parse and parse(dict(parse_qsl(variant.query)))) for variant in self.published_variants
        )
        return ((self.path, None), *variants)

    @property
    def paths(self) -> tuple[str, ...]:
        """Returns every path that answers with the document or one of its published variants, its own first."""
        return (
            self.path,
            *(alias.path for alias in self.aliases),
            *(variant.path for variant in self.published_variants),
        )


@dataclass(frozen=True)
class Redirect:
    """A path that leads (302) to another, with header fields as `Projection.headers` has them."""

    path: str
    to: str
    name: str
    summary: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
