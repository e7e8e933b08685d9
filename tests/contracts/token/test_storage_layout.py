"""Layouts are found from storage words only, in every order of mapping, next to flags and in structs, and never by
chance."""

from __future__ import annotations

import random

import pytest
from eth_hash.auto import keccak

from contracts.token.storage_layout import (
    MappingOrder,
    Probe,
    find_balances,
    find_supply,
    namespace_slot,
    narrowed,
    slot_of,
    usual_balance_slots,
    usual_supply_slots,
    word_text,
)

HOLDERS = [("0x" + f"{place:02x}" * 20, 10**18 * place + place) for place in range(1, 6)]
SOLADY_SEED = 0x87A211A2


def test_slots_follow_the_rules_of_each_language() -> None:
    account = bytes.fromhex("ab" * 20)
    address = "0x" + account.hex()
    assert slot_of(MappingOrder.SOLIDITY, 7, address) == int.from_bytes(keccak(bytes(12) + account + (7).to_bytes(32)))
    assert slot_of(MappingOrder.VYPER, 7, address) == int.from_bytes(keccak((7).to_bytes(32) + bytes(12) + account))
    memory = bytearray(64)  # as Solady's `mstore(0x0c, seed) mstore(0x00, owner) keccak256(0x0c, 0x20)`
    memory[0x0C:0x2C] = SOLADY_SEED.to_bytes(32)
    memory[0x00:0x20] = account.rjust(32, b"\0")
    assert slot_of(MappingOrder.SOLADY, SOLADY_SEED, address) == int.from_bytes(keccak(bytes(memory[0x0C:0x2C])))


def test_the_namespace_of_openzeppelin_is_the_one_in_its_source() -> None:
    slot = namespace_slot("openzeppelin.storage.ERC20")
    assert word_text(slot) == "0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00"


def probes(order: MappingOrder, base: int, offset: int = 0, pack=lambda address, balance: balance) -> list[Probe]:
    """Returns holders whose word is among others that a call may read: an implementation's slot, a pause flag."""
    return [
        Probe(address, balance, {3: 1, 2**255 + 9: 77, slot_of(order, base, address) + offset: pack(address, balance)})
        for address, balance in HOLDERS
    ]


UNKNOWN_NAMESPACE = namespace_slot("somebody.storage.Token")


@pytest.mark.parametrize(
    ("order", "base", "offset", "near"),
    [
        (MappingOrder.SOLIDITY, 0, 0, []),
        (MappingOrder.SOLIDITY, 51, 0, []),
        (MappingOrder.SOLIDITY, 301, 2, []),
        (MappingOrder.VYPER, 0, 0, []),
        (MappingOrder.VYPER, 5, 1, []),
        (MappingOrder.SOLADY, SOLADY_SEED, 0, []),
        (MappingOrder.SOLIDITY, namespace_slot("openzeppelin.storage.ERC20"), 0, []),
        (MappingOrder.SOLIDITY, UNKNOWN_NAMESPACE, 0, [UNKNOWN_NAMESPACE + 2]),
        (MappingOrder.SOLIDITY, 2**256 - 2, 0, [2**256 - 1]),
    ],
)
def test_a_mapping_is_found_at_common_slots_and_around_the_supply(order, base, offset, near) -> None:
    layout = find_balances(probes(order, base, offset), near)
    assert layout is not None
    assert (layout.order, int(layout.base, 16), layout.offset) == (order, base, offset)
    assert (layout.shift, layout.bits) == (0, 256)


@pytest.mark.parametrize(
    ("pack", "shift", "bits"),
    [
        pytest.param(lambda address, balance: balance | 1 << 255, 0, 255, id="a flag above"),
        pytest.param(lambda address, balance: balance | 0xF7 << 96, 0, 96, id="a counter above"),
        pytest.param(lambda address, balance: balance << 160 | int(address, 16), 160, 96, id="an address below"),
        pytest.param(lambda address, balance: balance << 64 | 1_760_000_000 | 1 << 192, 64, 128, id="in the middle"),
    ],
)
def test_a_balance_is_found_in_its_part_of_a_word(pack, shift: int, bits: int) -> None:
    layout = find_balances(probes(MappingOrder.SOLIDITY, 4, pack=pack), [])
    assert layout is not None and (layout.shift, layout.bits) == (shift, bits)


def test_shares_other_numbers_and_unknown_mappings_are_no_balances() -> None:
    assert find_balances(probes(MappingOrder.SOLIDITY, 4, pack=lambda address, balance: balance * 3 // 2), []) is None
    assert find_balances(probes(MappingOrder.SOLIDITY, 4, pack=lambda address, balance: balance + 1), []) is None
    assert find_balances(probes(MappingOrder.SOLIDITY, UNKNOWN_NAMESPACE), []) is None
    one_is_off = [
        *probes(MappingOrder.SOLIDITY, 4)[:-1],
        Probe(HOLDERS[4][0], 5, probes(MappingOrder.SOLIDITY, 4)[4].words),
    ]
    assert find_balances(one_is_off, []) is None
    assert find_balances([], []) is None


def test_the_supply_is_a_whole_word_before_a_part_of_one() -> None:
    supply = 10**27
    words = {1: supply << 128 | 5, 2: supply, 3: supply - 1, 4: 0}
    found = find_supply(words, supply)
    assert found is not None and (int(found.slot, 16), found.shift, found.bits) == (2, 0, 256)
    found = find_supply({1: supply << 128 | 5}, supply)
    assert found is not None and (int(found.slot, 16), found.shift, found.bits) == (1, 128, 128)
    assert find_supply({3: supply - 1, 4: 0}, supply) is None
    assert find_supply({4: 0}, 0) is None


def test_a_flag_that_few_holders_have_narrows_the_field_and_another_balance_does_not() -> None:
    layout = find_balances(probes(MappingOrder.SOLIDITY, 4), [])
    assert layout is not None
    flagged = narrowed(layout, [(7, 7), (9 | 1 << 255, 9)])
    assert flagged is not None and flagged.bits == 255
    assert narrowed(layout, [(8, 7)]) is None
    assert narrowed(layout, [(0, 7)]) is None
    assert narrowed(layout, [(7, 7 + 2**256)]) is None


def test_slots_that_are_tried_without_a_trace_cover_the_common_contracts() -> None:
    address = HOLDERS[0][0]
    tried = usual_balance_slots(address)
    for order, base in ((MappingOrder.SOLIDITY, 0), (MappingOrder.VYPER, 3), (MappingOrder.SOLADY, SOLADY_SEED)):
        assert slot_of(order, base, address) in tried
    assert {2, 0x05345CDF77EB68F44C, namespace_slot("openzeppelin.storage.ERC20") + 2} <= set(usual_supply_slots())
    assert len(tried) + len(usual_supply_slots()) < 120


def test_random_words_are_never_taken_for_balances() -> None:
    dice = random.Random(1)
    for _ in range(20):
        made = [
            Probe(address, balance, {dice.getrandbits(256): balance, slot_of(MappingOrder.VYPER, 2, address): 0})
            for address, balance in HOLDERS
        ]
        assert find_balances(made, [dice.getrandbits(256)]) is None
