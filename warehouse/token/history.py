"""Looks up the balance of any address at any block in the history's files. `history_writer` writes them.

Addresses are numbered in the order in which they first appear. Number 0 is not an address: its balance is the sum of
all mints. The zero address's balance is the amount that it received, since a mint takes nothing from it.

A history consists of three kinds of file. A `changes` file contains the transfers of contiguous blocks and the balance
of each address after each block that touches it. A `state` contains all balances at the end of a block, so that a
look-up reads one state and the changes after it. `addresses` contains every address up to the newest state. Reading
changes never goes back beyond the next older state, except where the changes themselves are requested.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import duckdb
import numpy as np
from numpy.typing import NDArray

from warehouse.duck.rows import aware_utc
from warehouse.statements import read_sql
from warehouse.token.history_files import (
    ADDRESS_BYTES,
    WIDE,
    Array,
    ArrayFile,
    Bytes,
    doubles,
    integer,
    integers,
    is_positive,
    rank_key,
    rank_keys,
    widened,
)

Kind = Literal["changes", "state", "addresses"]
Ids = NDArray[np.uint32]
Times = NDArray[np.int64]

MINTED = 0
"""The number under which the sum of all mints is stored as a balance."""

ZERO = bytes(ADDRESS_BYTES)
NEVER_S = -1
ADDRESS = f"S{ADDRESS_BYTES}"


@dataclass(frozen=True)
class HistoryFile:
    """One file of a history: its kind, its name, and the blocks that it covers; a state covers only its block."""

    kind: Kind
    name: str
    from_block: int
    to_block: int
    to_time_s: int
    rows: int


class Change(NamedTuple):
    """The balance of an address after one block that touched it, in smallest units."""

    block: int
    time_s: int
    balance: int
    change: int


class TransferSeen(NamedTuple):
    """One transfer, with lower-case hexadecimal addresses."""

    block: int
    log_index: int
    time_s: int
    tx_hash: str
    sender: str
    recipient: str
    value: int


@dataclass(frozen=True)
class Holdings:
    """Every address with a balance above zero at one block, except the zero address, by number. Times in seconds."""

    ids: Ids
    addresses: Array
    balances: Bytes
    first_seen_s: Times
    first_held_s: Times
    last_active_s: Times


def address_text(address: bytes) -> str:
    """Returns the 0x text of an array's address, whose trailing zero bytes numpy drops."""
    return "0x" + bytes(address).ljust(ADDRESS_BYTES, b"\0").hex()


def history_files(connection: duckdb.DuckDBPyConnection) -> list[HistoryFile]:
    """Returns the recorded files."""
    return [
        HistoryFile(kind, name, from_block, to_block, int(aware_utc(to_time).timestamp()), rows)
        for kind, name, from_block, to_block, to_time, rows in connection.execute(read_sql("history_files")).fetchall()
    ]


