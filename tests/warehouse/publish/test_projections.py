"""A document that is one row of SQL, as most telemetry documents are."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import msgspec
import pytest

from contracts.base import TelemetryDocument
from contracts.publish.projection import Projection
from contracts.publish.rendering import Origin, render
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import read_row


class Answer(TelemetryDocument):
    largest_balance_raw: str | None
    by_day: list[dict[str, int]]


ANSWER = Projection(
    name="answer",
    path="/api/answer",
    model=Answer,
    group="holders",
    max_age_s=60,
    summary="An answer",
    description="An answer.",
)
QUESTION = """
-- One row: the largest balance, and what happened by day.
select
    'warehouse' as source,
    'exact' as quality,
    null as reason,
    timestamp '2026-11-20 10:00:00' as observed_at,
    timestamp '2026-11-20 10:00:30' as fetched_at,
    (2::bignum + 115792089237316195423570985008687907853269984665640564039457584007913129639933::bignum)::varchar
        as largest_balance_raw,
    to_json([{day: 1, transfers: 3}, {day: 2, transfers: 0}]) as by_day
"""


@pytest.fixture
def connection(tmp_path: Path):
    with Warehouse(tmp_path).connect() as opened:
        yield opened


def test_columns_become_fields_and_json_columns_are_embedded(connection: duckdb.DuckDBPyConnection):
    origin = Origin("20261120T100031Z-000001", datetime(2026, 11, 20, 10, 0, 31, tzinfo=UTC))
    body = render(ANSWER, read_row(connection, QUESTION), origin)
    assert msgspec.json.decode(body) == {
        "ok": True,
        "source": "warehouse",
        "quality": "exact",
        "reason": None,
        "observedAt": "2026-11-20T10:00:00Z",
        "fetchedAt": "2026-11-20T10:00:30Z",
        "staleAfter": "2026-11-20T10:01:30Z",
        "stale": False,
        "generation": "20261120T100031Z-000001",
        "generatedAt": "2026-11-20T10:00:31Z",
        "largestBalanceRaw": str(2**256 - 1),
        "byDay": [{"day": 1, "transfers": 3}, {"day": 2, "transfers": 0}],
    }
    Answer.model_validate_json(body)


def test_a_missing_column_is_reported_by_its_name(connection: duckdb.DuckDBPyConnection):
    fields = dict(read_row(connection, QUESTION))
    del fields["quality"]
    with pytest.raises(ValueError, match="quality"):
        render(ANSWER, fields, Origin("g", datetime(2026, 11, 20, tzinfo=UTC)))


@pytest.mark.parametrize("statement", ["select 1 as n where false", "select unnest([1, 2]) as n"])
def test_a_query_that_does_not_return_one_row_is_refused(connection: duckdb.DuckDBPyConnection, statement: str):
    with pytest.raises(ValueError, match="one row"):
        read_row(connection, statement)
