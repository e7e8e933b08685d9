"""The zero address's balance at any block: from lists that know it, and from the transfers between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from grown_lists import body, grow
from holder_rows import Row, address, block_time, put_transfers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from contracts.discovery.installation import Installation
from contracts.token.history_documents import AddressTransfersParameters, TokenHolderParameters
from contracts.token.holder_documents import HoldersMapParameters, HoldersTemporalParameters, MomentParameters
from contracts.token.holders import ZERO_ADDRESS
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.token import zero_address
from warehouse.token.fold import fold_balances
from warehouse.token.history_documents import read_address_transfers, read_token_holder
from warehouse.token.history_writer import Sizes, extend_history
from warehouse.token.holder_lists import lists_dir
from warehouse.token.holders import read_state
from warehouse.token.zero_address import Bounds, KnownBalance, Moment, ZeroAddress

A, B, C = (address(number) for number in (0xA, 0xB, 0xC))
MINT = [(1, ZERO_ADDRESS, A, 1000), (2, A, B, 300), (2, A, C, 2)]
BURNS = [(6, A, ZERO_ADDRESS, 5), (9, B, ZERO_ADDRESS, 1), (11, B, ZERO_ADDRESS, 40)]
KEPT_LATER = [*MINT, *BURNS, (271, B, ZERO_ADDRESS, 2)]


@pytest.fixture
def context(tmp_path: Path) -> Iterator[DocumentContext]:
    with Warehouse(tmp_path).connect() as opened:
        yield DocumentContext(opened, lists_dir(tmp_path), Installation("https://svc.example"))


def test_a_kept_amount_counts_from_the_one_transfer_that_gives_it(context: DocumentContext) -> None:
    grow(context, KEPT_LATER, 343, supply=954, balances={ZERO_ADDRESS: 2})
    for block, supply, holders, held in ((7, 995, 3, 0), (12, 954, 3, 0), (270, 954, 3, 0), (271, 954, 4, 2)):
        answer = body("token_holders", context, MomentParameters(block=block))
        assert (answer["totalSupplyRaw"], answer["holderCount"]) == (str(supply), holders)
        assert (answer["basis"]["verdict"], answer["quality"], answer["reason"]) == ("proven", "derived", "replayed")
        page = body("token_holders_map", context, HoldersMapParameters(block=block))
        assert [row["address"] == ZERO_ADDRESS for row in page["holders"]].count(True) == (held > 0)
        zero = read_token_holder(context, ZERO_ADDRESS, TokenHolderParameters(block=block))
        assert (zero["balance_raw"], zero["first_held_block"]) == (str(held), 271 if held else None)
    compared = body("token_holders_map_temporal", context, HoldersTemporalParameters(from_block=12))
    assert (compared["from"]["sumRaw"], compared["to"]["sumRaw"], compared["churn"]["entered"]) == ("954", "954", 1)


def test_the_list_itself_says_since_when_the_zero_address_holds(context: DocumentContext) -> None:
    grow(context, KEPT_LATER, 343, supply=954, balances={ZERO_ADDRESS: 2})
    rows = {row["address"]: row for row in body("token_holders_map", context)["holders"]}
    assert rows[ZERO_ADDRESS]["firstHeldAt"] == f"{block_time(271):%Y-%m-%dT%H:%M:%SZ}"
    zero = read_token_holder(context, ZERO_ADDRESS, TokenHolderParameters())
    assert [(point["block"], point["balanceRaw"], point["changeRaw"]) for point in zero["history"]] == [(271, "2", "2")]


def test_a_balance_that_transfers_do_not_determine_is_unknown_and_not_proven(context: DocumentContext) -> None:
    # The contract can have kept either transfer of 2.
    rows = [*MINT, (6, A, ZERO_ADDRESS, 5), (9, B, ZERO_ADDRESS, 2), (271, B, ZERO_ADDRESS, 2)]
    grow(context, rows, 343, supply=993, balances={ZERO_ADDRESS: 2})
    for block in (9, 100, 270):
        answer = body("token_holders", context, MomentParameters(block=block))
        assert (answer["totalSupplyRaw"], answer["totalSupply"], answer["holderCount"]) == (None, None, None)
        assert (answer["quality"], answer["reason"]) == ("estimated", "zero_balance_unknown")
        assert answer["basis"]["verdict"] == "unproven"
        page = body("token_holders_map", context, HoldersMapParameters(block=block))
        assert ZERO_ADDRESS not in [row["address"] for row in page["holders"]]
        assert (page["reason"], page["basis"]["verdict"]) == ("zero_balance_unknown", "unproven")
        zero = read_token_holder(context, ZERO_ADDRESS, TokenHolderParameters(block=block))
        assert [zero[name] for name in ("balance_raw", "balance", "rank", "share", "first_held_block")] == [None] * 5
        assert (zero["reason"], zero["history"]) == ("zero_balance_unknown", [])
        first, last = (read_token_holder(context, who, TokenHolderParameters(block=block)) for who in (A, C))
        assert (first["balance_raw"], first["rank"], first["share"]) == ("693", 1, None)
        assert (last["balance_raw"], last["rank"]) == ("2", None)  # after the zero address, if that holds 2
        moved = read_address_transfers(context, A, AddressTransfersParameters(block=block))
        assert (moved["basis"].verdict.value, moved["reason"]) == ("proven", "replayed")
    for block, supply in ((8, "995"), (271, "993")):
        answer = body("token_holders", context, MomentParameters(block=block))
        assert (answer["totalSupplyRaw"], answer["basis"]["verdict"]) == (supply, "proven")


def test_a_proven_list_in_between_determines_what_transfers_do_not(context: DocumentContext) -> None:
    grow(context, [*MINT, (9, B, ZERO_ADDRESS, 2)], 20, supply=998)
    grow(context, [(271, B, ZERO_ADDRESS, 2)], 343, supply=998, balances={ZERO_ADDRESS: 2})
    for block, held in ((9, "0"), (20, "0"), (270, "0"), (271, "2"), (343, "2")):
        zero = read_token_holder(context, ZERO_ADDRESS, TokenHolderParameters(block=block))
        assert (zero["balance_raw"], zero["basis"].verdict.value) == (held, "proven")


def test_an_unproven_list_determines_nothing(context: DocumentContext) -> None:
    grow(context, [*MINT, (9, B, ZERO_ADDRESS, 2)], 20, empty=True)
    grow(context, [(271, B, ZERO_ADDRESS, 2)], 343, supply=998, balances={ZERO_ADDRESS: 2})
    zero = read_token_holder(context, ZERO_ADDRESS, TokenHolderParameters(block=100))
    assert (zero["balance_raw"], zero["basis"].verdict.value) == (None, "unproven")


SMALL = Sizes(changes=3, state=7)
"""Sizes of a history's files, so small that a few transfers fill several."""


