"""What assets are given: the settings and what follows from them. One object, made once, passed by Dagster."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from contracts.settings import Settings
from warehouse.duck import Warehouse


@dataclass(frozen=True)
class Runtime:
    """Everything an asset needs that is not data."""

    settings: Settings

    @property
    def data_dir(self) -> Path:
        """Where warehouse, ledger, holder lists and generations live."""
        return self.settings.data_dir

    @cached_property
    def warehouse(self) -> Warehouse:
        """The DuckDB warehouse; open it only for as long as a step needs it."""
        return Warehouse(self.data_dir)
