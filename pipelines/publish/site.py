"""Builds the files that accompany the documents: the route table, and the server and CDN configuration from it."""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

import contracts
from contracts.canonical import sha256_hex
from contracts.discovery.installation import Installation
from contracts.publish.projection import Content, ExpiringBody, Projection, Redirect
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from contracts.publish.rendering import fields_of
from contracts.publish.routes import Folder, Index, RedirectRoute, Route, RouteTable, file_of, is_in_folder
from contracts.site.page import PageContent
from contracts.site.pages import PAGES
from warehouse.publish.lineage import tables_of

SITE = Path(__file__).resolve().parents[2] / "site"
_MADE_BY = (SITE, Path(contracts.__file__).parent)

FOLDERS = {
    "/data/holders-*.csv.gz": Folder(media_type="application/gzip"),
    "/data/tokens/*.csv.gz": Folder(media_type="application/gzip"),
    "/data/*.storage.json.gz": Folder(media_type="application/gzip"),
    "/data/graph-*.json.gz": Folder(media_type="application/gzip"),
    "/data/*.parquet": Folder(media_type="application/vnd.apache.parquet", cache="revalidated"),
    "/data/*.csv": Folder(media_type="text/csv; charset=utf-8", cache="revalidated", has_encodings=True),
    "/data/*.duckdb": Folder(media_type="application/octet-stream", cache="revalidated"),
    "/data/*.json": Folder(media_type="application/json", cache="revalidated", has_encodings=True),
    "/data/*.yaml": Folder(media_type="application/yaml", cache="revalidated", has_encodings=True),
    "/assets/css/*.css": Folder(media_type="text/css; charset=utf-8", has_encodings=True),
    "/assets/js/*.js": Folder(media_type="text/javascript; charset=utf-8", has_encodings=True),
    "/assets/png/*.png": Folder(media_type="image/png"),
}
"""Patterns without overlap, since a CDN applies every rule that matches. No pattern matches both a file that is itself
gzip and an encoded sibling of a text."""

INDEXES = {page.path: Index(page.programs, page.published_path) for page in PAGES if page.programs is not None}

ASSETS = {file.name: f"/assets{file.suffix.replace('.', '/')}/" for file in sorted((SITE / "assets").iterdir())}
"""Assets that pages load, by name in `site/assets/`, with their published folder, in which names contain a hash."""

TEMPLATES = {
    "public/_headers": "hosting/_headers.j2",
    "public/_redirects": "hosting/_redirects.j2",
    "hosting/nginx.conf": "hosting/nginx.conf.j2",
    "hosting/Caddyfile": "hosting/Caddyfile.j2",
}
"""Paths in a generation, and the template under `site/` for each."""


def route_table(
    installation: Installation,
    projections: Iterable[Projection] = PROJECTIONS,
    redirects: Iterable[Redirect] = REDIRECTS,
) -> RouteTable:
    """Returns the routes of every document, its aliases and published variants, and the redirects, all sorted."""
    routes = {path: route for row in projections for path, route in _routes(row, installation).items()}
    leading = {
        redirect.path: RedirectRoute(installation.prefix + redirect.to, installation.header_fields(redirect.headers))
        for redirect in redirects
    }
    indexes = {path: index for path, index in INDEXES.items() if index.page in routes}
    return RouteTable(dict(sorted(routes.items())), FOLDERS, leading, installation.prefix, indexes)


@lru_cache(maxsize=8192)
def published_folder(path: str) -> Folder | None:
    """Returns the folder of the file at `path`, or None. Cached: a generation has more than a thousand files, most of
    them the same as in the last one."""
    return next((folder for pattern, folder in FOLDERS.items() if is_in_folder(pattern, path)), None)


def site_files(table: RouteTable, api_address: str) -> dict[str, bytes]:
    """Returns contents by path in a generation. Servers pass requests without a file to `api_address` (host:port)."""
    return dict(_site_files(msgspec.json.encode(table), api_address))


@lru_cache(maxsize=4)
def _site_files(encoded: bytes, api_address: str) -> dict[str, bytes]:
    """Returns the same from an encoded table, cached for a process that publishes repeatedly."""
    table = msgspec.json.decode(encoded, type=RouteTable)
    files = {
        path: _templates().get_template(name).render(table=table, api_address=api_address).encode()
        for path, name in TEMPLATES.items()
    }
    files["public/routes.json"] = msgspec.json.format(encoded, indent=1)
    files |= {f"public{asset_path(name)}": (SITE / "assets" / name).read_bytes() for name in ASSETS}
    return files


