"""Finds where a token's storage keeps its balances and supply, from words that were read there. Pure.

A layout is a statement about the contract's code, which no storage proof covers: it assigns words to addresses. It is
found by comparing the words of a few holders with their balances.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from pydantic import Field

from contracts.base import Document, HexHash
from contracts.evm.multiproof import keccak

Words = Mapping[int, int]
"""Words of a contract's storage, by slot."""

WORD_BITS: Final = 256
LEAST_BITS: Final = 64
"""Bits of the narrowest field that counts as an amount; DN404 uses 96, Uniswap's pools 112, Aave 128."""

SLOTS_KEPT: Final = 1 << 16
"""Number of slots and paths cached from one list to the next: two hashes per address."""

_WORD: Final = 1 << WORD_BITS
_PLAIN_SLOTS: Final = 512
_FIELDS_OF_A_STRUCT: Final = 8
_AROUND_SUPPLY: Final = 16
_NAMESPACES: Final = ("openzeppelin.storage.ERC20",)
_SOLADY_SEED: Final = 0x87A211A2
_SOLADY_SUPPLY: Final = 0x05345CDF77EB68F44C


class MappingOrder(StrEnum):
    """A language's way of deriving an address's slot from the mapping's slot."""

    SOLIDITY = "solidity"
    VYPER = "vyper"
    SOLADY = "solady"


class BalanceLayout(Document):
    """The field that contains the balance of an address."""

    order: MappingOrder = Field(
        description="Slot of an address: `solidity` keccak256(address . base), `vyper` keccak256(base . address), both "
        "padded to 32 bytes; `solady` keccak256 of the 20 bytes of the address and the last 12 of base"
    )
    base: HexHash = Field(description="Slot of the mapping, or the seed of Solady")
    offset: int = Field(ge=0, lt=_FIELDS_OF_A_STRUCT, description="Words from that slot to the field, in a struct")
    shift: int = Field(ge=0, le=WORD_BITS - LEAST_BITS, description="Lowest bit of the field in the word")
    bits: int = Field(ge=LEAST_BITS, le=WORD_BITS, description="Width of the field; 256 if it is the whole word")


class SupplyLayout(Document):
    """The field that contains the supply."""

    slot: HexHash
    shift: int = Field(ge=0, le=WORD_BITS - LEAST_BITS, description="Lowest bit of the field in the word")
    bits: int = Field(ge=LEAST_BITS, le=WORD_BITS, description="Width of the field; 256 if it is the whole word")


@dataclass(frozen=True)
class Probe:
    """A holder, its balance in smallest units, and words of the storage that may contain it."""

    address: str
    balance: int
    words: Words


def word_text(value: int) -> str:
    """Returns a slot or a word as 0x and 64 hex digits, the only form that every node accepts."""
    return f"0x{value:064x}"


@lru_cache(maxsize=SLOTS_KEPT)
def slot_of(order: MappingOrder, base: int, address: str) -> int:
    """Returns the slot in which a mapping keeps the first word of an address. Cached from one list to the next."""
    account = bytes.fromhex(address.removeprefix("0x"))
    match order:
        case MappingOrder.SOLIDITY:
            preimage = account.rjust(32, b"\0") + base.to_bytes(32)
        case MappingOrder.VYPER:
            preimage = base.to_bytes(32) + account.rjust(32, b"\0")
        case MappingOrder.SOLADY:
            preimage = account + (base % (1 << 96)).to_bytes(12)
    return int.from_bytes(keccak()(preimage))


def balance_slots(layout: BalanceLayout, addresses: Iterable[str]) -> list[int]:
    """Returns the slot of each address."""
    order, base, offset = layout.order, int(layout.base, 16), layout.offset
    return [(slot_of(order, base, address) + offset) % _WORD for address in addresses]


def field_of(word: int, shift: int, bits: int) -> int:
    """Extracts the amount from a word."""
    return (word >> shift) % (1 << bits)


def rest_of(word: int, shift: int, bits: int) -> int:
    """Returns the word without the amount, that is, everything else that is packed into it."""
    return word - (field_of(word, shift, bits) << shift)


def namespace_slot(name: str) -> int:
    """Returns the first slot of an ERC-7201 namespace."""
    hasher = keccak()
    inner = int.from_bytes(hasher(name.encode())) - 1
    return int.from_bytes(hasher(inner.to_bytes(32))) & ~0xFF


