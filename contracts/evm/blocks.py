"""Recomputes the commitments of a block: its hash from its header, and its receipts' root from its receipts. Pure.

A node can invent an answer, but not a header or receipts that hash to a root that another node names.
`contracts/evm/trie.py` implements RLP and tries.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from contracts.evm.codec import keccak256, quantity
from contracts.evm.trie import RlpInvalid, decode_rlp, encode_rlp, ordered_root, quantity_bytes, rlp_list, rlp_string

_NUMBER: Final = -1
_BYTES: Final = -2

_HEADER: Final[dict[str, int]] = {
    "parentHash": 32,
    "sha3Uncles": 32,
    "miner": 20,
    "stateRoot": 32,
    "transactionsRoot": 32,
    "receiptsRoot": 32,
    "logsBloom": 256,
    "difficulty": _NUMBER,
    "number": _NUMBER,
    "gasLimit": _NUMBER,
    "gasUsed": _NUMBER,
    "timestamp": _NUMBER,
    "extraData": _BYTES,
    "mixHash": 32,
    "nonce": 8,
    "baseFeePerGas": _NUMBER,  # since London; each later upgrade adds fields at the end
    "withdrawalsRoot": 32,
    "blobGasUsed": _NUMBER,
    "excessBlobGas": _NUMBER,
    "parentBeaconBlockRoot": 32,
    "requestsHash": 32,
}
"""The fields of a header in the order of its RLP, with the width of each in bytes."""

_REQUIRED_FIELDS: Final = 15
_LEGACY: Final = 0
_DEPOSIT: Final = 0x7E


class BlockInvalid(ValueError):
    """A header or a receipt of an unknown form, from which nothing can be recomputed."""


def header_rlp(block: Mapping[str, Any]) -> bytes:
    """Returns the RLP of a block's header; the block is in the form of the nodes. Raises `BlockInvalid`."""
    present = [name for name in _HEADER if block.get(name) is not None]
    if present != list(_HEADER)[: max(len(present), _REQUIRED_FIELDS)]:
        missing = next(name for name in _HEADER if block.get(name) is None)
        raise BlockInvalid(f"a header without {missing}")
    return encode_rlp([_field(block, name, _HEADER[name]) for name in present])


def block_hash(block: Mapping[str, Any]) -> str:
    """Returns the hash of a block's header, regardless of the hash that the node named. Raises `BlockInvalid`."""
    return "0x" + keccak256(header_rlp(block)).hex()


def read_header_rlp(data: bytes) -> dict[str, bytes]:
    """Returns the fields of a header by name, from its RLP. Raises `BlockInvalid` for another form."""
    try:
        fields = decode_rlp(data)
    except RlpInvalid as error:
        raise BlockInvalid(str(error)) from None
    if not isinstance(fields, list) or not _REQUIRED_FIELDS <= len(fields) <= len(_HEADER):
        raise BlockInvalid("not a list of header fields")
    header: dict[str, bytes] = {}
    for (name, width), value in zip(_HEADER.items(), fields, strict=False):
        is_number = width == _NUMBER and isinstance(value, bytes) and value[:1] != b"\0"
        if not isinstance(value, bytes) or not (is_number or width == _BYTES or len(value) == width):
            raise BlockInvalid(f"a header with an invalid {name}")
        header[name] = value
    return header


def receipt_rlp(receipt: Mapping[str, Any]) -> bytes:
    """Returns a receipt as the trie contains it: its transaction's type, then its fields. Raises `BlockInvalid`.

    The receipt of a deposit (0x7e, on an OP Stack chain) includes its nonce only if it also has a version.
    """
    logs = receipt.get("logs")
    if not isinstance(logs, list):
        raise BlockInvalid("a receipt without logs")
    outcome = _field(receipt, "root", 32) if receipt.get("status") is None else _field(receipt, "status", _NUMBER)
    fields = [
        rlp_string(outcome),
        rlp_string(_field(receipt, "cumulativeGasUsed", _NUMBER)),
        rlp_string(_field(receipt, "logsBloom", 256)),
        rlp_list(b"".join(map(_log_rlp, logs))),
    ]
    kind = int.from_bytes(_field({"type": "0x0", **receipt}, "type", _NUMBER))
    if kind == _DEPOSIT and receipt.get("depositReceiptVersion") is not None:
        fields += [rlp_string(_field(receipt, name, _NUMBER)) for name in ("depositNonce", "depositReceiptVersion")]
    return (b"" if kind == _LEGACY else quantity_bytes(kind)) + rlp_list(b"".join(fields))


def receipts_root(receipts: Sequence[Mapping[str, Any]]) -> str:
    """Returns the root of a block's receipts, given in the order of its transactions. Raises `BlockInvalid`."""
    return "0x" + ordered_root([receipt_rlp(receipt) for receipt in receipts]).hex()


def _log_rlp(log: object) -> bytes:
    if not isinstance(log, Mapping) or not isinstance(log.get("topics"), list):
        raise BlockInvalid("a log without topics")
    topics = rlp_list(b"".join(rlp_string(_bytes("topic", topic, 32)) for topic in log["topics"]))
    return rlp_list(rlp_string(_field(log, "address", 20)) + topics + rlp_string(_field(log, "data", _BYTES)))


def _field(values: Mapping[str, Any], name: str, width: int) -> bytes:
    return _bytes(name, values.get(name), width)


def _bytes(name: str, text: object, width: int) -> bytes:
    try:
        if width == _NUMBER:
            return quantity_bytes(quantity(text))  # type: ignore[arg-type]
        data = bytes.fromhex(text.removeprefix("0x"))  # type: ignore[attr-defined]
    except (ValueError, TypeError, AttributeError):
        raise BlockInvalid(f"a {name} that is not hex") from None
    if width != _BYTES and len(data) != width:
        raise BlockInvalid(f"a {name} of {len(data)} bytes")
    return data
