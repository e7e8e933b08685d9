"""Open data in generations: files change with their facts and only then."""

import asyncio
import csv
import gzip
import json
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import polars
import pytest
import yaml
from holder_rows import TOKEN, address
from publishing import House, mint

from contracts.canonical import sha256_hex
from contracts.errors import DiskFull
from contracts.open_data.first_rows import FIRST_ROWS_PATH
from contracts.open_data.manifest import SIGNED_AGAIN_AFTER, VALID_FOR, judge_manifest
from contracts.publish.registry import PROJECTIONS
from contracts.token.holders import ZERO_ADDRESS
from pipelines.publish import open_data
from pipelines.publish.generation import publish, republish
from warehouse.access.signing_keys import SigningKeys
from warehouse.duck.connection import Warehouse
from warehouse.duck.rows import insert
from warehouse.publish.generations import current_generation
from warehouse.publish.readers import context_for

DATABASE = "svc.duckdb"
HOLDERS = "/api/token/holders"
"""The only document that is published in tests that look at the files only."""
MANIFEST = "manifest.json"
WITH_EVERY_GENERATION = (MANIFEST, "now.json")


def put_prices(house: House, *prices: tuple[datetime, str]) -> None:
    with Warehouse(house.data_dir).connect() as connection:
        for at, price in prices:
            row = {"token_address": TOKEN, "source": "feed", "fetched_at": at, "latency_ms": 1, "quality": "exact"}
            insert(connection, "raw_market__token_prices", row | {"suspicious": False, "price_usd": price})


def tick(house: House, after: timedelta = timedelta(minutes=1)) -> None:
    """Does a minute's run, which publishes only documents of prices."""
    house.now += after
    with Warehouse(house.data_dir).connect() as connection:
        republish(context_for(connection, house.settings), house.settings, [], now=house.now)


def files(house: House) -> dict[str, tuple[int, int, str]]:
    """Returns the inode, modification time and content of every file of open data."""
    return {
        path.name: (path.stat().st_ino, path.stat().st_mtime_ns, sha256_hex(path.read_bytes()))
        for path in data_files(house)
    }


def data_files(house: House) -> list[Path]:
    """Returns every file of open data, without the pages about it and without encoded siblings."""
    folder = house.current / "public/data"
    return [
        path
        for path in folder.iterdir()
        if path.is_file()
        and not path.name.startswith(("index.html", "index.md"))
        and not (path.suffix == ".gz" and path.with_suffix("").is_file())
    ]


def changed(before: dict, after: dict) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def rows(house: House, sql: str) -> list[tuple]:
    with duckdb.connect() as connection:
        return connection.execute(sql.replace("DATA", str(house.current / "public/data"))).fetchall()


@pytest.fixture(scope="module")
def published(tmp_path_factory) -> House:
    house = House(tmp_path_factory.mktemp("open"), rate_limit_per_minute=0)
    house.read_chain(mint(70), 20)
    house.read_chain([(30, address(1), address(2), 10**9), (31, ZERO_ADDRESS, address(99), 2**200)], 40)
    put_prices(house, (house.now - timedelta(days=1), "0.5"), (house.now, "0.000000000000123456789012"))
    house.publish()
    return house


@pytest.fixture
def house(published: House, tmp_path) -> House:
    return published.copied(tmp_path)


