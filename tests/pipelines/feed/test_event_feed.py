"""The event feed: each event is found once in the stored data, and published in a JSON Feed 1.1."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import jsonschema
import pytest
from holder_rows import address
from publishing import House, mint

from contracts.feed import KEPT, SHOWN
from contracts.token.holders import ZERO_ADDRESS
from warehouse.duck.connection import Warehouse
from warehouse.feed.events import record_events

WATCHED = "0x" + "d1" * 20
ETHER = 10**18

TEXT = {"type": "string", "minLength": 1}
ADDRESS = {"type": "string", "format": "uri", "pattern": "^https?://"}
AUTHOR = {
    "type": "object",
    "properties": {"name": TEXT, "url": ADDRESS, "avatar": ADDRESS},
    "anyOf": [{"required": [name]} for name in ("name", "url", "avatar")],
}
JSON_FEED_1_1 = {
    "type": "object",
    "required": ["version", "title", "items"],
    "properties": {
        "version": {"const": "https://jsonfeed.org/version/1.1"},
        "title": TEXT,
        "home_page_url": ADDRESS,
        "feed_url": ADDRESS,
        "description": TEXT,
        "language": {"type": "string", "pattern": "^[a-z]{2,3}(-[A-Za-z0-9]+)*$"},
        "authors": {"type": "array", "items": AUTHOR},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id"],
                "anyOf": [{"required": ["content_text"]}, {"required": ["content_html"]}],
                "properties": {
                    "id": TEXT,
                    "url": ADDRESS,
                    "title": TEXT,
                    "content_text": TEXT,
                    "date_published": {
                        "type": "string",
                        "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$",
                    },
                    "tags": {"type": "array", "items": TEXT},
                },
                "patternProperties": {"^_[a-zA-Z][^.]*$": {"type": "object"}},
                "additionalProperties": False,
            },
        },
    },
    "patternProperties": {"^_[a-zA-Z][^.]*$": {"type": "object"}},
    "additionalProperties": False,
}
"""A schema of the members that we use, from the standard's published text; an extension's name begins with `_`."""


FEED = "/hodlers-care/feed.json"


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def record(house: House, trigger_wei: int | None = 10 * ETHER) -> list[str]:
    with Warehouse(house.data_dir).connect() as connection:
        new = record_events(
            connection, house.data_dir / "holders", contract=WATCHED, trigger_wei=trigger_wei, now=house.now
        )
    return [event.id for event in new]


def feed(house: House) -> dict:
    house.publish(FEED)
    document = json.loads((house.current / "public/hodlers-care/feed.json").read_bytes())
    jsonschema.Draft202012Validator(JSON_FEED_1_1).validate(document)
    return document


def put_balances(house: House, *readings: tuple[int, int, bool]) -> None:
    with Warehouse(house.data_dir).connect() as connection:
        for block, wei, is_final in readings:
            connection.execute(
                "insert into raw_bidwall__balances "
                "select ?, ?, ?, timestamp '2026-01-01 00:00:00' + to_minutes(?), ?, ?::bignum, null, now()::timestamp",
                [WATCHED, block, f"0x{block:064x}", block, is_final, str(wei)],
            )


def put_attestations(house: House, *blocks: int) -> None:
    with Warehouse(house.data_dir).connect() as connection:
        for block in blocks:
            connection.execute(
                "insert into raw_chain__attestations select ?, 3, ?, ?, ?, ?, 1, 88, t, 'ipfs://x', t, 'exact' "
                "from (select timestamp '2026-01-01 00:00:00' + to_minutes(?) as t)",
                [block, block.to_bytes(32), b"\xaa" * 20, b"\xbb" * 20, b"\0" * 32, block],
            )


def test_a_feed_without_events_is_empty_and_fits_the_standard(house):
    assert feed(house)["items"] == []
    assert record(house) == []


def test_a_broken_feed_does_not_fit():
    for broken in (
        {"version": "https://jsonfeed.org/version/1", "title": "t", "items": []},
        {"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": 1, "content_text": "x"}]},
        {"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": "1"}]},
        {"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [], "svc": {}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(JSON_FEED_1_1).validate(broken)


def test_every_event_is_published_once_newest_first(house):
    house.read_chain(mint(95), 20)
    house.read_chain([*mint(10, first=200, block=30), (30, ZERO_ADDRESS, address(7), 50_000)], 40)
    put_balances(house, (21, 9 * ETHER, True), (25, 11 * ETHER, False), (31, 12 * ETHER, True))
    put_attestations(house, 33)
    assert set(record(house)) == {
        "snapshot:20",
        "snapshot:40",
        "holders:100",
        f"mover:20-40:{address(7)}",
        "threshold:31:reached",
        f"attestation:0x{33:064x}:3",
    }
    document = feed(house)
    ids = [item["id"] for item in document["items"]]
    assert len(ids) == 6
    times = [item["date_published"] for item in document["items"]]
    assert times == sorted(times, reverse=True)
    assert all(item["url"].startswith("https://svc.example/") for item in document["items"])
    mover = next(item for item in document["items"] if item["tags"] == ["large_mover"])
    assert mover["_svc"]["facts"]["changeRaw"] == "50000"
    assert mover["url"].endswith("/api/token/holders-map-temporal?from=20&to=40")
    with Warehouse(house.data_dir).connect() as connection:
        connection.execute("delete from out_holders__lists where block = 20")
    (mover,) = (item for item in feed(house)["items"] if item["tags"] == ["large_mover"])
    assert mover["url"].endswith("/api/token/holders-map-temporal")  # the data behind this event is no longer stored


def test_a_run_that_finds_nothing_new_changes_no_byte(house):
    house.read_chain(mint(95), 20)
    record(house)
    feed(house)
    before = (house.current / "public/hodlers-care/feed.json").read_bytes()
    house.now += timedelta(hours=3)
    assert record(house) == []
    assert house.publish(FEED).changed_documents == ()
    assert (house.current / "public/hodlers-care/feed.json").read_bytes() == before


def test_reading_in_pieces_finds_the_same_events_as_reading_at_once(tmp_path):
    pieces, whole = House(tmp_path / "pieces"), House(tmp_path / "whole")
    steps = [(mint(95), 20), (mint(10, first=200, block=30), 40), ([(50, ZERO_ADDRESS, address(1), 90_000)], 60)]
    for rows, upto in steps:
        pieces.read_chain(rows, upto)
        record(pieces)
        whole.read_chain(rows, upto)
    record(whole)
    assert feed(pieces)["items"] == feed(whole)["items"]


def test_the_table_and_the_feed_are_bounded(house):
    with Warehouse(house.data_dir).connect() as connection:
        connection.execute(
            "insert into core_feed__events "
            "select 'old:' || n, 'snapshot', timestamp '2025-01-01' + to_minutes(n::int), "
            "n, 't', 'x', '/', '{}', timestamp '2025-01-01' from range(?) as numbers(n)",
            [KEPT + 50],
        )
    put_attestations(house, 5)
    assert record(house) == [f"attestation:0x{5:064x}:3"]
    with Warehouse(house.data_dir).connect() as connection:
        assert connection.execute("select count(*), min(block) from core_feed__events").fetchall() == [(KEPT, 5)]
    items = feed(house)["items"]
    assert (len(items), items[0]["id"]) == (SHOWN, f"attestation:0x{5:064x}:3")
    assert datetime.fromisoformat(items[0]["date_published"]).year == 2026
