"""Follows the partitions that workers store: the service token's history, and that of each further token.

The engine on this host still reads the head of the service token. A further token has its own warehouse, which reaches
to the end of its last partition, and its lists are taken and proven like those of the service token.
"""

import asyncio
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contracts.access.eth_accounts import eth_account
from contracts.errors import ChainDataInvalid, ObjectStoreAway, OperatorProblem
from contracts.settings import Settings
from contracts.token.further_tokens import (
    NO_CONTRACT,
    PublishedToken,
    TokenState,
    broken_token,
    proven_token,
    waiting_token,
)
from contracts.token.holder_documents import HolderKind, Token
from contracts.token.partitions import FurtherToken, Partition, ReadToken
from pipelines.clients.rpc import RpcPool
from pipelines.token.head import ChainHead
from pipelines.token.holder_lists import take_list
from pipelines.token.kinds import read_kinds
from pipelines.token.partitions import further_tokens
from warehouse.duck.connection import ChainIdentity, Connection, Warehouse, stamp
from warehouse.token.further_token_files import read_published, token_dir, write_index, write_published
from warehouse.token.holder_lists import prune_lists
from warehouse.token.holder_status import known_token, record_status
from warehouse.token.holders import read_state
from warehouse.token.partition_adoption import Ahead, adopt, look_ahead
from warehouse.token.partition_store import PartitionStore, partition_store, scratch

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Followed:
    """The outcome for the service token: new transfers and partitions, the block up to which this host must read itself
    (None: to finality), and what it waits for, if anything."""

    transfers: int = 0
    partitions: int = 0
    read_to: int | None = None
    waiting: str | None = None


def follow_partitions(connection: Connection, settings: Settings, final_block: int) -> Followed:
    """Imports the next partitions of the service token.

    Waits for an unreachable store. Raises `ChainDataInvalid` if the token can't be read, `PartitionBroken`,
    `PartitionNotSigned`.
    """
    assert settings.token_address and settings.partition_blocks
    token = ReadToken(settings.token_address, settings.token_start_block)
    store = partition_store(settings)
    try:
        with scratch(settings.data_dir) as directory:
            ahead, transfers = _taken_over(
                connection, store, token, final_block, settings.partition_blocks, Path(directory)
            )
    except ObjectStoreAway as problem:
        log.warning("%s", problem)
        return Followed(waiting=str(problem))
    if ahead.broken is not None:
        raise ChainDataInvalid(
            f"The service token can't be read: {ahead.broken}.",
            cure="Check that SVC_TOKEN_ADDRESS is an ERC-20 token on this chain.",
        )
    return Followed(transfers, len(ahead.ready), ahead.read_to, _waits_for(ahead.waiting))


def _taken_over(
    connection: Connection, store: PartitionStore, token: ReadToken, final_block: int, blocks: int, directory: Path
) -> tuple[Ahead, int]:
    ahead = look_ahead(connection, store, token, final_block=final_block, blocks=blocks)
    return ahead, adopt(connection, store, token, ahead.ready, directory)


async def follow_further_tokens(settings: Settings, pool: RpcPool, head: ChainHead) -> list[PublishedToken]:
    """Imports the partitions of each further token, and takes and proves its list at their end.

    A fault of one token is reported in its document and does not stop the others. An unreachable store changes nothing.
    Raises `SettingsInvalid` for a tokens file that can't be read.
    """
    rows = further_tokens(settings)
    store = partition_store(settings)
    try:
        names = store.names()
    except ObjectStoreAway as problem:
        log.warning("%s", problem)
        return [read_published(settings.data_dir, row.address) or waiting_token(row, settings.chain_id) for row in rows]
    with scratch(settings.data_dir) as directory:
        published = [await _published(settings, pool, head, store, row, set(names), Path(directory)) for row in rows]
    write_index(settings.data_dir, published)
    return published


