"""Reads one partition for all tokens and stores it, which is the job of an ingestion worker. Runs without Dagster.

The engine does the reading; only the sink differs from ingestion on one machine.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from contracts.errors import PartitionNotFinal, SettingsInvalid
from contracts.settings import Settings
from contracts.token.partitions import (
    FurtherToken,
    Partition,
    PartitionManifest,
    ReadRange,
    ReadToken,
    TokenPart,
    TokenRange,
    partitions_within,
    read_tokens_file,
)
from pipelines.clients.rpc import RpcPool
from pipelines.token.decode import NO_TRANSFERS, TransferColumns, joined
from pipelines.token.engine import Backfill, failures_named
from pipelines.token.head import ChainHead, probe
from pipelines.token.many_tokens import TransfersOfTokens, broken_in, places_of
from pipelines.token.range_plan import Range, Span
from pipelines.token.source import EventSource
from warehouse.token.partition_store import PartitionStore, ThroughZero, partition_store, scratch, write_files
from warehouse.token.transfers import RangeRead


@dataclass(frozen=True)
class PartitionReport:
    """The outcome for one partition: its transfers, and whether this worker's reading is the stored one."""

    partition: Partition
    transfers: int
    stored: bool
    broken: Mapping[str, str]


def further_tokens(settings: Settings) -> tuple[FurtherToken, ...]:
    """Reads the tokens file of the settings; without a file there are no tokens. Raises `SettingsInvalid`."""
    if settings.tokens_file is None:
        return ()
    try:
        text = settings.tokens_file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(
            f"SVC_TOKENS_FILE can't be read: {error}.", cure="Name a file that this process may read."
        ) from None
    return read_tokens_file(text, service_token=settings.token_address)


def read_tokens(settings: Settings) -> tuple[ReadToken, ...]:
    """Returns the tokens of the partitions: the service token, and those of the tokens file.

    Raises `SettingsInvalid` if there is no token.
    """
    further = [token.read for token in further_tokens(settings)]
    service = [ReadToken(settings.token_address, settings.token_start_block)] if settings.token_address else []
    if not service and not further:
        raise SettingsInvalid(
            "There is no token to read.", cure="Set SVC_TOKEN_ADDRESS, or name further tokens in SVC_TOKENS_FILE."
        )
    return tuple(sorted([*service, *further]))


def final_partitions(settings: Settings, tokens: Sequence[ReadToken], final_block: int) -> list[Partition]:
    """Returns the whole partitions below finality that contain blocks of any of the tokens."""
    assert settings.partition_blocks is not None
    return partitions_within(min(token.first_block for token in tokens), final_block, settings.partition_blocks)


def missing_partitions(settings: Settings, final_block: int) -> dict[Partition, tuple[ReadToken, ...]]:
    """Returns the partitions below finality that the store lacks, each with its missing tokens."""
    tokens, store = read_tokens(settings), partition_store(settings)
    return store.missing(final_partitions(settings, tokens, final_block), tokens, names=store.names())


async def make_partitions(
    settings: Settings,
    partitions: Sequence[Partition],
    *,
    on_report: Callable[[PartitionReport], object] = lambda _: None,
) -> list[PartitionReport]:
    """Reads the partitions among these that lack a token, and stores each as soon as it is read.

    Raises what `make_partition` raises; partitions stored before that stay.
    """
    tokens, store = read_tokens(settings), partition_store(settings)
    missing = store.missing(partitions, tokens, names=store.names())
    reports: list[PartitionReport] = []
    if not missing:
        return reports
    async with RpcPool(settings.rpc_urls, chain_id=settings.chain_id) as pool:
        head, span = await probe(pool, confirmations=settings.confirmations), Span()
        for partition, lacking in sorted(missing.items()):
            report, span = await make_partition(pool, store, head, partition, lacking, settings.data_dir, span=span)
            on_report(report)
            reports.append(report)
    return reports


async def make_partition(
    pool: RpcPool,
    store: PartitionStore,
    head: ChainHead,
    partition: Partition,
    tokens: Sequence[ReadToken],
    data_dir: Path,
    *,
    span: Span | None = None,
) -> tuple[PartitionReport, Span]:
    """Reads these tokens in a partition and stores it. Also returns the span with which to begin the next one.

    A partition with a broken token is read again, each range from two nodes. Raises `PartitionNotFinal`,
    `ObjectStoreAway`, `NodesDisagree`, and what the engine raises.
    """
    if partition.last > head.finalized.number:
        raise PartitionNotFinal(
            f"Blocks {partition.first} to {partition.last} are not final yet: block {head.finalized.number} is.",
            cure="Run it again later.",
        )
    events = TransfersOfTokens(tuple(tokens))
    ranges, span = await _read(pool, events, head, partition, span or Span(), suspect=())
    if len(pool.endpoints) > 1 and any(broken_in(part.rows) for part in ranges):
        whole: Range = (partition.first, partition.last)
        ranges, span = await _read(pool, events, head, partition, span, suspect=(whole,))
    manifest, stored = await asyncio.to_thread(_store, store, head, partition, tokens, ranges, data_dir)
    broken = {address: part.broken for address, part in manifest.tokens.items() if part.broken is not None}
    return PartitionReport(partition, manifest.transfers.rows, stored, broken), span


