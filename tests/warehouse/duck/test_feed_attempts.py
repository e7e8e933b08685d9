from datetime import UTC, datetime
from pathlib import Path

from warehouse.duck.connection import Warehouse
from warehouse.duck.fetch_log import may_ask, source_health


def test_a_warehouse_of_an_earlier_version_has_no_recorded_polls(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    with warehouse.connect() as connection:
        connection.execute("drop table raw_feeds__attempts")
    with warehouse.read_only() as connection:
        assert connection is not None
        assert source_health(connection) == []
        assert may_ask(connection, "dexscreener", datetime.now(UTC))
