"""Partitions as workers store them, built from literal logs."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest_helpers import CHAIN_ID, TOKEN

from cli.demo.log_index import Log
from contracts.evm.codec import BlockHeader
from contracts.settings import Settings
from contracts.token.holder_documents import ConsistencyLevel
from contracts.token.partitions import Partition, ReadToken
from pipelines.token.events import FinalEvents
from pipelines.token.head import ChainHead
from pipelines.token.many_tokens import TransfersOfTokens
from pipelines.token.partitions import partition_of_ranges
from warehouse.access.signing_keys import SigningKeys
from warehouse.publish.object_store import ObjectStore
from warehouse.token.partition_store import PartitionStore
from warehouse.token.transfers import RangeRead

OTHER, ZERO = "0x" + "0e" * 20, "0x" + "00" * 20
HEAD = BlockHeader(1000, "0x" + "11" * 32, "0x" + "10" * 32, 2_000, None)
CHAIN = ChainHead(CHAIN_ID, "0x" + "00" * 32, HEAD, HEAD, ConsistencyLevel.FINALIZED)
SERVICE = ReadToken(TOKEN, 0)

FIRST = Partition(0, 19)


def answer(logs: Sequence[Log]) -> bytes:
    """Returns a node's answer, with the time of each block."""
    rows = [
        {**log, "transactionHash": "0x" + "ab" * 32, "blockTimestamp": hex(2 * int(log["blockNumber"], 16))}
        for log in logs
    ]
    return json.dumps({"id": 1, "result": rows}).encode()


def read(events: FinalEvents, logs: Sequence[Log], first: int, last: int, host: str = "node") -> RangeRead:
    """Returns a range as the engine passes it to its sink."""
    wanted = [log for log in logs if first <= int(log["blockNumber"], 16) <= last]
    columns = events.decode([answer(wanted)], first, last)
    times = columns.block_timestamp
    assert times is not None
    return RangeRead(
        first, last, f"0x{last:064x}", 2 * last, columns.sha256(), host, False, columns.to_arrow(times, exact=True)
    )


def cut(first: int, last: int, ends: Sequence[int]) -> list[tuple[int, int]]:
    """Splits [first, last] into ranges that end at these blocks."""
    borders = [first - 1, *sorted({end for end in ends if first <= end < last}), last]
    return [(before + 1, end) for before, end in itertools.pairwise(borders)]


def store_partition(
    store: PartitionStore,
    directory: Path,
    partition: Partition,
    logs: Sequence[Log],
    tokens: Sequence[ReadToken] = (SERVICE,),
    ends: Sequence[int] = (),
) -> bool:
    events = TransfersOfTokens(tuple(tokens))
    asked = [log for log in logs if log["address"] in events.addresses]
    ranges = [read(events, asked, *blocks) for blocks in cut(partition.first, partition.last, ends)]
    manifest, paths = partition_of_ranges(CHAIN, partition, tokens, ranges, directory)
    return store.put(manifest, paths)


def store_at(directory: Path) -> PartitionStore:
    """Returns the store below a directory, with the key found there."""
    return store_over(ObjectStore(f"file://{directory}/store"), directory)


def store_over(objects: ObjectStore, directory: Path, **options: Any) -> PartitionStore:
    return PartitionStore(objects, CHAIN_ID, SigningKeys(Settings(_env_file=None, data_dir=directory)), **options)
