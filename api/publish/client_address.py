"""Determines a client's rate-limit key: the socket's address, or the nearest hop that is not a trusted proxy. Pure."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_FORWARDED_FOR = re.compile(r'(?:^|;)\s*for=(?:"([^"]*)"|([^;,\s"]*))', re.IGNORECASE)


class ClientAddresses:
    """Rate-limit keys of clients: an IPv4 address, or an IPv6 /64, which is the usual allotment of one subscriber.

    Forwarding headers count only if the socket's address is a trusted proxy. Then hops are read from the right, and the
    first that is not trusted is the client. `X-Forwarded-For` is preferred to `Forwarded`, since most proxies write
    only the former and pass on a client's own `Forwarded`; a proxy that writes `Forwarded` must drop the other.

    Example: with 10.0.0.0/8 trusted, a socket at 10.0.0.1 and `X-Forwarded-For: 1.2.3.4, 203.0.113.9, 10.0.0.2`, the
    key is 203.0.113.9: the hop to its left was written by that client, who may write anything.
    """

    def __init__(self, trusted_proxies: Iterable[str]) -> None:
        self._trusted = tuple(ip_network(text, strict=False) for text in trusted_proxies)
        # Keyed by the socket address that the kernel reports, never by what a client writes.
        self._peer = lru_cache(maxsize=8192)(self._look_up_peer)

    def key(self, peer: str, headers: Iterable[tuple[bytes, bytes]] = ()) -> str:
        """Returns the rate-limit key of the client behind `peer`. Reads `headers` only if `peer` is a trusted proxy."""
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
    """Yields the forwarding hops, nearest first: those of `X-Forwarded-For`, else those of `Forwarded`."""
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
    """Parses an address with or without port and brackets; IPv4-mapped IPv6 becomes IPv4. Returns None for any other
    text."""
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
