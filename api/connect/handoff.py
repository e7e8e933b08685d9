"""Asks the companion application about a pairing code, within limits. `contracts/connect/handoff.py` judges replies."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

import httpx

from contracts.connect.handoff import (
    CLOCKS_DIFFER_S,
    MAX_REPLY_BYTES,
    VERIFY_PATH,
    ReplyRefused,
    may_be_asked,
    read_reply,
    request_body,
    signed_headers,
    signed_nonce,
)
from contracts.connect.pairing import Vouched
from warehouse.clients.http import BodyRefused, ask, client, tls_roots

if TYPE_CHECKING:
    from warehouse.ledger.counters import Counters

TIMEOUT_S = 3.0
"""For the whole exchange, from the name's resolution to the reply's last byte."""

_HEADERS = {"Content-Type": "application/json", "Accept": "application/json"}

_log = logging.getLogger(__name__)


class Handoff:
    """One companion application. Any event loop may use it."""

    def __init__(
        self,
        app_url: str,
        secret: bytes | None,
        counters: Counters,
        clock: Callable[[], datetime],
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`secret` signs requests and replies; without it, only a companion on this machine is trusted. `clock` is in
        UTC."""
        self.timeout_s = timeout_s
        self._url = app_url + VERIFY_PATH
        self._may_be_asked = may_be_asked(app_url, signed=secret is not None)
        self._secret = secret
        self._counters = counters
        self._clock = clock

    async def vouched(self, code: str) -> Vouched | None:
        """Returns the companion's statement about a code, or None if the code is invalid or the reply not credible.

        Raises `OperatorProblem` if the nonces of earlier replies can't be looked up.
        """
        if not self._may_be_asked:
            _log.warning("SVC_APP_URL is not on this machine: no code is good until SVC_HANDOFF_SECRET is set.")
            return None
        await asyncio.to_thread(tls_roots)
        try:
            async with asyncio.timeout(self.timeout_s):
                headers, reply = await self._asked(request_body(code))
                if self._secret is not None:
                    await self._check_signature(self._secret, headers, reply)
                return read_reply(reply, self._clock())
        except TimeoutError:
            _refused("it did not reply in time")
        except httpx.HTTPError as error:
            _refused(type(error).__name__)
        except (ReplyRefused, BodyRefused) as reason:
            _refused(str(reason))
        return None

    async def _asked(self, body: bytes) -> tuple[httpx.Headers, bytes]:
        headers = dict(_HEADERS)
        if self._secret is not None:
            headers |= signed_headers(self._secret, secrets.token_urlsafe(24), body, self._clock().timestamp())
        async with client(self.timeout_s) as companion:
            reply = await ask(
                companion,
                "POST",
                self._url,
                timeout_s=self.timeout_s,
                max_bytes=MAX_REPLY_BYTES,
                headers=headers,
                content=body,
            )
        if reply.status != 200:
            raise ReplyRefused(f"HTTP {reply.status}")
        if reply.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            raise ReplyRefused("it is not of type application/json")
        return reply.headers, reply.body

    async def _check_signature(self, secret: bytes, headers: httpx.Headers, reply: bytes) -> None:
        nonce, timestamp = signed_nonce(secret, headers, reply, self._clock().timestamp())
        # Counted at the signed time, so that a replay falls into the same window whenever it arrives.
        first = await asyncio.to_thread(
            self._counters.take, f"handoff nonce:{timestamp}.{nonce}", 1, 2 * CLOCKS_DIFFER_S, float(timestamp)
        )
        if not first.allowed:
            raise ReplyRefused("it was used before")


def _refused(reason: str) -> None:
    _log.warning("The companion application gave no usable reply: %s", reason)
