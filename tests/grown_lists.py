"""Literal transfers as holder lists in a warehouse, and the documents served from them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from holder_rows import TOKEN, FakeToken, Row, put_transfers

from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import SnapshotReason
from pipelines.token.holder_lists import take_list
from warehouse.document_context import DocumentContext
from warehouse.publish.readers import read
from warehouse.token.fold import fold_balances
from warehouse.token.holder_status import record_status

NOW = datetime(2026, 2, 1, tzinfo=UTC)
ORIGIN = Origin("g1", NOW)
THE_TOKEN = Token(address=TOKEN, name="Demo", symbol="DMO", decimals=2)
BY_NAME = {projection.name: projection for projection in PROJECTIONS}


def grow(
    context: DocumentContext, rows: Sequence[Row], upto: int, snapshot: SnapshotReason | None = "demand", **odd: Any
) -> None:
    """Folds `rows`, takes a snapshot at `upto`, and records the status of a chain that is read to its end."""
    put_transfers(context.connection, rows, upto)
    fold_balances(context.connection)
    history = context.connection.execute(
        "select block_number, '0x' || lower(hex(from_address)), '0x' || lower(hex(to_address)), value_raw.limb0 "
        "from raw_chain__transfers"
    ).fetchall()
    asyncio.run(
        take_list(
            context.connection,
            FakeToken(history, head=upto, **odd),
            context.holders_dir.parent,
            token=THE_TOKEN,
            level=ConsistencyLevel.FINALIZED,
            snapshot_reason=snapshot,
            now=NOW,
        )
    )
    record_status(context.connection, chain_id=8453, token=THE_TOKEN, start_block=0, finalized_block=upto, now=NOW)


def body(name: str, context: DocumentContext, parameters: Any = None) -> dict[str, Any]:
    """Returns the document as it is served, validated against its own model."""
    projection = BY_NAME[name]
    rendered = render(projection, read(projection, context, parameters), ORIGIN)
    assert projection.model is not None
    projection.model.model_validate_json(rendered)
    parsed: dict[str, Any] = json.loads(rendered)
    return parsed
