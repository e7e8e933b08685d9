"""Checks every address that documents name: one on this host must answer, others are only listed."""

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from contracts.discovery.checks.evidence import EXAMPLES, Defect, Evidence, HttpAnswer, path_below
from contracts.discovery.checks.expected import SHAPES
from contracts.discovery.checks.headers import link_targets
from contracts.discovery.checks.texts import read_page

_ADDRESS = re.compile(r"https?://[^\s<>\"'`\\^|)\]]+")
_MARKDOWN_LINK = re.compile(r"\]\((/[^\s)]*)\)")
_PATH_KEYS = {"path"}
"""Names under which JSON documents give paths below the base address."""

_ROOTED_KEYS = {"href", "apiPath"}
"""Names under which third parties' standards give paths of the host."""

_GONE = (404, 410)
_RESERVED = ".example"
_TEMPLATE_SIGNS = ("{", "<", "*", "…", "...")


def addresses_in(base_url: str, path: str, answer: HttpAnswer) -> set[str]:
    """Returns all absolute addresses in a document, without fragments and without templates (`{id}`, `**`)."""
    return set(_addresses(base_url, path, answer.media_type, answer.body, frozenset(link_targets(answer))))


@lru_cache(maxsize=512)
def _addresses(base_url: str, path: str, kind: str, body: bytes, linked: frozenset[str]) -> frozenset[str]:
    """Caches the result: the reader requests these addresses, and the checks judge them."""
    answer = HttpAnswer(200, {"content-type": kind}, body)
    addresses = {urljoin(base_url + path, target) for target in linked}
    if kind.endswith(("json", "yaml")):
        for text, _ in _strings(answer.value):
            addresses |= set(_ADDRESS.findall(text))
        if SHAPES.get(path) == "openapi" and isinstance(answer.value, dict):
            past = _with_parameters(answer.value)
            addresses = {
                url
                for url in addresses
                if not any(pattern.fullmatch(path_below(base_url, url) or "") for pattern in past)
            }
            addresses |= {base_url + route for route in _routes_without_parameters(answer.value)}
        for text, name in _strings(answer.value, without=EXAMPLES):
            if text.startswith("/") and " " not in text:
                addresses |= {base_url + text} if name in _PATH_KEYS else set()
                addresses |= {urljoin(base_url, text)} if name in _ROOTED_KEYS else set()
    else:
        addresses |= set(_ADDRESS.findall(html.unescape(answer.text) if kind == "text/html" else answer.text))
        if kind == "text/html":
            page = read_page(answer.text)
            addresses |= {urljoin(base_url + path, target) for target in (*page.links, *page.loads) if target}
        if kind == "text/markdown":
            addresses |= {base_url + target for target in _MARKDOWN_LINK.findall(answer.text)}
    return frozenset(clean for address in addresses if (clean := _clean_address(address)))


def link_defects(evidence: Evidence) -> Iterator[Defect]:
    """Yields addresses of this host that don't answer, and addresses of ours that name another host."""
    for path, answer in evidence.documents.items():
        for url in sorted(addresses_in(evidence.base_url, path, answer)):
            below = path_below(evidence.base_url, url)
            if below is None:
                yield from _elsewhere(evidence, path, url)
                continue
            answered = evidence.linked.get(url) or (
                evidence.readings[below].answer if below in evidence.readings else None
            )
            if answered is not None:
                yield from _answer_defects(path, below, answered)


def external_addresses(evidence: Evidence) -> set[str]:
    """Returns the addresses elsewhere that documents name; they are not requested."""
    return {
        url
        for path, answer in evidence.documents.items()
        for url in addresses_in(evidence.base_url, path, answer)
        if path_below(evidence.base_url, url) is None
    }


def _answer_defects(path: str, below: str, answer: HttpAnswer) -> Iterator[Defect]:
    if answer.status in _GONE or answer.status == 0:
        outcome = answer.fault if answer.status == 0 else answer.status
        yield Defect(path, f"leads to {below}, which answers {outcome}", "Fix the link, or serve its target.")
    elif answer.status >= 500:
        yield Defect(path, f"leads to {below}, which fails with {answer.status}", "Look into the service's log.")
    elif answer.status == 405 and not answer.headers.get("allow"):
        yield Defect(path, f"leads to {below}, whose 405 has no Allow", "Name the methods in Allow.")
    elif answer.status == 200 and answer.media_type.endswith("json") and answer.value is None:
        yield Defect(path, f"leads to {below}, which is not the JSON that it claims to be", "Fix that body.")


def _elsewhere(evidence: Evidence, path: str, url: str) -> Iterator[Defect]:
    """Yields addresses of another host (or outside of the prefix) with a path that only this service has."""
    there = urlsplit(url)
    if SHAPES[path] == "openapi" and (there.hostname or "").endswith(_RESERVED):
        return  # a recorded answer of an example installation
    ends = [shape for shape in SHAPES if len(shape) > 1 and there.path.endswith(shape)]
    ours = urlsplit(evidence.base_url)
    local = there.hostname in ("localhost", "127.0.0.1", "0.0.0.0", "::1", "testserver", "test")  # noqa: S104
    if ends or there.netloc == ours.netloc or (local and ours.hostname != there.hostname):
        yield Defect(
            path, f"names {url}, which is not below {evidence.base_url}", "Make addresses from the base address."
        )


def _strings(value: Any, name: str = "", without: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yields every string of a JSON value with the name of its member."""
    if isinstance(value, str):
        yield value, name
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in without:
                yield from _strings(inner, str(key), without)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, name, without)


def _routes_without_parameters(description: dict[str, Any]) -> Iterator[str]:
    for route, item in description.get("paths", {}).items():
        if "{" not in route and "get" in item:
            yield route


def _with_parameters(description: dict[str, Any]) -> list[re.Pattern[str]]:
    """Returns patterns of the routes with parameters: an id in an example of such an address may no longer exist."""
    routes = [re.sub(r"\{[^}]*\}", "{}", route) for route in description.get("paths", {}) if "{" in route]
    return [re.compile("[^/]+".join(map(re.escape, route.split("{}")))) for route in routes]


def _clean_address(url: str) -> str | None:
    """Returns an address in requestable form, or None for a template or an invalid one."""
    url = urldefrag(url).url.rstrip(".,;:!")
    if any(sign in unquote(url) for sign in _TEMPLATE_SIGNS):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None
