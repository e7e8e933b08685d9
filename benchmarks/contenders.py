"""Reads the chain in the ingestion bench: `python -m benchmarks.contenders NAME SPEC`, one process per contender.

Every contender gets the same history and prints one JSON object: wall and CPU seconds of the work only, and the peak
memory of its process. The process is warm: imports happen before the clock starts, and work that takes only seconds
(all except web3.py) is done once beforehand. The clock stops before a contender's files are deleted.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from warehouse.cycles import while_importing

CONNECTIONS = 6
BLOCKS_PER_REQUEST = 20


Work = Callable[[Path], int]
"""Reads the history once, writing any files to an empty directory, and returns the number of events."""


def raw_http_floor(spec: dict[str, Any]) -> Work:
    """Does the minimum work of any reader: fetches every answer with the HTTP client we use, and keeps its bytes."""
    import aiohttp
    import msgspec

    def body(first: int) -> bytes:
        last = min(first + BLOCKS_PER_REQUEST - 1, spec["last_block"])
        query = {"address": spec["token"], "topics": [spec["topic"]], "fromBlock": hex(first), "toBlock": hex(last)}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": first, "method": "eth_getLogs", "params": [query]})

    async def fetch() -> int:
        answers: list[bytes] = []
        places = asyncio.Semaphore(CONNECTIONS)
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        headers = {"Content-Type": "application/json"}
        async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

            async def one(first: int) -> None:
                async with places, session.post(spec["url"], data=body(first)) as response:
                    answers.append(await response.read())

            await asyncio.gather(*(one(first) for first in range(0, spec["last_block"] + 1, BLOCKS_PER_REQUEST)))
        return sum(answer.count(b'"logIndex"') for answer in answers)

    return lambda _: asyncio.run(fetch())


def web3_loop(spec: dict[str, Any]) -> Work:
    """Reads the way a user would first write it: `get_logs` in a loop, decoded by hand, balances as Python integers."""
    from web3 import HTTPProvider, Web3

    web3 = Web3(HTTPProvider(spec["url"], request_kwargs={"timeout": 60}))
    token = Web3.to_checksum_address(spec["token"])

    def loop(_: Path) -> int:
        rows = 0
        balances: dict[str, int] = {}
        for first in range(0, spec["last_block"] + 1, BLOCKS_PER_REQUEST):
            last = min(first + BLOCKS_PER_REQUEST - 1, spec["last_block"])
            for log in web3.eth.get_logs(
                {"address": token, "topics": [spec["topic"]], "fromBlock": first, "toBlock": last}
            ):
                sender, recipient = log["topics"][1].hex()[-40:], log["topics"][2].hex()[-40:]
                value = int.from_bytes(log["data"])
                balances[sender] = balances.get(sender, 0) - value
                balances[recipient] = balances.get(recipient, 0) + value
                rows += 1
        return rows

    return loop


def cryo_freeze(spec: dict[str, Any]) -> Work:
    """Reads with cryo's Rust engine through its Python wheel: Parquet files of the transfers, without balances."""
    import cryo
    import polars

    def freeze(directory: Path) -> int:
        cryo.freeze(
            "erc20_transfers",
            blocks=[f"0:{spec['last_block'] + 1}"],
            rpc=spec["url"],
            address=[spec["token"]],
            inner_request_size=BLOCKS_PER_REQUEST,
            chunk_size=BLOCKS_PER_REQUEST,
            max_concurrent_requests=CONNECTIONS,
            output_dir=str(directory),
            file_format="parquet",
            verbose=False,
        )
        files = list(directory.glob("*.parquet"))
        return int(polars.scan_parquet(files).select(polars.len()).collect().item())

    return freeze


def ours(spec: dict[str, Any]) -> Work:
    """Reads with the ingestion engine: stores transfers, folds balances and proves them against the contract."""
    from contracts.token.proof import Verdict
    from pipelines.clients.rpc import RpcPool
    from pipelines.token.engine import ingest
    from pipelines.token.events import TokenTransfers
    from pipelines.token.holder_lists import prove_balances
    from warehouse.duck.connection import Warehouse
    from warehouse.token.fold import fold_balances

    async def read(directory: Path) -> int:
        with Warehouse(directory).connect() as connection:
            async with RpcPool([spec["url"]], chain_id=8453) as pool:
                events = TokenTransfers(spec["token"])
                report = await ingest(pool, connection, events, start_block=0, confirmations=None, budget_s=600)
                folded = fold_balances(connection)
                assert report.complete and folded is not None
                proof, _ = await prove_balances(connection, pool, spec["token"], folded.state)
        assert proof.verdict is Verdict.PROVEN, proof
        return report.log_count

    return lambda directory: asyncio.run(read(directory))


CONTENDERS = {"ours": ours, "floor": raw_http_floor, "web3": web3_loop, "cryo": cryo_freeze}


def main() -> None:
    prepare = CONTENDERS[sys.argv[1]]
    with while_importing():  # like the processes that read the chain
        work = prepare(json.loads(sys.argv[2]))
    if sys.argv[1] != "web3":
        _measured(work)
    print(json.dumps(_measured(work)))


def _measured(work: Work) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as directory:
        cpu_before = _cpu_s()
        started = time.perf_counter()
        events = work(Path(directory))
        wall_s = time.perf_counter() - started
        return {
            "events": events,
            "wall_s": wall_s,
            "cpu_s": _cpu_s() - cpu_before,
            "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
