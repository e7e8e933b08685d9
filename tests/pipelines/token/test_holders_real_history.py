"""A real token's whole history, read by the engine: a recorded node against its published sheet, and a real anvil."""

from __future__ import annotations

import asyncio
import gzip
import shutil
from datetime import UTC, datetime
from pathlib import Path

from ingest_helpers import pool_of, warehouse
from recorded_material import RecordedMaterial

from cli.demo.anvil import Anvil
from cli.demo.recorded import RecordedChain, RecordedNode
from cli.verify import run_folder_checks
from contracts.token.holder_documents import ConsistencyLevel
from contracts.token.proof import Verdict
from contracts.token.verification import verdict_of
from pipelines.token.engine import ingest
from pipelines.token.events import TokenTransfers
from pipelines.token.holder_lists import take_list
from pipelines.token.token_calls import read_token
from warehouse.duck.connection import Connection
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import HolderList, lists_dir

HUM_TOKEN = "0x174afe7a032b5a33a3270a9f6c30746e25708532"
REPLAYED_TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
FIRST_BLOCK, SHEET_BLOCK = 8345679, 16132364
NOW = datetime(2026, 2, 1, tzinfo=UTC)


async def read_and_take(
    connection: Connection, url: str, data_dir: Path, *, token: str, start_block: int, chain_id: int
) -> HolderList:
    async with pool_of(url, chain_id=chain_id, timeout_s=20.0) as pool:
        while not (
            await ingest(pool, connection, TokenTransfers(token), start_block=start_block, confirmations=None)
        ).complete:
            pass
        fold_balances(connection)
        taken = await take_list(
            connection,
            pool,
            data_dir,
            token=await read_token(pool, token),
            level=ConsistencyLevel.FINALIZED,
            snapshot_reason=None,
            now=NOW,
        )
    assert taken is not None
    return taken


def test_read_at_its_own_blocks_the_history_gives_the_published_sheet_and_is_proven(
    tmp_path: Path, recorded_material: RecordedMaterial
) -> None:
    published = recorded_material.json("data/hum/balanceSheet.block-16132364.json.gz")
    sheet = {address.lower(): int(balance) for address, balance in published.items()}
    logs = list(recorded_material.json_lines("data/hum/hum_transfer_logs.rpc.jsonl.gz"))
    chain = RecordedChain(
        chain_id=1, token=HUM_TOKEN, logs=logs, first_block=FIRST_BLOCK, head=SHEET_BLOCK + 2, block_time_s=12
    )
    with RecordedNode(chain) as node, warehouse(tmp_path) as connection:
        taken = asyncio.run(
            read_and_take(connection, node.url, tmp_path, token=HUM_TOKEN, start_block=FIRST_BLOCK, chain_id=1)
        )
    assert (taken.block, taken.holders) == (SHEET_BLOCK, len(sheet))
    assert (taken.proof.verdict, taken.proof.reason, taken.proof.negative_balances) == (Verdict.PROVEN, None, 0)
    text = gzip.decompress((lists_dir(tmp_path) / f"holders-{SHEET_BLOCK}.csv.gz").read_bytes()).decode()
    pairs = (line.split(",") for line in text.splitlines()[1:])
    assert {address: int(balance) for address, balance in pairs} == sheet


def test_replayed_on_anvil_it_is_proven_from_the_newest_state_and_then_at_its_own_block(
    tmp_path: Path, recorded_material: RecordedMaterial
) -> None:
    # A loaded anvil only has the state of its newest block, so the list two blocks below is proven by carrying it back.
    state = tmp_path / "state.json"
    with gzip.open(recorded_material.path("data/hum/anvil_state.json.gz")) as packed, state.open("wb") as handle:
        shutil.copyfileobj(packed, handle)

    def take(connection: Connection) -> HolderList:
        return asyncio.run(
            read_and_take(connection, anvil.url, tmp_path, token=REPLAYED_TOKEN, start_block=0, chain_id=8453)
        )

    with Anvil(load_state=state) as anvil, warehouse(tmp_path) as connection:
        first = take(connection)
        anvil.rpc.call("evm_mine")
        anvil.rpc.call("evm_mine")
        second = take(connection)
        rows = connection.execute("select count(*) from raw_chain__transfers").fetchall()
    assert rows == [(30_389,)]
    assert second.block == first.block + 2
    assert (first.proof.verdict, first.proof.reason) == (Verdict.PROVEN, "derived")
    assert (second.proof.verdict, second.proof.reason) == (Verdict.PROVEN, None)
    for proof in (first.proof, second.proof):
        assert proof.sum_of_balances == proof.total_supply and proof.negative_balances == 0
        assert proof.sampled_balance_of.checked == proof.sampled_balance_of.equal >= 15
    # The loaded anvil lacks the state of two blocks below its newest one, and has the state of all that it mined
    # itself.
    storages = [first.proof.storage, second.proof.storage]
    assert [storage and (storage.verdict, storage.reason, storage.proven) for storage in storages] == [
        ("unproven", "no_state", 0),
        ("proven", None, second.holders),
    ]
    file = lists_dir(tmp_path) / f"holders-{second.block}.storage.json.gz"
    assert file.stat().st_size <= 120 * second.holders
    checks = list(run_folder_checks(lists_dir(tmp_path), second.proof.block_hash))
    assert verdict_of(checks) is Verdict.PROVEN
