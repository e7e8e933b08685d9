"""Prices in runs: a minute's run publishes only what reads them, and clients cause no requests to the sources."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg
import httpx
import pytest
from feed_server import DEAD, FeedServer, Reply
from ingest_helpers import TOKEN
from pipeline_runs import Place, recorded_chain
from rounds import ROUNDS

from api.app import create_app
from cli.demo.recorded import RecordedNode
from contracts.errors import RpcUnavailable
from contracts.open_data.first_rows import FIRST_ROWS_PATH
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from pipelines.definitions import build_definitions
from pipelines.failure import mark_stale_for
from pipelines.initial_publish import publish_initial
from pipelines.market.observe import prices_due
from pipelines.publish.assets import CHECKED, NUMBERS
from warehouse.publish.generations import current_generation
from warehouse.publish.lineage import tables_of

GOLDEN = Path(__file__).with_name("token_price.golden.json")
PRICE, ETH, HOLDERS = "/api/token/price", "/api/bidwall/eth-price", "/api/token/holders"
MOVING = {"fetchedAt", "staleAfter", "generation", "generatedAt", "ageS", "latencyMs"}


def pairs(price: str) -> Reply:
    pair = {
        "chainId": "base",
        "pairAddress": "0x01",
        "baseToken": {"address": TOKEN},
        "quoteToken": {"address": "0x02"},
        "priceUsd": price,
        "liquidity": {"usd": 500_000},
        "volume": {"h24": 1000.5},
        "txns": {"h24": {"buys": 7, "sells": 3}},
        "priceChange": {"h24": 2.5, "h1": -0.5},
        "marketCap": 1_000_000,
    }
    return Reply({"pairs": [pair]})


@pytest.fixture(scope="module")
def sources() -> Iterator[FeedServer]:
    with FeedServer() as running:
        yield running


@pytest.fixture
def server(sources: FeedServer) -> FeedServer:
    sources.replies = {
        "/latest/dex/tokens/": pairs("0.72"),
        "/v2/prices/ETH-USD/spot": Reply({"data": {"amount": "3000.5", "base": "ETH", "currency": "USD"}}),
    }
    sources.asked.clear()
    return sources


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, sources: FeedServer) -> Iterator[Place]:
    """A place that has published before its first run, with empty records of Dagster; only to be copied."""
    with RecordedNode(recorded_chain()) as node:
        made = Place(
            tmp_path_factory.mktemp("published"), node.url, dexscreener_url=sources.url, coinbase_url=sources.url
        )
        publish_initial(made.settings())
        with made.dagster():
            pass
        yield made


@pytest.fixture
def place(tmp_path: Path, published: Place, server: FeedServer) -> Place:
    return published.copied(tmp_path, published.rpc_url)


def make_older(place: Place, minutes: int = 1) -> None:
    """Dates the last poll back by some minutes."""
    with place.warehouse() as connection:
        for table, column in (
            ("raw_feeds__attempts", "asked_at"),
            ("raw_market__token_prices", "fetched_at"),
            ("raw_market__eth_prices", "fetched_at"),
        ):
            connection.execute(f"update {table} set {column} = {column} - to_minutes(?)", [minutes])


def still(body: Any) -> Any:
    """Returns a body without the values that change with the clock."""
    if isinstance(body, dict):
        return {name: "…" if name in MOVING and value is not None else still(value) for name, value in body.items()}
    return [still(each) for each in body] if isinstance(body, list) else body


@cache
def prices_job(settings: Settings) -> dg.JobDefinition:
    return build_definitions(settings).resolve_job_def("prices")


def run_prices(place: Place) -> set[str]:
    """Runs the minute's job once and returns the assets that it materialized."""
    job = prices_job(place.settings())
    with place.dagster() as instance:
        result = job.execute_in_process(instance=instance)
    verdicts = {(check.asset_key, check.check_name): check.passed for check in result.get_asset_check_evaluations()}
    assert set(verdicts.values()) == {True}
    assert {key for key, name in verdicts if name == NUMBERS} == CHECKED.keys() & job.asset_layer.selected_asset_keys
    return {"/".join(event.asset_key.path) for event in result.all_events if event.is_step_materialization}


