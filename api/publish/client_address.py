"""Whose request it is: the socket's address, or the nearest hop that is no trusted proxy. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
        # keyed by what the kernel says of a socket, never by what a client writes
        self._peer = lru_cache(maxsize=8192)(self._look_up_peer)

    def key(self, peer: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> str:
        """The rate-limit key of the client behind `peer`. Reads `headers` only where `peer` is a trusted proxy."""
        key, trusted = self._peer(peer)
        if not trusted:
            return key
        for hop in _hops(headers):
            address = _address(hop)
            if address is None:
                break
            key = _key_of(address)
            if not self._is_trusted(address):
                break
        return key

    def trusts(self, peer: str) -> bool:
        """Decides whether forwarding headers from this socket address are believed."""
        return self._peer(peer)[1]

    def _look_up_peer(self, peer: str) -> tuple[str, bool]:
        address = _address(peer)
        return (peer, False) if address is None else (_key_of(address), self._is_trusted(address))

    def _is_trusted(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._trusted)


def _hops(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[str]:
    """The forwarding hops, nearest first: those of `X-Forwarded-For`, else those of `Forwarded`."""
    fields: dict[bytes, list[bytes]] = {b"x-forwarded-for": [], b"forwarded": []}
    for name, value in headers:
        if name in fields:
            fields[name].append(value)
    if x_forwarded_for := fields[b"x-forwarded-for"]:
        for hop in reversed(b",".join(x_forwarded_for).split(b",")):
            yield hop.decode("latin-1").strip()
        return
    for element in reversed(b",".join(fields[b"forwarded"]).split(b",") if fields[b"forwarded"] else []):
        match = _FORWARDED_FOR.search(element.decode("latin-1"))
        yield "unknown" if match is None else match[1] or match[2] or "unknown"


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
