"""The inputs from which a room reads a document. Publishing and the API create them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from contracts.discovery.installation import Installation
from contracts.discovery.openapi import Bodies

_Value = TypeVar("_Value")


class NeedsWorker(Exception):
    """Reading the document takes too long for the serving process; a context that `computes_lists` can read it."""


@dataclass(frozen=True)
class DocumentContext:
    """The `out_` tables, the directory of the holder lists they name, and the public part of the settings. For variants
    that the API computes, the installation holds only its address."""

    connection: duckdb.DuckDBPyConnection
    holders_dir: Path
    installation: Installation
    bodies: Bodies = field(default_factory=dict)
    """Published bodies by path, for documents that show others (`Projection.describe`) or reuse a part of their
    previous body, and for variants that show a document that is published more often than their tables
    (`SHOWN_IN_VARIANTS`)."""
    moved_tables: Collection[str] | None = None
    """The tables that may have changed since `bodies` were published; None if any may."""
    computes_lists: bool = True
    """True if a missing list may be computed here, which takes a second for half a million addresses."""
    memo: dict[str, Any] | None = None
    """The readers' cache for a generation, which never changes; None if the tables may change between two reads."""

    def remembered(self, name: str, make: Callable[[], _Value]) -> _Value:
        """Returns the value that `make` returned the first time in this generation; calls it if there is none."""
        if self.memo is None:
            return make()
        if name not in self.memo:
            self.memo[name] = make()
        value: _Value = self.memo[name]
        return value

    @property
    def history_dir(self) -> Path:
        """The directory of the history's files, next to that of the lists."""
        return self.holders_dir.parent / "history"

    @property
    def base_url(self) -> str:
        """The public address that documents name."""
        return self.installation.base_url
