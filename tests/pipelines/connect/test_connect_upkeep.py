"""The hourly upkeep deletes codes and sessions that ended long ago, and no others."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import sub
from pathlib import Path

from contracts.connect.pairing import code_digest
from contracts.settings import Settings
from pipelines.definitions import build_definitions
from warehouse.connect.sessions import is_known, issue_code, redeem_issued
from warehouse.ledger.ledger import open_ledger

PEPPER = bytes(32)


def test_upkeep_deletes_what_ended_a_month_ago(tmp_path: Path):
    settings, now = Settings(_env_file=None, data_dir=tmp_path), datetime.now(UTC)
    codes = {}
    for age in (timedelta(days=32), timedelta(days=29)):
        with closing(open_ledger(settings, tmp_path, clock=partial(sub, now, age))) as ledger:
            with ledger.transaction() as tx:
                codes[age.days] = issue_code(tx, PEPPER).code
            assert redeem_issued(ledger, code_digest(PEPPER, codes[age.days]), PEPPER, None) is not None
    assert build_definitions(settings).resolve_job_def("upkeep").execute_in_process().success
    with closing(open_ledger(settings, tmp_path)) as ledger, ledger.read() as reader:
        known = {days: is_known(reader, code_digest(PEPPER, code)) for days, code in codes.items()}
    assert known == {32: False, 29: True}
