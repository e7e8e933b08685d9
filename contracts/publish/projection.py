"""Defines a published document: the type of the rows of `contracts.publish.registry`."""

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
"""A document's own fields by their Python names.

For a document with a freshness block, they include `source`, `quality`, `reason`, `observed_at` and `fetched_at`;
rendering adds the rest of the block and `ok`. `stale` is set if the content is known to be out of date already. Times
are UTC (naive ones too). Values are plain, pydantic models or raw JSON (`msgspec.Raw`).
"""


@dataclass(frozen=True)
class ExpiringBody:
    """The whole body of a document that shows others, and the body to serve once the first of them has expired."""

    fresh: bytes
    stale: bytes | None = None
    stale_after: datetime | None = None


Content = BaseModel | Fields | bytes | ExpiringBody
"""The content of a document: its model, its fields, or the whole body if the room builds the bytes itself."""


@dataclass(frozen=True)
class Alias:
    """A second path of a document, with its own header fields, as in `Projection.headers`. An alias with `Deprecation`
    is described as deprecated."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class PublishedVariant:
    """A variant that is also published: its query string, and its own path."""

    query: str
    path: str


@dataclass(frozen=True)
class Projection:
    """One published document: its name, fixed path, model, and how long its content counts as fresh.

    The model determines where the freshness block is: at the top (`TelemetryDocument`), in `data`
    (`TelemetryEnvelope`), or nowhere. A document without one does not age and has no `max_age_s`. The model is None if
    the body is a text, or JSON of a third party's format.
    """

    name: str
    path: str
    group: str
    summary: str
    description: str
    capability: str | None = None
    """The capability to which the document belongs, if `capabilities.yaml` does not list its route."""
    model: type[BaseModel] | None = None
    make: Callable[[Installation], BaseModel | Fields | bytes] | None = None
    """Builds the content if that needs no store, clock or network."""
    describe: Callable[[Installation, Bodies], bytes | PageContent] | None = None
    """Builds the content of a document that shows the bodies of others, after them."""
    shows: tuple[str, ...] = ()
    """The paths of those documents. Whenever one of them is rebuilt, so is this one."""
    reader: str | None = None
    """The function of the warehouse that reads the content, `<room>.<module>:<function>`. Its arguments are a
    `DocumentContext`, and `reader_argument` or `parameters` if the row has them."""
    reader_argument: str | None = None
    shape: str | None = None
    """The check of `contracts/discovery/checks/` that `svc docs check` applies to it; None if there is none."""
    max_age_s: int | None = None
    when_stale: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Fields (one word each) that have other values once the document is stale."""
    parameters: type[BaseModel] | None = None
    """Query parameters of variants that are computed on request; None if the file is the only answer."""
    refusals: tuple[type[RequestProblem], ...] = ()
    """Errors that reading raises for parameters that fit their model but refer to nothing."""
    published_variants: tuple[PublishedVariant, ...] = ()
    aliases: tuple[Alias, ...] = ()
    media_type: str = "application/json"
    cache: Cache = "revalidated"
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Header fields in addition to those of every published document. `{prefix}` in a value is the base URL's path,
    `{network}` the chain."""
    template: str | None = None
    """The template under `site/` that renders the fields as the body, when publishing."""
    markdown: str | None = None
    """The path of the document with the same content in Markdown, which clients that prefer it get at this path."""
    collection: str | None = None
    """The collection of many small documents to which it belongs. They are one asset, and are published without encoded
    siblings."""

    def made_for(self, installation: Installation) -> Content:
        """Returns the content that `make` builds for an installation. JSON of a foreign format becomes a whole body."""
        assert self.make is not None, f"{self.name} needs more than the installation"
        content = self.make(installation)
        if isinstance(content, bytes) or self.model is not None or self.template is not None:
            return content
        return document_bytes(dict(content))

    @property
    def is_described(self) -> bool:
        """Returns whether it is part of the API that OpenAPI describes, unlike the pages for people."""
        return self.group != PAGE_GROUP

    @property
    def freshness(self) -> type[Freshness] | None:
        """Returns the model with the freshness block: the document's own, or that of its `data`, or None."""
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
        """Returns every path at which the document or one of its published variants is served, its own first."""
        return (
            self.path,
            *(alias.path for alias in self.aliases),
            *(variant.path for variant in self.published_variants),
        )


@dataclass(frozen=True)
class Redirect:
    """A path that redirects (302) to another, with header fields as in `Projection.headers`."""

    path: str
    to: str
    name: str
    summary: str
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
