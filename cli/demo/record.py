"""The recorded demo history: `python -m cli.demo.record` records it from an anvil; it is used if Node.js is missing.

The recording contains every log and block time of the written history, dated so that it ends at `RECORDED_AT`. The same
sources and the same anvil produce the same file.
"""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from cli.demo.anvil import Anvil
from cli.demo.compile import CHAIN_DIR
from cli.demo.happenings import Scene
from cli.demo.history import plan_history
from cli.demo.log_index import Log
from cli.demo.recorded import RecordedChain
from cli.demo.rpc import Rpc, calldata
from cli.demo.write import EMPTY_BLOCKS, METADATA, DemoContracts, genesis_flags, write_contracts, write_history
from contracts.trust import THRESHOLDS

RECORDING_PATH: Final = CHAIN_DIR / "recorded_demo.json.gz"
# 2026-11-01T00:00:00Z
RECORDED_AT: Final = 1_793_491_200
_CHAIN_ID: Final = 8453


class RecordedBlock(msgspec.Struct, array_like=True):
    time_s: int
    hash: str
    transactions: list[str]


class RecordedLog(msgspec.Struct, array_like=True):
    """`address` and `topics` are indexes into the recording's `words`; `data` has no leading zeros."""

    block: int
    transaction_index: int
    log_index: int
    address: int
    topics: list[int]
    data: str
    data_bytes: int


class RecordedCall(msgspec.Struct, array_like=True):
    """A contract's answer to call data, valid from the recording's first state block on."""

    to: str
    data: str
    answer: str


@dataclass(frozen=True)
class State:
    """State from block `first` on: native balances in wei (decimal text) by address, and contracts' answers."""

    first: int
    balances_wei: dict[str, str]
    calls: list[RecordedCall]


class Recording(msgspec.Struct):
    contracts: dict[str, Any]
    state: State
    words: list[str]
    blocks: list[RecordedBlock]
    logs: list[RecordedLog]


def packed(contracts: DemoContracts, state: State, blocks: list[dict[str, Any]], logs: list[Log]) -> Recording:
    """Builds a recording from JSON-RPC blocks (all from 0 on, in order) and logs."""
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
    return Recording(contracts.as_dict(), state, list(places), headers, rows)


def unpacked_logs(recording: Recording) -> list[Log]:
    """Returns a recording's JSON-RPC rows as the original node sent them."""
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
    """Returns the recorded demo as a chain that answers calls; its head never moves."""
    return RecordedChain(
        chain_id=_CHAIN_ID,
        token=recording.contracts["token_address"],
        logs=unpacked_logs(recording),
        first_block=recording.contracts["token_start_block"],
        head=len(recording.blocks) - 1,
        head_time=recording.blocks[-1].time_s,
        block_times={number: block.time_s for number, block in enumerate(recording.blocks)},
        metadata=METADATA,
        balances_wei={address: int(wei) for address, wei in recording.state.balances_wei.items()},
        calls={(call.to, call.data): call.answer for call in recording.state.calls},
        state_from=recording.state.first,
    )


def load_recording(path: Path = RECORDING_PATH) -> Recording:
    return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=Recording)


def record() -> bytes:
    """Records a fresh anvil and returns the file's bytes. Raises `AnvilUnavailable`."""
    with Anvil(flags=genesis_flags(RECORDED_AT)) as anvil:
        contracts = write_contracts(anvil.rpc, RECORDED_AT)
        write_history(anvil.rpc, contracts, plan_history(contracts.bidwall_address), RECORDED_AT)
        recording = _read(anvil.rpc, contracts)
    return gzip.compress(msgspec.json.encode(recording), compresslevel=9, mtime=0)


def _read(rpc: Rpc, contracts: DemoContracts) -> Recording:
    head = int(rpc.call("eth_blockNumber"), 16)
    blocks = rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in range(head + 1)])
    logs = rpc.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": hex(head)})
    return packed(contracts, _state(rpc, contracts, head), blocks, logs)


def _state(rpc: Rpc, contracts: DemoContracts, head: int) -> State:
    """Records the answers that readers need at the newest block. The last three blocks are empty, so the state is valid
    from the one before them on."""
    accounts = rpc.call("eth_accounts")
    scene = contracts.scene(accounts)
    held_by = [*scene.accounts, scene.bidwall, scene.pool, scene.escrow]
    balances = rpc.batch([("eth_getBalance", [address, hex(head)]) for address in held_by])
    questions = [(to.lower(), calldata(signature, *values)) for to, signature, values in _questions(contracts, scene)]
    answers = rpc.batch([("eth_call", [{"to": to, "data": data}, hex(head)]) for to, data in questions])
    return State(
        first=head - EMPTY_BLOCKS,
        balances_wei={address: str(int(wei, 16)) for address, wei in zip(held_by, balances, strict=True)},
        calls=[RecordedCall(to, data, answer) for (to, data), answer in zip(questions, answers, strict=True)],
    )


def _questions(contracts: DemoContracts, scene: Scene) -> Iterator[tuple[str, str, Sequence[Any]]]:
    """Yields contract, function and arguments of every call that a recorded demo answers, except the token's own."""
    for feed in (contracts.chainlink_feed_address, contracts.sequencer_feed_address):
        for name in ("decimals", "description", "version", "latestRoundData"):
            yield feed, f"{name}()", ()
    for name in ("token0", "token1", "getReserves"):
        yield contracts.pool_address, f"{name}()", ()
    for name in ("name", "symbol", "decimals", "totalSupply"):
        yield contracts.usdc_address, f"{name}()", ()
    for holder in (scene.pool, scene.bidwall, scene.escrow, contracts.treasury_address):
        yield contracts.usdc_address, "balanceOf(address)", (holder,)
    for name in ("halfLifeS", "ONE", "attestationTotal", "agentTotal"):
        yield contracts.trust_registry_address, f"{name}()", ()
    for agent in scene.agents:
        for name in ("weightedScore", "averageScore", "attestationCount", "registered"):
            yield contracts.trust_registry_address, f"{name}(address)", (agent,)
        for least in THRESHOLDS.values():
            yield contracts.trust_registry_address, "meetsTrustThreshold(address,uint256)", (agent, least)
    yield contracts.escrow_address, "registry()", ()
    yield contracts.escrow_address, "depositTotal()", ()


def main() -> None:
    content = record()
    RECORDING_PATH.write_bytes(content)
    print(f"{RECORDING_PATH}: {len(content)} bytes")


if __name__ == "__main__":
    main()
