"""A second process folds what was committed, unless a run holds the warehouse."""

from __future__ import annotations

from multiprocessing import get_context

import pytest
from world_writes import goal, no_rules, proposal

from contracts.settings import Settings
from warehouse.duck.connection import Warehouse, run_lock
from warehouse.ledger.ledger import open_ledger
from warehouse.world import fold_helper
from warehouse.world.events import head_revision
from warehouse.world.fold import read_world_state
from warehouse.world.fold_helper import folding_beside
from warehouse.world.write import propose


def folded_revision(settings: Settings) -> int:
    with Warehouse(settings.data_dir).connect() as connection:
        return read_world_state(connection).revision


def test_commits_are_folded_when_the_block_ends_unless_a_run_holds_the_warehouse(
    ledger_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
    propose(ledger, proposal(goal("one")), alignment=no_rules)
    with run_lock(ledger_settings.data_dir, wait_s=0), folding_beside(ledger_settings) as fold:
        fold()
    assert folded_revision(ledger_settings) == 0
    monkeypatch.setattr(fold_helper, "get_context", get_context)  # spawned, as a service does
    with folding_beside(ledger_settings) as fold:
        fold()
        propose(ledger, proposal(goal("two")), alignment=no_rules)
        fold()
    with ledger.read() as reader:
        assert folded_revision(ledger_settings) == head_revision(reader) > 0
    ledger.close()
