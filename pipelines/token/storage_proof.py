"""Builds the storage proof of a holder list: reads header, layout and trie nodes from the chain's nodes.

No answer is trusted: header, account and words are verified by their hashes, starting from the list's block hash. It
reads only what the list does not determine. If the storage contains nothing but the holders, one answer is enough.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.errors import RpcUnavailable
from contracts.evm.blocks import BlockInvalid, header_rlp
from contracts.evm.codec import RpcError
from contracts.evm.multiproof import Item, MultiproofInvalid, Search, Sibling, Unsettled, by_hash, keccak, value_at
from contracts.evm.trie import RlpInvalid
from contracts.token.proof import Missing, why_missing
from contracts.token.storage_layout import (
    BalanceLayout,
    Probe,
    SupplyLayout,
    balance_slots,
    field_of,
    find_balances,
    find_supply,
    narrowed,
    rest_of,
    usual_balance_slots,
    usual_supply_slots,
    word_text,
)
from contracts.token.storage_proof import (
    HolderRow,
    Multiproof,
    StorageProof,
    StorageReason,
    StorageVerdict,
    StoredSupply,
    decode_word,
    encode_word,
    sibling_text,
    slot_path,
    storage_item,
    storage_root_of,
)
from pipelines.clients.rpc_state import Rpc
from pipelines.progress import Pace
from pipelines.token.proof import TOTAL_SUPPLY, balance_of_data

log = logging.getLogger(__name__)

KEYS_PER_CALL: Final = 500
"""Words per `eth_getProof`: geth accepts 1,024, and the answer for one word is up to 8 kB."""

MOST_KEYS: Final = 20_000
"""The most words to read for one proof, which are at most 160 MB of answers. A storage with far more foreign words is
too costly."""

_PROBES: Final = 8
_PROBES_UNTRACED: Final = 3
_ENOUGH: Final = 100
_METHOD_UNKNOWN: Final = -32601
_REFUSED: Final = re.compile(
    r"method|unsupported|not (supported|allowed|enabled|whitelisted|permitted)|upgrade", re.IGNORECASE
)
_FAILED: Final = {StorageReason.BALANCE_MISMATCH, StorageReason.SUPPLY_MISMATCH}


class _Stopped(Exception):
    """Ends the proof early, with a reason."""

    def __init__(self, reason: StorageReason, *, unequal: int = 0, supply: int | None = None) -> None:
        super().__init__(reason.value)
        self.reason = reason
        self.unequal = unequal
        self.supply = supply


@dataclass(frozen=True)
class _Layout:
    balances: BalanceLayout
    supply: SupplyLayout
    supply_word: int

    @property
    def stored_supply(self) -> int:
        return field_of(self.supply_word, self.supply.shift, self.supply.bits)


@dataclass
class _Storage:
    """The storage of the token at one block, as far as it was read. Trie nodes are looked up by their hash."""

    rpc: Rpc
    token: str
    block: int
    header: bytes
    root: bytes = b""
    account_proof: list[bytes] = field(default_factory=list)
    nodes: dict[bytes, bytes] = field(default_factory=dict)
    keys_read: int = 0
    pace: Pace = field(default_factory=Pace)

    async def read(self, slots: Sequence[int]) -> None:
        """Reads the trie nodes on the paths to these slots."""
        if self.keys_read + len(slots) > MOST_KEYS:
            raise _Stopped(StorageReason.TOO_COSTLY)
        self.keys_read += len(slots)
        chunks = [slots[place : place + KEYS_PER_CALL] for place in range(0, len(slots), KEYS_PER_CALL)]
        results = await asyncio.gather(*map(self._proofs, chunks), return_exceptions=True)
        for answers in results:
            if isinstance(answers, BaseException):
                raise answers
            for answer in answers:
                self._take(answer)

    def word(self, slot: int) -> int:
        """Returns the word in a slot that was read."""
        try:
            value = value_at(self.root, storage_item(slot, 0)[0], self.nodes)
        except MultiproofInvalid:
            raise _Stopped(StorageReason.PROOF_INVALID) from None
        return _word(value or b"")

    async def _proofs(self, slots: Sequence[int]) -> list[Any]:
        """Requests the proof of these slots; halves the request if it is too much for the node."""
        try:
            return [await self.rpc.call("eth_getProof", [self.token, list(map(word_text, slots)), hex(self.block)])]
        except (RpcError, RpcUnavailable) as error:
            reason = _why(error)
            if reason is not StorageReason.RPC_UNAVAILABLE or isinstance(error, RpcUnavailable) or len(slots) == 1:
                raise _Stopped(reason) from None
        middle = len(slots) // 2
        return [*await self._proofs(slots[:middle]), *await self._proofs(slots[middle:])]

    def _take(self, answer: Any) -> None:
        try:
            account = [bytes.fromhex(node.removeprefix("0x")) for node in answer["accountProof"]]
            texts = {node for item in answer["storageProof"] for node in item["proof"]}
            nodes = [bytes.fromhex(node.removeprefix("0x")) for node in texts]
            if account != self.account_proof:
                self.root = storage_root_of(self.header, account, self.token)
                self.account_proof = account
        except (KeyError, TypeError, ValueError, AttributeError):  # StorageProofInvalid is a ValueError
            raise _Stopped(StorageReason.PROOF_INVALID) from None
        self.nodes.update(by_hash(nodes))


async def prove_storage(
    rpc: Rpc,
    *,
    token: str,
    block: int,
    block_hash: str,
    rows: Sequence[HolderRow],
    total_supply: int | None,
) -> tuple[StorageProof, Multiproof | None]:
    """Returns the storage proof of a list, and the content of its file if it is proven.

    `rows` are the list (smallest units) and `total_supply` is the contract's answer. A node that refuses, truncates or
    mixes up answers leaves the list unproven with a reason; this never raises because a node is missing.
    """
    layout: _Layout | None = None
    try:
        if not rows:
            raise _Stopped(StorageReason.NO_HOLDERS)
        storage = _Storage(rpc, token, block, await _header(rpc, block, block_hash))
        layout = await _find_layout(storage, rows, total_supply)
        balances, words, siblings = await _prove_balances(storage, rows, layout)
        layout = _Layout(balances, layout.supply, layout.supply_word)
        log.info(
            "storage of block %s read: %s holders, %s words", f"{block:,}", f"{len(rows):,}", f"{storage.keys_read:,}"
        )
    except _Stopped as stopped:
        return _unproven(stopped, layout), None
    rests = [rest_of(word, balances.shift, balances.bits) for word in words]
    multiproof = Multiproof(
        token=token,
        block=block,
        header=_hex(storage.header),
        account_proof=list(map(_hex, storage.account_proof)),
        balances=balances,
        supply=StoredSupply(layout=layout.supply, word=word_text(layout.supply_word)),
        rests=[f"{rest:x}" if rest else "" for rest in rests] if any(rests) else [],
        siblings=[sibling_text(path, reference) for path, reference in sorted(siblings)],
    )
    proof = StorageProof(
        verdict=StorageVerdict.PROVEN,
        reason=None,
        proven=len(rows),
        unequal=0,
        supply=str(layout.stored_supply),
        balance_layout=balances,
        supply_layout=layout.supply,
        file=None,
    )
    return proof, multiproof


def unproven(reason: StorageReason) -> StorageProof:
    """Returns the proof of a list for which nothing was read."""
    return _unproven(_Stopped(reason), None)


async def _header(rpc: Rpc, block: int, block_hash: str) -> bytes:
    try:
        answer = await rpc.call("eth_getBlockByNumber", [hex(block), False])
    except (RpcError, RpcUnavailable) as error:
        raise _Stopped(_why(error)) from None
    if answer is None:
        raise _Stopped(StorageReason.NO_STATE)
    try:
        header = header_rlp(answer)
    except (BlockInvalid, AttributeError):
        raise _Stopped(StorageReason.HEADER_MISMATCH) from None
    if _hex(keccak()(header)) != block_hash:
        raise _Stopped(StorageReason.HEADER_MISMATCH)
    return header


async def _find_layout(storage: _Storage, rows: Sequence[HolderRow], total_supply: int | None) -> _Layout:
    """Finds the words of supply and balances, if possible among the slots that the contract's own code reads."""
    chosen = _probes(rows, _PROBES)
    calls = [TOTAL_SUPPLY, *(balance_of_data(address) for address, _ in chosen)]
    read_slots, elsewhere = await _slots_read(storage, calls)
    if read_slots is None:
        chosen = _probes(rows, _PROBES_UNTRACED)
        read_slots = [usual_supply_slots(), *(usual_balance_slots(address) for address, _ in chosen)]
    of_supply, *of_balances = read_slots
    await storage.read(list(dict.fromkeys(slot for slots in read_slots for slot in slots)) or [0])
    words = {slot: storage.word(slot) for slot in dict.fromkeys(of_supply)}
    total = sum(balance for _, balance in rows)
    supply = find_supply(words, total) or (find_supply(words, total_supply) if total_supply else None)
    probes = [
        Probe(address, balance, {slot: storage.word(slot) for slot in slots})
        for (address, balance), slots in zip(chosen, of_balances, strict=True)
    ]
    balances = find_balances(probes, of_supply)
    if balances is None:
        raise _Stopped(StorageReason.STORED_ELSEWHERE if elsewhere else StorageReason.LAYOUT_UNKNOWN)
    if supply is None:
        raise _Stopped(StorageReason.SUPPLY_NOT_STORED)
    layout = _Layout(balances, supply, words[int(supply.slot, 16)])
    if layout.stored_supply != total:
        raise _Stopped(StorageReason.SUPPLY_MISMATCH, supply=layout.stored_supply)
    return layout


