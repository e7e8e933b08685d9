"""A running service with enough open data for readers of every kind, and a count of the bytes that it sends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from addressed_service import running
from holder_rows import TOKEN, address
from nginx import free_port
from publishing import House, mint

from api.app import create_app
from contracts.token.holders import ZERO_ADDRESS
from warehouse.duck.connection import Warehouse
from warehouse.duck.rows import insert

MANY_TRANSFERS = """
insert into raw_chain__transfers
select
    1000 + i // 4,
    i % 4,
    unhex(sha256(i::varchar)),
    unhex(sha256((i % 997)::varchar)[:40]),
    unhex(sha256((i % 7919)::varchar)[:40]),
    {limb3: 0, limb2: 0, limb1: 0, limb0: hash(i)}::u256,
    timestamp '2026-01-01 12:00:00' + to_seconds(i),
    'exact'
from range(400000) as t(i)
"""


@dataclass
class OpenDataService:
    """The address of the service, its house, and the body bytes that it sent, by path."""

    url: str
    house: House
    sent_bytes: Counter[str] = field(default_factory=Counter)


@contextmanager
def open_data_service(data_dir: Path) -> Iterator[OpenDataService]:
    """Serves three days with two lists, 400,000 transfers among addresses, and prices."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    house = House(data_dir, base_url=url, rate_limit_per_minute=0)
    house.read_chain(mint(3000), 20)
    house.read_chain([(60, ZERO_ADDRESS, address(9999), 10**30)], 80)
    with Warehouse(data_dir).connect() as connection:
        for days, price in ((2, "0.5"), (1, "0.75"), (0, "1.25")):
            row = {"token_address": TOKEN, "source": "feed", "fetched_at": house.now - timedelta(days=days)}
            row |= {"latency_ms": 1, "quality": "exact", "suspicious": False, "price_usd": price}
            insert(connection, "raw_market__token_prices", row)
        connection.execute(MANY_TRANSFERS)
    house.publish()
    service = OpenDataService(url, house)
    application = create_app(house.settings)

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        async def send_on(message: Any) -> None:
            service.sent_bytes[scope.get("path", "")] += len(message.get("body", b""))
            await send(message)

        await application(scope, receive, send_on)

    with running(counted, port):
        yield service
