"""Counters: at most the limit in a window over all processes and threads, on both engines; refusals are cheap."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pysqlite3.dbapi2 as sqlite
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger_process import started, take_many
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres
from rounds import ROUNDS

from contracts.errors import StoreBusy, StoreUnusable
from contracts.settings import Settings
from warehouse.ledger.counters import KEEP_S, Counters, CounterStore, Take, open_counters

NOON_S = 1_800_000_000.0

RUNS = itertools.count()
"""Separates the keys of one example from those of every other, on a store that they share."""


@pytest.fixture
def counters(ledger_settings: Settings) -> Iterator[Counters]:
    opened = open_counters(ledger_settings, ledger_settings.data_dir)
    yield opened
    opened.close()


class CountingStore:
    """A counter store that counts its `take` queries."""

    def __init__(self, store: CounterStore) -> None:
        self.store = store
        self.takes = 0

    def fetch(self, question: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
        self.takes += question == "take"
        return self.store.fetch(question, parameters)

    def close(self) -> None:
        self.store.close()


def test_a_window_allows_its_limit_and_says_what_is_left(counters: Counters) -> None:
    assert [counters.take("a", 3, 60, NOON_S + second) for second in (0, 10.5, 20, 59.9)] == [
        Take(True, 3, 2, 60),
        Take(True, 3, 1, 50),
        Take(True, 3, 0, 40),
        Take(False, 3, 0, 1),
    ]


def test_the_next_window_starts_empty(counters: Counters) -> None:
    assert counters.take("a", 1, 60, NOON_S + 59.9).allowed
    assert not counters.take("a", 1, 60, NOON_S + 59.99).allowed
    assert counters.take("a", 1, 60, NOON_S + 60) == Take(True, 1, 0, 60)


def test_keys_are_counted_apart(counters: Counters) -> None:
    assert counters.take("a", 1, 60, NOON_S).allowed
    assert counters.take("b", 1, 60, NOON_S).allowed
    assert not counters.take("a", 1, 60, NOON_S).allowed


def test_a_day_is_a_window_like_any_other(counters: Counters) -> None:
    day_start_s = NOON_S - NOON_S % 86_400
    assert counters.take("key:1", 2, 86_400, day_start_s + 1).reset_s == 86_399
    assert counters.take("key:1", 2, 86_400, day_start_s + 86_399).allowed
    assert not counters.take("key:1", 2, 86_400, day_start_s + 86_399.5).allowed


def test_a_refusal_is_answered_from_memory_until_the_window_ends(ledger_settings: Settings) -> None:
    opened = open_counters(ledger_settings, ledger_settings.data_dir)
    store = CountingStore(opened._rates.store)
    counters = Counters(store)
    answers = [counters.take("a", 2, 60, NOON_S).allowed for _ in range(100)]
    assert answers == [True, True] + [False] * 98
    assert store.takes == 2
    assert counters.take("a", 2, 60, NOON_S + 60).allowed
    assert store.takes == 3
    opened.close()


def test_a_refusal_writes_nothing(tmp_path: Path) -> None:
    here = open_counters(Settings(_env_file=None), tmp_path)
    there = open_counters(Settings(_env_file=None), tmp_path)
    assert here.take("a", 1, 60, NOON_S).allowed
    size = (tmp_path / "counters.db-wal").stat().st_size
    assert not there.take("a", 1, 60, NOON_S).allowed, "not refused from memory: this one never saw the key"
    assert (tmp_path / "counters.db-wal").stat().st_size == size
    here.close()
    there.close()


def test_a_larger_limit_is_not_refused_from_the_memory_of_a_smaller_one(counters: Counters) -> None:
    assert counters.take("a", 1, 60, NOON_S).allowed
    assert not counters.take("a", 1, 60, NOON_S).allowed
    assert counters.take("a", 3, 60, NOON_S) == Take(True, 3, 1, 60)


def test_a_host_whose_clock_is_late_cannot_reopen_a_window(ledger_settings: Settings) -> None:
    early = open_counters(ledger_settings, ledger_settings.data_dir)
    late = open_counters(ledger_settings, ledger_settings.data_dir)
    answers = []
    for _ in range(5):
        answers += [early.take("a", 4, 60, NOON_S + 60.1).allowed, late.take("a", 4, 60, NOON_S + 59.9).allowed]
    assert answers == [True] * 4 + [False] * 6
    assert late.take("b", 4, 60, NOON_S + 59.9).reset_s == 1
    early.take("c", 4, 60, NOON_S + 60.1)
    assert late.take("c", 4, 60, NOON_S + 59.9) == Take(True, 4, 2, 61)
    early.close()
    late.close()


def test_a_clock_that_was_far_ahead_does_not_lock_a_client_out(counters: Counters) -> None:
    for _ in range(3):
        counters.take("a", 2, 60, NOON_S + 1_000_000)
    assert counters.take("a", 2, 60, NOON_S) == Take(True, 2, 1, 60)


def test_counters_of_past_windows_are_swept_and_those_of_the_present_are_kept(tmp_path: Path) -> None:
    counters = open_counters(Settings(_env_file=None), tmp_path)
    for number in range(3_000):
        counters.take(f"old-{number}", 20, 60, NOON_S)
    later_s = NOON_S + 60 + KEEP_S + 60
    for number in range(2_000):
        counters.take(f"new-{number}", 20, 60, later_s)
    with sqlite.connect(str(tmp_path / "counters.db")) as looking:
        kept = looking.execute("select substr(key, 1, 3), count(*) from counters group by 1").fetchall()
    looking.close()
    assert kept == [("new", 2_000)]
    counters.close()


def test_sweeping_on_both_engines_forgets_no_counter_that_still_counts(counters: Counters) -> None:
    for number in range(400):
        assert counters.take(f"client-{number}", 1, 60, NOON_S).allowed
    counters._refused.clear()
    assert not any(counters.take(f"client-{number}", 1, 60, NOON_S).allowed for number in range(400))
    assert counters.take("client-7", 1, 60, NOON_S + 60 + KEEP_S + 60).allowed


def test_the_memory_of_refusals_is_bounded(counters: Counters) -> None:
    for number in range(60_000):
        counters._remember_full(f"client-{number}", 1, int(NOON_S) + 60, NOON_S)
    assert len(counters._refused) <= 50_000
    assert not counters.take("client-59999", 1, 60, NOON_S).allowed


@settings(
    max_examples=6 * ROUNDS,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.floats(0, 30, allow_nan=False)), min_size=1, max_size=40
    )
)
def test_any_order_of_takes_agrees_with_plain_counting(counters: Counters, steps: list[tuple[str, int, float]]) -> None:
    run = next(RUNS)
    used: Counter[tuple[str, int]] = Counter()
    now_s = NOON_S
    for key, limit, forward_s in steps:
        now_s += forward_s
        window = int(now_s) // 60
        expected = used[key, window] < limit
        used[key, window] += expected
        take = counters.take(f"{run}-{key}", limit, 60, now_s)
        assert (take.allowed, take.limit) == (expected, limit)
        assert take.remaining == max(0, limit - used[key, window])
        assert 1 <= take.reset_s <= 60
        assert int(now_s + take.reset_s) // 60 == window + 1


def test_threads_of_one_process_get_exactly_the_limit(counters: Counters) -> None:
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda _: counters.take("a", 37, 60, NOON_S).allowed, range(400)))
    assert sum(allowed) == 37


def test_processes_that_hammer_one_store_get_exactly_the_limit(ledger_settings: Settings) -> None:
    with ExitStack() as stack:
        processes = [stack.enter_context(started(take_many, ledger_settings, 300)) for _ in range(2)]
        allowed: Counter[str] = Counter()
        for process in processes:
            output, _ = process.communicate(timeout=HANG_S)
            allowed.update(json.loads(output))
    assert allowed == {"client-0": 2 * 50, "client-1": 2 * 50, "client-2": 2 * 50}


def test_a_store_that_stays_locked_is_reported(tmp_path: Path) -> None:
    counters = open_counters(Settings(_env_file=None), tmp_path, wait_s=0.1)
    holder = sqlite.connect(str(tmp_path / "counters.db"), isolation_level=None)
    holder.execute("begin immediate")
    with pytest.raises(StoreBusy, match="stayed locked"):
        counters.take("a", 1, 60, NOON_S)
    holder.execute("rollback")
    holder.close()
    assert counters.take("a", 1, 60, NOON_S).allowed
    counters.close()


def test_a_damaged_file_may_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "counters.db").write_bytes(os.urandom(10_000))
    with pytest.raises(StoreUnusable) as caught:
        open_counters(Settings(_env_file=None), tmp_path)
    assert "delete the file" in caught.value.cure


def test_counters_keep_working_after_postgresql_dropped_the_connection(
    postgres: TemporaryPostgres, tmp_path: Path
) -> None:
    database = postgres.new_database()
    counters = open_counters(Settings(_env_file=None, ledger_url=postgres.url(database)), tmp_path)
    assert counters.take("a", 2, 60, NOON_S).remaining == 1
    with postgres.connect() as admin:
        admin.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [database])
    assert counters.take("a", 2, 60, NOON_S) == Take(True, 2, 0, 60)
    counters.close()


def test_counters_on_a_postgresql_that_is_not_there_are_named_without_the_password(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://svc:hunter2@/ledger?host={tmp_path}"
    with pytest.raises(StoreUnusable, match="can't be reached") as caught:
        open_counters(Settings(_env_file=None, ledger_url=url), tmp_path)
    assert "hunter2" not in str(caught.value)


def test_days_outlive_a_crash_of_postgresql_and_minutes_need_not(postgres: TemporaryPostgres, tmp_path: Path) -> None:
    database = postgres.new_database()
    counters = open_counters(Settings(_env_file=None, ledger_url=postgres.url(database)), tmp_path)
    counters.take("address:1", 2, 60, NOON_S)
    counters.take("key:1", 2, 86_400, NOON_S)
    with postgres.connect(database) as looking:
        tables = dict(
            looking.execute(
                "select relname, relpersistence from pg_class where relkind = 'r' and relname ~ '^(counters|quotas)$'"
            )
        )
        keys = [looking.execute(f"select key from {table}").fetchall() for table in ("counters", "quotas")]
    assert tables == {"counters": "u", "quotas": "p"}
    assert keys == [[("address:1",)], [("key:1",)]]
    assert counters.taken("key:1", 86_400, NOON_S) == 1
    counters.give_back("key:1", 86_400, NOON_S)
    assert counters.taken("key:1", 86_400, NOON_S) == 0
    counters.close()
