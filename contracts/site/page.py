"""Defines a page for people: its row, the documents that it shows, and the facts for its template.

A page is built only from published documents, so it changes when one of them does, and its template never computes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from contracts.base import Freshness, TelemetryEnvelope
from contracts.discovery import service
from contracts.discovery.checks_document import CHECKS_PATH, PublishedChecks
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import Bodies
from contracts.open_data.names import NOW_PATH
from contracts.site import figures
from contracts.site.figures import Source, source_of
from contracts.site.lineage import lineage, number_id

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Shown(Generic[Model]):
    """A document that pages show: its id in the page, its title for people, its path and its model.

    `tables` are those whose checks vouch for its numbers; by default, all from which an ageing document is read.
    `command` is the command that proves them again, if there is one.
    """

    id: str
    title: str
    path: str
    model: type[Model]
    tables: tuple[str, ...] = ()
    command: str | None = None

    @property
    def ages(self) -> bool:
        """Returns whether the document states until when its numbers are fresh."""
        return issubclass(self.model, Freshness | TelemetryEnvelope)


CHECKS = Shown("checks", "Checks", CHECKS_PATH, PublishedChecks)


@dataclass
class Documents:
    """The documents from which a page is built, as of `now`, or None for a time before any of them has expired.

    `shows` are the documents of the page's row.
    """

    installation: Installation
    bodies: Bodies
    now: datetime | None = None
    shows: tuple[Shown[Any], ...] = ()
    sources: dict[str, Source] = field(default_factory=dict)
    """The used sources, by id, in order."""

    def read(self, shown: Shown[Model]) -> Model | None:
        """Returns a document, or None if it is not published."""
        body = self.bodies.get(shown.path)
        return None if body is None else _parsed(shown, body)

    def source(self, shown: Shown[Any], *, block: int | None = None) -> Source:
        """Returns the source of a document's figures, which the page then explains at its end."""
        made = source_of(shown.id, shown.title, shown.path, self.read(shown), self.now, block=block)
        record = lineage().by_name.get(shown.path)
        tables = shown.tables or (record.from_ if record is not None and shown.ages else ())
        checks = self.read(CHECKS) if tables else None
        made = replace(
            made,
            checks=tuple(table for table in (checks.tables if checks else ()) if table.table in tables),
            proved_by=shown.command and f"{shown.command} {self.installation.base_url}",
            lineage=None if record is None else number_id(shown.path),
        )
        self.sources[shown.id] = made
        return made


View = Callable[[Documents], Mapping[str, Any]]
"""Computes the values for a page's template."""


@dataclass(frozen=True)
class Page:
    """One page for people. `navigation` is its name in the header, or None to omit it there.

    `styles` and `scripts` are assets that it loads in addition to the shell's. With `shows_ageing`, it also shows every
    document that ages; the registry adds them. `drawn_as` names the template that it shares with others of its kind,
    which then also renders its Markdown; by default the template has the page's name. `programs` is the path of the
    file that programs get at its address, which had that address first; browsers get the page. `is_error`: it answers
    where there is no page, so it has no address for links and no twin.
    """

    name: str
    path: str
    title: str
    description: str
    view: View
    shows: tuple[Shown[Any], ...] = ()
    shows_ageing: bool = False
    navigation: str | None = None
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    drawn_as: str | None = None
    programs: str | None = None
    is_error: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        """Returns the paths of all documents from which it is built: those it shows, and the checks of their tables."""
        checks = (CHECKS_PATH,) if any(shown.tables or shown.ages for shown in self.shows) else ()
        return (*(shown.path for shown in self.shows), *checks)

    @property
    def template(self) -> str:
        """Returns its template under `site/`."""
        return f"pages/{self.drawn_as or self.name}.html.j2"

    @property
    def published_path(self) -> str:
        """Returns the path at which every client gets the page."""
        return self.path if self.programs is None else f"{self.path}index.html"

    @property
    def markdown(self) -> str:
        """Returns the path of its twin in Markdown."""
        return f"{self.path}index.md"


@dataclass(frozen=True)
class PageContent:
    """The facts of a page now and, if any of them expires, the facts from the first expiry on."""

    template: str
    fresh: Mapping[str, Any]
    stale: Mapping[str, Any] | None = None
    stale_after: datetime | None = None


def page_content(page: Page, pages: tuple[Page, ...], installation: Installation, bodies: Bodies) -> PageContent:
    """Returns the content of a page, from the bodies of the documents by path."""
    ends = [end for shown in page.shows if (end := _stale_after(shown, bodies)) is not None]
    first_end = min(ends, default=None)
    stale = None if first_end is None else _filled(page, pages, Documents(installation, bodies, first_end, page.shows))
    fresh = _filled(page, pages, Documents(installation, bodies, shows=page.shows))
    return PageContent(page.template, fresh, stale, first_end)


def markdown_content(
    page: Page, pages: tuple[Page, ...], installation: Installation, bodies: Bodies
) -> PageContent | None:
    """Returns the content of the Markdown of a page with a shared template, or None if it is built from the page."""
    if page.drawn_as is None:
        return None
    template = f"pages/{page.drawn_as}.md.j2"
    return PageContent(template, _filled(page, pages, Documents(installation, bodies, shows=page.shows)))


def _filled(page: Page, pages: tuple[Page, ...], documents: Documents) -> Mapping[str, Any]:
    facts = page.view(documents)
    sources = tuple(documents.sources.values())
    return {
        "page": page,
        "pages": [other for other in pages if other.navigation is not None],
        "installation": documents.installation,
        "prefix": documents.installation.prefix,
        "url": documents.installation.url,
        "service": service,
        "now_path": NOW_PATH,
        "figures": figures,
        "made_of": [shown for shown in page.shows if shown.path in documents.bodies],
        "sources": sources,
        "stale_sources": [source for source in sources if source.is_stale],
        **facts,
    }


def _stale_after(shown: Shown[Any], bodies: Bodies) -> datetime | None:
    body = bodies.get(shown.path)
    document = None if body is None else _parsed(shown, body)
    block = document.data if isinstance(document, TelemetryEnvelope) else document
    return block.stale_after if isinstance(block, Freshness) else None


@lru_cache(maxsize=64)
def _parsed(shown: Shown[Model], body: bytes) -> Model:
    return shown.model.model_validate_json(body)
