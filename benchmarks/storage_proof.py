"""Measures the storage proof of a holder list: what building it reads and costs, its size, and its offline check.

There are two tokens on a local EVM: one whose storage contains only its list, and one with many additional words, which
are the slots of former holders. This EVM keeps those as zeros, much as a real token's storage contains allowances.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.chain import TX_GAS, bench_chain
from cli.demo.anvil import Anvil
from cli.demo.history import Movement
from cli.demo.rpc import Rpc
from cli.demo.write import deploy, mined_receipt, move_calldata
from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import ZERO_ADDRESS, csv_file_name
from contracts.token.proof import Proof
from contracts.token.storage_proof import HolderRow, pack, prove, unpack
from contracts.token.verification import read_list
from pipelines.clients.rpc import RpcPool
from pipelines.token.engine import ingest
from pipelines.token.events import TokenTransfers
from pipelines.token.holder_lists import take_list
from pipelines.token.storage_proof import prove_storage
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import lists_dir

HOLDERS = 30_000
TRANSFERS = 60_000
_MINTS_PER_BLOCK = 500


@dataclass(frozen=True)
class StorageProofCost:
    """One token: the CPU seconds of this process without the node, bytes per holder, and CPU us per holder to check."""

    token: str
    holders: int
    siblings: int
    requests: int
    read_cpu_s: float
    make_cpu_s: float
    bytes_per_holder: float
    check_us_per_holder: float


def measure() -> list[StorageProofCost]:
    """Measures both tokens. The chain is read first, which is not counted in the cost of the proof."""
    with _minted() as (url, token):
        alone = asyncio.run(_cost("nothing but the list", url, token))
    with bench_chain(TRANSFERS) as chain:
        beside = asyncio.run(_cost("foreign words beside it", chain.anvil.url, chain.token))
    return [alone, beside]


@contextmanager
def _minted() -> Iterator[tuple[str, str]]:
    with Anvil(flags=["--prune-history", "64"]) as anvil:
        owner = anvil.rpc.call("eth_accounts")[0]
        token = deploy(anvil.rpc, owner, "DemoToken", ["string", "string"], ["Bench", "BENCH"])
        dice = random.Random(18)
        accounts = [f"0x{dice.getrandbits(160):040x}" for _ in range(HOLDERS)]
        for place in range(0, HOLDERS, _MINTS_PER_BLOCK):
            part = accounts[place : place + _MINTS_PER_BLOCK]
            _mint(anvil.rpc, owner, token, [Movement(ZERO_ADDRESS, to, dice.randrange(1, 10**24)) for to in part])
        for _ in range(3):
            anvil.rpc.call("evm_mine")
        yield anvil.url, token


def _mint(rpc: Rpc, owner: str, token: str, mints: list[Movement]) -> None:
    transaction = {"from": owner, "to": token, "data": move_calldata(mints), "gas": hex(TX_GAS)}
    mined_receipt(rpc, rpc.call("eth_sendTransaction", transaction))


async def _cost(name: str, url: str, token: str) -> StorageProofCost:
    with tempfile.TemporaryDirectory() as directory:
        async with RpcPool([url], chain_id=8453) as pool:
            proof, rows, read_cpu_s = await _read(pool, Path(directory), token)
            requests, began = pool.request_count, time.process_time()
            storage, multiproof = await prove_storage(
                pool,
                token=token.lower(),
                block=proof.block,
                block_hash=proof.block_hash,
                rows=rows,
                total_supply=sum(balance for _, balance in rows),
            )
            assert multiproof is not None, storage
            file = pack(multiproof)
            make_cpu_s = time.process_time() - began
            requests = pool.request_count - requests
    began = time.process_time()
    prove(unpack(file), rows, proof.block_hash)
    return StorageProofCost(
        token=name,
        holders=len(rows),
        siblings=len(multiproof.siblings),
        requests=requests,
        read_cpu_s=read_cpu_s,
        make_cpu_s=make_cpu_s,
        bytes_per_holder=len(file) / len(rows),
        check_us_per_holder=(time.process_time() - began) / len(rows) * 1e6,
    )


async def _read(pool: RpcPool, directory: Path, token: str) -> tuple[Proof, list[HolderRow], float]:
    """Returns the proof and the rows of the list, and the CPU seconds of reading and folding the transfers."""
    with Warehouse(directory).connect() as connection:
        began = time.process_time()
        events = TokenTransfers(token)
        await ingest(pool, connection, events, start_block=0, confirmations=None, budget_s=600)
        fold_balances(connection)
        read_cpu_s = time.process_time() - began
        taken = await take_list(
            connection,
            pool,
            directory,
            token=Token(address=token.lower(), name=None, symbol=None, decimals=18),
            level=ConsistencyLevel.FINALIZED,
            snapshot_reason=None,
            now=datetime.now(UTC),
        )
    assert taken is not None
    with gzip.open(lists_dir(directory) / csv_file_name(taken.block)) as lines:
        return taken.proof, read_list(lines, max_rows=taken.holders).rows, read_cpu_s