def of_lists(
    tmp_path: Path,
    rows: Sequence[Row],
    upto: int,
    known: Sequence[KnownBalance],
    sizes: Sizes = SMALL,
) -> ZeroAddress:
    tmp_path.mkdir(exist_ok=True)
    with Warehouse(tmp_path).connect() as connection:
        put_transfers(connection, rows, upto)
        fold_balances(connection)
        state = read_state(connection)
        assert state is not None
        return ZeroAddress(extend_history(connection, tmp_path, state, sizes), known)


def test_a_balance_that_fell_or_rose_by_no_transfer_is_unknown_between_its_lists(tmp_path: Path) -> None:
    rows = [*MINT, (4, A, ZERO_ADDRESS, 20), (6, A, ZERO_ADDRESS, 25)]
    zero = of_lists(tmp_path, rows, 30, [KnownBalance(9, 30), KnownBalance(20, 10), KnownBalance(30, 10)])
    assert [zero.bounds_at(block) for block in (3, 4, 8)] == [Bounds(0, 0), Bounds(0, 30), Bounds(0, 30)]
    assert [zero.bounds_at(block) for block in (9, 15, 20, 25)] == [(30, 30), (10, 30), (10, 10), (10, 10)]
    assert zero.first_held(30) is None
    risen = of_lists(
        tmp_path / "risen", [*MINT, (4, A, ZERO_ADDRESS, 20)], 30, [KnownBalance(9, 0), KnownBalance(30, 5)]
    )
    assert [risen.bounds_at(block) for block in (8, 9, 10, 29, 30)] == [(0, 0), (0, 0), (0, 5), (0, 5), (5, 5)]