def test_a_run_of_prices_publishes_what_reads_them_and_links_the_rest(place: Place, server: FeedServer) -> None:
    before = current_generation(place.data_dir)
    made = run_prices(place)
    after = current_generation(place.data_dir)
    priced = {row.path for row in PROJECTIONS if tables_of(row) & {"out_market__eth_price", "out_market__token_price"}}
    priced.add(FIRST_ROWS_PATH)  # this page shows the newest observations
    assert {PRICE, ETH} <= priced
    assert {key.removeprefix("document") for key in made if key.startswith("document")} == priced
    assert still(place.document(PRICE)) == json.loads(GOLDEN.read_text())
    assert (place.document(ETH)["price"], place.document(ETH)["source"]) == ("3000.5", "coinbase")
    assert before is not None and after is not None
    written = {path for path, part in after.manifest.components.items() if part.since == after.id}
    data = {
        Path(path).name.partition("-")[0].removesuffix(".gz") for path in written if path.startswith("public/data/")
    }
    # a day's first prices are new files, which the index, its page and the Data Package list
    listing = {"manifest.json", "index.json", "datapackage.json", "now.json"}
    assert {name for name in data if not name.startswith(("index.html", "index.md"))} == listing | {
        "first",
        "token_prices",
        "eth_prices",
    }
    documents = {path for path in written if not path.startswith("public/data/") and "/index." not in path}
    pages = {path.partition("/")[2].partition("index.")[0] for path in written if "/index.html" in path} - {"data/"}
    showing = {
        row.path[1:] for row in PROJECTIONS if row.media_type.startswith("text/html") and priced & set(row.shows)
    }
    assert {"token/"} <= pages <= showing
    assert {f"/{path.split('/', 1)[1].split('.json')[0]}" for path in documents} <= {
        path.removesuffix(".json") for path in priced
    }
    linked = after.manifest.components.keys() - written
    assert {"serving.duckdb", "public/api/token/holders.json", "public/openapi.json"} <= linked
    assert all((after.path / name).samefile(before.path / name) for name in linked)


def test_a_run_of_checks_of_documents_publishes_nothing(place: Place) -> None:
    before = current_generation(place.data_dir)
    price = dg.AssetCheckKey(dg.AssetKey(["document", *PRICE.strip("/").split("/")]), NUMBERS)
    everything = build_definitions(place.settings()).resolve_implicit_global_asset_job_def()
    job = everything.get_subset(asset_selection=set(), asset_check_selection={price})
    with place.dagster() as instance:
        result = job.execute_in_process(instance=instance)
    assert [check.asset_check_key for check in result.get_asset_check_evaluations()] == [price]
    assert current_generation(place.data_dir) == before


def test_a_minute_without_news_is_not_due(place: Place) -> None:
    due = prices_due(place.settings(), datetime.now(UTC))
    assert due == "prices of coinbase, dexscreener are due"
    run_prices(place)
    now = datetime.now(UTC)
    with place.warehouse() as connection:
        ((asked_at,),) = connection.execute("select min(asked_at) from raw_feeds__attempts").fetchall()
    assert prices_due(place.settings(), asked_at.replace(tzinfo=UTC)) is None
    assert prices_due(place.settings(dexscreener_url=None, coinbase_url=None), now + timedelta(minutes=1)) is None
    assert prices_due(place.settings(), now + timedelta(minutes=1)) == due


def test_a_chain_that_does_not_answer_keeps_prices_fresh_and_dead_sources_keep_the_last_price(
    place: Place, server: FeedServer
) -> None:
    place.rpc_url = "http://127.0.0.1:1"
    with pytest.raises(RpcUnavailable):
        place.run()
    price = place.document(PRICE)["data"]
    assert (price["price"], price["stale"]) == ("0.72", False)
    assert (place.document(HOLDERS)["stale"], place.document(HOLDERS)["reason"]) == (True, "rpc_unavailable")
    make_older(place)
    server.replies = dict.fromkeys(server.replies, DEAD)
    with pytest.raises(RpcUnavailable):
        place.run()
    price, ether = place.document(PRICE)["data"], place.document(ETH)
    assert (price["price"], price["stale"], price["reason"]) == ("0.72", True, "unreachable")
    assert 55 <= price["ageS"] <= 120
    assert (ether["price"], ether["stale"]) == ("3000.5", True)
    status, body = ask(place, PRICE, 1)
    assert (status, body["data"]["stale"], body["ok"]) == (200, True, True)


def test_a_failed_check_holds_prices_back_until_a_whole_run_is_good(place: Place, server: FeedServer) -> None:
    run_prices(place)
    mark_stale_for(place.settings(), "check_failed")
    make_older(place)
    server.replies["/latest/dex/tokens/"] = pairs("0.9")
    run_prices(place)
    price = place.document(PRICE)["data"]
    assert (price["price"], price["stale"], price["reason"]) == ("0.72", True, "check_failed")


def test_many_polls_in_a_minute_ask_each_source_once(place: Place, server: FeedServer) -> None:
    minutes = {datetime.now(UTC).minute}
    run_prices(place)
    for _ in range(2):
        status, body = ask(place, PRICE, 100 * ROUNDS)
        assert (status, body["data"]["price"]) == (200, "0.72")
        run_prices(place)
        minutes.add(datetime.now(UTC).minute)
    assert set(server.hits.values()) <= set(range(1, len(minutes) + 1))


def ask(place: Place, path: str, times: int) -> tuple[int, dict[str, Any]]:
    """Returns the API's last answer to a client that sends the request `times` times."""

    async def go() -> tuple[int, dict[str, Any]]:
        app = create_app(place.settings(rate_limit_per_minute=0))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8000") as client:
            for _ in range(times):
                response = await client.get(path)
                assert response.status_code == 200
        return response.status_code, response.json()

    return asyncio.run(go())
