"""The recorded demo history: made from an anvil by `python -m cli.demo.record`, read where Node is missing.

The recording holds every log and block time of the written history, dated so that it ends at `RECORDED_AT`. Equal
sources and an equal anvil give an equal file.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, Final

import msgspec

from cli.demo.anvil import Anvil
from cli.demo.compile import CHAIN_DIR
from cli.demo.history import plan_history
from cli.demo.log_index import Log
from cli.demo.recorded import RecordedChain
from cli.demo.rpc import Rpc
from cli.demo.write import METADATA, DemoContracts, genesis_flags, write_contracts, write_history

RECORDING_PATH: Final = CHAIN_DIR / "recorded_demo.json.gz"
# 2026-11-01T00:00:00Z
RECORDED_AT: Final = 1_793_491_200
_CHAIN_ID: Final = 8453


class RecordedBlock(msgspec.Struct, array_like=True):
    time_s: int
    hash: str
    transactions: list[str]


class RecordedLog(msgspec.Struct, array_like=True):
    """`address` and `topics` point into the recording's `words`; `data` has no leading zeros."""

    block: int
    transaction_index: int
    log_index: int
    address: int
    topics: list[int]
    data: str
    data_bytes: int


class Recording(msgspec.Struct):
    contracts: dict[str, Any]
    bidwall_balance_wei: str
    words: list[str]
    blocks: list[RecordedBlock]
    logs: list[RecordedLog]


def packed(contracts: DemoContracts, bidwall_wei: int, blocks: list[dict[str, Any]], logs: list[Log]) -> Recording:
    """A recording of JSON-RPC blocks (all from 0 on, in order) and logs."""
    places: dict[str, int] = {}

    def place(word: str) -> int:
        return places.setdefault(word, len(places))

    rows = [
        RecordedLog(
            int(log["blockNumber"], 16),
            int(log["transactionIndex"], 16),
            int(log["logIndex"], 16),
            place(log["address"]),
            [place(topic) for topic in log["topics"]],
            log["data"][2:].lstrip("0"),
            len(log["data"]) // 2 - 1,
        )
        for log in logs
    ]
    headers = [RecordedBlock(int(block["timestamp"], 16), block["hash"], block["transactions"]) for block in blocks]
    return Recording(contracts.as_dict(), str(bidwall_wei), list(places), headers, rows)


def unpacked_logs(recording: Recording) -> list[Log]:
    """The JSON-RPC rows of a recording, as the recorded node sent them."""
    return [
        {
            "address": recording.words[log.address],
            "topics": [recording.words[topic] for topic in log.topics],
            "data": "0x" + log.data.rjust(2 * log.data_bytes, "0"),
            "blockHash": recording.blocks[log.block].hash,
            "blockNumber": hex(log.block),
            "blockTimestamp": hex(recording.blocks[log.block].time_s),
            "transactionHash": recording.blocks[log.block].transactions[log.transaction_index],
            "transactionIndex": hex(log.transaction_index),
            "logIndex": hex(log.log_index),
            "removed": False,
        }
        for log in recording.logs
    ]


def chain_of(recording: Recording) -> RecordedChain:
    """The recorded demo as a chain that answers; its head stands still."""
    return RecordedChain(
        chain_id=_CHAIN_ID,
        token=recording.contracts["token_address"],
        logs=unpacked_logs(recording),
        first_block=recording.contracts["token_start_block"],
        head=len(recording.blocks) - 1,
        head_time=recording.blocks[-1].time_s,
        block_times={number: block.time_s for number, block in enumerate(recording.blocks)},
        metadata=METADATA,
        balances_wei={recording.contracts["bidwall_address"]: int(recording.bidwall_balance_wei)},
    )


def load_recording(path: Path = RECORDING_PATH) -> Recording:
    return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=Recording)


def record() -> bytes:
    """The recording file's bytes, from a fresh anvil. Raises `AnvilUnavailable`."""
    with Anvil(flags=genesis_flags(RECORDED_AT)) as anvil:
        contracts = write_contracts(anvil.rpc, RECORDED_AT)
        write_history(anvil.rpc, contracts, plan_history(contracts.bidwall_address), RECORDED_AT)
        recording = _read(anvil.rpc, contracts)
    return gzip.compress(msgspec.json.encode(recording), compresslevel=9, mtime=0)


def _read(rpc: Rpc, contracts: DemoContracts) -> Recording:
    head = int(rpc.call("eth_blockNumber"), 16)
    blocks = rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in range(head + 1)])
    logs = rpc.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": hex(head)})
    bidwall_wei = int(rpc.call("eth_getBalance", contracts.bidwall_address, hex(head)), 16)
    return packed(contracts, bidwall_wei, blocks, logs)


def main() -> None:
    content = record()
    RECORDING_PATH.write_bytes(content)
    print(f"{RECORDING_PATH}: {len(content)} bytes")


if __name__ == "__main__":
    main()
