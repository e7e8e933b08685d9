"""Heavy requests share a bounded pool of processes: a few at a time for each caller, and a bounded queue."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psutil
import pytest
import uvloop
from worker_steps import allocate, allocate_in_duckdb, fail, hold, priority, process_id, refuse

from api.workers import MEMORY_BYTES, NICE, WorkerPool, unless_disconnected
from contracts.errors import BodyInvalid, StoreBusy, WorkersBusy


@pytest.fixture(scope="module", autouse=True)
def started_as_services_do(forked_workers: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    with forked_workers():
        yield


class Held:
    """A request whose work continues until it is released."""

    def __init__(self, pool: WorkerPool, caller: str, directory: Path, name: str) -> None:
        self._started, self._release = directory / f"{name}.started", directory / f"{name}.release"
        self.task = asyncio.create_task(pool.run(caller, hold, self._started, self._release))

    @property
    def begun(self) -> bool:
        return self._started.exists()

    @property
    def pid(self) -> int:
        return int(self._started.read_text())

    async def wait_until_begun(self) -> None:
        while not (self.begun and self._started.read_text()):
            assert not self.task.done(), self.task
            await asyncio.sleep(0.005)

    async def let_go(self) -> int:
        self._release.touch()
        return await self.task


def test_a_third_request_of_one_caller_waits_while_another_callers_is_served(tmp_path: Path) -> None:
    async def scene() -> None:
        pool = WorkerPool(processes=3, running_of_one_caller=2)
        first, second, third = (Held(pool, "ada", tmp_path, name) for name in ("one", "two", "three"))
        await first.wait_until_begun()
        await second.wait_until_begun()
        assert await pool.run("bob", priority) >= NICE
        assert not third.begun
        await first.let_go()
        await third.wait_until_begun()
        await asyncio.gather(second.let_go(), third.let_go())

    asyncio.run(scene())


def test_a_request_beyond_the_queue_is_refused_with_a_time_to_retry(tmp_path: Path) -> None:
    async def scene() -> None:
        pool = WorkerPool(processes=2, running_of_one_caller=1, waiting_of_one_caller=1, waiting_at_most=2)
        held = [Held(pool, "ada", tmp_path, name) for name in ("runs", "waits")]
        await held[0].wait_until_begun()
        with pytest.raises(WorkersBusy) as refused:
            await pool.run("ada", priority)
        assert refused.value.headers["Retry-After"].isdigit()
        held += [Held(pool, caller, tmp_path, caller) for caller in ("bob", "carol")]
        await held[2].wait_until_begun()
        with pytest.raises(WorkersBusy):
            await pool.run("dan", priority)
        await asyncio.gather(*(request.let_go() for request in held))
        assert await pool.run("ada", priority) >= NICE

    asyncio.run(scene())


def test_a_killed_process_is_a_refusal_and_the_pool_continues(tmp_path: Path) -> None:
    async def scene() -> None:
        pool = WorkerPool()
        held = Held(pool, "ada", tmp_path, "killed")
        await held.wait_until_begun()
        os.kill(held.pid, signal.SIGKILL)
        with pytest.raises(WorkersBusy):
            await held.task
        assert await pool.run("ada", priority) >= NICE

    asyncio.run(scene())


def test_a_process_that_is_killed_before_it_is_ready_is_a_refusal_and_the_pool_continues() -> None:
    async def scene() -> None:
        pool, before = WorkerPool(), set(psutil.Process().children())
        asking = asyncio.create_task(pool.run("ada", priority))
        while not (started := set(psutil.Process().children()) - before):
            await asyncio.sleep(0)
        (process,) = started
        process.kill()
        while process.status() != psutil.STATUS_ZOMBIE:  # the loop must learn of all of them at once
            time.sleep(0.01)
        with pytest.raises(WorkersBusy):
            await asking
        assert await pool.run("ada", priority) >= NICE

    uvloop.run(scene())  # the loop that serves


def test_a_client_that_leaves_frees_its_process(tmp_path: Path) -> None:
    async def scene() -> None:
        pool = WorkerPool(processes=1, running_of_one_caller=1)
        left = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await left.wait()
            return {"type": "http.disconnect"}

        held = Held(pool, "ada", tmp_path, "left")
        answering = asyncio.create_task(unless_disconnected(receive, held.task))
        await held.wait_until_begun()
        left.set()
        assert await answering is None
        assert await pool.run("bob", priority) >= NICE
        with pytest.raises(ProcessLookupError):
            os.kill(held.pid, 0)

    asyncio.run(scene())


def test_no_process_is_left_when_the_loop_ends(tmp_path: Path) -> None:
    async def scene() -> int:
        held = Held(WorkerPool(), "ada", tmp_path, "left behind")
        await held.wait_until_begun()
        return held.pid

    pid = asyncio.run(scene())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("allocating", [allocate, allocate_in_duckdb])
def test_a_process_allocates_no_more_than_its_bound_and_ends_where_it_needs_more(
    allocating: Callable[[int], int],
) -> None:
    async def scene() -> None:
        pool = WorkerPool()
        before = await pool.run("ada", process_id)
        assert await pool.run("ada", allocating, 1 << 20) == 1 << 20
        assert await pool.run("ada", process_id) == before
        with pytest.raises(WorkersBusy):
            await pool.run("ada", allocating, MEMORY_BYTES)
        assert await pool.run("ada", allocating, 1 << 20) == 1 << 20
        assert await pool.run("ada", process_id) != before

    asyncio.run(scene())


def test_a_result_without_room_for_its_copy_is_no_fault_of_ours() -> None:
    async def scene() -> None:
        with pytest.raises(WorkersBusy):
            await WorkerPool().run("ada", bytes, MEMORY_BYTES * 3 // 5)

    asyncio.run(scene())


@pytest.mark.parametrize(("work", "problem"), [(refuse, BodyInvalid), (fail, StoreBusy)])
def test_an_error_of_the_work_is_raised_where_it_is_awaited(work: Any, problem: Any) -> None:
    async def scene() -> None:
        with pytest.raises(problem) as raised:
            await WorkerPool().run("ada", work)
        with pytest.raises(problem) as here:
            work()
        assert vars(raised.value) == vars(here.value)
        assert str(raised.value) == str(here.value)

    asyncio.run(scene())
