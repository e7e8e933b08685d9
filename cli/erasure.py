"""Erases forgotten texts outside the ledger, for `svc world forget` and `svc intake forget`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli.environment import effective_settings
from cli.logs import configure_logs
from cli.output import note

if TYPE_CHECKING:
    from pipelines.erasure import Erased


def erase(callers: Sequence[str]) -> Erased:
    """Erases texts that the ledger has forgotten from every file, reporting each step. Raises `ErasureUnfinished`."""
    from pipelines.erasure import erase_traces  # Dagster takes seconds to import

    settings = effective_settings()
    configure_logs(settings.log_format)
    return erase_traces(settings, callers, on_step=note)


def erasure_text(erased: Erased) -> str:
    """Describes in one line what else was deleted, and what no command can delete."""
    return (
        f"deleted {erased.generations} older generations, {erased.runs} run records and {erased.logs} logs. "
        "Readers of an older generation get the newest; backups are yours to erase: docs/erasure.md"
    )
