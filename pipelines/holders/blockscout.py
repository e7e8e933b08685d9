"""Blockscout's holder count, a second opinion. Whatever goes wrong there is a value with a reason, never an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

import httpx
import msgspec

_TIMEOUT_S = 3.0
_MAX_BYTES = 256 * 1024
_TRIES = 2

Count = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,15}$")] | Annotated[int, msgspec.Meta(ge=0, lt=10**15)]


class TokenCounters(msgspec.Struct, frozen=True):
    """`/api/v2/tokens/{address}/counters`, as far as it is read."""

    token_holders_count: Count


class TokenInfo(msgspec.Struct, frozen=True):
    """`/api/v2/tokens/{address}`, as far as it is read."""

    holders_count: Count


@dataclass(frozen=True)
class HolderCounts:
    """What Blockscout counts: its running counter, and the number beside the token's name; they often differ.

    `reason` says why both are missing: timeout, unreachable, http_<status>, too_large, unreadable.
    """

    source: str
    counters_holders: int | None
    token_holders: int | None
    reason: str | None


class _Refused(Exception):
    """An answer that is no count; the text is the reason code."""


async def fetch_blockscout(
    base_url: str, token_address: str, *, transport: httpx.AsyncBaseTransport | None = None
) -> HolderCounts:
    """Holder counts of a token at the Blockscout instance at `base_url`; 3 s and one retry per request."""
    source = urlsplit(base_url).netloc
    address = f"{base_url}/api/v2/tokens/{token_address}"
    reasons: list[str] = []
    counts: list[int | None] = []
    async with httpx.AsyncClient(timeout=_TIMEOUT_S, transport=transport, follow_redirects=False) as client:
        for url, shape in ((f"{address}/counters", TokenCounters), (address, TokenInfo)):
            try:
                answer = read_counts(await _get(client, url), shape)
                counts.append(answer)
            except _Refused as refusal:
                reasons.append(str(refusal))
                counts.append(None)
    return HolderCounts(source, counts[0], counts[1], reasons[0] if counts == [None, None] else None)


def read_counts(body: bytes, shape: type[TokenCounters] | type[TokenInfo]) -> int:
    """The count in a body. Raises `_Refused` with `unreadable` on any other shape."""
    try:
        answer = msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise _Refused("unreadable") from None
    return int(answer.token_holders_count if isinstance(answer, TokenCounters) else answer.holders_count)


async def _get(client: httpx.AsyncClient, url: str) -> bytes:
    reason = "unreachable"
    for _ in range(_TRIES):
        try:
            async with client.stream("GET", url, headers={"accept": "application/json"}) as response:
                if response.status_code != 200:
                    reason = f"http_{response.status_code}"
                    if response.status_code < 500 and response.status_code != 429:
                        break
                    continue
                body = b""
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > _MAX_BYTES:
                        raise _Refused("too_large")
                return body
        except httpx.TimeoutException:
            reason = "timeout"
        except httpx.HTTPError:
            reason = "unreachable"
    raise _Refused(reason)
