"""Defines the public projections of the graph and their views, and removes personal data from texts. Pure."""

from __future__ import annotations

import html
import re
from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.base import Document, Timestamp
from contracts.outside_texts import outside_text

NODES_SHOWN = 5_000
"""Maximum number of nodes in the live projection. A larger graph shows those with the most edges."""

REDACTED = "[removed]"

_PERSONAL = re.compile(
    r"[\w.+-]+@[\w-]+(\.[\w-]+)+"  # e-mail addresses
    r"|(?<![\w/])@\w{2,}"  # handles
    r"|svc_(?:free|basic|pro)_\S+"  # API keys
    r"|\beyJ[\w-]{8,}\.[\w.-]+"  # tokens
    r"|(?<!\w)\+\d[\d ()./-]{7,}\d"  # telephone numbers
)


_MARKUP = re.compile(r"<!--.*?(?:-->|$)|</?[A-Za-z][^<>]*>", re.DOTALL)
"""Comments and tags of HTML. A sign that opens neither, as in "3 < 5", is text."""

LONGEST_TITLE = 300
LONGEST_DESCRIPTION = 500


def public_title(node_type: str, title: str) -> str:
    """Returns a title without names of persons, contact data and markup, which may be published."""
    return "Person" if node_type == "Person" else public_text(title, LONGEST_TITLE) or node_type


def public_text(text: str, longest: int) -> str | None:
    """Returns one visible line of a text without contact data and markup, or None if nothing is left."""
    plain = html.unescape(text)
    while plain != (without := _MARKUP.sub(" ", plain)):
        plain = without
    return outside_text(_PERSONAL.sub(REDACTED, plain), longest)


def public_url(url: object) -> str | None:
    """Returns a node's link if it is an https address without credentials, which may be published, or None."""
    if not isinstance(url, str) or not re.fullmatch(r"https://[^\s@<>\"']{3,300}", url):
        return None
    return None if _PERSONAL.search(url) else url


class RenderView(StrEnum):
    """The part of the graph that a picture shows, beginning with the nodes with the most edges."""

    APP_HERO = "app-hero"
    HERO = "hero"
    SHELL = "shell"
    FULL = "full"


NODES_DRAWN = {RenderView.APP_HERO: 48, RenderView.HERO: 120, RenderView.SHELL: 400, RenderView.FULL: 2_000}


class RenderParameters(Document):
    """Selects the picture of the graph."""

    view: RenderView = Field(default=RenderView.FULL, description="How much of the graph is shown")
    compact: Literal["1", "true"] | None = Field(default=None, description="Leave titles and types out")


class ProjectedNode(Document):
    """A public node. Texts are one line each, without markup and contact data."""

    id: str
    title: str
    type: str
    domain: str
    description: str | None = Field(description="Null where it has none, and for persons")
    url: str | None = Field(description="An https address that the node names")
    source: str | None = Field(description="Where the statement comes from; null unless this service made it")
    valid_from: Timestamp = Field(description="From when it holds")
    recorded_at: Timestamp = Field(description="When it was recorded")


class ProjectedEdge(Document):
    """A public edge between public nodes."""

    source: str = Field(description="Id of the node where it begins")
    target: str = Field(description="Id of the node where it ends")
    type: str


class ProjectedChange(Document):
    """The changes of one decision in the public graph."""

    revision: int = Field(description="The graph's revision after it")
    recorded_at: Timestamp
    source: str | None = Field(description="Where the statements come from; null unless this service made them")
    added: int = Field(ge=0, description="Nodes that were new")
    changed: int = Field(ge=0, description="Nodes that were stated again")
    ended: int = Field(ge=0, description="Nodes that no longer hold")
    titles: list[str] = Field(description="Titles of the first three of these nodes, by id")


class WorldProjection(Document):
    """The public graph. The counts cover all of it, even if only a part is shown."""

    ok: Literal[True] = True
    revision: int = Field(description="Revision of the graph that this shows; 0 before the first event")
    node_count: int = Field(ge=0)
    edge_count: int = Field(ge=0)
    nodes: list[ProjectedNode] = Field(description="By id")
    edges: list[ProjectedEdge] = Field(description="Among these nodes, by their ends")
    truncated: bool = Field(description="Whether the graph has nodes or edges beyond these")
    changes: list[ProjectedChange] = Field(description="The newest twenty decisions that changed public nodes")


class DrawnDomain(Document):
    """One domain, its position, and its number of public nodes."""

    name: str
    x: float
    y: float
    node_count: int


class DrawnNode(Document):
    """A public node and its position, in a square from 0 to 1000."""

    id: str
    title: str | None = Field(description="Null in compact mode")
    type: str | None = Field(description="Null in compact mode")
    domain: str
    x: float
    y: float
    weight: int = Field(description="The number of its public edges")


class DrawnEdge(Document):
    """A public edge between nodes of this view."""

    source: str
    target: str
    type: str | None = Field(description="Null in compact mode")


class WorldRender(Document):
    """The public graph with positions. A node stays where it was first drawn."""

    ok: Literal[True] = True
    revision: int = Field(description="Revision of the graph that this shows; 0 before the first event")
    view: RenderView
    compact: bool
    node_count: int = Field(ge=0, description="Of the whole public graph")
    edge_count: int = Field(ge=0, description="Of the whole public graph")
    domains: list[DrawnDomain]
    nodes: list[DrawnNode] = Field(description="The ones with the most edges first")
    edges: list[DrawnEdge] = Field(description="Among these nodes, by their ends")
    truncated: bool = Field(description="Whether the graph has nodes beyond these")
