"""Encodes documents whose format is a third party's standard, and derives names of a service from its address."""

import ipaddress
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """Renders a document as compact JSON, with its keys in the given order."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def host_of(base_url: str) -> str:
    """Returns the host of an address, without its port."""
    return urlsplit(base_url).hostname or "localhost"


def reverse_dns(base_url: str) -> str:
    """Returns the host of an address with its labels reversed (`com.example.svc`), or `localhost` for an IP address."""
    host = host_of(base_url)
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return ".".join(reversed(host.split(".")))
    return "localhost"