def usual_balance_slots(address: str) -> list[int]:
    """Returns slots in which common contracts keep the balance of an address, for nodes that can't trace calls."""
    return [slot_of(order, base, address) for order, base in _mappings(range(24))]


def usual_supply_slots() -> list[int]:
    """Returns slots in which common contracts keep the supply."""
    named = [namespace_slot(name) + field for name in _NAMESPACES for field in range(4)]
    return [*range(24), *named, _SOLADY_SUPPLY]


def find_supply(words: Words, supply: int) -> SupplyLayout | None:
    """Returns the field that contains the supply, preferring a whole word, or None if no word contains it."""
    fields = [(WORD_BITS - width, slot, shift) for slot, word in words.items() for shift, width in _fits(word, supply)]
    if not fields or not supply:
        return None
    unused, slot, shift = min(fields)
    return SupplyLayout(slot=word_text(slot), shift=shift, bits=WORD_BITS - unused)


def find_balances(probes: Sequence[Probe], near: Iterable[int]) -> BalanceLayout | None:
    """Returns the one field that contains the balances of all probes, or None if there is none.

    Mappings are tried at the first slots, at known namespaces, and around the slots `near`, because a contract keeps
    its supply close to its balances, even in an unknown namespace.
    """
    if not probes:
        return None
    around = [slot + step for slot in near for step in range(-_AROUND_SUPPLY, _AROUND_SUPPLY + 1)]
    bases = dict.fromkeys(base for base in (*range(_PLAIN_SLOTS), *around) if 0 <= base < _WORD)
    first = probes[0]
    for order, base in _mappings(bases):
        slot = slot_of(order, base, first.address)
        for offset in sorted(read - slot for read in first.words if 0 <= read - slot < _FIELDS_OF_A_STRUCT):
            layout = _fitting(probes, order, base, offset)
            if layout is not None:
                return layout
    return None


def narrowed(layout: BalanceLayout, pairs: Iterable[tuple[int, int]]) -> BalanceLayout | None:
    """Returns the layout with the width that also fits these pairs of word and balance, or None if no width does.

    A flag in the upper bits of a word appears only in the words of addresses that have it.
    """
    bits = layout.bits
    for word, balance in pairs:
        bits = min(bits, _width(word, balance, layout.shift))
    return None if bits < LEAST_BITS else layout.model_copy(update={"bits": bits})


def _mappings(bases: Iterable[int]) -> Iterator[tuple[MappingOrder, int]]:
    named = [namespace_slot(name) + field for name in _NAMESPACES for field in range(4)]
    yield MappingOrder.SOLADY, _SOLADY_SEED
    for base in (*bases, *named):
        yield MappingOrder.SOLIDITY, base
        yield MappingOrder.VYPER, base


def _fitting(probes: Sequence[Probe], order: MappingOrder, base: int, offset: int) -> BalanceLayout | None:
    shifts: dict[int, int] | None = None
    for probe in probes:
        word = probe.words.get((slot_of(order, base, probe.address) + offset) % _WORD)
        fits = {} if word is None else dict(_fits(word, probe.balance))
        shifts = fits if shifts is None else {at: min(shifts[at], fits[at]) for at in shifts.keys() & fits.keys()}
        if not shifts:
            return None
    assert shifts is not None
    shift, bits = min(shifts.items(), key=lambda field: (-field[1], field[0]))
    return BalanceLayout(order=order, base=word_text(base), offset=offset, shift=shift, bits=bits)


def _fits(word: int, amount: int) -> Iterator[tuple[int, int]]:
    """Yields (lowest bit, greatest width) of the fields of a word that contain the amount."""
    for shift in range(0, WORD_BITS - LEAST_BITS + 1, 8):
        width = _width(word, amount, shift)
        if width >= LEAST_BITS:
            yield shift, width


def _width(word: int, amount: int, shift: int) -> int:
    """Returns how many bits from `shift` on equal the amount, or 0 if the amount is wider than that."""
    rest = WORD_BITS - shift
    difference = (word >> shift) ^ amount
    equal = rest if difference == 0 else (difference & -difference).bit_length() - 1
    return equal if amount >> equal == 0 else 0
