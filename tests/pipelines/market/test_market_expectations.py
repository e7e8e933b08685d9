"""The market's suites: each passes on sound rows and fails on each fault that it names."""

from pathlib import Path

import pytest

from pipelines.checks import judge
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts

SOUND = """
insert into raw_market__eth_prices values
    ('coinbase', '2026-01-01 12:00:05', null, 40, 'exact', false, null, 3000.5, null),
    ('coinbase', '2026-01-01 12:01:05', null, 41, 'exact', true, null, 3000000, null),
    ('coinbase', '2026-01-01 12:02:05', null, 42, 'unavailable', false, 'timeout', null, null);
insert into out_market__eth_price values
    ('coinbase', 'estimated', 'timeout', true, null, '2026-01-01 12:00:05', 121, '3000.5', null, '[]');
insert into raw_market__token_prices (token_address, source, fetched_at, latency_ms, quality, suspicious, price_usd)
select '0x70', source, fetched_at, latency_ms, quality, suspicious, price_usd
from raw_market__eth_prices where price_usd is not null;
insert into out_market__token_price
    (token_address, source, quality, stale, fetched_at, age_s, price, change_check, sources)
values ('0x70', 'coinbase', 'estimated', true, '2026-01-01 12:00:05', 121, '3000.5', '{}', '[]');
"""


def failures(data_dir: Path, market: str, fault: str) -> set[str]:
    name = f"out_market__{market}_price"
    with Warehouse(data_dir).connect() as connection:
        connection.execute(SOUND)
        connection.execute(fault.replace("$market", market))
        facts = gather_facts(connection, name)
    return {column for _, column, _ in judge(name, facts).failures}


@pytest.mark.parametrize("market", ["eth", "token"])
@pytest.mark.parametrize(
    ("fault", "columns"),
    [
        ("select 1", set()),
        ("delete from out_market__$market_price", set()),
        ("insert into out_market__$market_price select * from out_market__$market_price", {"rows_beyond_the_first"}),
        ("update out_market__$market_price set price = '0'", {"absurd_prices"}),
        ("update raw_market__$market_prices set price_usd = -1 where price_usd is not null", {"absurd_prices"}),
        ("update out_market__$market_price set fetched_at = '2026-01-01 12:01:05'", {"suspicious_served"}),
        ("update out_market__$market_price set quality = 'exact'", {"stale_but_trusted"}),
        ("update out_market__$market_price set price = null, reason = null", {"missing_without_reason"}),
        ("update raw_market__$market_prices set price_usd = null, reason = null", {"missing_without_reason"}),
        ("update raw_market__$market_prices set fetched_at = '2026-01-01 12:00:05'", {"asked_too_often"}),
    ],
)
def test_each_fault_fails_the_expectation_that_names_it(
    tmp_path: Path, market: str, fault: str, columns: set[str]
) -> None:
    found = failures(tmp_path, market, fault)
    assert columns <= found
    assert bool(columns) == bool(found)
