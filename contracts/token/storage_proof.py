"""Defines the storage proof of a holder list: its published form, its file, and how to check it offline. Pure.

The chain is: block hash -> header -> state root -> the token's account -> its storage root -> one word per holder and
the word of the supply. The sum shows that no holder is missing: a word proven to be the supply equals the sum of the
words proven to be balances.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field, ValidationError

from contracts.base import AddressText, Document, HexHash, RawAmount, Sha256Hex
from contracts.evm.blocks import BlockInvalid, read_header_rlp
from contracts.evm.multiproof import Item, MultiproofInvalid, by_hash, keccak, root_of, value_at
from contracts.evm.trie import RlpInvalid, decode_rlp, quantity_bytes
from contracts.token.storage_layout import SLOTS_KEPT, BalanceLayout, SupplyLayout, balance_slots, field_of

HolderRow = tuple[str, int]
"""Address and balance in smallest units."""

MAX_UNPACKED_BYTES: Final = 1 << 28

_FORMAT: Final = "svc-storage-proof/1"
_ACCOUNT_FIELDS: Final = 4
_STORAGE_ROOT: Final = 2

HexBytes = Annotated[str, Field(pattern=r"^0x([0-9a-f]{2})*$")]
RestText = Annotated[str, Field(pattern=r"^[0-9a-f]{0,64}$")]
SiblingText = Annotated[str, Field(pattern=r"^[0-9a-f]{1,64} ([0-9a-f]{2})+$")]


class StorageVerdict(StrEnum):
    """Whether the words of the token's storage equal the list."""

    PROVEN = "proven"
    FAILED = "failed"
    UNPROVEN = "unproven"


class StorageReason(StrEnum):
    """The reason why a list has no storage proof, or why it failed."""

    NOT_SUPPORTED = "not_supported"
    NO_STATE = "no_state"
    RPC_UNAVAILABLE = "rpc_unavailable"
    HEADER_MISMATCH = "header_mismatch"
    PROOF_INVALID = "proof_invalid"
    STORED_ELSEWHERE = "stored_elsewhere"
    LAYOUT_UNKNOWN = "layout_unknown"
    SUPPLY_NOT_STORED = "supply_not_stored"
    NO_HOLDERS = "no_holders"
    TOO_COSTLY = "too_costly"
    BETWEEN_SNAPSHOTS = "between_snapshots"
    BALANCE_MISMATCH = "balance_mismatch"
    SUPPLY_MISMATCH = "supply_mismatch"


class StorageProofFile(Document):
    """The multiproof: JSON, gzip. Immutable. `svc verify --offline` needs it, the list, and a block hash."""

    path: str = Field(description="Path on this host")
    sha256: Sha256Hex = Field(description="SHA-256 of the compressed bytes")
    bytes: int = Field(ge=0, description="Size of the compressed file")


class StorageProof(Document):
    """Evidence, from `eth_getProof` at its block, that the token's storage contains the balances of the list."""

    verdict: StorageVerdict
    reason: StorageReason | None = Field(
        description="Why it is not proven: not_supported (no node answers eth_getProof), no_state (none has it for "
        "this block), rpc_unavailable, header_mismatch (no header with the hash), proof_invalid (the answers do not "
        "lead from the state root to the words: cut, or of another block), stored_elsewhere (in another contract), "
        "layout_unknown (the balances are not words of a known mapping, as in a rebasing token), supply_not_stored, "
        "no_holders, too_costly, between_snapshots (a long list is proven when it is persisted); failures are "
        "balance_mismatch and supply_mismatch; null if it is proven"
    )
    proven: int = Field(ge=0, description="Holders whose balance is proven")
    unequal: int = Field(ge=0, description="Holders whose word was read and differs from their balance")
    supply: RawAmount | None = Field(
        description="The supply in the token's storage, smallest units. It equals the sum of the proven balances, so "
        "no holder is missing: the absence of words is not proven one by one"
    )
    balance_layout: BalanceLayout | None = Field(
        description="Where the code keeps balances. Found by comparison, and not itself covered by the proof"
    )
    supply_layout: SupplyLayout | None
    file: StorageProofFile | None