def filled(projection: Projection, content: Content | PageContent) -> Content:
    """Returns the content; if it has a template, the body that the template renders."""
    if isinstance(content, PageContent):
        stale = None if content.stale is None else _rendered(content.template, content.stale)
        return ExpiringBody(_rendered(content.template, content.fresh), stale, content.stale_after)
    return content if projection.template is None else _rendered(projection.template, fields_of(content))


@lru_cache(maxsize=1024)
def shown_content(projection: Projection, installation: Installation, shown: tuple[bytes | None, ...]) -> Content:
    """Returns the content of a document that shows others, from their bodies in the order of its row. Cached for a
    process that publishes repeatedly."""
    assert projection.describe is not None
    bodies = {path: body for path, body in zip(projection.shows, shown, strict=True) if body is not None}
    return filled(projection, projection.describe(installation, bodies))


def made_of(projection: Projection, installation: Installation, shown: tuple[bytes | None, ...]) -> str:
    """Returns a hash of everything that determines the content of a document that shows others."""
    digests = tuple(None if body is None else _digest(body) for body in shown)
    return sha256_hex(repr((projection.name, _code_version(), _facts_of(installation), digests)).encode())


def made_of_tables(projection: Projection, installation: Installation, digests: Mapping[str, str]) -> str | None:
    """Returns a hash of everything that determines the content of a document that reads tables, from their `digests`.

    Returns None if it reads no table, or one without a digest.
    """
    read = sorted(tables_of(projection))
    if not read or not digests.keys() >= set(read):
        return None
    tables = tuple((table, digests[table]) for table in read)
    return sha256_hex(repr((projection.name, _code_version(), _facts_of(installation), tables)).encode())


_digest = lru_cache(maxsize=256)(sha256_hex)


@lru_cache(maxsize=8)
def _facts_of(installation: Installation) -> str:
    """Returns every public fact of an installation as a text that is the same in every process."""
    facts = {one.name: getattr(installation, one.name) for one in fields(installation)}
    keys = None if installation.keys is None else installation.keys.jwks()
    return repr({**facts, "keys": keys, "configured": sorted(installation.configured)})


@cache
def _code_version() -> str:
    """Returns a hash of the code and the data from which pages are built, so that they are rebuilt after an update."""
    hashes = [sha256_hex(Path(__file__).read_bytes())]
    for folder in _MADE_BY:
        for directory, inner, names in os.walk(folder):
            inner[:] = sorted(set(inner) - {"__pycache__", "node_modules"})
            files = (Path(directory, name) for name in sorted(names))
            hashes += [f"{file.relative_to(folder)} {sha256_hex(file.read_bytes())}" for file in files]
    return sha256_hex("\n".join(hashes).encode())


def _rendered(template: str, facts: Mapping[str, Any]) -> bytes:
    return _templates().get_template(template).render(facts, asset=asset_path).encode()


@cache
def asset_path(name: str) -> str:
    """Returns the path of an asset, which changes with its content."""
    stem, suffix = name.split(".")
    return f"{ASSETS[name]}{stem}.{sha256_hex((SITE / 'assets' / name).read_bytes())[:12]}.{suffix}"


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
    """Quotes a text as a string for nginx and Caddy."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@lru_cache(maxsize=4096)
def _prose(text: str) -> Markup:
    """Marks up code in backquotes within a description. Cached, since pages of operations share most of theirs: there
    are 13,000 uses of 1,400 texts."""
    pieces = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces)
    )


def _expression(pattern: str) -> str:
    """Returns a folder's pattern as a regular expression for nginx and Caddy."""
    return "^" + ".+".join(map(re.escape, pattern.split("*"))) + "$"


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """Stores compiled templates next to their sources, as Python does with modules. If it can't write there, each
    process compiles them."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(SITE),
        bytecode_cache=CompiledTemplates(str(SITE / "__pycache__")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=jinja2.select_autoescape(enabled_extensions=("html.j2",), default=False),
    )
    environment.filters["prose"] = _prose
    environment.filters["quoted"] = _quoted
    environment.filters["expression"] = _expression
    return environment