class Changes:
    """A `changes` file: transfers in the order of the chain, and balances by address and block."""

    def __init__(self, file: ArrayFile) -> None:
        self.file = file
        self.from_block = file.facts["from_block"]
        self.to_block = file.facts["to_block"]
        self.to_time_s = file.facts["to_time_s"]
        self.first_new_id = file.facts["first_new_id"]
        self.zero_id = file.facts["zero_id"]
        self.ids, self.offsets = file["ids"], file["offsets"]
        self.last_block, self.before, self.balance = file["last_block"], file["before"], file["balance"]
        self.block, self.time_s = file["block"], file["time_s"]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Returns the number of rows of each touched address."""
        ends = self.offsets.astype(np.int64)
        return ends[1:] - ends[:-1]

    def rows_of(self, number: int) -> tuple[int, int, int]:
        """Returns the place of an address among the touched ones, its first row and the row after its last; the two
        are equal if the file does not touch it."""
        place = int(self.ids.searchsorted(np.uint32(number)))  # `np.searchsorted` of a scalar takes twice as long
        if place == len(self.ids) or self.ids[place] != number:
            return place, 0, 0
        return place, int(self.offsets[place]), int(self.offsets[place + 1])

    def last_rows(self, block: int) -> tuple[Array, Array]:
        """Returns the places of the addresses that were touched up to `block`, and the last row of each up to then."""
        if block >= self.to_block:
            return np.arange(len(self.ids)), self.offsets[1:].astype(np.int64) - 1
        if not len(self.ids):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        reached = np.add.reduceat((self.block <= block).astype(np.int64), self.offsets[:-1].astype(np.int64))
        places = np.flatnonzero(reached)
        return places, self.offsets[:-1][places].astype(np.int64) + reached[places] - 1

    def risen_before(self, balance: int, address: bytes, block: int, history: History) -> int:
        """Returns how many more holders rank above an address with this balance at the end of `block` than before
        these changes.

        A row that lifts its holder above that balance counts one, and a row that drops it below counts minus one. The
        level of a row, the place of its key among a few thousand keys of the file, decides nearly all of them; only
        keys of the same level are compared.
        """
        file = self.file
        end = int(file["r_block"].searchsorted(np.uint32(min(block, self.to_block) - self.from_block), "right"))
        wanted = rank_key(balance, address, self.balance.shape[1])
        level = np.uint16(file["levels"].searchsorted(wanted))
        after, before = file["r_after"][:end], file["r_before"][:end]
        risen = int(np.count_nonzero(after > level)) - int(np.count_nonzero(before > level))
        near_after, near_before = np.flatnonzero(after == level), np.flatnonzero(before == level)
        near = np.concatenate([near_after, near_before])
        if not len(near):
            return risen
        rows, places = file["r_row"][near].astype(np.int64), file["r_place"][near]
        is_first = self.offsets[places] == rows
        is_first[: len(near_after)] = False
        rows[len(near_after) :] -= 1  # the balance before a row is in the row above it
        numbers = self.balance[rows]
        numbers[is_first] = self.before[places[is_first]]
        is_before = rank_keys(numbers, history.addresses_of(self.ids[places])) > wanted
        lifted = int(np.count_nonzero(is_before[: len(near_after)]))
        return risen + lifted - int(np.count_nonzero(is_before[len(near_after) :]))


class State:
    """A `state` file: the balance and last change of every address at the end of a block, and the holders by rank."""

    def __init__(self, file: ArrayFile) -> None:
        self.block = file.facts["block"]
        self.balances, self.by_rank = file["balances"], file["by_rank"]
        self.last_block, self.last_active_s = file["last_block"], file["last_active_s"]
        self._width = self.balances.shape[1]
        self._content = self.balances.data.cast("B")

    def balance_of(self, number: int) -> int:
        """Returns the balance of an address."""
        begin = number * self._width
        return int.from_bytes(self._content[begin : begin + self._width], "big", signed=True)

    def holders_before(self, balance: int, place: int, places: Array) -> int:
        """Returns the number of holders with a larger balance, or with the same balance and an address before `place`.

        `places` contains, by address number from 1 on, the place of each address in the sorted order of all.
        """
        low, high, number_at, place_at = 0, len(self.by_rank), self.by_rank.item, places.item
        while low < high:
            middle = (low + high) // 2
            number = number_at(middle)
            found = self.balance_of(number)
            if found > balance or (found == balance and place_at(number - 1) < place):
                low = middle + 1
            else:
                high = middle
        return low


class History:
    """The history up to `to_block`. Threads may share it. A file is opened when it is first needed."""

    def __init__(self, directory: Path, files: Sequence[HistoryFile]) -> None:
        self._directory = directory
        self.files = tuple(sorted(files, key=lambda file: (file.from_block, file.to_block)))
        self._changes = [file for file in self.files if file.kind == "changes"]
        self._states = [file for file in self.files if file.kind == "state"]
        self._opened_changes_by_name: dict[str, Changes] = {}
        self._opened_states_by_name: dict[str, State] = {}
        self._first_blocks = [file.from_block for file in self._changes]
        self._last_times = [file.to_time_s for file in self._changes]
        self._state_blocks = [file.to_block for file in self._states]
        self.to_block = self._changes[-1].to_block if self._changes else -1

    # Files

    def _changes_between(self, after: int, block: int) -> Iterator[Changes]:
        """Yields the changes files after block `after`, up to the one that covers `block`, newest first."""
        for index in range(bisect_right(self._first_blocks, block) - 1, -1, -1):
            if self._changes[index].to_block <= after:
                return
            yield self._opened_changes(index)

    def _changes_of(self, number: int, block: int) -> Iterator[tuple[Changes, int, int, int]]:
        """Yields the changes files that touch an address, up to the one that covers `block`, newest first.

        Each comes with the result of its `rows_of`. States and files record the block of the previous change, so that
        files without one are skipped.
        """
        index = bisect_right(self._first_blocks, block) - 1
        while index >= 0:
            changes = self._opened_changes(index)
            place, first, end = changes.rows_of(number)
            if end > first:
                yield changes, place, first, end
                last_block = changes.last_block.item(place)
            else:
                state = self._state_at(changes.from_block - 1)
                if state is None or state.block != changes.from_block - 1:
                    index -= 1
                    continue
                last_block = state.last_block.item(number) if number < len(state.last_block) else NEVER_S
            index = bisect_right(self._first_blocks, last_block) - 1

    def _opened_changes(self, index: int) -> Changes:
        name = self._changes[index].name
        opened = self._opened_changes_by_name.get(name)
        if opened is None:
            opened = self._opened_changes_by_name[name] = Changes(ArrayFile(self._directory / name))
        return opened

    def changes(self, file: HistoryFile) -> Changes:
        """Returns a changes file of this history, opened."""
        return self._opened_changes(self._changes.index(file))

    def _state_at(self, block: int) -> State | None:
        """Returns the newest state at or below `block`."""
        index = bisect_right(self._state_blocks, block) - 1
        if index < 0:
            return None
        name = self._states[index].name
        opened = self._opened_states_by_name.get(name)
        if opened is None:
            opened = self._opened_states_by_name[name] = State(ArrayFile(self._directory / name))
        return opened

    @cached_property
    def _tail(self) -> list[Changes]:
        """The changes after the newest state, oldest first: addresses that are new in them are in no other file."""
        newest = self._state_blocks[-1] if self._states else -1
        return [self._opened_changes(index) for index, file in enumerate(self._changes) if file.to_block > newest]

    @cached_property
    def _addresses(self) -> ArrayFile | None:
        name = next((file.name for file in self.files if file.kind == "addresses"), None)
        return None if name is None else ArrayFile(self._directory / name)

    # Addresses

    @cached_property
    def count(self) -> int:
        """The number of the next new address."""
        known = 1 if self._addresses is None else len(self._addresses["ids"]) + 1
        return known + sum(len(changes.file["new_ids"]) for changes in self._tail)

    @cached_property
    def zero_id(self) -> int:
        """The number of the zero address; 0 where it took part in no transfer."""
        known = [0 if self._addresses is None else self._addresses.facts["zero_id"]]
        return max([*known, *(changes.zero_id for changes in self._tail)])

    def id_of(self, address: bytes) -> int | None:
        """Returns the number of an address, or None where no transfer names it."""
        wanted = np.array(address, ADDRESS)
        for ordered, ids in self._address_tables:
            at = int(ordered.searchsorted(wanted))
            if at < len(ordered) and ordered[at] == wanted:
                return int(ids[at])
        return None

    @cached_property
    def _address_tables(self) -> list[tuple[Array, Array]]:
        """Sorted addresses and their numbers: of all addresses up to the newest state, and of the new ones after it."""
        tables = [] if self._addresses is None else [(self._addresses["sorted"], self._addresses["ids"])]
        tables += [(changes.file["new_sorted"], changes.file["new_ids"]) for changes in self._tail]
        return [(ordered, ids) for ordered, ids in tables if len(ordered)]

    def ids_of(self, addresses: Array) -> Ids:
        """Returns the numbers of addresses, 0 for unknown ones."""
        found = np.zeros(len(addresses), np.uint32)
        for ordered, ids in self._address_tables:
            at = np.minimum(np.searchsorted(ordered, addresses), len(ordered) - 1)
            same = ordered[at] == addresses
            found[same] = ids[at[same]]
        return found

    def addresses_of(self, ids: Array) -> Array:
        """Returns the addresses with these numbers, each at least 1."""
        listed = self._addresses
        if listed is not None and len(ids) and ids.max() <= len(listed["place"]):
            known: Array = listed["sorted"][listed["place"][ids - np.uint32(1)]]
            return known
        addresses = np.zeros(len(ids), ADDRESS)
        if listed is not None:
            old = ids <= len(listed["place"])
            addresses[old] = listed["sorted"][listed["place"][ids[old] - np.uint32(1)]]
        for changes in self._tail:
            ordered, place = changes.file["new_sorted"], changes.file["new_place"]
            new = (ids >= changes.first_new_id) & (ids < changes.first_new_id + len(place))
            addresses[new] = ordered[place[ids[new].astype(np.int64) - changes.first_new_id]]
        return addresses

    def _of_addresses(self, ids: Array, known: str, new: str) -> Times:
        """Returns the values of these addresses in a column: `known` in the `addresses` file, `new` in changes."""
        values = np.full(len(ids), NEVER_S, np.int64)
        if self._addresses is not None:
            column = self._addresses[known]
            old = ids <= len(column)
            values[old] = column[ids[old].astype(np.int64) - 1]
        for changes in self._tail:
            column = changes.file[new]
            here = (ids >= changes.first_new_id) & (ids < changes.first_new_id + len(column))
            values[here] = column[ids[here].astype(np.int64) - changes.first_new_id]
        return values

    def first_seen(self, ids: Array) -> tuple[Times, Times]:
        """Returns the block and time (s) of the first transfer of each address."""
        return (
            self._of_addresses(ids, "seen_block", "new_seen_block"),
            self._of_addresses(ids, "seen_time_s", "new_seen_time_s"),
        )

    def first_held(self, ids: Array) -> tuple[Times, Times]:
        """Returns the block and time (s) of the first balance above zero of each address; -1 if it never had one."""
        blocks, times = np.full(len(ids), NEVER_S, np.int64), np.full(len(ids), NEVER_S, np.int64)
        if self._addresses is not None:
            old = ids <= len(self._addresses["held_block"])
            at = ids[old].astype(np.int64) - 1
            blocks[old], times[old] = self._addresses["held_block"][at], self._addresses["held_time_s"][at]
        for changes in self._tail:
            held = changes.file["held_ids"]
            if len(held):
                at = np.minimum(np.searchsorted(held, ids), len(held) - 1)
                here = held[at] == ids
                blocks[here] = changes.file["held_block"][at[here]]
                times[here] = changes.file["held_time_s"][at[here]]
        return blocks, times

    def first_seen_of(self, number: int) -> tuple[int, int]:
        """Returns the block and time (s) of an address's first transfer."""
        known = self._addresses
        if known is not None and number <= len(known["seen_block"]):
            return int(known["seen_block"][number - 1]), int(known["seen_time_s"][number - 1])
        blocks, times = self.first_seen(np.array([number], np.uint32))
        return int(blocks[0]), int(times[0])

    def first_held_of(self, number: int) -> tuple[int, int]:
        """Returns the block and time (s) of an address's first balance above zero; -1 if it never had one."""
        known = self._addresses
        if known is not None and number <= len(known["held_block"]) and known["held_block"][number - 1] != NEVER_S:
            return int(known["held_block"][number - 1]), int(known["held_time_s"][number - 1])
        blocks, times = self.first_held(np.array([number], np.uint32))
        return int(blocks[0]), int(times[0])

    def first_change_of(self, number: int) -> Change | None:
        """Returns the first change of an address's balance, or None."""
        for index in range(len(self._changes)):
            changes = self._opened_changes(index)
            place, first, end = changes.rows_of(number)
            if end > first:
                balance, before = integer(changes.balance[first]), integer(changes.before[place])
                return Change(int(changes.block[first]), int(changes.time_s[first]), balance, balance - before)
        return None

    # Balances

    def balance_at(self, number: int, block: int) -> int:
        """Returns the balance of an address at the end of `block`, in smallest units."""
        state = self._state_at(block)
        for changes in self._changes_between(-1 if state is None else state.block, block):
            place, first, end = changes.rows_of(number)
            if end > first:
                reached = int(changes.block[first:end].searchsorted(block, "right"))
                return integer(changes.balance[first + reached - 1] if reached else changes.before[place])
        if state is None or number >= len(state.balances):
            return 0
        return state.balance_of(number)

    def _touched(self, ids: Array, block: int) -> Iterator[tuple[NDArray[np.bool_], Changes, Array]]:
        """Yields the changes between the newest state at or below `block` and `block`, oldest first.

        Each comes with a mask of the addresses that it touches up to `block`, and the last row of each of these.
        """
        state = self._state_at(block)
        for changes in reversed(list(self._changes_between(-1 if state is None else state.block, block))):
            places, rows = changes.last_rows(block)
            touched = changes.ids[places]
            if len(touched):
                at = np.minimum(np.searchsorted(touched, ids), len(touched) - 1)
                here = touched[at] == ids
                yield here, changes, rows[at[here]]

    def balances_at(self, ids: Array, block: int) -> Bytes:
        """Returns the balances of addresses at the end of `block`, as wide numbers."""
        state = self._state_at(block)
        balances = np.zeros((len(ids), WIDE), np.uint8)
        if state is not None:
            old = ids < len(state.balances)
            balances[old] = widened(state.balances[ids[old]], WIDE)
        for here, changes, rows in self._touched(ids, block):
            balances[here] = widened(changes.balance[rows], WIDE)
        return balances

    def last_changes_at(self, ids: Array, block: int) -> tuple[Times, Times]:
        """Returns the block and time (s) of the last change of each address at or below `block`; -1 without any."""
        blocks, times = np.full(len(ids), NEVER_S, np.int64), np.full(len(ids), NEVER_S, np.int64)
        state = self._state_at(block)
        if state is not None:
            old = ids < len(state.last_block)
            blocks[old], times[old] = state.last_block[ids[old]], state.last_active_s[ids[old]]
        for here, changes, rows in self._touched(ids, block):
            blocks[here], times[here] = changes.block[rows], changes.time_s[rows]
        return blocks, times

    def changes_of(self, number: int, block: int, limit: int) -> list[Change]:
        """Returns the newest `limit` changes of an address at or below `block`, newest first."""
        found: list[Change] = []
        for changes, place, first, end in self._changes_of(number, block):
            if changes.to_block > block:
                end = first + int(changes.block[first:end].searchsorted(block, "right"))
            begin = max(first, end - (limit - len(found)))
            if end == begin:
                continue
            opening = changes.before[place] if begin == first else changes.balance[begin - 1]
            before = integer(opening)
            steps = []
            for at, time_s, after in zip(
                changes.block[begin:end].tolist(),
                changes.time_s[begin:end].tolist(),
                integers(changes.balance[begin:end]),
                strict=True,
            ):
                steps.append(Change(at, time_s, after, after - before))
                before = after
            found += reversed(steps)
            if len(found) >= limit:
                break
        return found

    def rank_at(self, address: bytes, balance: int, block: int, zero_held: int) -> int:
        """Returns the rank of an address with this balance above zero: by balance, largest first, then by address.

        `zero_held` is the balance of the zero address at the end of `block`.
        """
        state, listed = self._state_at(block), self._addresses
        above = 0
        if state is not None and listed is not None:
            place = int(listed["sorted"].searchsorted(np.array(address, ADDRESS)))
            above = state.holders_before(balance, place, listed["place"])
        for changes in self._changes_between(-1 if state is None else state.block, block):
            above += changes.risen_before(balance, address, block, self)
        if address != ZERO and zero_held >= balance:
            above += 1  # the zero address sorts before all others
        return above + 1

    def supply_at(self, block: int) -> tuple[int, int]:
        """Returns the amounts minted and sent to the zero address up to `block`, in smallest units."""
        return self.balance_at(MINTED, block), self.balance_at(self.zero_id, block) if self.zero_id else 0

    def holdings_at(self, block: int) -> Holdings:
        """Returns every holder at the end of `block`. Its time grows with the number of addresses in the history."""
        everybody = np.arange(self.count, dtype=np.uint32)
        balances = self.balances_at(everybody, block)
        holding = is_positive(balances)
        holding[[MINTED, self.zero_id]] = False
        ids = everybody[holding]
        return Holdings(
            ids,
            self.addresses_of(ids),
            balances[holding],
            self.first_seen(ids)[1],
            self.first_held(ids)[1],
            self.last_changes_at(ids, block)[1],
        )

    # Transfers

    def transfers_of(self, number: int, before: tuple[int, int], limit: int) -> list[TransferSeen]:
        """Returns the newest `limit` transfers of an address below the position `before` (block, log index)."""
        found: list[TransferSeen] = []
        for changes in self._files_of_transfers(number, before[0]):
            file = changes.file
            ids = file["x_ids"]
            place = int(np.searchsorted(ids, np.uint32(number)))
            if place == len(ids) or ids[place] != number:
                continue
            rows = file["x_rows"][file["x_offsets"][place] : file["x_offsets"][place + 1]].astype(np.int64)
            if changes.to_block >= before[0]:
                blocks, indexes = file["t_block"][rows], file["t_index"][rows]
                rows = rows[(blocks < before[0]) | ((blocks == before[0]) & (indexes < before[1]))]
            rows = rows[::-1][: limit - len(found)]
            found += self._transfers(file, rows)
            if len(found) >= limit:
                break
        return found

    def sent_to_zero(
        self, after: int, upto: int, *, limit: int, at_most: int | None = None
    ) -> tuple[list[tuple[int, int, int]], bool]:
        """Returns block, time (s) and amount of the transfers to the zero address in (`after`, `upto`], oldest first,
        and False as the second value if there are more than `limit`, where reading ends.

        Transfers of zero, or of more than `at_most`, are left out.
        """
        found: list[tuple[int, int, int]] = []
        number = self.zero_id
        for changes in reversed(list(self._changes_between(after, upto))) if number else ():
            file = changes.file
            place = int(file["x_ids"].searchsorted(np.uint32(number)))
            if place == len(file["x_ids"]) or file["x_ids"][place] != number:
                continue
            rows = file["x_rows"][file["x_offsets"][place] : file["x_offsets"][place + 1]].astype(np.int64)
            blocks = file["t_block"][rows]
            rows = rows[(blocks > after) & (blocks <= upto) & (file["t_to"][rows] == number)]
            rows = rows[is_positive(file["t_value"][rows])]
            if at_most is not None:  # roughly here and exactly below, so that most are never converted to integers
                rows = rows[doubles(file["t_value"][rows]) <= at_most * 1.000001]
            some = rows[: limit - len(found)]
            found += [
                (block, time_s, value)
                for block, time_s, value in zip(
                    file["t_block"][some].tolist(),
                    file["t_time_s"][some].tolist(),
                    integers(file["t_value"][some]),
                    strict=True,
                )
                if at_most is None or value <= at_most
            ]
            if len(some) < len(rows):
                return found, False
        return found, True

    def _files_of_transfers(self, number: int, block: int) -> Iterator[Changes]:
        """Yields the changes that may contain transfers of an address, newest first."""
        if number == self.zero_id:  # a mint does not change the zero address's balance
            yield from self._changes_between(-1, block)
        else:
            yield from (changes for changes, *_ in self._changes_of(number, block))

    def _transfers(self, file: ArrayFile, rows: Array) -> list[TransferSeen]:
        parties = (self.addresses_of(file[name][rows]) for name in ("t_from", "t_to"))
        senders, recipients = ([address_text(party) for party in side] for side in parties)
        return [
            TransferSeen(block, index, time_s, f"0x{tx_hash.tobytes().hex()}", sender, recipient, value)
            for block, index, time_s, tx_hash, sender, recipient, value in zip(
                file["t_block"][rows].tolist(),
                file["t_index"][rows].tolist(),
                file["t_time_s"][rows].tolist(),
                file["t_tx"][rows],
                senders,
                recipients,
                integers(file["t_value"][rows]),
                strict=True,
            )
        ]

    # Blocks and times

    @cached_property
    def first_block(self) -> int | None:
        """The block of the first transfer; None without any."""
        for index in range(len(self._changes)):
            blocks = self._opened_changes(index).file["t_block"]
            if len(blocks):
                return int(blocks[0])
        return None

    def known_before(self, time_s: int) -> tuple[int, int] | None:
        """Returns the newest block of known time before `time_s`, and its time (s); None if there is none."""
        index = bisect_left(self._last_times, time_s)
        if index < len(self._changes):
            file = self._opened_changes(index).file
            reached = int(np.searchsorted(file["t_time_s"], time_s))
            if reached:
                return int(file["t_block"][reached - 1]), int(file["t_time_s"][reached - 1])
        return (self._changes[index - 1].to_block, self._changes[index - 1].to_time_s) if index else None

    def known_at(self, block: int) -> tuple[int, int] | None:
        """Returns the newest block of known time at or below `block`, and its time (s); None if there is none."""
        for index in range(bisect_right(self._first_blocks, block) - 1, -1, -1):
            recorded = self._changes[index]
            if recorded.to_block <= block:
                return recorded.to_block, recorded.to_time_s
            file = self._opened_changes(index).file
            reached = int(np.searchsorted(file["t_block"], block, "right"))
            if reached:
                return int(file["t_block"][reached - 1]), int(file["t_time_s"][reached - 1])
        return None
