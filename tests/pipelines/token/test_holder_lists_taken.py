"""A list is taken, proven against the contract's answers, and recorded; odd tokens and odd nodes give the right
outcome."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from holder_rows import TOKEN, FakeToken, Row, address, block_hash, put_transfers

from contracts.errors import RpcUnavailable
from contracts.evm.codec import Fatal, RpcError
from contracts.token.holder_documents import ConsistencyLevel, HolderKind, Token
from contracts.token.holders import ZERO_ADDRESS, SnapshotReason, due_snapshot
from contracts.token.proof import Verdict
from pipelines.token.holder_lists import take_list
from pipelines.token.kinds import kind_of
from pipelines.token.token_calls import read_token
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import HolderList, latest_snapshot_taken_at, lists_dir, prune_lists

A, B, C = address(0xA), address(0xB), address(0xC)
NOW = datetime(2026, 2, 1, tzinfo=UTC)
HISTORY: list[Row] = [(1, ZERO_ADDRESS, A, 1000), (2, A, B, 300), (3, B, B, 5), (4, A, C, 0), (5, B, ZERO_ADDRESS, 10)]


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    with Warehouse(tmp_path).connect() as opened:
        yield opened


def take(
    connection: Any,
    node: FakeToken,
    data_dir: Path,
    *,
    reason: SnapshotReason | None = None,
    now: datetime = NOW,
    decimals: int | None = 2,
) -> HolderList:
    fold_balances(connection)
    taken = asyncio.run(
        take_list(
            connection,
            node,
            data_dir,
            token=Token(address=TOKEN, name="T", symbol="T", decimals=decimals),
            level=ConsistencyLevel.FINALIZED,
            snapshot_reason=reason,
            now=now,
        )
    )
    assert taken is not None
    return taken


def judged(connection: Any, data_dir: Path, rows: Sequence[Row], **odd: Any) -> tuple[Verdict, str | None]:
    put_transfers(connection, rows, 9)
    taken = take(connection, FakeToken(rows, head=odd.pop("head", 9), **odd), data_dir)
    return taken.proof.verdict, taken.proof.reason


def test_an_ordinary_token_is_proven_and_its_list_is_named_by_hash(connection: Any, tmp_path: Path) -> None:
    put_transfers(connection, HISTORY, 9)
    taken = take(connection, FakeToken(HISTORY, head=12), tmp_path)

    proof = taken.proof
    assert (proof.verdict, proof.reason, proof.negative_balances) == (Verdict.PROVEN, None, 0)
    assert (proof.block, proof.block_hash) == (9, block_hash(9))
    assert (proof.sum_of_balances, proof.total_supply, proof.minted, proof.burned) == ("990", "990", "1000", "10")
    assert (proof.sampled_balance_of.checked, proof.sampled_balance_of.equal) == (2, 2)
    packed = (lists_dir(tmp_path) / "holders-9.csv.gz").read_bytes()
    assert gzip.decompress(packed).decode() == f"address,balance_raw\n{A},700\n{B},290\n"
    named = proof.holder_list
    assert named is not None
    assert (named.path, named.sha256, named.bytes, named.rows) == (
        "/data/holders-9.csv.gz",
        hashlib.sha256(packed).hexdigest(),
        len(packed),
        2,
    )
    assert sorted(path.name for path in lists_dir(tmp_path).iterdir()) == ["holders-9.csv.gz", "holders-9.parquet"]


def test_rows_of_a_list_carry_rank_decimals_share_times_kind_and_cohort(connection: Any, tmp_path: Path) -> None:
    put_transfers(connection, HISTORY, 9)
    take(connection, FakeToken(HISTORY, head=9, code={A: "0x6080", B: "0xef0100" + "11" * 20}), tmp_path)
    rows = connection.execute(
        "select rank, address, balance_raw, balance, round(share, 4), first_seen_at, last_active_at, kind, cohort "
        "from read_parquet(?) order by rank",
        [str(lists_dir(tmp_path) / "holders-9.parquet")],
    ).fetchall()
    start = datetime(2026, 1, 1)  # noqa: DTZ001  (the warehouse keeps UTC without an offset)
    assert rows == [
        (1, A, "700", "7", 0.7071, start + timedelta(minutes=1), start + timedelta(minutes=4), "contract", "whale"),
        (2, B, "290", "2.9", 0.2929, start + timedelta(minutes=2), start + timedelta(minutes=5), "wallet", "whale"),
    ]


def test_equal_balances_give_equal_bytes_whenever_they_are_written(connection: Any, tmp_path: Path) -> None:
    put_transfers(connection, HISTORY, 9)
    first = take(connection, FakeToken(HISTORY, head=9), tmp_path)
    connection.execute("delete from out_holders__lists")
    again = take(connection, FakeToken(HISTORY, head=9), tmp_path, now=NOW + timedelta(days=3))
    assert first.proof.holder_list == again.proof.holder_list


def test_the_snapshot_of_a_chain_that_stands_still_is_due_once_an_hour(connection: Any, tmp_path: Path) -> None:
    put_transfers(connection, HISTORY, 9)
    node = FakeToken(HISTORY, head=9)
    due: list[SnapshotReason | None] = []
    for minutes in (0, 30, 60, 61, 119, 120, 121):
        now = NOW + timedelta(minutes=minutes)
        due.append(due_snapshot(latest_snapshot_taken_at(connection), now))
        take(connection, node, tmp_path, reason=due[-1], now=now)
    assert due == ["first", None, "hourly", None, None, "hourly", None]
    assert connection.execute("select count(*) from core_holders__snapshots").fetchone() == (1,)


def test_a_supply_above_two_to_the_255_is_proven_to_the_last_unit(connection: Any, tmp_path: Path) -> None:
    supply = 2**255 + 12345
    rows = [(1, ZERO_ADDRESS, A, supply), (2, A, B, 2**254 + 1), (3, B, C, 2**200)]
    assert judged(connection, tmp_path, rows) == (Verdict.PROVEN, None)
    text = gzip.decompress((lists_dir(tmp_path) / "holders-9.csv.gz").read_bytes()).decode()
    assert sum(int(line.split(",")[1]) for line in text.splitlines()[1:]) == supply


def test_locked_liquidity_minted_from_zero_to_zero_is_a_row_of_the_zero_address(
    connection: Any, tmp_path: Path
) -> None:
    rows = [(1, ZERO_ADDRESS, ZERO_ADDRESS, 1000), (1, ZERO_ADDRESS, A, 5000), (2, A, ZERO_ADDRESS, 500)]
    put_transfers(connection, rows, 9)
    taken = take(connection, FakeToken(rows, head=9, supply=5500, balances={ZERO_ADDRESS: 1000}), tmp_path)
    assert (taken.proof.verdict, taken.proof.reason) == (Verdict.PROVEN, None)
    assert (taken.proof.sum_of_balances, taken.proof.minted, taken.proof.burned) == ("5500", "6000", "500")
    text = gzip.decompress((lists_dir(tmp_path) / "holders-9.csv.gz").read_bytes()).decode()
    assert text == f"address,balance_raw\n{A},4500\n{ZERO_ADDRESS},1000\n"
    assert taken.holders == 2


def test_an_event_from_zero_to_zero_that_changed_no_supply_is_proven_too(connection: Any, tmp_path: Path) -> None:
    rows = [(1, ZERO_ADDRESS, ZERO_ADDRESS, 1000), (1, ZERO_ADDRESS, A, 5000)]
    assert judged(connection, tmp_path, rows, supply=5000) == (Verdict.PROVEN, None)


def test_tokens_sent_to_zero_without_a_burn_stay_in_the_supply(connection: Any, tmp_path: Path) -> None:
    odd = {"supply": 1000, "balances": {ZERO_ADDRESS: 10}}
    assert judged(connection, tmp_path, HISTORY, **odd) == (Verdict.PROVEN, None)


def test_a_fee_taken_without_an_event_fails_on_the_balances(connection: Any, tmp_path: Path) -> None:
    assert judged(connection, tmp_path, HISTORY, balances={B: 287}) == (Verdict.FAILED, "balance_mismatch")


def test_a_rebased_supply_fails(connection: Any, tmp_path: Path) -> None:
    assert judged(connection, tmp_path, HISTORY, supply=1980) == (Verdict.FAILED, "supply_mismatch")


def test_a_missed_mint_fails_as_a_negative_balance(connection: Any, tmp_path: Path) -> None:
    assert judged(connection, tmp_path, HISTORY[1:], supply=0) == (Verdict.FAILED, "negative_balance")


def test_a_contract_that_emits_more_than_uint256_fails_and_breaks_nothing(connection: Any, tmp_path: Path) -> None:
    rows = [(block, ZERO_ADDRESS, A, 2**256 - 1) for block in range(1, 9)]
    put_transfers(connection, rows, 9)
    taken = take(connection, FakeToken(rows, head=9), tmp_path)
    assert (taken.proof.verdict, taken.proof.reason) == (Verdict.FAILED, "supply_mismatch")
    assert taken.proof.minted == taken.proof.sum_of_balances == str(8 * (2**256 - 1))


def test_a_contract_without_these_functions_leaves_the_list_unproven(connection: Any, tmp_path: Path) -> None:
    assert judged(connection, tmp_path, HISTORY, empty=True) == (Verdict.UNPROVEN, "no_balance_of")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (RpcError(Fatal(), "execution reverted", code=3), "call_reverted"),
        (RpcUnavailable("No RPC node gave an answer.", cure="Check."), "rpc_unavailable"),
        (RpcError(Fatal(), "something else", code=-32000), "rpc_unavailable"),
        (RpcUnavailable("No RPC node gave an answer (a: header not found).", cure="Check."), "no_state"),
    ],
)
def test_a_node_that_does_not_answer_leaves_the_list_unproven(
    connection: Any, tmp_path: Path, fault: Exception, reason: str
) -> None:
    assert judged(connection, tmp_path, HISTORY, fault=fault) == (Verdict.UNPROVEN, reason)


def test_without_old_state_the_proof_is_carried_back_from_the_newest_block(connection: Any, tmp_path: Path) -> None:
    later = [*HISTORY, (11, A, B, 50), (12, ZERO_ADDRESS, C, 7), (13, B, ZERO_ADDRESS, 40)]
    put_transfers(connection, HISTORY, 9)
    taken = take(connection, FakeToken(later, head=14, state_from=14, max_range=2), tmp_path)
    assert (taken.proof.verdict, taken.proof.reason) == (Verdict.PROVEN, "derived")
    assert (taken.proof.total_supply, taken.proof.sampled_balance_of.equal) == ("990", 2)


def test_a_carried_back_proof_fails_where_the_newest_block_contradicts(connection: Any, tmp_path: Path) -> None:
    later = [*HISTORY, (11, A, B, 50)]
    put_transfers(connection, HISTORY, 9)
    taken = take(connection, FakeToken(later, head=14, state_from=14, balances={A: 649}), tmp_path)
    assert (taken.proof.verdict, taken.proof.reason) == (Verdict.FAILED, "balance_mismatch")


def test_later_transfers_to_zero_are_not_guessed_if_zero_holds_tokens(connection: Any, tmp_path: Path) -> None:
    later = [*HISTORY, (11, A, ZERO_ADDRESS, 50)]
    put_transfers(connection, HISTORY, 9)
    node = FakeToken(later, head=14, state_from=14, supply=1000, balances={ZERO_ADDRESS: 60})
    taken = take(connection, node, tmp_path)
    assert (taken.proof.verdict, taken.proof.reason) == (Verdict.UNPROVEN, "no_state")


def test_without_any_state_the_list_is_unproven(connection: Any, tmp_path: Path) -> None:
    assert judged(connection, tmp_path, HISTORY, head=9, state_from=99) == (Verdict.UNPROVEN, "no_state")


def test_the_first_list_is_a_snapshot_and_a_block_is_only_one(connection: Any, tmp_path: Path) -> None:
    put_transfers(connection, HISTORY, 9)
    node = FakeToken(HISTORY, head=30)
    assert take(connection, node, tmp_path).snapshot
    asked = len(node.asked)
    assert take(connection, node, tmp_path, reason="demand").snapshot and len(node.asked) == asked
    put_transfers(connection, [], 10)
    assert not take(connection, node, tmp_path).snapshot
    assert take(connection, node, tmp_path, reason="demand").snapshot
    found = connection.execute("select id, block, reason from core_holders__snapshots order by block").fetchall()
    assert found == [("9", 9, "first"), ("10", 10, "demand")]
    kept = connection.execute("select * from core_holders__snapshot_balances where snapshot_id = '10'").fetchall()
    assert kept == [("10", A, "700", 1), ("10", B, "290", 2)]


def test_kinds_are_asked_once_and_only_of_unknown_addresses(connection: Any, tmp_path: Path) -> None:
    put_transfers(connection, HISTORY, 9)
    node = FakeToken(HISTORY, head=30)
    take(connection, node, tmp_path)
    put_transfers(connection, [(10, A, C, 1)], 10)
    take(connection, node, tmp_path)
    assert [params[0] for method, params in node.asked if method == "eth_getCode"] == [A, B, C]


def test_pruning_drops_old_lists_with_their_files_and_keeps_what_is_retained(connection: Any, tmp_path: Path) -> None:
    node = FakeToken(HISTORY, head=99)
    for block in range(9, 16):
        put_transfers(connection, HISTORY if block == 9 else [], block)
        take(connection, node, tmp_path, reason="demand" if block == 10 else None)
    (lists_dir(tmp_path) / "holders-1.csv.gz.partial").touch()
    assert prune_lists(connection, tmp_path, NOW + timedelta(hours=1)) == []
    assert prune_lists(connection, tmp_path, NOW + timedelta(hours=3)) == [12, 11]
    assert prune_lists(connection, tmp_path, NOW + timedelta(days=100)) == []
    blocks = {int(path.name.split("-")[1].split(".")[0]) for path in lists_dir(tmp_path).iterdir()}
    assert blocks == {9, 10, 13, 14, 15}


def test_a_tokens_name_and_symbol_may_be_text_or_32_bytes_or_missing() -> None:
    word = "0x" + b"MKR".ljust(32, b"\0").hex()
    text = "0x" + f"{32:064x}" + f"{4:064x}" + "Hu\u0007m".encode().hex().ljust(64, "0")

    class Node(FakeToken):
        def _call(self, data: str, block: int) -> str:
            return {"0x06fdde03": text, "0x95d89b41": word}.get(data, "0x")

    token = asyncio.run(read_token(Node([], head=1), TOKEN))
    assert (token.name, token.symbol, token.decimals) == ("Hu m", "MKR", None)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("0x", HolderKind.WALLET),
        ("0x6080", HolderKind.CONTRACT),
        ("0xef0100" + "ab" * 20, HolderKind.WALLET),
        ("0xef0100" + "ab" * 21, HolderKind.CONTRACT),
    ],
)
def test_a_delegated_wallet_is_a_wallet(code: str, kind: HolderKind) -> None:
    assert kind_of(code) is kind
