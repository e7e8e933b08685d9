"""A multiproof against whole tries: random items, short keys so that nodes are inlined, and every kind of tampering."""

from __future__ import annotations

import random

import pytest
import rlp
from eth_hash.auto import keccak
from hypothesis import given
from hypothesis import strategies as st
from storage_node import PlainTrie

from contracts.evm.multiproof import MultiproofInvalid, Search, by_hash, root_of, value_at
from contracts.evm.trie import EMPTY_ROOT

VALUES = st.binary(min_size=1, max_size=40)


@st.composite
def tries(draw: st.DrawFn) -> tuple[dict[bytes, bytes], set[bytes]]:
    """Draws items under keys of one length that often share a prefix, and some of the keys."""
    size = draw(st.sampled_from([2, 3, 4, 32]))
    prefixes = draw(st.lists(st.binary(max_size=size - 1), min_size=1, max_size=3))
    keys = draw(
        st.sets(st.builds(_key, st.sampled_from(prefixes), st.binary(min_size=size, max_size=size)), min_size=1)
    )
    items = {key: draw(VALUES) for key in keys}
    covered = draw(st.sets(st.sampled_from(sorted(keys)), min_size=1))
    return items, covered


def _key(prefix: bytes, rest: bytes) -> bytes:
    return (prefix + rest)[: len(rest)]


def found_siblings(trie: PlainTrie, items: dict[bytes, bytes], covered: set[bytes]) -> tuple[list, list, int]:
    """Returns the items, their siblings, and the number of single proofs that it took to find them."""
    sought = sorted((key.hex(), items[key]) for key in covered)
    search, nodes, proofs = Search(sought, trie.root), {}, 0
    while True:
        result = search.missing(nodes)
        assert not result.unequal
        if not result.wanted:
            return sought, result.siblings, proofs
        for place in result.wanted:
            proofs += 1
            nodes |= by_hash(trie.proof(bytes.fromhex(sought[place][0])))


@given(tries())
def test_any_part_of_any_trie_gives_its_root_with_the_siblings_that_were_found(made):
    items, covered = made
    trie = PlainTrie(items)
    sought, siblings, proofs = found_siblings(trie, items, covered)
    assert root_of(sought, siblings) == trie.root
    assert proofs <= len(covered)
    if covered == set(items):
        assert (siblings, proofs) == ([], 0)


@given(tries(), st.randoms(use_true_random=False))
def test_any_single_change_gives_another_root_or_is_refused(made, dice: random.Random):
    items, covered = made
    trie = PlainTrie(items)
    sought, siblings, _ = found_siblings(trie, items, covered)
    entries = [(path, value, False) for path, value in sought] + [(path, value, True) for path, value in siblings]
    at = dice.randrange(len(entries))
    path, value, beside = entries[at]
    match dice.randrange(4):
        case 0:
            place = dice.randrange(len(value))
            value = value[:place] + bytes([value[place] ^ (1 << dice.randrange(8))]) + value[place + 1 :]
            entries[at] = (path, value, beside)
        case 1:
            place = dice.randrange(len(path))
            digit = dice.choice([digit for digit in "0123456789abcdef" if digit != path[place]])
            entries[at] = (path[:place] + digit + path[place + 1 :], value, beside)
        case 2:
            del entries[at]
        case 3:
            extra = dice.randbytes(len(sought[0][0]) // 2)
            if extra in items:
                return
            entries.append((extra.hex(), b"\x01", False))
    changed = [(path, value) for path, value, beside in entries if not beside]
    try:
        root = root_of(changed, [(path, value) for path, value, beside in entries if beside])
    except MultiproofInvalid:
        return
    assert root != trie.root


@given(tries(), st.binary(min_size=32, max_size=32))
def test_a_single_value_is_found_or_its_absence_is(made, other: bytes):
    items, covered = made
    trie = PlainTrie(items)
    for key in [*covered, other[: len(next(iter(items)))]]:
        assert value_at(trie.root, key.hex(), by_hash(trie.proof(key))) == items.get(key)


@given(tries())
def test_different_values_and_absent_keys_are_reported_with_the_tries_content(made):
    items, covered = made
    trie = PlainTrie({key: value for key, value in items.items() if key not in covered} or {b"\xff" * 33: b"x"})
    sought = sorted((key.hex(), b"never") for key in items)
    nodes = by_hash(node for key in items for node in trie.proof(key))
    result = Search(sought, trie.root).missing(nodes)
    told = {sought[place][0]: value for place, value in result.unequal}
    assert told == {key.hex(): b"" if key in covered else value for key, value in items.items()} and not result.wanted


def test_an_empty_trie_has_nothing_of_what_is_sought():
    assert Search([("ab", b"x")], EMPTY_ROOT).missing({}).unequal == [(0, b"")]
    assert root_of([], []) == EMPTY_ROOT == PlainTrie({}).root


HASH = b"\xa0" + bytes(32)


@pytest.mark.parametrize(
    ("items", "siblings"),
    [
        pytest.param([("abcd", b"x")], [("ab", HASH)], id="a sibling above an item"),
        pytest.param([("abcd", b"x")], [("abcd", HASH)], id="a sibling at the place of an item"),
        pytest.param([("abcd", b"x")], [("1234", HASH)], id="a sibling below the branch"),
        pytest.param([("abcd", b"x"), ("abcd", b"y")], [], id="one path twice"),
        pytest.param([("abcd", b"x")], [("1", HASH), ("1", HASH)], id="one sibling twice"),
        pytest.param([("abcd", b"x")], [("", HASH)], id="a sibling in place of the root"),
        pytest.param([], [("1", HASH)], id="siblings alone"),
        pytest.param([("abcd", b"x")], [("1", b"")], id="a reference of no item"),
        pytest.param([("abcd", b"x")], [("1", b"\x80")], id="a reference to nothing"),
        pytest.param([("abcd", b"x")], [("1", HASH + HASH)], id="two references as one"),
        pytest.param([("abcd", b"x")], [("1", b"\xc1\x80\x80")], id="an inlined node and more"),
        pytest.param([("abcd", b"x")], [("1", HASH[:-1])], id="a cut hash"),
    ],
)
def test_items_and_siblings_that_contradict_one_another_are_refused(items, siblings):
    with pytest.raises(MultiproofInvalid):
        root_of(items, siblings)


@pytest.mark.parametrize(
    "node",
    [b"", b"\x01", b"\xc0", b"\xc3\x01\x01\x01", b"\xc2\x00\x01", b"\xc2\x41\x01", b"\xc2\x20\xc0", b"\xf9", b"\xa0"],
)
def test_an_address_that_is_no_node_is_refused(node: bytes):
    with pytest.raises(MultiproofInvalid):
        value_at(keccak(node), "abcd", {keccak(node): node})


def test_nodes_that_go_on_below_the_end_of_a_path_are_refused():
    nodes = [rlp.encode([b"\x20" + bytes(2), b"x"])]
    for _ in range(5):
        nodes.append(rlp.encode([keccak(nodes[-1])] * 16 + [b""]))
    with pytest.raises(MultiproofInvalid):
        value_at(keccak(nodes[-1]), "abcd", by_hash(nodes))
