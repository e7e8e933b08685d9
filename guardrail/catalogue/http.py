"""The effects of HTTP requests: rows of `http.yaml` by product, and a rule for all other requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped, unused-ignore]

from guardrail.compiled import load_compiled
from guardrail.facts import encodable
from guardrail.model import Effect, Span, Target
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity

ROWS = Path(__file__).with_name("http.yaml")
COMPILED = Path(__file__).with_name("http.json")
_MAKERS = (Path(__file__), Path(__file__).parent.parent / "vocabulary.py")

_URL = re.compile(
    r"(?:([a-z][a-z0-9+.-]{0,20})://)?(?:[^/?#@\s]{0,400}@)?(\[[0-9a-f:.]{2,60}\]|[^/?#:]*)(?::(\d{1,5}))?", re.I
)
_PORTS = {"http": "80", "https": "443", "ftp": "21", "ws": "80", "wss": "443"}
_THIS_MACHINE = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[?::1\]?|0\.0\.0\.0|host\.docker\.internal)\Z", re.I)
_BY_METHOD = {
    "POST": EffectKind.SEND,
    "PUT": EffectKind.OVERWRITE,
    "PATCH": EffectKind.ALTER,
    "DELETE": EffectKind.DELETE,
    "PURGE": EffectKind.DELETE,
    "MOVE": EffectKind.ALTER,
    "COPY": EffectKind.CREATE,
    "MKCOL": EffectKind.CREATE,
}
_DRY_RUN = re.compile(r"[?&](?:dry[-_]?run|(?:validate|test)[-_]?only|simulate|preview|what[-_]?if)=(\w+)", re.I)
_SWITCHED_ON = frozenset(("true", "1", "yes", "on", "all", "server", "client"))
_WITH_DRY_RUNS = frozenset(("kubernetes", "argo cd", "elasticsearch"))
"""Products with rows that know such a flag. Others, such as GitHub, ignore a parameter that they don't know."""
_CLOUDS_WITH_DRY_RUNS = (".googleapis.com", ".amazonaws.com")
_CHANGES_NOTHING_IF_DRY = frozenset(
    (
        *(EffectKind.DELETE, EffectKind.OVERWRITE, EffectKind.ALTER, EffectKind.CREATE, EffectKind.CONFIGURE),
        *(EffectKind.STOP, EffectKind.CANCEL),
    )
)
_KEYS = {"product", "source", "method", "url", "body", "effects"}
_EFFECT_KEYS = {"kind", "object", "scope", "place", "reversible", "sensitivity", "detail", "says"}


class EffectOfRequest(NamedTuple):
    """The effect that a known request has on its URL."""

    kind: EffectKind
    object: ObjectKind
    scope: Scope = Scope.ONE
    place: Place = Place.REMOTE
    reversible: Reversible = Reversible.YES
    sensitivity: Sensitivity = Sensitivity.NONE
    detail: Mapping[str, str] = MappingProxyType({})


class Row(NamedTuple):
    """Requests of one product that have the same effects. `methods` is empty if any method matches."""

    product: str
    methods: frozenset[str]
    url: Any
    body: Any
    effects: tuple[EffectOfRequest, ...]

    def fits(self, method: str, address: str, body: str | None) -> bool:
        """Decides whether the row applies to this request."""
        return (
            (not self.methods or method in self.methods)
            and self.url.search(address) is not None
            and (self.body is None or (body is not None and self.body.search(body) is not None))
        )


def effects_of_request(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: str | None,
    span: Span,
    rows: Sequence[Row] | None = None,
) -> tuple[Effect, ...]:
    """Returns the effects of a request: those of the first row that matches, else those of its method."""
    method = method.upper()
    scheme, host, port = _parts_of(url)
    if url.startswith(":"):
        host = "localhost"  # HTTPie's ":8000/path"; a path alone, as in `fetch("/path")`, may be of any host
    detail = {"url": url}
    if scheme == "file":
        return (Effect(EffectKind.READ, ObjectKind.PATH, span, "http", (Target(url[len("file://") :]),)),)
    address = f"{host}:{port}{_path_of(url)}"
    dry = _is_dry_run(address)
    for row in rows if rows is not None else _rows_for(method, address):
        if row.fits(method, address, body):
            knows_flag = row.product in _WITH_DRY_RUNS or host.endswith(_CLOUDS_WITH_DRY_RUNS)
            if dry and knows_flag and all(effect.kind in _CHANGES_NOTHING_IF_DRY for effect in row.effects):
                break
            return tuple(
                Effect(
                    effect.kind,
                    effect.object,
                    span,
                    f"http {row.product}",
                    (Target(url, effect.place, effect.sensitivity),),
                    effect.scope,
                    effect.reversible,
                    detail={**detail, **effect.detail},
                )
                for effect in row.effects
            )
    kind = _BY_METHOD.get(method, EffectKind.DOWNLOAD)
    if dry and kind in _CHANGES_NOTHING_IF_DRY:
        kind = EffectKind.SEND if body else EffectKind.DOWNLOAD
    # A server on this machine belongs to the current work; its data can be recreated.
    here = _THIS_MACHINE.match(host) is not None
    for_good = kind is EffectKind.DELETE and not here
    return (
        Effect(
            kind,
            ObjectKind.RESOURCE,
            span,
            "http",
            (Target(url, Place.UNKNOWN if here else Place.REMOTE),),
            reversible=Reversible.NO if for_good else Reversible.YES,
            detail=detail,
        ),
    )