def _probes(rows: Sequence[HolderRow], count: int) -> list[HolderRow]:
    """Returns holders spread over the list, from the largest to the smallest."""
    if len(rows) <= count:
        return list(rows)
    return [rows[place * (len(rows) - 1) // (count - 1)] for place in range(count)]


async def _slots_read(storage: _Storage, calls: Sequence[str]) -> tuple[list[list[int]] | None, bool]:
    """Returns the slots of the token that each call reads, and whether a call reads storage of another contract.

    The slots are None if the node does not trace calls.
    """
    try:
        answers = await storage.rpc.batch(
            [("eth_createAccessList", [{"to": storage.token, "data": data}, hex(storage.block)]) for data in calls]
        )
        touched = [
            [(entry["address"].lower(), int(key, 16)) for entry in answer["accessList"] for key in entry["storageKeys"]]
            for answer in answers
        ]
    except (RpcError, RpcUnavailable, KeyError, TypeError, ValueError, AttributeError):
        return None, False
    slots = [[key for address, key in keys if address == storage.token] for keys in touched]
    return slots, any(address != storage.token for keys in touched[1:] for address, _ in keys)


async def _prove_balances(
    storage: _Storage, rows: Sequence[HolderRow], layout: _Layout
) -> tuple[BalanceLayout, list[int], list[Sibling]]:
    """Returns the layout, the word of each holder, and the siblings next to their paths.

    A word that differs from its balance only outside the balance's field is accepted as it is.
    """
    balances = layout.balances
    slots = [*balance_slots(balances, (address for address, _ in rows)), int(layout.supply.slot, 16)]
    words = [*(balance << balances.shift for _, balance in rows), layout.supply_word]
    paths = list(map(slot_path, slots))
    while True:
        too_wide = sum(balance >> balances.bits > 0 for _, balance in rows)
        if too_wide:
            raise _Stopped(StorageReason.BALANCE_MISMATCH, unequal=too_wide, supply=layout.stored_supply)
        places = sorted(range(len(paths)), key=paths.__getitem__)
        items = [(paths[place], encode_word(words[place])) for place in places]
        result = await _search(storage, items, [slots[place] for place in places], _outside_of(balances, rows, places))
        if not result.unequal:
            return balances, words[:-1], result.siblings
        differing = {places[found]: _word(value) for found, value in result.unequal}
        pairs = {place: (word, rows[place][1]) for place, word in differing.items()}
        fitting = narrowed(balances, pairs.values())
        if fitting is None:
            odd = [pair for pair in pairs.values() if narrowed(balances, [pair]) is None]
            raise _Stopped(StorageReason.BALANCE_MISMATCH, unequal=len(odd), supply=layout.stored_supply)
        balances = fitting
        for place, (word, _) in pairs.items():
            words[place] = word


def _outside_of(
    layout: BalanceLayout, rows: Sequence[HolderRow], places: Sequence[int]
) -> Callable[[tuple[int, bytes]], bool]:
    """Returns a function that decides whether an item and its value differ only outside the balance's field."""

    def decide(differing: tuple[int, bytes]) -> bool:
        place, value = differing
        return narrowed(layout, [(_word(value), rows[places[place]][1])]) is not None

    return decide


async def _search(
    storage: _Storage, items: list[Item], slots: Sequence[int], explained: Callable[[tuple[int, bytes]], bool]
) -> Unsettled:
    """Reads nodes until every item is found or known to differ, or too many differ for the list to be this storage."""
    search = Search(items, storage.root)
    while True:
        try:
            result = search.missing(storage.nodes)
        except MultiproofInvalid:
            raise _Stopped(StorageReason.PROOF_INVALID) from None
        if not result.wanted or sum(not explained(differing) for differing in result.unequal) > _ENOUGH:
            return result
        known = len(storage.nodes)
        await storage.read([slots[place] for place in result.wanted])
        if len(storage.nodes) == known:
            raise _Stopped(StorageReason.PROOF_INVALID)
        if storage.pace.line_is_due():
            log.info(f"storage of block {storage.block:,}: {storage.keys_read:,} words read")


def _word(value: bytes) -> int:
    try:
        return decode_word(value)
    except RlpInvalid:
        raise _Stopped(StorageReason.PROOF_INVALID) from None


def _why(error: Exception) -> StorageReason:
    message = error.message if isinstance(error, RpcError) else str(error)
    code = error.code if isinstance(error, RpcError) else None
    if code == _METHOD_UNKNOWN or (isinstance(error, RpcError) and _REFUSED.search(message)):
        return StorageReason.NOT_SUPPORTED
    missing = why_missing(code, message)
    return StorageReason.NO_STATE if missing is Missing.NO_STATE else StorageReason.RPC_UNAVAILABLE


def _unproven(stopped: _Stopped, layout: _Layout | None) -> StorageProof:
    return StorageProof(
        verdict=StorageVerdict.FAILED if stopped.reason in _FAILED else StorageVerdict.UNPROVEN,
        reason=stopped.reason,
        proven=0,
        unequal=stopped.unequal,
        supply=None if stopped.supply is None else str(stopped.supply),
        balance_layout=None if layout is None else layout.balances,
        supply_layout=None if layout is None else layout.supply,
        file=None,
    )


def _hex(data: bytes) -> str:
    return "0x" + data.hex()
