"""The published tree around the documents: the route table, and configuration of servers and CDNs made from it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jinja2
import msgspec

from contracts.projections import PROJECTIONS, Projection
from contracts.routes import Folder, Route, RouteTable
from pipelines.publish.documents import file_of

SITE = Path(__file__).resolve().parents[2] / "site"

FOLDERS = {"/data/": Folder(media_type="application/gzip")}

TEMPLATES = {
    "public/_headers": "hosting/_headers.j2",
    "public/_redirects": "hosting/_redirects.j2",
    "hosting/nginx.conf": "hosting/nginx.conf.j2",
    "hosting/Caddyfile": "hosting/Caddyfile.j2",
}
"""Paths in a generation, and the template under `site/` that each is made of."""


def route_table(paths: Iterable[str], projections: Iterable[Projection] = PROJECTIONS) -> RouteTable:
    """One route for each published path, in order."""
    variants = {projection.path: projection.parameters for projection in projections}
    return RouteTable(
        {path: _route(path, variants.get(path)) for path in sorted(paths)},
        FOLDERS,
    )


def site_files(table: RouteTable, api_address: str) -> dict[str, bytes]:
    """Contents by path in a generation. `api_address` (host:port) is where servers send what no file answers."""
    files = {
        path: _templates().get_template(name).render(table=table, api_address=api_address).encode()
        for path, name in TEMPLATES.items()
    }
    files["public/routes.json"] = msgspec.json.format(msgspec.json.encode(table), indent=1)
    files["public/404.html"] = (SITE / "404.html").read_bytes()
    return files


def _route(path: str, parameters: type | None) -> Route:
    names = tuple(field.alias or name for name, field in getattr(parameters, "model_fields", {}).items())
    return Route(file=file_of(path), media_type="application/json", parameters=names)


@cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(SITE),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - configuration files, made of our own route table
    )
