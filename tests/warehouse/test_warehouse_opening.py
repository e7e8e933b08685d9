"""Opening the warehouse: what becomes of a query that a signal ended."""

from pathlib import Path

import pytest

from warehouse.duck import Warehouse


def test_a_query_that_a_signal_ended_is_an_interruption_and_no_fault_of_the_data(tmp_path: Path):
    # As DuckDB tells it; whether it looks for signals during a query depends on which thread works on it.
    with pytest.raises(KeyboardInterrupt), Warehouse(tmp_path).connect():
        raise RuntimeError("Query interrupted")


def test_any_other_fault_stays_what_it_is(tmp_path: Path):
    with pytest.raises(RuntimeError, match="something else"), Warehouse(tmp_path).connect():
        raise RuntimeError("something else")
