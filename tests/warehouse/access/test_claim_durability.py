"""Quotes redeemed in threads and processes that race, are killed or lose power: acknowledged claims persist, exactly
once.

| row of the promises | held here by |
|---|---|
| S1 one claim, one key | races and kills |
| L6 durability | `test_every_connection_waits_for_the_disk`, `test_power_lost_at_any_byte_of_the_log...` |
"""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from claim_store import (
    count,
    issue,
    issuing_process,
    open_quote,
    transaction_hash,
    unsound,
)
from ledger_process import BROKEN_CONSTRAINT
from patience import HANG_S
from rounds import ROUNDS

from contracts.settings import Settings
from warehouse.access.claims import (
    find_claim,
)
from warehouse.ledger.ledger import Ledger, open_ledger


def test_threads_that_redeem_one_quote_simultaneously_get_one_key(ledger: Ledger) -> None:
    for _ in range(4):
        with ledger.transaction() as tx:
            quote = open_quote(tx, payer="0x" + transaction_hash()[2:42])
        paid_by = transaction_hash()
        together = threading.Barrier(8)

        def redeem(
            position: int, quote: Any = quote, paid_by: str = paid_by, together: threading.Barrier = together
        ) -> int:
            together.wait()
            try:
                with ledger.transaction() as tx:
                    issue(tx, quote, paid_by, position)
            except BROKEN_CONSTRAINT:
                return 0
            return 1

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(redeem, range(8))) == 1
    assert unsound(ledger) == set()
    assert count(ledger, "access_claims") == count(ledger, "api_keys") == 4


def test_processes_on_one_ledger_issue_every_claim_exactly_once(ledger: Ledger, ledger_settings: Settings) -> None:
    processes = 2 if ROUNDS == 1 else 4
    with ExitStack() as stack:
        running = [stack.enter_context(issuing_process(ledger_settings, 25)) for _ in range(processes)]
        said = [line for process in running for line in process.communicate(timeout=HANG_S)[0].split()]
    assert len(said) == len(set(said)) == count(ledger, "access_claims") == count(ledger, "api_keys") == 25 * processes
    assert unsound(ledger) == set()
    seqs = [change.seq for change in ledger.changes_after(0, 10_000)]
    assert seqs == list(range(1, len(seqs) + 1))


def test_a_killed_issuer_keeps_all_acknowledged_claims_and_nothing_half(
    ledger: Ledger, ledger_settings: Settings
) -> None:
    said: list[str] = []
    for kill_after in (0.13, 0.02, 0.07, 0.2, 0.3)[:ROUNDS]:
        with issuing_process(ledger_settings, 100_000) as process:
            assert process.stdout is not None
            said += [process.stdout.readline().strip() for _ in range(4)]
            time.sleep(kill_after)
            process.kill()
            said += [line.strip() for line in process.stdout if line.endswith("\n")]
            process.wait()
        with ledger.transaction():
            """Waits until the server has noticed the death."""
        assert unsound(ledger) == set()
    with ledger.read() as reader:
        assert all(find_claim(reader, claim_id) is not None for claim_id in said)
    assert len(said) == len(set(said)) > 3


def test_every_connection_waits_for_the_disk(ledger: Ledger) -> None:
    """L6: what is acknowledged is on the disk. Covers new connections, and several at once."""
    with ExitStack() as stack:
        for engine in (ledger._writers, ledger._readers, ledger._readers):
            connection = stack.enter_context(engine.connect())
            if connection.dialect.name == "sqlite":
                assert connection.exec_driver_sql("pragma synchronous").scalar() == 2
                assert connection.exec_driver_sql("pragma journal_mode").scalar() == "wal"
            else:
                assert connection.exec_driver_sql("show synchronous_commit").scalar() == "on"
            connection.rollback()


FRAME_HEADER, WAL_HEADER = 24, 32


def acknowledged(ledger: Ledger, wal: Path, claims: int) -> list[tuple[int, str]]:
    """Issues claims and returns, for each, the log's length when it was acknowledged (all of it is synced), and the
    claim's id."""
    sizes = []
    for _ in range(claims):
        with ledger.transaction() as tx:
            quote = open_quote(tx)
            issued = issue(tx, quote, transaction_hash())
        sizes.append((wal.stat().st_size, issued.claim.claim_id))
    return sizes


def _is_held(ledger: Ledger, claim_id: str) -> bool:
    with ledger.read() as reader:
        return find_claim(reader, claim_id) is not None


def test_power_lost_at_any_byte_of_the_log_keeps_what_was_acknowledged_before(tmp_path: Path) -> None:
    """The log is cut at, and within, every frame: all claims that were acknowledged up to there are whole."""
    settings = Settings(_env_file=None, data_dir=tmp_path / "live")
    ledger = open_ledger(settings, settings.data_dir)
    database, wal = settings.data_dir / "ledger.db", settings.data_dir / "ledger.db-wal"
    with ledger._writers.connect() as connection:
        connection.exec_driver_sql("rollback")
        connection.exec_driver_sql("pragma wal_checkpoint(truncate)").fetchall()
        page = connection.exec_driver_sql("pragma page_size").scalar()
    sizes = acknowledged(ledger, wal, 1 + ROUNDS)
    frame = FRAME_HEADER + page
    content = wal.read_bytes()
    cuts = sorted({at for start in range(WAL_HEADER, len(content) + 1, frame) for at in (start, start + frame // 2)})
    assert len(cuts) > 6 * (1 + ROUNDS)
    for number, cut in enumerate([0, *[cut for cut in cuts if cut <= len(content)]]):
        lost = tmp_path / f"lost-{number}"
        lost.mkdir()
        shutil.copy(database, lost / "ledger.db")
        (lost / "ledger.db-wal").write_bytes(content[:cut])
        after = open_ledger(settings, lost)
        held = {claim_id for _, claim_id in sizes if _is_held(after, claim_id)}
        assert held == {claim_id for size, claim_id in sizes if size <= cut}
        assert unsound(after) == set()
        assert after.head() == len(after.changes_after(0, 1_000))
        with after.transaction() as tx:
            issue(tx, open_quote(tx), transaction_hash())
        after.close()
        shutil.rmtree(lost)
    ledger.close()


def test_a_torn_or_foreign_frame_ends_the_log_and_spoils_nothing_before_it(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "live")
    ledger = open_ledger(settings, settings.data_dir)
    database, wal = settings.data_dir / "ledger.db", settings.data_dir / "ledger.db-wal"
    sizes = acknowledged(ledger, wal, 3)
    content = bytearray(wal.read_bytes())
    (_, first), (synced, second), (_, third) = sizes
    content[synced + FRAME_HEADER + 100] ^= 0xFF
    torn = tmp_path / "torn"
    torn.mkdir()
    shutil.copy(database, torn / "ledger.db")
    (torn / "ledger.db-wal").write_bytes(content)
    after = open_ledger(settings, torn)
    assert [_is_held(after, claim_id) for claim_id in (first, second, third)] == [True, True, False]
    assert unsound(after) == set()
    after.close()
    ledger.close()