class StoredSupply(Document):
    """The field of the supply, and the word that contains it."""

    layout: SupplyLayout
    word: HexHash


class Multiproof(Document):
    """The content of the file. Bytes are hex.

    `rests` contains, in the order of the list, everything else that is packed into each holder's word, in hex, `""` for
    nothing. It is empty if no word has anything else. `siblings` are `<path> <reference>`: the nibbles down to a
    subtree without holders, and the RLP of the reference to it.
    """

    format: str = Field(pattern=f"^{_FORMAT}$", default=_FORMAT)
    token: AddressText
    block: int = Field(ge=0)
    header: HexBytes
    account_proof: list[HexBytes]
    balances: BalanceLayout
    supply: StoredSupply
    rests: list[RestText]
    siblings: list[SiblingText]


class ProofStep(StrEnum):
    """The steps of a storage proof, in order."""

    FILE = "storage proof"
    HEADER = "block hash -> header"
    ACCOUNT = "state root -> account"
    BALANCES = "storage root -> balances"
    SUPPLY = "sum of balances = supply"


class StorageProofInvalid(ValueError):
    """The file, or the accompanying list, does not prove this step."""

    def __init__(self, step: ProofStep, detail: str) -> None:
        super().__init__(f"{step.value}: {detail}")
        self.step = step
        self.detail = detail


@dataclass(frozen=True)
class ProvenList:
    """The part of a list that a multiproof proves."""

    block: int
    block_hash: str
    token: str
    holders: int
    supply: int


def pack(proof: Multiproof) -> bytes:
    """Returns the bytes of the file. Equal proofs give equal bytes."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    text = proof.model_dump_json(by_alias=True)
    return packer.compress(text.encode()) + packer.flush()


def unpack(data: bytes) -> Multiproof:
    """Parses a file of any origin. Raises `StorageProofInvalid`."""
    unpacker = zlib.decompressobj(31)
    try:
        text = unpacker.decompress(data, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise StorageProofInvalid(ProofStep.FILE, f"the file does not unpack ({error})") from None
    if unpacker.unconsumed_tail or not unpacker.eof or unpacker.unused_data:
        raise StorageProofInvalid(ProofStep.FILE, "the file is cut, too long, or has data after its end")
    try:
        return Multiproof.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = "/".join(map(str, first["loc"])) or "all of it"
        raise StorageProofInvalid(ProofStep.FILE, f"the file is not a multiproof ({place}: {first['msg']})") from None


def account_path(address: str) -> str:
    """Returns the path of an account in the state."""
    return keccak()(bytes.fromhex(address.removeprefix("0x"))).hex()


def storage_item(slot: int, word: int) -> Item:
    """Returns the path and the value of a word in the trie of a storage."""
    return slot_path(slot), encode_word(word)


@lru_cache(maxsize=SLOTS_KEPT)
def slot_path(slot: int) -> str:
    """Returns the path of a slot. Cached from one list to the next."""
    return keccak()(slot.to_bytes(32)).hex()


def encode_word(word: int) -> bytes:
    """Returns a word as the trie of a storage contains it: the RLP of its bytes without leading zeros."""
    data = quantity_bytes(word)
    return data if len(data) == 1 and word < 0x80 else bytes((0x80 + len(data),)) + data


def decode_word(value: bytes) -> int:
    """Decodes a word from a value of the trie; 0 for an empty value. Raises `RlpInvalid`."""
    data = decode_rlp(value) if value else b""
    if not isinstance(data, bytes) or len(data) > 32 or data[:1] == b"\0":
        raise RlpInvalid("a value that is not a word of a storage")
    return int.from_bytes(data)


def storage_root_of(header: bytes, account_proof: Sequence[bytes], token: str) -> bytes:
    """Returns the storage root of the token's account in the state of a header. Raises `StorageProofInvalid`."""
    try:
        value = value_at(read_header_rlp(header)["stateRoot"], account_path(token), by_hash(account_proof))
        account = decode_rlp(value) if value else None
    except (BlockInvalid, MultiproofInvalid, RlpInvalid) as error:
        raise StorageProofInvalid(ProofStep.ACCOUNT, str(error)) from None
    if not isinstance(account, list) or len(account) != _ACCOUNT_FIELDS:
        raise StorageProofInvalid(ProofStep.ACCOUNT, f"the state has no account {token}")
    root = account[_STORAGE_ROOT]
    if not isinstance(root, bytes) or len(root) != 32:
        raise StorageProofInvalid(ProofStep.ACCOUNT, "an account without a storage root")
    return root


