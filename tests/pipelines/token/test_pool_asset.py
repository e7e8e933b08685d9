"""The asset of the pool's events: it reads up to the first observed price, is off without a pool, and starts over for
another pool."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from ingest_helpers import CHAIN_ID, TOKEN

from cli.demo.recorded import RecordedChain, RecordedNode, transfer_log
from contracts.errors import FinalizedMismatch
from contracts.pools import DECIMALS, GET_RESERVES, LIQUIDITY, SLOT0, SWAP_TOPIC, SYNC_TOPIC, TOKEN0, TOKEN1
from contracts.settings import Settings
from pipelines.resources import runtime_resource
from pipelines.token.event_assets import ingest_pool_reserves
from warehouse.duck.connection import Warehouse
from warehouse.duck.tables import schema

POOL, OTHER_POOL, USDC = "0x" + "9a" * 20, "0x" + "9b" * 20, "0x" + "05" * 20
CONCENTRATED_POOL, NO_POOL = "0x" + "9c" * 20, "0x" + "9d" * 20
HEAD = 200


def word(number: int) -> str:
    return f"{number:064x}"


def sync(pool: str, block: int, reserve0: int, reserve1: int) -> dict[str, Any]:
    data = "0x" + word(reserve0) + word(reserve1)
    return {"address": pool, "topics": [SYNC_TOPIC], "data": data, "blockNumber": hex(block), "logIndex": "0x0"}


def swap(pool: str, block: int, root: int, liquidity: int) -> dict[str, Any]:
    topics = [SWAP_TOPIC, "0x" + word(1), "0x" + word(2)]
    data = "0x" + "".join(word(number) for number in (1, 2, root, liquidity, 3))
    return {"address": pool, "topics": topics, "data": data, "blockNumber": hex(block), "logIndex": "0x0"}


CALLS = {
    **{(pool, TOKEN0): "0x" + word(int(USDC, 16)) for pool in (POOL, OTHER_POOL, CONCENTRATED_POOL, NO_POOL)},
    **{(pool, TOKEN1): "0x" + word(int(TOKEN, 16)) for pool in (POOL, OTHER_POOL, CONCENTRATED_POOL, NO_POOL)},
    **{(pool, GET_RESERVES): "0x" + word(1) * 3 for pool in (POOL, OTHER_POOL)},
    (CONCENTRATED_POOL, SLOT0): "0x" + word(1) * 7,
    (CONCENTRATED_POOL, LIQUIDITY): "0x" + word(0),
    (USDC, DECIMALS): "0x" + word(6),
}


@pytest.fixture
def chain() -> RecordedChain:
    logs = [sync(POOL, 10, 5, 6), sync(OTHER_POOL, 11, 1, 2), sync(POOL, 20, 7, 2**100)]
    logs += [swap(CONCENTRATED_POOL, 12, 2**96, 5), swap(CONCENTRATED_POOL, 30, 2**128, 2**64)]
    logs += [transfer_log(emitter, 1, 0, POOL, OTHER_POOL, 1) for emitter in (USDC, NO_POOL)]  # else no token answers
    return RecordedChain(chain_id=CHAIN_ID, token=TOKEN, logs=logs, first_block=0, head=HEAD, calls=CALLS, state_from=0)


def run(data_dir: Path, url: str, **changes: Any) -> dict[str, Any]:
    """Materializes the asset and returns its metadata of the reserves."""
    named = {"rpc_urls": (url,), "token_address": TOKEN, "usdc_address": USDC, "pool_address": POOL} | changes
    settings = Settings(_env_file=None, data_dir=data_dir, chain_id=CHAIN_ID, **named)
    done = dg.materialize([ingest_pool_reserves], resources={"runtime": runtime_resource(settings)})
    (made,) = done.asset_materializations_for_node("ingest_pool_reserves")[:1]
    assert made.asset_key == dg.AssetKey("raw_chain__pool_reserves")
    return {name: value.value for name, value in made.metadata.items()}


def held(data_dir: Path, statement: str) -> list[tuple[Any, ...]]:
    with Warehouse(data_dir).connect() as connection:
        return connection.execute(statement).fetchall()


RESERVES = (
    "select block_number, reserve0_raw.limb0, reserve1_raw.limb1 from raw_chain__pool_reserves order by block_number"
)


def test_the_pool_is_read_until_a_price_was_observed_after_its_events(tmp_path: Path, chain: RecordedChain) -> None:
    with RecordedNode(chain) as node:
        assert run(tmp_path, node.url)["complete"] is True
        assert held(tmp_path, RESERVES) == [(10, 5, 0), (20, 7, 2**36)]
        assert held(
            tmp_path,
            "select pool_address, token_place, decimals, other_decimals, currency, reason from raw_chain__pool",
        ) == [(POOL, 1, 18, 6, "usd", None)]
        read_to = held(tmp_path, "select max(to_block) from raw_chain__pool_ranges")
        with Warehouse(tmp_path).connect() as connection:
            connection.execute(
                "insert into raw_market__token_prices (token_address, source, fetched_at, latency_ms, quality, "
                "suspicious, price_usd) values (?, 's', ?, 1, 'exact', false, 2)",
                [TOKEN, datetime.fromtimestamp(chain.head_time - 2 * HEAD, UTC).replace(tzinfo=None)],
            )
        chain.head += 50
        assert run(tmp_path, node.url)["off"] == "read up to the first observed price"
        assert held(tmp_path, "select max(to_block) from raw_chain__pool_ranges") == read_to


def test_another_pool_is_read_from_its_begin(tmp_path: Path, chain: RecordedChain) -> None:
    with RecordedNode(chain) as node:
        run(tmp_path, node.url)
        run(tmp_path, node.url, pool_address=OTHER_POOL)
        assert held(tmp_path, RESERVES) == [(11, 1, 0)]


def test_a_concentrated_pool_is_found_by_its_answers_and_read_by_its_swaps(
    tmp_path: Path, chain: RecordedChain
) -> None:
    with RecordedNode(chain) as node:
        run(tmp_path, node.url)
        assert run(tmp_path, node.url, pool_address=CONCENTRATED_POOL)["complete"] is True
    assert held(tmp_path, "select pool_address, kind, reason from raw_chain__pool") == [
        (CONCENTRATED_POOL, "concentrated", None)
    ]
    assert held(
        tmp_path,
        "select block_number, sqrt_price_x96.limb2, sqrt_price_x96.limb1, liquidity_raw.limb1, liquidity_raw.limb0, "
        "reserve0_raw, reserve1_raw from raw_chain__pool_reserves order by block_number",
    ) == [(12, 0, 2**32, 0, 5, None, None), (30, 1, 0, 1, 0, None, None)]


def test_a_chain_that_contradicts_what_was_final_rewrites_no_price_of_the_past(
    tmp_path: Path, chain: RecordedChain
) -> None:
    swaps = "select block_number, liquidity_raw.limb0 from raw_chain__pool_reserves order by block_number"
    with RecordedNode(chain) as node:
        run(tmp_path, node.url, pool_address=CONCENTRATED_POOL)
        final = held(tmp_path, swaps)
        chain.reorg(25, "other", [swap(CONCENTRATED_POOL, 31, 2**128, 9)])
        chain.advance_to(HEAD + 50)
        with pytest.raises(FinalizedMismatch):
            run(tmp_path, node.url, pool_address=CONCENTRATED_POOL)
    assert held(tmp_path, swaps) == final == [(12, 5), (30, 0)]


def test_for_a_pair_that_is_no_known_pool_the_reason_is_recorded_and_nothing_is_read(
    tmp_path: Path, chain: RecordedChain
) -> None:
    with RecordedNode(chain) as node:
        assert "this pool gives no price" in run(tmp_path, node.url, pool_address=NO_POOL)["off"]
    assert held(tmp_path, "select kind, reason from raw_chain__pool") == [(None, "unknown_pool")]


def test_a_pool_that_was_recorded_before_kinds_were_known_is_asked_for_its_own_and_read_again(
    tmp_path: Path, chain: RecordedChain
) -> None:
    with RecordedNode(chain) as node:
        run(tmp_path, node.url)
        with Warehouse(tmp_path).connect() as connection:
            connection.execute(schema())
            assert len(connection.execute("from raw_chain__pool_reserves").fetchall()) == 2, "its kind is known"
            connection.execute("update raw_chain__pool set kind = null")
            connection.execute("delete from raw_chain__pool_reserves where block_number = 10")  # of another topic, say
            connection.execute(schema())
        assert run(tmp_path, node.url)["complete"] is True
    assert held(tmp_path, "select kind, reason from raw_chain__pool") == [("pair", None)]
    assert held(tmp_path, RESERVES) == [(10, 5, 0), (20, 7, 2**36)]


def test_for_a_contract_that_is_no_pair_the_reason_is_recorded_and_nothing_is_read(
    tmp_path: Path, chain: RecordedChain
) -> None:
    with RecordedNode(chain) as node:
        assert "this pool gives no price" in run(tmp_path, node.url, pool_address="0x" + "77" * 20)["off"]
    assert held(tmp_path, "select reason from raw_chain__pool") == [("no_pair",)]
    assert held(tmp_path, RESERVES) == []


def test_without_a_pool_nothing_is_asked(tmp_path: Path) -> None:
    metadata = run(tmp_path, "http://127.0.0.1:1", pool_address=None)
    assert "SVC_POOL_ADDRESS" in metadata["off"]
