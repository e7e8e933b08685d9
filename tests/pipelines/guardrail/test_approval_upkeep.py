"""The hourly upkeep deletes used approvals that expired long ago, and no others."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from contracts.settings import Settings
from guardrail.approval import Approval
from pipelines.definitions import build_definitions
from warehouse.guardrail.approvals import KEPT, take_approval
from warehouse.ledger.ledger import open_ledger


def test_upkeep_deletes_used_approvals_a_day_after_their_expiry(tmp_path: Path):
    settings, now = Settings(_env_file=None, data_dir=tmp_path), datetime.now(UTC)
    approvals = [
        Approval("d" * 64, "local:a", int((now - since_expiry).timestamp()), f"{number:032}")
        for number, since_expiry in enumerate((KEPT + timedelta(minutes=1), KEPT - timedelta(minutes=10)))
    ]
    with closing(open_ledger(settings, tmp_path)) as ledger:
        with ledger.transaction() as tx:
            assert [take_approval(tx, approval) for approval in approvals] == [True, True]
        assert build_definitions(settings).resolve_job_def("upkeep").execute_in_process().success
        with ledger.transaction() as tx:
            assert [take_approval(tx, approval) for approval in approvals] == [True, False]
