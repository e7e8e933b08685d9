"""The inputs from which a room reads a document. Publishing and the API make them."""

from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from contracts.discovery.installation import Installation
from contracts.discovery.openapi import Bodies


@dataclass(frozen=True)
class DocumentContext:
    """The `out_` tables, the directory of the holder lists they name, and the public part of the settings. For variants
    that the API computes, the installation holds only its address."""

    connection: duckdb.DuckDBPyConnection
    holders_dir: Path
    installation: Installation
    bodies: Bodies = field(default_factory=dict)
    """Published bodies by path, for documents that show others (`Projection.describe`), and for variants that show a
    document which is published more often than their tables (`SHOWN_IN_VARIANTS`)."""

    @property
    def base_url(self) -> str:
        """The public address that documents name."""
        return self.installation.base_url