def _store(
    store: PartitionStore,
    head: ChainHead,
    partition: Partition,
    tokens: Sequence[ReadToken],
    ranges: Sequence[RangeRead],
    data_dir: Path,
) -> tuple[PartitionManifest, bool]:
    with scratch(data_dir) as directory:
        manifest, paths = partition_of_ranges(head, partition, tokens, ranges, Path(directory))
        return manifest, store.put(manifest, paths)


def partition_of_ranges(
    head: ChainHead, partition: Partition, tokens: Sequence[ReadToken], ranges: Sequence[RangeRead], directory: Path
) -> tuple[PartitionManifest, Mapping[str, Path]]:
    """Writes the files of a partition that was read in these ranges, and creates its manifest."""
    broken: dict[str, str] = {}
    for part in ranges:
        broken = broken_in(part.rows) | broken
    sound = [token.address for token in tokens if token.address not in broken]
    places = [places_of(part.rows) for part in ranges]
    columns = [TransferColumns.from_arrow(part.rows) for part in ranges]
    own = {address: [part.between(*at[address]) for part, at in zip(columns, places, strict=True)] for address in sound}
    slices = [
        part.rows.slice(at[address][0], at[address][1] - at[address][0])
        for address in sound
        for part, at in zip(ranges, places, strict=True)
    ]
    rows = pa.concat_tables(slices or [ranges[0].rows.slice(0, 0)]).combine_chunks()
    files = write_files(rows, directory)
    parts = {}
    for token in tokens:
        whole = joined(own.get(token.address, [NO_TRANSFERS]))
        through = files.through_zero.get(token.address, ThroughZero())
        parts[token.address] = TokenPart(
            first_block=max(token.first_block, partition.first),
            rows=len(whole),
            sha256=whole.sha256(),
            minted_raw=str(through.minted),
            sent_to_zero_raw=str(through.sent_to_zero),
            zero_to_zero_raw=str(through.zero_to_zero),
            broken=broken.get(token.address),
        )
    manifest = PartitionManifest(
        chain_id=head.chain_id,
        genesis_hash=head.genesis_hash,
        partition=partition,
        ranges=[
            ReadRange(
                first=part.from_block,
                last=part.to_block,
                last_hash=part.to_block_hash,
                last_time_s=part.to_block_time_s,
                rpc_host=part.rpc_host,
                reasked=part.reasked,
                tokens={
                    address: TokenRange(len(own[address][place]), own[address][place].sha256()) for address in sound
                },
            )
            for place, part in enumerate(ranges)
        ],
        tokens=parts,
        transfers=files.transfers,
        deltas=files.deltas,
    )
    return manifest, files.paths


class _Collected:
    """A sink that collects the ranges of one partition in memory."""

    def __init__(self) -> None:
        self.ranges: list[RangeRead] = []

    def append(self, ranges: Sequence[RangeRead]) -> None:
        self.ranges += ranges

    def commit(self) -> None:
        """Does nothing: appended ranges are already in memory."""

    def rollback(self) -> None:
        self.ranges.clear()


async def _read(
    pool: RpcPool,
    events: TransfersOfTokens,
    head: ChainHead,
    partition: Partition,
    span: Span,
    *,
    suspect: Sequence[Range],
) -> tuple[list[RangeRead], Span]:
    sink = _Collected()
    with (
        ThreadPoolExecutor(1, thread_name_prefix="decode") as decoder,
        ThreadPoolExecutor(1, thread_name_prefix="collect") as writer,
    ):
        source = EventSource(
            pool, events, finalized=head.finalized, avoid=frozenset(), decoder=decoder, suspect=suspect
        )
        backfill = Backfill(
            source,
            sink,
            writer,
            first_block=partition.first,
            last_block=partition.last,
            span=span,
            start_block=partition.first,
            started_s=time.monotonic(),
            progress=lambda _: None,
        )
        with failures_named(events):
            await backfill.run(deadline_s=math.inf)
    return sink.ranges, backfill.span