def _is_dry_run(address: str) -> bool:
    """Decides whether the query asks the server to change nothing: `?dryRun=All`, but not `?dryRun=false`."""
    flags = _DRY_RUN.findall(address)
    return bool(flags) and all(value.lower() in _SWITCHED_ON for value in flags)


def _rows_for(method: str, address: str) -> Sequence[Row]:
    """Returns the known rows that may apply to a request; usually none, which a single search shows."""
    rows, any_url = _rows_of_method(method)
    return rows if any_url.search(encodable(address)) is not None else ()


@lru_cache(maxsize=32)
def _rows_of_method(method: str) -> tuple[tuple[Row, ...], Any]:
    rows = tuple(row for row in known_rows() if not row.methods or method in row.methods)
    return rows, re2.compile("|".join(f"(?:{row.url.pattern})" for row in rows))


def _parts_of(url: str) -> tuple[str, str, str]:
    """Returns scheme, host and port of a URL; the scheme is http if it names none."""
    match = _URL.match(url)
    if match is None:
        return "http", "", "80"
    scheme = (match[1] or "http").lower()
    return scheme, match[2].lower(), match[3] or _PORTS.get(scheme, "0")


def _path_of(url: str) -> str:
    """Returns path and query of a URL, beginning with a slash."""
    match = _URL.match(url)
    path = url[match.end() :] if match is not None else url
    path = path.partition("#")[0]
    return path if path.startswith("/") else f"/{path}"


@cache
def known_rows() -> tuple[Row, ...]:
    """Returns the rows of `http.yaml`, or of its compiled form in an installed wheel."""
    sources = {ROWS.name: ROWS.read_bytes()} if ROWS.is_file() else {}
    plain = load_compiled(COMPILED, sources, _MAKERS, lambda: {"rows": plain_rows(sources[ROWS.name].decode())})
    return parse_rows(plain["rows"])


def plain_rows(text: str) -> list[dict[str, Any]]:
    """Returns the YAML of `http.yaml` as plain data. Raises ValueError for an unknown key or word."""
    import yaml

    plain: list[dict[str, Any]] = yaml.safe_load(text)
    parse_rows(plain)
    return plain


def parse_rows(plain: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
    """Builds rows with compiled expressions."""
    return tuple(_row(row) for row in plain)


def _row(row: Mapping[str, Any]) -> Row:
    unknown = set(row) - _KEYS
    if unknown or not row.get("product") or not row.get("source"):
        raise ValueError(f"row {row.get('product')!r}: unknown keys {sorted(unknown)}, or no product or source")
    methods = row.get("method", [])
    return Row(
        row["product"],
        frozenset([methods] if isinstance(methods, str) else methods),
        re2.compile(row["url"]),
        re2.compile(row["body"]) if "body" in row else None,
        tuple(_effect(effect) for effect in row["effects"]),
    )


def _effect(effect: Mapping[str, Any]) -> EffectOfRequest:
    unknown = set(effect) - _EFFECT_KEYS
    if unknown:
        raise ValueError(f"an effect has unknown keys {sorted(unknown)}")
    reversible = effect.get("reversible", "yes")
    says = {"says": effect["says"]} if "says" in effect else {}
    return EffectOfRequest(
        EffectKind(effect["kind"]),
        ObjectKind(effect["object"]),
        Scope(effect.get("scope", "one")),
        Place(effect.get("place", "remote")),
        # YAML reads a bare `no` as a Boolean.
        Reversible({True: "yes", False: "no"}.get(reversible, reversible)),
        Sensitivity(effect.get("sensitivity", "none")),
        {**effect.get("detail", {}), **says},
    )
