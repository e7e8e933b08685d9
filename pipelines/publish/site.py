"""The published tree around the documents: the route table, and configuration of servers and CDNs made from it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import jinja2
import msgspec

from contracts.discovery.installation import Installation
from contracts.projections import PROJECTIONS, REDIRECTS, Projection, Redirect
from contracts.routes import Folder, RedirectRoute, Route, RouteTable
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


def route_table(
    installation: Installation,
    projections: Iterable[Projection] = PROJECTIONS,
    redirects: Iterable[Redirect] = REDIRECTS,
) -> RouteTable:
    """Routes of every published document, its aliases and published variants, and the redirects; all in order."""
    routes = {path: route for row in projections for path, route in _routes(row, installation).items()}
    leading = {
        each.path: RedirectRoute(installation.prefix + each.to, installation.header_fields(each.headers))
        for each in redirects
    }
    return RouteTable(dict(sorted(routes.items())), FOLDERS, leading)


def site_files(table: RouteTable, api_address: str) -> dict[str, bytes]:
    """Contents by path in a generation. `api_address` (host:port) is where servers send what no file answers."""
    files = {
        path: _templates().get_template(name).render(table=table, api_address=api_address).encode()
        for path, name in TEMPLATES.items()
    }
    files["public/routes.json"] = msgspec.json.format(msgspec.json.encode(table), indent=1)
    files["public/404.html"] = (SITE / "404.html").read_bytes()
    return files


def _routes(projection: Projection, installation: Installation) -> dict[str, Route]:
    names = tuple(field.alias or name for name, field in getattr(projection.parameters, "model_fields", {}).items())
    own = Route(
        file=file_of(projection.path),
        media_type=projection.media_type,
        cache=projection.cache,
        own_headers=installation.header_fields(projection.headers),
        parameters=names,
        variants={variant.query: variant.path for variant in projection.published_variants},
        markdown=projection.markdown,
    )
    aliases = {
        alias.path: msgspec.structs.replace(
            own,
            own_headers=installation.header_fields({**projection.headers, **alias.headers}),
            document=projection.path,
        )
        for alias in projection.aliases
    }
    variants = {
        variant.path: msgspec.structs.replace(own, file=file_of(variant.path), parameters=(), variants={})
        for variant in projection.published_variants
    }
    return {projection.path: own, **aliases, **variants}


def _quoted(text: str) -> str:
    """As a quoted string of nginx and Caddy."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(SITE),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - configuration files, made of our own route table
    )
    environment.filters["quoted"] = _quoted
    return environment