def header_hash(proof: Multiproof) -> str:
    """Returns the hash of the proof's block."""
    return "0x" + keccak()(bytes.fromhex(proof.header[2:])).hex()


def prove(proof: Multiproof, rows: Sequence[HolderRow], block_hash: str) -> ProvenList:
    """Checks every step from the block hash to each balance of the list and to the supply.

    Raises `StorageProofInvalid` at the first step that fails. Only the block hash must be trusted.
    """
    header = bytes.fromhex(proof.header[2:])
    _check_header(proof, header, block_hash)
    storage_root = storage_root_of(header, [bytes.fromhex(node[2:]) for node in proof.account_proof], proof.token)
    supply_word = int(proof.supply.word, 16)
    layout = proof.supply.layout
    items = [*_balance_items(proof, rows), storage_item(int(layout.slot, 16), supply_word)]
    try:
        root = root_of(items, map(_read_sibling, proof.siblings))
    except MultiproofInvalid as error:
        raise StorageProofInvalid(ProofStep.BALANCES, str(error)) from None
    if root != storage_root:
        raise StorageProofInvalid(ProofStep.BALANCES, "an address, a balance or the supply is not in the storage")
    supply, total = field_of(supply_word, layout.shift, layout.bits), sum(balance for _, balance in rows)
    if total != supply:
        raise StorageProofInvalid(ProofStep.SUPPLY, f"the balances sum to {total}, and the supply is {supply}")
    return ProvenList(proof.block, block_hash, proof.token, len(rows), supply)


def _check_header(proof: Multiproof, header: bytes, block_hash: str) -> None:
    hashed = header_hash(proof)
    if hashed != block_hash:
        raise StorageProofInvalid(ProofStep.HEADER, f"the header hashes to {hashed}, not to {block_hash}")
    try:
        number = int.from_bytes(read_header_rlp(header)["number"])
    except BlockInvalid as error:
        raise StorageProofInvalid(ProofStep.HEADER, str(error)) from None
    if number != proof.block:
        raise StorageProofInvalid(ProofStep.HEADER, f"the header is of block {number}, not of {proof.block}")


def _balance_items(proof: Multiproof, rows: Sequence[HolderRow]) -> list[Item]:
    layout = proof.balances
    if proof.rests and len(proof.rests) != len(rows):
        raise StorageProofInvalid(ProofStep.BALANCES, f"{len(proof.rests)} words for {len(rows)} rows")
    slots = balance_slots(layout, (address for address, _ in rows))
    hasher = keccak()
    items: list[Item] = []
    rests = proof.rests or [""] * len(rows)
    for (address, balance), slot, text in zip(rows, slots, rests, strict=True):
        if not 0 < balance < 1 << layout.bits:
            raise StorageProofInvalid(ProofStep.BALANCES, f"{address}: not a balance of {layout.bits} bits")
        word = balance << layout.shift | (_read_rest(text, layout) if text else 0)
        items.append((hasher(slot.to_bytes(32)).hex(), encode_word(word)))
    return items


def _read_rest(text: str, layout: BalanceLayout) -> int:
    rest = int(text, 16)
    if field_of(rest, layout.shift, layout.bits):
        raise StorageProofInvalid(ProofStep.BALANCES, "the data packed next to a balance overlaps it")
    return rest


def _read_sibling(text: str) -> tuple[str, bytes]:
    path, _, reference = text.partition(" ")
    return path, bytes.fromhex(reference)


def sibling_text(path: str, reference: bytes) -> str:
    """Returns a sibling in the form of the file."""
    return f"{path} {reference.hex()}"
