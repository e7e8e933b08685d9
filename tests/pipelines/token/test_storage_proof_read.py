"""The storage proof of a list, read from a node: every layout, odd tokens, odd nodes, and its cost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from ingest_helpers import pool_of
from storage_node import BLOCK, TOKEN, PlainTrie, StorageNode, hexed, storage_items

from cli.demo.recorded import RecordedNode, RpcFault
from contracts.errors import RpcUnavailable
from contracts.evm.codec import Fatal, RpcError
from contracts.token.storage_layout import MappingOrder, namespace_slot, slot_of
from contracts.token.storage_proof import Multiproof, StorageProof, StorageReason, StorageVerdict, pack, prove, unpack
from pipelines.token import storage_proof
from pipelines.token.proof import TOTAL_SUPPLY

Rows = list[tuple[str, int]]
SUPPLY_SLOT = 2
FOREIGN = random.Random(7)


def holders(count: int, seed: int = 1) -> Rows:
    dice = random.Random(seed)
    made = {f"0x{dice.getrandbits(160):040x}": dice.randrange(1, 10 ** dice.randrange(1, 27)) for _ in range(count)}
    return sorted(made.items(), key=lambda row: (-row[1], row[0]))


ROWS = holders(120)
TOTAL = sum(balance for _, balance in ROWS)


def storage_of(
    rows: Rows,
    *,
    order: MappingOrder = MappingOrder.SOLIDITY,
    base: int = 0,
    offset: int = 0,
    pack: Callable[[str, int], int] = lambda address, balance: balance,
    supply_slot: int = SUPPLY_SLOT,
    supply: int | None = None,
    foreign: int = 0,
) -> dict[int, int]:
    words = {slot_of(order, base, address) + offset: pack(address, balance) for address, balance in rows}
    words |= {FOREIGN.getrandbits(256): FOREIGN.getrandbits(200) + 1 for _ in range(foreign)}
    return words | {supply_slot: sum(balance for _, balance in rows) if supply is None else supply}


def traced(order: MappingOrder, base: int, offset: int = 0, supply_slot: int = SUPPLY_SLOT) -> Callable[[str], Any]:
    """Returns the slots that a proxy reads: that of its implementation, then of supply or balance."""

    def reads(data: str) -> Sequence[int]:
        implementation = 0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC
        if data == TOTAL_SUPPLY:
            return [implementation, supply_slot]
        return [implementation, slot_of(order, base, "0x" + data[-40:]) + offset]

    return reads


def taken(node: StorageNode, rows: Rows = ROWS, **odd: Any) -> tuple[StorageProof, Multiproof | None]:
    arguments = {"block_hash": node.block_hash, "total_supply": sum(balance for _, balance in rows)} | odd
    return asyncio.run(storage_proof.prove_storage(node, token=TOKEN, block=BLOCK, rows=rows, **arguments))


def proven(node: StorageNode, rows: Rows = ROWS) -> Multiproof:
    """Returns the multiproof, after a reader has checked it from its bytes."""
    proof, multiproof = taken(node, rows)
    assert (proof.verdict, proof.reason, proof.proven) == (StorageVerdict.PROVEN, None, len(rows))
    assert multiproof is not None and proof.supply == str(sum(balance for _, balance in rows))
    checked = prove(unpack(pack(multiproof)), rows, node.block_hash)
    assert (checked.block, checked.holders, checked.supply) == (BLOCK, len(rows), int(proof.supply))
    return multiproof


NAMESPACE = namespace_slot("nobody.knows.this")


@pytest.mark.parametrize(
    ("order", "base", "offset", "supply_slot"),
    [
        pytest.param(MappingOrder.SOLIDITY, 0, 0, 2, id="OpenZeppelin 4"),
        pytest.param(MappingOrder.SOLIDITY, 51, 0, 53, id="upgradeable behind a proxy"),
        pytest.param(MappingOrder.VYPER, 3, 0, 5, id="Vyper"),
        pytest.param(MappingOrder.SOLADY, 0x87A211A2, 0, 0x05345CDF77EB68F44C, id="Solady"),
        pytest.param(MappingOrder.SOLIDITY, NAMESPACE, 1, NAMESPACE + 2, id="a struct in an unknown namespace"),
    ],
)
def test_every_order_of_mappings_is_proven_where_calls_are_traced(order, base, offset, supply_slot) -> None:
    words = storage_of(ROWS, order=order, base=base, offset=offset, supply_slot=supply_slot, foreign=30)
    multiproof = proven(StorageNode(words, reads=traced(order, base, offset, supply_slot)))
    assert (multiproof.balances.order, int(multiproof.balances.base, 16)) == (order, base)
    assert (multiproof.balances.offset, multiproof.rests) == (offset, [])


@pytest.mark.parametrize(
    ("order", "base", "supply_slot"),
    [
        (MappingOrder.SOLIDITY, 9, 11),
        (MappingOrder.VYPER, 3, 5),
        (MappingOrder.SOLADY, 0x87A211A2, 0x05345CDF77EB68F44C),
        (
            MappingOrder.SOLIDITY,
            namespace_slot("openzeppelin.storage.ERC20"),
            namespace_slot("openzeppelin.storage.ERC20") + 2,
        ),
    ],
)
def test_common_slots_are_tried_where_calls_are_not_traced(order, base, supply_slot) -> None:
    proven(StorageNode(storage_of(ROWS, order=order, base=base, supply_slot=supply_slot, foreign=30)))


def test_one_answer_is_enough_where_the_storage_has_nothing_but_the_list() -> None:
    node = StorageNode(storage_of(ROWS), reads=traced(MappingOrder.SOLIDITY, 0))
    assert proven(node).siblings == []
    assert node.asked.count("eth_getProof") == 1


def test_nodes_are_read_where_foreign_words_are_and_not_for_every_holder() -> None:
    node = StorageNode(storage_of(holders(600), foreign=20), reads=traced(MappingOrder.SOLIDITY, 0))
    multiproof = proven(node, holders(600))
    assert len(multiproof.siblings) <= 20 + 8
    assert node.keys_asked <= 20 + 20


def test_packed_words_are_proven_with_the_value_next_to_the_balance() -> None:
    def packed(address: str, balance: int) -> int:
        return balance << 128 | int(address, 16) % 2**64

    node = StorageNode(storage_of(ROWS, pack=packed, foreign=30), reads=traced(MappingOrder.SOLIDITY, 0))
    multiproof = proven(node)
    assert (multiproof.balances.shift, multiproof.balances.bits, len(multiproof.rests)) == (128, 128, len(ROWS))


def test_a_flag_in_the_words_of_a_few_holders_is_no_other_balance() -> None:
    blocked = {address for address, _ in ROWS[1:100:40]}

    def flagged(address: str, balance: int) -> int:
        return balance | (address in blocked) << 255

    multiproof = proven(StorageNode(storage_of(ROWS, pack=flagged), reads=traced(MappingOrder.SOLIDITY, 0)))
    assert multiproof.balances.bits == 255
    assert sum(rest != "" for rest in multiproof.rests) == len(blocked)


def test_a_single_holder_and_a_balance_of_the_whole_word_are_proven() -> None:
    rows = [("0x" + "ab" * 20, 2**256 - 1)]
    proven(StorageNode(storage_of(rows), reads=traced(MappingOrder.SOLIDITY, 0)), rows)


def outcome(node: StorageNode, rows: Rows = ROWS, **odd: Any) -> tuple[StorageVerdict, StorageReason | None, int]:
    proof, multiproof = taken(node, rows, **odd)
    assert multiproof is None and proof.file is None and proof.proven == 0
    return proof.verdict, proof.reason, proof.unequal


def odd_token(**storage: Any) -> StorageNode:
    return StorageNode(storage_of(ROWS, **storage), reads=traced(MappingOrder.SOLIDITY, 0))


FAILED, UNPROVEN = StorageVerdict.FAILED, StorageVerdict.UNPROVEN


def test_a_token_that_rebases_stores_shares_and_no_balances() -> None:
    node = odd_token(pack=lambda address, balance: balance * 100 // 97 + 1)
    assert outcome(node) == (UNPROVEN, StorageReason.LAYOUT_UNKNOWN, 0)


def test_a_fee_without_an_event_shows_in_the_storage_word_of_its_payer() -> None:
    payer = ROWS[3][0]
    node = odd_token(pack=lambda address, balance: balance - (address == payer))
    assert outcome(node) == (FAILED, StorageReason.BALANCE_MISMATCH, 1)


def test_a_hook_that_moves_many_balances_without_events_ends_the_reading_early() -> None:
    rows = holders(900)
    kept = {rows[place * (len(rows) - 1) // 7][0] for place in range(8)}
    words = storage_of(rows, pack=lambda address, balance: balance if address in kept else balance + 1)
    node = StorageNode(words, reads=traced(MappingOrder.SOLIDITY, 0))
    verdict, reason, unequal = outcome(node, rows)
    assert (verdict, reason) == (FAILED, StorageReason.BALANCE_MISMATCH)
    assert unequal > 100 and node.keys_asked < 900


def test_a_holder_without_a_word_is_a_mismatch() -> None:
    words = storage_of(ROWS)
    del words[slot_of(MappingOrder.SOLIDITY, 0, ROWS[60][0])]
    node = StorageNode(words, reads=traced(MappingOrder.SOLIDITY, 0))
    assert outcome(node) == (FAILED, StorageReason.BALANCE_MISMATCH, 1)


def test_a_holder_missing_from_the_list_shows_in_the_supply() -> None:
    node = odd_token()
    rows = [row for place, row in enumerate(ROWS) if place != 70]
    assert outcome(node, rows, total_supply=TOTAL) == (FAILED, StorageReason.SUPPLY_MISMATCH, 0)


def test_a_supply_that_is_no_word_leaves_it_unproven() -> None:
    words = storage_of(ROWS)
    del words[SUPPLY_SLOT]
    node = StorageNode(words, reads=lambda data: [] if data == TOTAL_SUPPLY else traced(MappingOrder.SOLIDITY, 0)(data))
    assert outcome(node) == (UNPROVEN, StorageReason.SUPPLY_NOT_STORED, 0)


def test_balances_in_another_contract_leave_it_unproven() -> None:
    node = StorageNode({1: 1}, reads=traced(MappingOrder.SOLIDITY, 0), elsewhere=True)
    assert outcome(node) == (UNPROVEN, StorageReason.STORED_ELSEWHERE, 0)


def test_a_contract_without_any_storage_has_no_layout() -> None:
    assert outcome(StorageNode({})) == (UNPROVEN, StorageReason.LAYOUT_UNKNOWN, 0)


def test_a_list_without_holders_is_left_out() -> None:
    assert outcome(odd_token(), []) == (UNPROVEN, StorageReason.NO_HOLDERS, 0)


def test_a_balance_beyond_a_word_is_a_mismatch() -> None:
    rows = [(ROWS[0][0], 2**256 + 5), *ROWS[1:]]
    words = storage_of(rows, pack=lambda address, balance: balance % 2**256, supply=1)
    node = StorageNode(words, reads=traced(MappingOrder.SOLIDITY, 0))
    assert outcome(node, rows, total_supply=1)[0] is not StorageVerdict.PROVEN


def failing(method: str, error: Exception) -> Callable[[str, Sequence[Any], Any], Any]:
    def change(asked: str, params: Sequence[Any], answer: Any) -> Any:
        if asked == method:
            raise error
        return answer

    return change


def of_proof(change: Callable[[Any], Any]) -> Callable[[str, Sequence[Any], Any], Any]:
    return lambda asked, params, answer: change(answer) if asked == "eth_getProof" else answer


OTHER = StorageNode(storage_of(ROWS, supply=TOTAL + 1))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param(
            failing("eth_getProof", RpcError(Fatal(), "the method eth_getProof does not exist", code=-32601)),
            StorageReason.NOT_SUPPORTED,
            id="unknown method",
        ),
        pytest.param(
            failing("eth_getProof", RpcError(Fatal(), "eth_getProof is not whitelisted", code=-32000)),
            StorageReason.NOT_SUPPORTED,
            id="refused",
        ),
        pytest.param(
            failing("eth_getProof", RpcError(Fatal(), "missing trie node 0xabc", code=-32000)),
            StorageReason.NO_STATE,
            id="pruned by geth",
        ),
        pytest.param(
            failing("eth_getProof", RpcError(Fatal(), "distance to target block exceeds maximum proof window")),
            StorageReason.NO_STATE,
            id="outside of reth's window",
        ),
        pytest.param(
            failing("eth_getProof", RpcError(Fatal(), "BlockOutOfRangeError: block height is 7 but requested was 6")),
            StorageReason.NO_STATE,
            id="a loaded anvil",
        ),
        pytest.param(
            failing("eth_getProof", RpcUnavailable("No RPC node gave an answer.", cure="Wait.")),
            StorageReason.RPC_UNAVAILABLE,
            id="silent",
        ),
        pytest.param(
            failing("eth_getBlockByNumber", RpcUnavailable("No RPC node gave an answer.", cure="Wait.")),
            StorageReason.RPC_UNAVAILABLE,
            id="no header",
        ),
        pytest.param(
            lambda asked, params, answer: None if asked == "eth_getBlockByNumber" else answer,
            StorageReason.NO_STATE,
            id="unknown block",
        ),
        pytest.param(
            lambda asked, params, answer: OTHER.header if asked == "eth_getBlockByNumber" else answer,
            StorageReason.HEADER_MISMATCH,
            id="header of another block",
        ),
        pytest.param(
            lambda asked, params, answer: (
                {**answer, "requestsHash": None} if asked == "eth_getBlockByNumber" else answer
            ),
            StorageReason.HEADER_MISMATCH,
            id="header without a field",
        ),
        pytest.param(
            of_proof(lambda answer: OTHER._proof([item["key"] for item in answer["storageProof"]])),
            StorageReason.PROOF_INVALID,
            id="proof of another block",
        ),
        pytest.param(
            of_proof(lambda answer: {**answer, "accountProof": answer["accountProof"][:-1]}),
            StorageReason.PROOF_INVALID,
            id="account cut",
        ),
        pytest.param(
            of_proof(lambda answer: {**answer, "accountProof": []}), StorageReason.PROOF_INVALID, id="no account"
        ),
        pytest.param(
            of_proof(
                lambda answer: {
                    **answer,
                    "storageProof": [{**item, "proof": item["proof"][:-1]} for item in answer["storageProof"]],
                }
            ),
            StorageReason.PROOF_INVALID,
            id="words cut",
        ),
        pytest.param(
            of_proof(lambda answer: {**answer, "storageProof": answer["storageProof"][:1]}),
            StorageReason.PROOF_INVALID,
            id="words left out",
        ),
        pytest.param(of_proof(lambda answer: {"storageProof": None}), StorageReason.PROOF_INVALID, id="another shape"),
        pytest.param(of_proof(lambda answer: None), StorageReason.PROOF_INVALID, id="null"),
        pytest.param(
            of_proof(lambda answer: {**answer, "accountProof": ["0xzz"]}), StorageReason.PROOF_INVALID, id="no hex"
        ),
    ],
)
def test_a_node_that_refuses_cuts_or_mixes_up_leaves_it_unproven_with_a_reason(change, reason) -> None:
    for reads in (traced(MappingOrder.SOLIDITY, 0), None):
        node = StorageNode(storage_of(ROWS, foreign=30), reads=reads, change=change)
        assert outcome(node) == (UNPROVEN, reason, 0)


def test_a_node_that_cuts_its_later_answers_is_not_asked_for_ever() -> None:
    proofs = []

    def cut_later(asked: str, params: Sequence[Any], answer: Any) -> Any:
        if asked != "eth_getProof" or not proofs:
            proofs.extend([asked] if asked == "eth_getProof" else [])
            return answer
        return {**answer, "storageProof": [{**item, "proof": item["proof"][:1]} for item in answer["storageProof"]]}

    words = storage_of(ROWS, foreign=90)
    node = StorageNode(words, reads=traced(MappingOrder.SOLIDITY, 0), change=cut_later)
    assert outcome(node) == (UNPROVEN, StorageReason.PROOF_INVALID, 0)
    assert node.asked.count("eth_getProof") == 2


def test_a_node_that_limits_storage_words_is_asked_for_fewer() -> None:
    def small(asked: str, params: Sequence[Any], answer: Any) -> Any:
        if asked == "eth_getProof" and len(params[1]) > 10:
            raise RpcError(Fatal(), "HTTP 413")
        return answer

    proven(StorageNode(storage_of(ROWS, foreign=60), change=small))


def test_a_storage_with_far_more_foreign_words_than_may_be_read_is_too_costly(monkeypatch: Any) -> None:
    monkeypatch.setattr(storage_proof, "MOST_KEYS", 30)
    node = StorageNode(storage_of(ROWS, foreign=300), reads=traced(MappingOrder.SOLIDITY, 0))
    assert outcome(node) == (UNPROVEN, StorageReason.TOO_COSTLY, 0)


def test_a_zero_that_a_node_keeps_as_a_word_is_a_foreign_one() -> None:
    # Anvil keeps the slots of former holders with the value 0, and its state root includes them.
    node = StorageNode(storage_of(ROWS), reads=traced(MappingOrder.SOLIDITY, 0))
    left = holders(40, seed=2)
    zeros = {slot_of(MappingOrder.SOLIDITY, 0, address): 0 for address, _ in left}
    items = {**storage_items(node.words), **dict.fromkeys(storage_items(dict.fromkeys(zeros, 1)), b"\x80")}
    kept = StorageNode(node.words, reads=node.reads, storage=PlainTrie(items))
    assert len(proven(kept).siblings) >= 30
    assert hexed([kept.storage.root]) != hexed([node.storage.root])


@pytest.mark.parametrize("value", [b"\xc1\x01", b"\x82\x00\x01", b"\xa1" + b"\x01" * 33, b"\x83\x01"])
def test_a_value_that_is_no_word_is_refused_wherever_it_lies(value: bytes) -> None:
    words = storage_of(ROWS)
    for slot in (SUPPLY_SLOT, slot_of(MappingOrder.SOLIDITY, 0, ROWS[60][0])):
        odd = dict.fromkeys(storage_items({slot: 1}), value)
        storage = PlainTrie({**storage_items(words), **odd})
        node = StorageNode(words, reads=traced(MappingOrder.SOLIDITY, 0), storage=storage)
        assert outcome(node) == (UNPROVEN, StorageReason.PROOF_INVALID, 0)


class Served:
    """A storage node behind HTTP, which lacks one method."""

    def __init__(self, node: StorageNode, lacks: str) -> None:
        self.node, self.lacks = node, lacks

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        if method == "eth_chainId":
            return "0x2105"
        if method == self.lacks:
            raise RpcFault(-32601, f"the method {method} does not exist/is not available")
        return self.node._answer(method, params)


def test_the_nodes_that_answer_are_enough() -> None:
    storage = StorageNode(storage_of(ROWS, foreign=30), reads=traced(MappingOrder.SOLIDITY, 0))

    async def prove_with(*urls: str) -> StorageProof:
        async with pool_of(*urls) as pool:
            arguments = {"block": BLOCK, "block_hash": storage.block_hash, "rows": ROWS, "total_supply": TOTAL}
            return (await storage_proof.prove_storage(pool, token=TOKEN, **arguments))[0]

    with RecordedNode(Served(storage, "eth_getProof")) as first, RecordedNode(Served(storage, "none")) as second:
        assert asyncio.run(prove_with(first.url, second.url)).verdict is StorageVerdict.PROVEN
        assert asyncio.run(prove_with(first.url)).reason is StorageReason.NOT_SUPPORTED
