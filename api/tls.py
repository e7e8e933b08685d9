"""Whose certificates are believed where this process asks another service."""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def tls_roots() -> ssl.SSLContext:
    """Made once: reading the roots takes longer than most exchanges. The environment has no say in it."""
    return httpx.create_ssl_context(trust_env=False)
