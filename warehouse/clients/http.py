"""Creates every outbound HTTP client, so that trust, limits and time-outs are decided in one place.

It is in the warehouse because `api`, `pipelines` and `cli` all send requests to other services, and the warehouse is
the only layer below them that may open connections. Bulk reads of a chain use aiohttp instead
(`pipelines/clients/rpc.py`), which reads their large bodies four times faster, with the same trust roots.
"""

import asyncio
import logging
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import certifi
import httpx

from contracts.errors import SettingsInvalid
from warehouse.tracing import span

for _library in ("httpx", "httpcore"):  # they log addresses, and an address may contain a key
    logging.getLogger(_library).setLevel(logging.WARNING)

_HEADERS = {"User-Agent": "svc", "Accept-Encoding": "identity"}
"""Bodies are requested uncompressed: a compressed one could expand to any size within one chunk."""


class BodyRefused(ValueError):
    """A body that is not read to its end. Not a fault of the connection: a retry does not help."""


class ReplyTooLarge(BodyRefused):
    """A body that exceeds the allowed number of bytes."""


class BodyCompressed(BodyRefused):
    """A compressed body, although none was requested."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `body` is empty unless `status` is 200."""

    status: int
    headers: httpx.Headers
    body: bytes


@cache
def tls_roots() -> ssl.SSLContext:
    """Returns the certificate authorities that every client trusts: those of `SSL_CERT_FILE` or `SSL_CERT_DIR` if one
    is set, otherwise those of the system and of certifi. Cached: reading them takes longer than most exchanges.

    Raises `SettingsInvalid` if the variable names nothing that can be read.
    """
    file, directory = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        context = ssl.create_default_context(cafile=file or None, capath=directory or None)
    except OSError as error:
        raise SettingsInvalid(
            f"The certificates of SSL_CERT_FILE or SSL_CERT_DIR can't be read: {error}.",
            cure="Set it to a file of PEM certificates, or unset it.",
        ) from error
    if not file and not directory:
        context.load_default_certs()
        context.load_verify_locations(cafile=certifi.where())
    return context


def client(
    timeout_s: float, *, proxied: bool = False, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """Creates a client that follows no redirects. With `proxied` it uses the proxies of the environment, which public
    services may need; requests to chain nodes, companions and this service go direct."""
    return httpx.AsyncClient(
        timeout=timeout_s,
        verify=tls_roots(),
        trust_env=proxied,
        transport=transport,
        follow_redirects=False,
        headers=_HEADERS,
    )


def blocking_client(timeout_s: float, *, proxied: bool = False) -> httpx.Client:
    """Creates a synchronous client for commands, otherwise like `client`."""
    return httpx.Client(
        timeout=timeout_s, verify=tls_roots(), trust_env=proxied, follow_redirects=False, headers=_HEADERS
    )


async def ask(
    client: httpx.AsyncClient,
    method: str,
    url: str,
    *,
    timeout_s: float,
    max_bytes: int,
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> Reply:
    """Sends one request and reads the answer, all within `timeout_s`, from resolving the name to the last byte.

    Raises `TimeoutError`, `httpx.HTTPError` on a failed connection, `BodyRefused`.
    """
    attributes = {"server.address": httpx.URL(url).host, "http.request.method": method}
    with span(method, "client", attributes=attributes) as asked:
        async with (
            asyncio.timeout(timeout_s),
            client.stream(method, url, headers=headers, content=content) as response,
        ):
            asked.set_attribute("http.response.status_code", response.status_code)
            body = await _read(response, max_bytes) if response.status_code == 200 else b""
            return Reply(response.status_code, response.headers, body)


async def _read(response: httpx.Response, max_bytes: int) -> bytes:
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > max_bytes:
        raise ReplyTooLarge("an answer that is too large")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise BodyCompressed("an answer that is compressed")
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > max_bytes:
            raise ReplyTooLarge("an answer that is too large")
    return bytes(body)
