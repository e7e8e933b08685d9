"""Python's collector is off where it would find no cycles, and on again afterwards."""

import gc

import pytest

from warehouse.cycles import while_importing, without_cycles


@pytest.mark.parametrize("was_on", [True, False])
def test_the_search_goes_on_as_before_also_after_an_error(was_on: bool) -> None:
    if not was_on:
        gc.disable()
    try:
        with pytest.raises(LookupError), without_cycles():
            assert not gc.isenabled()
            raise LookupError
        assert gc.isenabled() is was_on
    finally:
        gc.enable()


def test_the_collector_never_searches_imported_objects_again() -> None:
    frozen = gc.get_freeze_count()
    with while_importing():
        assert not gc.isenabled()
        module = {"a": [1]}
        assert any(tracked is module for tracked in gc.get_objects())
    assert gc.isenabled()
    assert gc.get_freeze_count() > frozen
    assert not any(tracked is module for tracked in gc.get_objects())
