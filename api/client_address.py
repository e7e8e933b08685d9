"""Whose request it is: the socket's address, or the nearest hop that is no trusted proxy. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from contracts.errors import SettingsInvalid

_FORWARDED_FOR = re.compile(r'(?:^|;)\s*for=(?:"([^"]*)"|([^;,\s"]*))', re.IGNORECASE)


class ClientAddresses:
    """Rate-limit keys of clients: an IPv4 address, or an IPv6 /64, which is what one subscriber holds.

    A forwarding header counts only where the socket's own address is a trusted proxy; then hops are walked from the
    right, and the first that is not trusted is the client. `X-Forwarded-For` goes before `Forwarded`, since most
    proxies write only the former and hand a client's own `Forwarded` on; one that writes `Forwarded` has to drop the
    other.
    """

    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._trusted = tuple(_network(text) for text in trusted_proxies)
        self.key = lru_cache(maxsize=8192)(self._key)

    def trusts(self, peer: str) -> bool:
        """Whether forwarding headers from this socket address are believed."""
        address = _address(peer)
        return address is not None and any(address in network for network in self._trusted)

    def _key(self, peer: str, x_forwarded_for: bytes | None = None, forwarded: bytes | None = None) -> str:
        nearest = _address(peer)
        if nearest is None:
            return peer
        if not self.trusts(peer):
            return _key_of(nearest)
        for hop in reversed(_hops(x_forwarded_for, forwarded)):
            address = _address(hop)
            if address is None:
                break
            nearest = address
            if not any(address in network for network in self._trusted):
                break
        return _key_of(nearest)


def _hops(x_forwarded_for: bytes | None, forwarded: bytes | None) -> list[str]:
    if x_forwarded_for is not None:
        return [hop.strip() for hop in x_forwarded_for.decode("latin-1").split(",")]
    if forwarded is None:
        return []
    elements = forwarded.decode("latin-1").split(",")
    matches = [_FORWARDED_FOR.search(element) for element in elements]
    return ["unknown" if match is None else match[1] or match[2] or "unknown" for match in matches]


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address with or without port and brackets; IPv4 written as IPv6 is IPv4. None where it is none."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _key_of(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return f"{IPv6Address(int(address) >> 64 << 64)}/64"


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise SettingsInvalid(
            f"SVC_TRUSTED_PROXIES: {text} is neither an address nor a network.",
            cure="Write addresses such as 127.0.0.1 or networks such as 10.0.0.0/8, comma-separated.",
        ) from None
