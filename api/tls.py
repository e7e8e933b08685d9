"""Decides whose certificates this process trusts when it asks another service."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def tls_roots() -> ssl.SSLContext:
    """Returns the trusted roots. Cached, because reading them takes longer than most exchanges; ignores the
    environment."""
    return httpx.create_ssl_context(trust_env=False)