def test_with_too_many_transfers_to_weigh_the_sums_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        (1, ZERO_ADDRESS, A, 1000),
        (2, A, ZERO_ADDRESS, 0),
        *((block, A, ZERO_ADDRESS, 1) for block in range(3, 60)),
    ]
    monkeypatch.setattr(zero_address, "MOST_TRANSFERS", 20)
    everything = of_lists(tmp_path / "all", rows, 80, [KnownBalance(80, 57)])  # a contract that burns nothing
    assert [everything.bounds_at(block) for block in (2, 3, 30, 70)] == [(0, 0), (1, 1), (28, 28), (57, 57)]
    assert everything.first_held(80) == Moment(3, int(block_time(3).timestamp()))
    half = of_lists(tmp_path / "half", rows, 80, [KnownBalance(80, 30)])
    assert [half.bounds_at(block) for block in (2, 3, 40, 70)] == [(0, 0), (0, 1), (11, 30), (30, 30)]
    assert half.first_held(80) is None


def test_a_long_row_of_burns_hides_no_amount_that_was_locked_first(tmp_path: Path) -> None:
    burns = [(block, A, ZERO_ADDRESS, 2000 + block) for block in range(3, 6003)]
    rows = [(1, ZERO_ADDRESS, ZERO_ADDRESS, 1000), (2, ZERO_ADDRESS, A, 10**9), *burns]
    zero = of_lists(tmp_path, rows, 7000, [KnownBalance(7000, 1000)], Sizes(changes=1000, state=2000))
    assert (zero.bounds_at(0), zero.bounds_at(1), zero.bounds_at(6500)) == ((0, 0), (1000, 1000), (1000, 1000))
    assert zero.first_held(7000) == Moment(1, int(block_time(1).timestamp()))


def test_many_burns_that_could_all_be_parts_leave_bounds(tmp_path: Path) -> None:
    burns = [(block, A, ZERO_ADDRESS, 2**block) for block in range(3, 60)]
    rows: list[Any] = [(1, ZERO_ADDRESS, A, 2**70), *burns, (60, A, ZERO_ADDRESS, 2**62)]
    zero = of_lists(tmp_path, rows, 99, [KnownBalance(99, 2**62)])
    assert zero.bounds_at(2) == (0, 0) and zero.bounds_at(60) == (2**62, 2**62)
    least, most = zero.bounds_at(30)
    assert least == 0 < most == sum(2**block for block in range(3, 31))


@settings(max_examples=15 * ROUNDS, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.booleans()), min_size=1, max_size=9))
def test_the_bounds_cover_every_choice_of_kept_transfers(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, int, bool]]
) -> None:
    block, rows, kept = 2, [(1, ZERO_ADDRESS, A, 100)], 0
    for step, value, is_kept in moves:
        block += step
        rows.append((block, A, ZERO_ADDRESS, value))
        kept += value * is_kept
    zero = of_lists(tmp_path_factory.mktemp("drawn"), rows, block + 1, [KnownBalance(block + 1, kept)])
    sent = rows[1:]
    choices = [
        choice
        for choice in product((0, 1), repeat=len(sent))
        if sum(row[3] * one for row, one in zip(sent, choice, strict=True)) == kept
    ]
    for at in range(block + 1):
        held = [sum(row[3] * one for row, one in zip(sent, choice, strict=True) if row[0] <= at) for choice in choices]
        assert zero.bounds_at(at) == (min(held), max(held))
