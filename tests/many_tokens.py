"""A chain with several tokens, the workers that read it in partitions, and the host that follows it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingest_helpers import ALICE, BOB, CHAIN_ID, TOKEN, pool_of

from cli.demo.log_index import Log
from cli.demo.recorded import RecordedChain, transfer_log
from contracts.settings import Settings
from contracts.token.further_tokens import PublishedToken
from pipelines.token.head import probe
from pipelines.token.partition_following import follow_further_tokens
from pipelines.token.partitions import PartitionReport, final_partitions, make_partition, read_tokens
from warehouse.token.partition_store import partition_store

ZERO = "0x" + "00" * 20
SECOND, BAD, SILENT = "0x" + "22" * 20, "0x" + "bb" * 20, "0x" + "55" * 20


class ManyTokensChain:
    """One chain with the logs and the state of several tokens: each call goes to its contract's chain."""

    def __init__(self, *tokens: str, logs: Sequence[Log], head: int) -> None:
        self.chains = {
            token: RecordedChain(chain_id=CHAIN_ID, token=token, logs=logs, first_block=0, head=head)
            for token in tokens
        }
        self.first = next(iter(self.chains.values()))
        self.asked: list[list[str]] = []
        self.calls = 0

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        self.calls += 1
        if method == "eth_getLogs":
            address = params[0]["address"]
            self.asked.append([address] if isinstance(address, str) else list(address))
        if method in ("eth_call", "eth_getCode"):
            to = params[0]["to"] if method == "eth_call" else params[0]
            return self.chains.get(to.lower(), self.first).answer(method, params)
        return self.first.answer(method, params)

    def advance_to(self, block: int) -> None:
        for chain in self.chains.values():
            chain.advance_to(block)


def minted_and_moved(token: str, *blocks: int) -> list[Log]:
    mints = [transfer_log(token, block, 2 * place, ZERO, ALICE, 10) for place, block in enumerate(blocks)]
    moves = [transfer_log(token, block, 2 * place + 1, ALICE, BOB, 3) for place, block in enumerate(blocks)]
    return mints + moves


def numbered(logs: Sequence[Log]) -> list[Log]:
    """Renumbers logs as those of one chain, with distinct log indexes within a block."""
    return [{**log, "logIndex": hex(place)} for place, log in enumerate(logs)]


LOGS = numbered(
    [
        *minted_and_moved(TOKEN, 3, 40, 95, 150),
        *minted_and_moved(SECOND, 5, 41, 120),
        {**transfer_log(BAD, 70, 0, ALICE, BOB, 1), "data": "0x"},
        *minted_and_moved(BAD, 71),
    ]
)


def settings_of_tokens(directory: Path) -> Settings:
    """Returns the settings of an installation with two further tokens, whose partitions have 50 blocks."""
    tokens = directory / "tokens.yaml"
    rows = [{"address": SECOND, "first_block": 4, "name": "Second"}, {"address": BAD, "first_block": 0}]
    tokens.write_text(json.dumps(rows))
    return Settings(
        _env_file=None,
        data_dir=directory / "data",
        publish_url=f"file://{directory}/store",
        token_address=TOKEN,
        partition_blocks=50,
        tokens_file=tokens,
    )


def make_all(settings: Settings, *urls: str, newest_first: bool = False) -> list[PartitionReport]:
    """Reads every partition that lacks a token, as workers do."""

    async def work() -> list[PartitionReport]:
        store, tokens = partition_store(settings), read_tokens(settings)
        async with pool_of(*urls) as pool:
            head = await probe(pool, confirmations=None)
            missing = store.missing(
                final_partitions(settings, tokens, head.finalized.number), tokens, names=store.names()
            )
            return [
                (await make_partition(pool, store, head, partition, lacking, settings.data_dir))[0]
                for partition, lacking in sorted(missing.items(), reverse=newest_first)
            ]

    return asyncio.run(work())


def follow_all(settings: Settings, *urls: str) -> dict[str, PublishedToken]:
    async def work() -> list[PublishedToken]:
        async with pool_of(*urls) as pool:
            return await follow_further_tokens(settings, pool, await probe(pool, confirmations=None))

    return {token.address: token for token in asyncio.run(work())}
