import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.publish.negotiation import acceptable_encodings, is_unchanged, prefers_page


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, ("identity",)),
        (b"", ("identity",)),
        (b"gzip, deflate, br, zstd", ("br", "zstd", "gzip", "identity")),
        (b"gzip", ("gzip", "identity")),
        (b"GZIP;Q=1.0", ("gzip", "identity")),
        (b"x-gzip", ("gzip", "identity")),
        (b"br;q=0, gzip", ("gzip", "identity")),
        (b"br;q=0.5, gzip;q=0.9", ("gzip", "br", "identity")),
        (b"identity, br;q=0.5", ("identity", "br")),
        (b"*", ("br", "zstd", "gzip", "identity")),
        (b"*;q=0", ()),
        (b"*;q=0, br", ("br",)),
        (b"identity;q=0", ()),
        (b"identity;q=0, gzip", ("gzip",)),
        (b"identity;q=0, *", ("br", "zstd", "gzip")),
        (b"gzip;q=0", ("identity",)),
        (b"deflate", ("identity",)),
        (b"gzip;q=x", ("identity",)),
    ],
)
def test_encodings_follow_weights_then_our_order(header, expected):
    assert acceptable_encodings(header) == expected


@pytest.mark.parametrize(
    ("header", "unchanged"),
    [
        (b'"abc-br"', True),
        (b'W/"abc-br"', True),
        (b'"x", "abc-br"', True),
        (b'"x" , W/"abc-br","y"', True),
        (b"*", True),
        (b" * ", True),
        (b'"abc"', False),
        (b'"abc-gz"', False),
        (b'"x, \\"abc-br\\""', False),
        (b"abc-br", False),
        (b'"abc-br', False),
        (b"", False),
    ],
)
def test_a_tag_is_found_in_the_whole_list(header, unchanged):
    assert is_unchanged(header, b'"abc-br"') is unchanged


@given(st.binary(max_size=60))
def test_no_header_makes_negotiation_or_comparison_fail(header):
    assert set(acceptable_encodings(header)) <= {"br", "zstd", "gzip", "identity"}
    assert is_unchanged(header, b'"abc"') in (True, False)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (b"", False),
        (b"*/*", False),
        (b"application/json", False),
        (b"application/json, text/html;q=0.9", False),
        (b"text/html;q=0", False),
        (b"text/html", True),
        (b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        (b"TEXT/HTML, application/json", True),
        (b"text/markdown", True),
        (b"text/markdown;q=0", False),
    ],
)
def test_a_page_is_for_those_who_name_html_or_markdown_and_prefer_no_json(accept: bytes, expected: bool):
    assert prefers_page(accept) is expected
