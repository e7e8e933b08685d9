"""Documents that combine others: every number as its own document states it, with its source."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from publishing import House, mint

from contracts.publish.registry import PRICE_GROUP, PROJECTIONS
from warehouse.duck.connection import Warehouse

METRICS = "/api/site-metrics"
CONTEXT = "/api/context"
SERVICE = "/svc-context.json"
PATHS = (METRICS, CONTEXT, SERVICE, "/api/token/holders", "/api/token/price")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def body(house: House, path: str, tree: str = "public") -> dict:
    name = path if path.endswith(".json") else f"{path}.json"
    return json.loads((house.current / f"{tree}{name}").read_bytes())


def write(house: House, *statements: str) -> None:
    with Warehouse(house.data_dir).connect() as connection:
        for statement in statements:
            connection.execute(statement)


def put_price(
    house: House, *, stale: bool = False, reason: str | None = None, source: str = "dexscreener", quality: str = "exact"
) -> None:
    fetched_at = house.now.replace(tzinfo=None)
    with Warehouse(house.data_dir).connect() as connection:
        connection.execute("delete from out_market__token_price")
        connection.execute(
            "insert into out_market__token_price (token_address, source, quality, reason, stale, observed_at, "
            "fetched_at, age_s, price, mcap_usd, volume_24h_usd, change_24h_percent, change_check, sources) values "
            "(?, ?, ?, ?, ?, ?, ?, 0, '0.0125', 12500.0, 99.5, -1.5, "
            """'{"change1h": null, "change24h": null, "agrees": null}', '[]')""",
            ["0x" + "70" * 20, source, quality, reason, stale, fetched_at, fetched_at],
        )


COUNTS = "insert into out_world__counts values ('FOUNDATION', 12, 9, 41), ('TRACK', 3, 0, 41)"


def test_before_any_data_every_number_is_null_with_its_reason(house):
    house.publish(*PATHS)
    document = body(house, METRICS)
    assert (document["quality"], document["reason"], document["stale"]) == ("unavailable", "no_data", False)
    for name, metric in document["metrics"].items():
        assert (metric["value"], metric["quality"]) == (None, "unavailable"), name
        assert metric["reason"], name
    assert (document["nodeCount"], document["edgeCount"], document["ledgerSeq"]) == (None, None, None)
    assert document["metrics"]["graphNodes"]["reason"] == "no_graph"
    assert body(house, CONTEXT)["mode"] == "fallback"


def test_a_figure_missing_from_the_source_of_a_price_is_null_with_its_reason(house):
    house.read_chain(mint(3), 20)
    put_price(house, source="pool", quality="derived")
    with Warehouse(house.data_dir).connect() as connection:
        connection.execute("update out_market__token_price set volume_24h_usd = null")
    house.publish(*PATHS)
    metrics = body(house, METRICS)["metrics"]
    volume, price = metrics["volume24hUsd"], metrics["priceUsd"]
    assert (volume["value"], volume["quality"], volume["reason"]) == (None, "unavailable", "not_told")
    assert (price["value"], price["quality"], price["reason"]) == ("0.0125", "derived", None)


def test_the_volume_of_the_own_pool_is_an_estimate_and_its_price_is_not(house):
    house.read_chain(mint(3), 20)
    put_price(house, source="pool", quality="derived")
    house.publish(*PATHS)
    metrics = body(house, METRICS)["metrics"]
    volume, price = metrics["volume24hUsd"], metrics["priceUsd"]
    assert (volume["value"], volume["quality"], volume["reason"]) == (99.5, "estimated", "estimated_from_transfers")
    assert (price["value"], price["quality"], price["reason"]) == ("0.0125", "derived", None)


@pytest.mark.parametrize(
    ("row", "quality", "reason"),
    [
        ({"source": "pool", "quality": "derived"}, "estimated", "estimated_from_transfers"),
        (
            {"source": "pool", "quality": "estimated", "reason": "thin_liquidity"},
            "estimated",
            "estimated_from_transfers",
        ),
        ({"source": "pool", "quality": "estimated", "reason": "timeout", "stale": True}, "estimated", "timeout"),
        ({"source": "dexscreener", "quality": "exact"}, "exact", None),
        (
            {"source": "dexscreener", "quality": "estimated", "reason": "sources_disagree"},
            "estimated",
            "sources_disagree",
        ),
    ],
)
def test_the_volume_has_one_quality_and_reason_in_every_document(house, row, quality, reason):
    house.read_chain(mint(3), 20)
    put_price(house, **row)
    house.publish(*PATHS)
    price, volume = body(house, "/api/token/price")["data"], body(house, METRICS)["metrics"]["volume24hUsd"]
    assert (price["volume24h"], price["tradesQuality"], price["tradesReason"]) == (99.5, quality, reason)
    assert (volume["value"], volume["quality"], volume["reason"]) == (99.5, quality, reason)


def test_each_number_is_the_one_of_its_own_document(house):
    house.read_chain(mint(120), 20)
    put_price(house)
    write(house, COUNTS)
    house.publish(*PATHS)
    metrics = body(house, METRICS)["metrics"]
    holders, price = body(house, "/api/token/holders"), body(house, "/api/token/price")["data"]
    assert metrics["holders"]["value"] == holders["holderCount"] == 120
    assert metrics["priceUsd"]["value"] == price["price"] == "0.0125"
    assert (metrics["marketCapUsd"]["value"], metrics["volume24hUsd"]["value"]) == (12500.0, 99.5)
    for name, own in (("holders", holders), ("priceUsd", price)):
        for field in ("source", "quality", "observedAt", "staleAfter"):
            assert metrics[name][field] == own[field], (name, field)
    assert {metric["unit"] for metric in metrics.values()} >= {"USD", "wei", "holders", "nodes"}


def test_graph_counts_come_with_the_ledgers_sequence_number(house):
    write(house, COUNTS)
    house.publish(*PATHS)
    document = body(house, METRICS)
    assert (document["nodeCount"], document["edgeCount"], document["ledgerSeq"]) == (15, 9, 41)
    assert document["domainCounts"] == {"FOUNDATION": 12, "TRACK": 3}
    assert (document["metrics"]["graphEdges"]["value"], document["metrics"]["graphEdges"]["source"]) == (9, "ledger")
    assert body(house, CONTEXT)["graph"]["revision"] == 41


def test_the_whole_is_stale_when_the_first_of_its_numbers_is(house):
    house.read_chain(mint(70), 20)
    put_price(house)
    house.publish(*PATHS)
    document = body(house, METRICS)
    assert document["staleAfter"] == body(house, "/api/token/price")["data"]["staleAfter"]
    assert document["staleAfter"] < body(house, "/api/token/holders")["staleAfter"]


def test_a_number_that_is_already_old_makes_the_whole_stale_with_its_reason(house):
    house.read_chain(mint(70), 20)
    put_price(house, stale=True, reason="timeout")
    house.publish(*PATHS)
    document, context = body(house, METRICS), body(house, CONTEXT)
    assert (document["stale"], document["reason"]) == (True, "timeout")
    assert (document["metrics"]["priceUsd"]["stale"], document["metrics"]["holders"]["stale"]) == (True, False)
    assert (context["mode"], context["price"]["reason"]) == ("fallback", "timeout")


def test_the_context_is_live_only_while_all_that_is_configured_is_fresh(house):
    house.read_chain(mint(70), 20)
    put_price(house)
    write(
        house,
        COUNTS,
        "insert into out_bidwall__status (chain_id, recorded_at) values (8453, '2026-01-02')",
        "insert into out_trust__status "
        "(chain_id, complete, attestations, agents, attesters, checked, equal, recorded_at) values "
        "(8453, false, 0, 0, 0, 0, 0, '2026-01-02')",
    )
    house.publish(*PATHS)
    context = body(house, CONTEXT)
    assert {context[part]["reason"] for part in ("bidwall", "trust")} == {"not_configured"}
    assert (context["mode"], context["stale"]) == ("live", False)
    assert context["holders"]["proof"] == "proven"
    assert context["token"]["symbol"] == "TKN"
    late = body(house, CONTEXT, "stale")
    assert (late["mode"], late["stale"], late["reason"]) == ("fallback", True, "expired")
    house.republish_stale("check_failed")
    marked = body(house, CONTEXT)
    assert (marked["mode"], marked["stale"], marked["reason"]) == ("fallback", True, "check_failed")


def test_a_whole_that_is_stale_says_which_of_its_parts_are(house):
    house.read_chain(mint(70), 20)
    put_price(house)
    house.publish(*PATHS)
    late = body(house, CONTEXT, "stale")
    assert (late["price"]["stale"], late["price"]["reason"]) == (True, "expired")
    assert (late["holders"]["stale"], late["holders"]["reason"]) == (False, None)
    metrics = body(house, METRICS, "stale")["metrics"]
    assert {name for name, metric in metrics.items() if metric["stale"]} == {"priceUsd", "marketCapUsd", "volume24hUsd"}
    house.republish_stale("rpc_unreachable", [row for row in PROJECTIONS if row.group != PRICE_GROUP])
    marked = body(house, CONTEXT)
    assert (marked["stale"], marked["holders"]["stale"], marked["holders"]["reason"]) == (True, True, "rpc_unreachable")
    assert (marked["price"]["stale"], marked["price"]["reason"]) == (False, None)


def test_the_service_context_names_every_document_and_changes_only_with_the_settings(house):
    house.publish(*PATHS)
    first = (house.current / "public/svc-context.json").read_bytes()
    document = json.loads(first)
    assert {"/api/context", "/openapi.json", "/hodlers-care/feed.json"} <= {
        each["path"] for each in document["documents"]
    }
    assert document["baseUrl"] == "https://svc.example"
    house.read_chain(mint(70), 20)
    house.publish(*PATHS)
    second = (house.current / "public/svc-context.json").read_bytes()
    house.now += timedelta(hours=2)
    house.read_chain(mint(1, first=300, block=30), 40)
    house.publish(*PATHS)
    assert first != second == (house.current / "public/svc-context.json").read_bytes()