async def _published(
    settings: Settings,
    pool: RpcPool,
    head: ChainHead,
    store: PartitionStore,
    row: FurtherToken,
    stored: set[Partition],
    fetched: Path,
) -> PublishedToken:
    """Writes and returns the token's new document, which also reports any fault of the token."""
    last = read_published(settings.data_dir, row.address) or waiting_token(row, settings.chain_id)
    why = None
    try:
        token = await _followed(settings, pool, head, store, row, last, stored, fetched)
    except ObjectStoreAway as problem:
        log.warning("%s", problem)
        token = last
    except OperatorProblem as problem:  # its text names stores and nodes, so it goes only to the log
        token, why = broken_token(last, problem.code), str(problem)
    except Exception as error:  # no fault of one token may stop the others
        log.exception("the token %s can't be followed", row.address)
        token = broken_token(last, f"internal: {type(error).__name__}")
    if token.state is TokenState.BROKEN and token != last:
        log.warning("the token %s is broken: %s", row.address, why or token.reason)
    write_published(settings.data_dir, token)
    return token


async def _followed(
    settings: Settings,
    pool: RpcPool,
    head: ChainHead,
    store: PartitionStore,
    row: FurtherToken,
    last: PublishedToken,
    stored: set[Partition],
    fetched: Path,
) -> PublishedToken:
    assert settings.partition_blocks is not None
    if last.block is not None and last.state in _SETTLED and not _follows(last.block, stored):
        return last
    directory = token_dir(settings.data_dir, row.address)
    with Warehouse(directory).connect() as connection:
        stamp(connection, ChainIdentity(head.chain_id, head.genesis_hash, row.address, row.first_block))
        ahead, _ = await asyncio.to_thread(
            _taken_over, connection, store, row.read, head.finalized.number, settings.partition_blocks, fetched
        )
        state = read_state(connection)
        if state is not None and not state.transfers and await _is_wallet(pool, row.address, head):
            return broken_token(last, NO_CONTRACT)
        token = last if state is None else await _listed(settings, connection, pool, head, row, directory)
    if ahead.broken is not None:
        return broken_token(token, ahead.broken)
    return token


_SETTLED = (TokenState.PROVEN, TokenState.FAILED)


async def _is_wallet(pool: RpcPool, address: str, head: ChainHead) -> bool:
    """Decides whether nodes report that there is no contract at an address. Without an answer, returns False."""
    kinds = await read_kinds(pool, [address], head.finalized.number)
    return kinds.get(address) is HolderKind.WALLET


def _follows(block: int, stored: set[Partition]) -> bool:
    """Returns True if a partition is stored that begins right after this block."""
    return any(partition.first == block + 1 for partition in stored)


async def _listed(
    settings: Settings, connection: Connection, pool: RpcPool, head: ChainHead, row: FurtherToken, directory: Path
) -> PublishedToken:
    """Takes the list at the last imported block, and proves it."""
    eth_account()  # before web3 imports it, which would take twice as long and raise the recursion limit
    from pipelines.token.token_calls import read_token  # importing web3 takes a second, and a token is read only once

    now = datetime.now(UTC)
    token: Token | None = known_token(connection)
    if token is None or token.decimals is None:
        token = await read_token(pool, row.address)
    state = read_state(connection)
    assert state is not None
    record_status(
        connection,
        chain_id=settings.chain_id,
        token=token,
        start_block=row.first_block,
        finalized_block=head.finalized.number,
        now=now,
    )
    taken = await take_list(connection, pool, directory, token=token, level=head.level, snapshot_reason=None, now=now)
    prune_lists(connection, directory, now)
    assert taken is not None
    return proven_token(
        row,
        token,
        taken.proof,
        chain_id=settings.chain_id,
        block_time=state.block_time.replace(tzinfo=UTC),
        holders=taken.holders,
        transfers=state.transfers,
    )


def _waits_for(partition: Partition | None) -> str | None:
    if partition is None:
        return None
    return f"blocks {partition.first} to {partition.last}, which no worker has stored yet"
