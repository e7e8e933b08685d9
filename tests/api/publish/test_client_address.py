import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.publish.client_address import ClientAddresses

DIRECT = ClientAddresses(())
BEHIND = ClientAddresses(("10.0.0.0/8", "2001:db8:ffff::1"))


def fields(x_forwarded_for=None, forwarded=None):
    given = [(b"x-forwarded-for", x_forwarded_for), (b"forwarded", forwarded)]
    return [(name, value) for name, value in given if value is not None]


@pytest.mark.parametrize(
    ("peer", "x_forwarded_for", "forwarded", "expected"),
    [
        ("192.0.2.7", None, None, "192.0.2.7"),
        ("192.0.2.7", b"198.51.100.1", None, "192.0.2.7"),
        ("10.0.0.1", None, None, "10.0.0.1"),
        ("10.0.0.1", b"198.51.100.1", None, "198.51.100.1"),
        ("10.0.0.1", b"203.0.113.9, 198.51.100.1", None, "198.51.100.1"),
        ("10.0.0.1", b"203.0.113.9, 198.51.100.1, 10.2.3.4", None, "198.51.100.1"),
        ("10.0.0.1", b"198.51.100.1:4711", None, "198.51.100.1"),
        ("10.0.0.1", b"198.51.100.1, garbage", None, "10.0.0.1"),
        ("10.0.0.1", b"10.9.9.9", None, "10.9.9.9"),
        ("10.0.0.1", None, b"for=198.51.100.1;proto=https", "198.51.100.1"),
        ("10.0.0.1", None, b'For="[2001:db8:1:2:3:4:5:6]:80", for=10.0.0.2', "2001:db8:1:2::/64"),
        ("10.0.0.1", None, b"for=_hidden", "10.0.0.1"),
        ("10.0.0.1", None, b"proto=https", "10.0.0.1"),
        ("10.0.0.1", b"198.51.100.1", b"for=203.0.113.1", "198.51.100.1"),
        ("2001:db8:1:2:3:4:5:6", None, None, "2001:db8:1:2::/64"),
        ("2001:db8:ffff::1", b"2001:db8:1:2:3::9", None, "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", None, None, "192.0.2.7"),
        ("::ffff:10.0.0.1", b"198.51.100.1", None, "198.51.100.1"),
        ("unknown", b"198.51.100.1", None, "unknown"),
    ],
)
def test_the_client_is_the_nearest_hop_that_is_no_trusted_proxy(peer, x_forwarded_for, forwarded, expected):
    assert BEHIND.key(peer, fields(x_forwarded_for, forwarded)) == expected


@given(st.binary(max_size=80), st.binary(max_size=80))
def test_without_trusted_proxies_no_header_changes_the_client(x_forwarded_for, forwarded):
    assert DIRECT.key("192.0.2.7", fields(x_forwarded_for, forwarded)) == "192.0.2.7"


@given(st.lists(st.ip_addresses(v=4).map(str), max_size=3))
def test_header_fields_by_the_client_never_hide_its_address(claimed):
    hops = ", ".join([*claimed, "198.51.100.1"]).encode()
    assert BEHIND.key("10.0.0.1", fields(hops)) == "198.51.100.1"


def test_hops_of_several_fields_are_one_list():
    headers = [*fields(b"203.0.113.9"), (b"accept", b"*/*"), *fields(b"198.51.100.1, 10.2.3.4")]
    assert BEHIND.key("10.0.0.1", headers) == "198.51.100.1"


class Unread:
    """Header fields that must not be read."""

    def __iter__(self):
        raise AssertionError("read")


def test_headers_of_others_than_trusted_proxies_are_never_read():
    assert DIRECT.key("192.0.2.7", Unread()) == "192.0.2.7"
    with pytest.raises(AssertionError, match="read"):
        BEHIND.key("10.0.0.1", Unread())


def test_header_fields_by_clients_are_not_kept_in_memory():
    before, key = sys.getallocatedblocks(), b"198.51.100.1, " + b"x" * 4_000
    for number in range(2_000):
        BEHIND.key("10.0.0.1", fields(b"%d" % number + key))
    assert sys.getallocatedblocks() - before < 1_000