def test_lists_transfers_and_prices_are_read_with_exact_and_rounded_amounts(published):
    assert rows(
        published, "select count(*), sum(value) from 'DATA/transfers-0-999999.parquet' where block_number < 31"
    ) == [(71, pytest.approx((sum(range(1001, 1071)) + 10**9) / 100))]
    assert rows(
        published,
        "select value_raw, value, value_limb0, value_limb1, value_limb2 from 'DATA/transfers-0-999999.parquet' "
        "where block_number = 31",
    ) == [(str(2**200), 2**200 / 100, 2**200 % 10**26, 2**200 // 10**26 % 10**26, 2**200 // 10**52)]
    assert rows(
        published, f"select balance_raw, rank from 'DATA/holders-40.parquet' where address = '{address(99)}'"
    ) == [(str(2**200), 1)]
    assert rows(published, "select price_usd, price_usd_exact from 'DATA/token_prices-2026-01-02.parquet'") == [
        (1.23456789012e-13, "0.000000000000123456789012")
    ]
    assert rows(published, "select block, holders from 'DATA/holder_lists.csv' order by block") == [(20, 70), (40, 70)]


def test_csv_and_parquet_have_the_same_times(house):
    at = datetime(2026, 1, 2, 11, 58, 57, 123456, tzinfo=UTC)
    with Warehouse(house.data_dir).connect() as connection:
        connection.execute("update out_holders__lists set taken_at = ? where block = 20", [at.replace(tzinfo=None)])
    put_prices(house, (at, "0.25"))
    house.publish()
    for csv_file, parquet, columns in (
        ("holder_lists", "holder_lists", "block, block_time, taken_at"),
        ("series_daily", "series_daily", "start"),
        ("first-token_prices", "token_prices-*", "fetched_at, price_usd"),
    ):
        of_csv, of_parquet = (
            rows(house, f"select {columns} from {source} order by all")
            for source in (
                f"read_csv('DATA/{csv_file}.csv', timestampformat='%Y-%m-%dT%H:%M:%S.%fZ')",
                f"'DATA/{parquet}.parquet'",
            )
        )
        assert of_csv == of_parquet != [], csv_file
        assert (at.replace(tzinfo=None) in {time for row in of_csv for time in row}) == (csv_file != "series_daily")


def test_the_notebook_counts_the_new_holders_of_the_series(tmp_path):
    day = 24 * 60
    house = House(tmp_path, rate_limit_per_minute=0)
    house.read_chain(
        [
            (10, ZERO_ADDRESS, address(1), 100),
            (11, address(1), address(2), 5),
            (12, address(2), address(3), 0),  # a transfer of zero makes no holder
            (13, address(1), address(4), 7),
            (14, address(4), address(1), 7),  # came and left within the day
            (day + 1, address(1), address(4), 7),  # and returned on the next
            (day + 2, address(1), address(3), 1),
            (day + 3, address(1), address(5), 9),
            (day + 3, address(5), address(6), 9),  # held nothing after any block
            (day + 4, address(2), ZERO_ADDRESS, 5),
            (3 * day, address(1), address(5), 1),
            (3 * day + 1, address(5), address(7), 1),
            (3 * day + 2, address(7), address(5), 1),
        ],
        3 * day + 9,
    )
    house.publish()
    notebook = json.loads((Path(__file__).parents[3] / "docs/open-data.ipynb").read_text())
    (cell,) = (text for text in ("".join(cell["source"]) for cell in notebook["cells"]) if "new_holders = " in text)
    folder = house.current / "public/data"
    names: dict[str, Any] = {
        "pl": polars,
        "FILES": {"transfers": [str(path) for path in folder.glob("transfers-*.parquet")]},
    }
    exec(cell, names)
    counted = [(str(row["day"]), row["new_holders"]) for row in names["new_holders"].to_dicts()]
    series = rows(house, "select start::date::varchar, new_holders from 'DATA/series_daily.parquet' order by start")
    assert counted == [row for row in series if row[0] != "2026-01-03"]  # a day without transfers has no row
    assert counted == [("2026-01-01", 2), ("2026-01-02", 2), ("2026-01-04", 1)]


def test_a_minute_reads_only_the_first_rows_of_moved_tables_and_reuses_the_other_published_ones(house):
    def shown() -> dict[str, tuple[int, list[str | None]]]:
        tables = json.loads((house.current / "public/first-rows.json").read_bytes())["tables"]
        return {table["dataset"]: (table["total"], table["rows"][0]) for table in tables if table["rows"]}

    before = shown()
    rows_page = [row for row in PROJECTIONS if row.path == FIRST_ROWS_PATH]
    put_prices(house, (house.now, "0.75"))
    house.now += timedelta(minutes=1)
    with Warehouse(house.data_dir).connect() as connection:
        connection.execute("delete from raw_chain__transfers")  # as a run that reads the chain meanwhile might do
        context = context_for(connection, house.settings)
        republish(context, house.settings, rows_page, moved_tables={"raw_market__token_prices"}, now=house.now)
    after = shown()
    assert changed(before, after) == {"token_prices"}
    assert (after["token_prices"][0], "0.75" in after["token_prices"][1]) == (3, True)


def test_one_duckdb_file_has_every_dataset_with_its_comments_for_duckdb_1_5(published):
    with duckdb.connect() as connection:
        connection.execute(f"attach '{published.current}/public/data/svc.duckdb' as svc (read_only)")
        ((version,),) = connection.execute(
            "select tags['storage_version'] from duckdb_databases() where database_name = 'svc'"
        ).fetchall()
        assert version.startswith("v1.5.0")
        assert connection.execute("select count(*), count(distinct address) from svc.holders").fetchall() == [(70, 70)]
        assert connection.execute("select count(*) from svc.transfers").fetchall() == [(72,)]
        tables = dict(
            connection.execute("select table_name, comment from duckdb_tables() where database_name = 'svc'").fetchall()
        )
        bare = connection.execute(
            "select table_name, column_name from duckdb_columns() where database_name = 'svc' and comment is null"
        ).fetchall()
    assert {"transfers", "holders", "holder_lists", "series_daily", "token_prices", "trust_scores"} <= tables.keys()
    assert all(tables.values()) and not bare


def test_index_metadata_and_manifest_name_every_file_as_it_is(published):
    folder = published.current / "public/data"
    index = json.loads((folder / "index.json").read_bytes())
    named = {file["url"].rpartition("/")[2]: file for dataset in index["datasets"] for file in dataset["files"]}
    data = {path.name for path in data_files(published) if path.suffix in (".parquet", ".csv", ".gz")}
    first = {f"first-{dataset['name']}.csv" for dataset in index["datasets"]}
    assert first <= data
    data -= first  # they repeat rows of other files, as a preview
    assert set(named) == data
    for name, file in named.items():
        if name == "token_prices-2026-01-02.parquet":  # today's
            assert (file["sha256"], file["bytes"], file["rows"]) == (None, None, None)
        else:
            content = (folder / name).read_bytes()
            assert (file["sha256"], file["bytes"]) == (sha256_hex(content), len(content))
    assert named["transfers-0-999999.parquet"]["rows"] == 72
    assert [named["transfers-0-999999.parquet"][name] for name in ("firstBlock", "lastBlock")] == [0, 31]
    package = json.loads((folder / "datapackage.json").read_bytes())
    assert {resource["path"] for resource in package["resources"]} == {
        name for name in data if not name.endswith(".gz")
    }
    contract = yaml.safe_load((folder / "transfers.odcs.yaml").read_bytes())
    assert contract["apiVersion"] == "v3.1.0"
    assert {rule["name"] for rule in contract["schema"][0]["quality"]} >= {"doubled_events", "range_gaps"}

    manifest = sound_manifest(published)
    pages = {path for path in current_generation(published.data_dir).manifest.documents if path.startswith("/data/")}
    assert {"/data/index.html", "/data/index.md", "/data/lineage/"} <= pages
    assert pages | {f"/data/{path.name}" for path in data_files(published)} - {"/data/manifest.json"} == {
        path for path in manifest.files if path.startswith("/data/")
    }
    for path, file in manifest.files.items():
        generation = current_generation(published.data_dir)
        if path in generation.manifest.documents or path.startswith("/assets/"):
            continue
        content = (published.current / f"public{path}").read_bytes()
        assert file.matches(len(content), sha256_hex(content)), path


def sound_manifest(house: House, at: datetime | None = None):
    body = (house.current / "public/data" / MANIFEST).read_bytes()
    jwks = SigningKeys(house.settings).current().jwks()
    manifest, fault = judge_manifest(body, jwks, service=house.settings.public_base_url, seen={}, now=at or house.now)
    assert fault is None
    return manifest


READERS = {
    "*/*": "/data/index.json",
    "application/json, text/html;q=0.5": "/data/index.json",
    "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": "/data/index.html",
    "text/markdown": "/data/index.md",
}
"""The body that readers of `/data/` get, by their Accept field."""


def test_the_manifest_names_what_each_public_address_answers(published):
    manifest = sound_manifest(published)

    async def compare() -> None:
        async with published.client(application=published.application) as client:
            for path, file in manifest.files.items():
                answer = await client.get(path)
                assert answer.status_code == 200, path
                assert file.matches(len(answer.content), sha256_hex(answer.content)), path
            for accept, path in READERS.items():
                answer = await client.get("/data/", headers={"accept": accept})
                assert answer.content == (await client.get(path)).content, accept
                assert "Accept" in answer.headers["vary"], accept

    asyncio.run(compare())


def test_a_price_tick_writes_only_the_day_s_prices_and_the_documents_that_name_the_generation(house):
    before, version = files(house), sound_manifest(house).version
    put_prices(house, (house.now, "0.7"))
    tick(house)
    prices = {"token_prices-2026-01-02.parquet", "first-token_prices.csv"}
    assert changed(before, files(house)) == {*prices, *WITH_EVERY_GENERATION}
    assert sound_manifest(house).version > version
    assert rows(house, "select count(*) from 'DATA/token_prices-2026-01-02.parquet'") == [(2,)]


def test_a_tick_without_news_makes_no_generation(house):
    first = house.current
    tick(house)
    assert house.current == first


def test_the_manifest_is_signed_again_before_it_expires(house):
    before, first = files(house), house.current
    tick(house, SIGNED_AGAIN_AFTER - timedelta(minutes=2))
    assert house.current == first
    tick(house, timedelta(minutes=5))
    # a day has ended too, so that the metadata contains the hash of its prices
    assert changed(before, files(house)) == {*WITH_EVERY_GENERATION, "index.json", "croissant.json"}
    assert sound_manifest(house).expires_at == house.now + VALID_FOR


def test_new_blocks_leave_files_of_complete_ranges_and_of_days_as_they_are(house):
    house.read_chain([(1_000_005, address(3), address(4), 1)], 1_000_010)
    house.publish(HOLDERS)
    before = files(house)
    assert {"transfers-0-999999.parquet", "transfers-1000000-1999999.parquet"} <= before.keys()
    house.read_chain([(1_000_020, address(3), address(4), 1)], 1_000_030)
    house.publish(HOLDERS)
    after = files(house)
    assert {"transfers-1000000-1999999.parquet", "holders-1000030.parquet"} <= changed(before, after)
    for kept in ("transfers-0-999999.parquet", "token_prices-2026-01-01.parquet", "trust_scores.parquet", DATABASE):
        assert after[kept] == before[kept], kept


def test_blocks_without_transfers_leave_every_file_of_transfers_as_it_is(house):
    before = files(house)
    house.read_chain([], 50)
    house.publish(HOLDERS)
    assert not [name for name in changed(before, files(house)) if name.startswith("transfers")]


def test_the_duckdb_file_is_rebuilt_with_the_first_list_however_new_it_is(tmp_path):
    house = House(tmp_path, rate_limit_per_minute=0)
    house.publish(HOLDERS)
    house.read_chain(mint(70), 20)
    house.publish(HOLDERS)
    with duckdb.connect(str(house.current / "public/data" / DATABASE), read_only=True) as connection:
        assert connection.execute("select count(*) from holders").fetchall() == [(70,)]


def test_the_duckdb_file_follows_the_facts_once_an_hour(house):
    before = files(house)[DATABASE]
    house.read_chain([(41, ZERO_ADDRESS, address(200), 7)], 50)
    house.publish(HOLDERS)
    assert files(house)[DATABASE] == before
    house.now += timedelta(hours=1)
    house.read_chain([(51, ZERO_ADDRESS, address(201), 7)], 60)
    house.publish(HOLDERS)
    assert files(house)[DATABASE] != before
    with duckdb.connect(str(house.current / "public/data" / DATABASE), read_only=True) as connection:
        assert connection.execute("select count(*) from holders").fetchall() == [(72,)]
        assert connection.execute("select count(*) from transfers").fetchall() == [(74,)]


def test_a_token_whose_decimals_become_known_gets_new_files(house):
    before = files(house)
    house.token = house.token.model_copy(update={"decimals": 4})
    house.read_chain([], 41)
    house.publish(HOLDERS)
    assert "transfers-0-999999.parquet" in changed(before, files(house))
    assert rows(house, "select value from 'DATA/transfers-0-999999.parquet' where block_number = 30") == [
        (10**9 / 10**4,)
    ]


def test_failed_documents_are_signed_too(house):
    version = sound_manifest(house).version
    house.republish_stale()
    manifest = sound_manifest(house)
    assert manifest.version > version
    content = (house.current / "public/api/token/holders.json").read_bytes()
    assert manifest.files["/api/token/holders"].matches(len(content), sha256_hex(content))


@pytest.mark.parametrize(
    "file", ["transfers-0-999999.parquet", pytest.param("holders-50.parquet", marks=pytest.mark.soak)]
)
def test_a_disk_that_is_full_while_a_file_is_written_leaves_the_last_generation(house, file):
    before, first = files(house), house.current
    house.read_chain([(41, ZERO_ADDRESS, address(200), 7)], 50)

    class FullDisk:
        """A connection whose disk has no room for one file."""

        def __init__(self, connection):
            self._connection = connection

        def execute(self, statement, *parameters):
            if statement.startswith("copy") and file in statement:
                raise duckdb.IOException("Could not write: No space left on device")
            return self._connection.execute(statement, *parameters)

        def __getattr__(self, name):
            return getattr(self._connection, name)

    with Warehouse(house.data_dir).connect() as connection:
        context = context_for(connection, house.settings)
        with pytest.raises(DiskFull):
            publish_with(house, context, FullDisk(connection))
    assert (house.current, files(house)) == (first, before)
    house.publish(HOLDERS)
    assert file in files(house)


def publish_with(house: House, context, connection) -> None:
    rows = [row for row in PROJECTIONS if row.path == HOLDERS]
    now = house.now + timedelta(minutes=1)
    publish(replace(context, connection=connection), house.settings, projections=rows, now=now)


def test_a_run_that_is_killed_between_data_and_manifest_leaves_the_last_generation(house):
    """Models a kill: everything is written, and nothing points to it yet."""
    before, first = files(house), house.current
    house.read_chain([(41, ZERO_ADDRESS, address(200), 7)], 50)
    pid = os.fork()
    if pid == 0:
        open_data.signed_manifest = lambda *_: os._exit(9)  # type: ignore[attr-defined]
        house.publish(HOLDERS)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    assert (house.current, files(house)) == (first, before)
    assert list((house.data_dir / "generations").glob(".building-*/public/data/transfers-0-999999.parquet"))
    house.publish(HOLDERS)
    assert "transfers-0-999999.parquet" in files(house)
    assert not list((house.data_dir / "generations").glob(".building-*"))


def test_open_data_costs_no_request_of_the_limit(house):
    limited = House(house.data_dir, rate_limit_per_minute=1)

    async def statuses() -> Iterable[int]:
        async with limited.client() as client:
            paths = ["/data/", "/data/manifest.json", "/data/svc.duckdb", "/data/holders-40.parquet"] * 3
            answers = [await client.get(path, headers={"range": "bytes=0-9"}) for path in paths]
        assert all("ratelimit" not in answer.headers for answer in answers)
        return [answer.status_code for answer in answers]

    assert set(asyncio.run(statuses())) == {206}


def test_every_text_has_a_gzip_copy_next_to_it_that_is_no_separate_file(house):
    tick(house)  # links most of them, and rebuilds a few
    texts = [path for path in data_files(house) if path.suffix in (".csv", ".json", ".yaml")]
    assert len(texts) > 20
    listed = json.loads((house.current / "public/data/manifest.json").read_bytes())["files"]
    for path in texts:
        assert gzip.decompress((path.parent / f"{path.name}.gz").read_bytes()) == path.read_bytes(), path.name
        assert f"/data/{path.name}.gz" not in listed
    index = json.loads((house.current / "public/data/index.json").read_bytes())
    packed = {file["url"] for dataset in index["datasets"] for file in dataset["files"] if file["format"] == "csv.gz"}
    assert [url.rpartition("/")[2] for url in sorted(packed)] == ["holders-20.csv.gz", "holders-40.csv.gz"]


def test_files_of_open_data_are_readable_by_others_and_nothing_else_is(published):
    modes = {path.stat().st_mode & 0o777 for path in data_files(published)}
    assert modes == {0o644}
    assert (published.current / "serving.duckdb").stat().st_mode & 0o077 == 0


def test_the_newest_rows_of_a_table_are_shown_and_lie_in_a_file(published):
    shown = json.loads((published.current / "public/first-rows.json").read_bytes())
    tables = {table["dataset"]: table for table in shown["tables"]}
    transfers = tables["transfers"]
    names = [column["name"] for column in transfers["columns"]]
    assert "value_raw" in names and not [name for name in names if "_limb" in name]
    assert (transfers["total"], len(transfers["rows"])) == (72, 20)
    blocks = [int(row[names.index("block_number")]) for row in transfers["rows"]]
    assert blocks == sorted(blocks, reverse=True)
    with (published.current / "public/data/first-transfers.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 72
    assert [row["tx_hash"] for row in rows[:20]] == [row[names.index("tx_hash")] for row in transfers["rows"]]
    ranks = [row[0] for row in tables["holders"]["rows"]]
    assert ranks == [str(rank) for rank in range(1, 21)]
