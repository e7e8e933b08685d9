"""RLP and tries against the published vectors of Ethereum's tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.evm.trie import (
    EMPTY_ROOT,
    RlpInvalid,
    decode_rlp,
    encode_rlp,
    hex_prefix,
    nibbles,
    node_reference,
    ordered_root,
    parse_hex_prefix,
    quantity_bytes,
    trie_root,
)

ITEMS = st.recursive(st.binary(max_size=70), lambda items: st.lists(items, max_size=5), max_leaves=20)


@pytest.mark.parametrize(
    ("item", "encoded"),
    [
        (b"", "80"),
        (b"\0", "00"),
        (b"\x7f", "7f"),
        (b"\x80", "8180"),
        (b"dog", "83646f67"),
        (b"Lorem ipsum dolor sit amet, consectetur adipisicing elit", "b838" + b"Lorem ipsum dolor sit amet, ".hex()),
        ([], "c0"),
        ([b"cat", b"dog"], "c88363617483646f67"),
        ([[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"),
    ],
)
def test_items_are_encoded_as_the_yellow_paper_says(item, encoded):
    assert encode_rlp(item).hex().startswith(encoded)
    assert decode_rlp(encode_rlp(item)) == item


@given(ITEMS)
def test_every_item_comes_back(item):
    assert decode_rlp(encode_rlp(item)) == item


@given(st.binary(max_size=80))
def test_bytes_are_one_spelling_of_an_item_or_invalid(data):
    try:
        item = decode_rlp(data)
    except RlpInvalid:
        return
    assert encode_rlp(item) == data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x83do", id="cut"),
        pytest.param(b"\x80\x80", id="more than one item"),
        pytest.param(b"\x81\x01", id="a byte with a length"),
        pytest.param(b"\xb8\x01a", id="a long form of a short text"),
        pytest.param(b"\xb9\x00\x38" + b"a" * 56, id="a length with a leading zero"),
        pytest.param(b"\xbf" + b"\xff" * 8, id="longer than any memory"),
        pytest.param(b"\xc2\x83do", id="an item that leaves its list"),
        pytest.param(b"\xc1" * 5000 + b"\xc0", id="lists in lists without end"),
    ],
)
def test_invalid_rlp_is_refused(data):
    with pytest.raises(RlpInvalid):
        decode_rlp(data)


@pytest.mark.parametrize(
    ("path", "leaf", "packed"),
    [
        ([1, 2, 3, 4, 5], False, "112345"),
        ([0, 1, 2, 3, 4, 5], False, "00012345"),
        ([0, 15, 1, 12, 11, 8], True, "200f1cb8"),
        ([15, 1, 12, 11, 8], True, "3f1cb8"),
        ([], True, "20"),
    ],
)
def test_paths_are_packed_with_a_flag(path, leaf, packed):
    assert hex_prefix(bytes(path), leaf=leaf).hex() == packed
    assert parse_hex_prefix(bytes.fromhex(packed)) == (bytes(path), leaf)


@pytest.mark.parametrize("packed", ["", "40", "01", "2f", "f0"])
def test_a_path_with_another_flag_is_refused(packed):
    with pytest.raises(RlpInvalid):
        parse_hex_prefix(bytes.fromhex(packed))


def test_a_path_is_the_half_bytes_of_its_key():
    assert nibbles(b"\x01\xfe") == bytes([0, 1, 15, 14])


@pytest.mark.parametrize(
    ("number", "encoded"), [(0, b""), (1, b"\1"), (255, b"\xff"), (256, b"\1\0"), (2**256 - 1, b"\xff" * 32)]
)
def test_numbers_have_no_leading_zeros(number, encoded):
    assert quantity_bytes(number) == encoded


def test_a_short_node_is_inlined_in_its_parent_and_a_long_one_referenced_by_its_hash():
    assert node_reference([b"\x20", b"a"]) == [b"\x20", b"a"]
    reference = node_reference([b"\x20", b"a" * 40])
    assert isinstance(reference, bytes)
    assert len(reference) == 32


@pytest.mark.parametrize(
    ("items", "root"),
    [
        ({}, EMPTY_ROOT.hex()),
        (
            {"do": "verb", "horse": "stallion", "doge": "coin", "dog": "puppy"},
            "5991bb8c6514148a29db676a14ac506cd2cd5775ace63c30a4fe457715e9ac84",
        ),
        ({"foo": "bar", "food": "bass"}, "17beaa1648bafa633cda809c90c04af50fc8aed3cb40d16efbddee6fdf63c4c3"),
        ({"be": "e", "dog": "puppy", "bed": "d"}, "3f67c7a47520f79faa29255d2d3c084a7a6df0453116ed7232ff10277a8be68b"),
        (
            {"doe": "reindeer", "dog": "puppy", "dogglesworth": "cat"},
            "8aad789dff2f538bca5d8ea56e8abe10f4c7ba3a5dea95fea4cd6e7c3a1168d3",
        ),
        ({"test": "test", "te": "testy"}, "8452568af70d8d140f58d941338542f645fcca50094b20f3c3d8c3df49337928"),
    ],
)
def test_roots_equal_the_published_ones(items, root):
    assert trie_root({key.encode(): value.encode() for key, value in items.items()}).hex() == root


@given(st.dictionaries(st.binary(max_size=4), st.binary(min_size=1, max_size=50), min_size=1, max_size=40), st.data())
def test_a_root_depends_on_every_item_and_not_on_their_order(items, data):
    root = trie_root(items)
    assert trie_root(dict(reversed(items.items()))) == root
    changed = data.draw(st.sampled_from(sorted(items)))
    assert trie_root({**items, changed: items[changed] + b"\1"}) != root
    assert trie_root({key: value for key, value in items.items() if key != changed}) != root


@given(st.lists(st.binary(min_size=1, max_size=8), min_size=2, max_size=300), st.data())
def test_a_root_of_a_list_depends_on_its_order(values, data):
    place = data.draw(st.integers(0, len(values) - 2))
    swapped = [*values[:place], values[place + 1], values[place], *values[place + 2 :]]
    assert (ordered_root(values) == ordered_root(swapped)) == (values == swapped)
