"""Defines the public projections of the graph and their views, and removes personal data from titles. Pure."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Literal

from pydantic import Field

from contracts.base import Document

NODES_SHOWN = 5_000
"""Most nodes in the live projection. A larger graph shows those with the most edges."""

REDACTED = "[removed]"

_PERSONAL = re.compile(
    r"[\w.+-]+@[\w-]+(\.[\w-]+)+"  # e-mail addresses
    r"|(?<![\w/])@\w{2,}"  # handles
    r"|svc_(?:free|basic|pro)_\S+"  # API keys
    r"|\beyJ[\w-]{8,}\.[\w.-]+"  # tokens
    r"|(?<!\w)\+\d[\d ()./-]{7,}\d"  # telephone numbers
)


def public_title(node_type: str, title: str) -> str:
    """Returns a title that may be published, without names of persons and without contact data."""
    return "Person" if node_type == "Person" else _PERSONAL.sub(REDACTED, title)


class RenderView(StrEnum):
    """The part of the graph that a picture shows: the nodes with the most edges."""

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
    """A public node."""

    id: str
    title: str
    type: str
    domain: str


class ProjectedEdge(Document):
    """A public edge between public nodes."""

    source: str = Field(description="Id of the node it leads from")
    target: str = Field(description="Id of the node it leads to")
    type: str


class WorldProjection(Document):
    """The public graph. The counts cover all of it, even if only a part is shown."""

    ok: Literal[True] = True
    revision: int = Field(description="The graph's revision that this is; 0 before the first event")
    node_count: int = Field(ge=0)
    edge_count: int = Field(ge=0)
    nodes: list[ProjectedNode] = Field(description="By id")
    edges: list[ProjectedEdge] = Field(description="Among these nodes, by their ends")
    truncated: bool = Field(description="Whether the graph has nodes or edges beyond these")


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
    weight: int = Field(description="Its public edges")


class DrawnEdge(Document):
    """A public edge between nodes of this view."""

    source: str
    target: str
    type: str | None = Field(description="Null in compact mode")


class WorldRender(Document):
    """The public graph with positions. A node stays where it was drawn first."""

    ok: Literal[True] = True
    revision: int = Field(description="The graph's revision that this is; 0 before the first event")
    view: RenderView
    compact: bool
    node_count: int = Field(ge=0, description="Of the whole public graph")
    edge_count: int = Field(ge=0, description="Of the whole public graph")
    domains: list[DrawnDomain]
    nodes: list[DrawnNode] = Field(description="Those with the most edges first")
    edges: list[DrawnEdge] = Field(description="Among these nodes, by their ends")
    truncated: bool = Field(description="Whether the graph has nodes beyond these")
