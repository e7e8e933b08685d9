"""The source of each document's body: the one that its row names, with the row's model, and the tables behind it."""

from dataclasses import replace
from typing import Any, get_type_hints

import pytest
from publishing import House, mint

from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.publish import lineage
from warehouse.publish.lineage import RecordingConnection, tables_of
from warehouse.publish.readers import context_for, read, reader_of
from warehouse.statements import read_sql

READ = [row for row in PROJECTIONS if row.reader is not None]


@pytest.mark.parametrize("row", PROJECTIONS, ids=lambda row: row.name)
def test_a_row_names_one_source_and_else_has_a_statement_of_its_name(row: Projection):
    named = [source for source in (row.make, row.describe, row.reader) if source is not None]
    assert len(named) <= 1
    assert named or read_sql(row.name)


@pytest.mark.parametrize("row", READ, ids=lambda row: row.name)
def test_a_reader_takes_the_parameters_of_its_row_and_gives_its_model(row: Projection):
    assert row.reader is not None
    *taken, given = get_type_hints(reader_of(row.reader)).values()
    argument: list[Any] = [str] if row.reader_argument is not None else []
    assert taken == [DocumentContext, *argument, *([row.parameters] if row.parameters is not None else [])]
    rows_as_json = {"token_holders_map"}
    if row.model is None:
        assert given is bytes
    elif row.name not in rows_as_json:
        assert issubclass(row.model, given)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    made = House(tmp_path_factory.mktemp("house"))
    made.read_chain(mint(70), 20)
    made.read_chain(mint(1, first=71, block=30), 40)
    return made


@pytest.mark.parametrize("row", [row for row in PROJECTIONS if row.describe is None], ids=lambda row: row.name)
def test_a_document_reads_no_table_outside_of_its_lineage(house: House, row: Projection):
    with Warehouse(house.data_dir).connect() as connection:
        recording = RecordingConnection(connection)
        context = replace(context_for(connection, house.settings), connection=recording)
        read(row, context)
        recording.statements = {one for one in recording.statements if "read_parquet" not in one}  # those read files
        assert recording.tables == tables_of(row)


def test_the_recorded_lineage_is_current():
    assert lineage.FILE.read_text() == lineage.text(), "run `python -m warehouse.publish.lineage`"


def test_a_document_without_a_store_has_no_lineage_and_one_with_parts_has_theirs():
    rows = {row.name: row for row in PROJECTIONS}
    assert tables_of(rows["llms_txt"]) == frozenset()
    assert tables_of(rows["context"]) > tables_of(rows["eth_price"]) | tables_of(rows["trust_protocol"])
    assert "out_holders__sources" in tables_of(rows["token_holders"])
