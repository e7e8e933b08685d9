"""Published documents, look-ups and health are answered while all workers, threads and the ledger's lock are busy."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import anyio.to_thread
import httpx
from costliest_requests import KNOWN_ADDRESS
from whole_service import WholeService, whole_service

from api.discovery.state import FRESH_FOR_S, UNANSWERED_AFTER_S, ServiceState, StateObserver

HOLDERS = "/api/token/holders"
LOOK_UP = f"{HOLDERS}/{KNOWN_ADDRESS}?block=20"
BUILD = "/api/v2/knowledge-graph/build"
FINE = ServiceState(True, None, 0)


class Taken:
    """A pool whose processes never become free."""

    async def run(self, *_: Any) -> Any:
        await asyncio.Event().wait()


def test_documents_look_ups_and_health_are_answered_while_all_threads_and_workers_are_taken(tmp_path: Path) -> None:
    released = threading.Event()

    async def scene(service: WholeService) -> list[int]:
        rooms: Any = service.app._application
        await rooms._application()
        rooms._stores._workers = Taken()
        transport = httpx.ASGITransport(service.app)
        async with httpx.AsyncClient(transport=transport, base_url=service.settings.public_base_url) as client:
            for path in ("/health", LOOK_UP):  # the first look-up opens the generation
                assert (await client.get(path)).status_code == 200
            threads = int(anyio.to_thread.current_default_thread_limiter().total_tokens)
            taken = [asyncio.create_task(anyio.to_thread.run_sync(released.wait)) for _ in range(threads)]
            taken += [asyncio.create_task(asyncio.to_thread(released.wait)) for _ in range(64)]
            key = {"X-Api-Key": service.key()}
            large = {"documents": [{"text": "# Heading\n" * 2000}]}
            heavy = asyncio.create_task(client.post(BUILD, json=large, headers=key))
            paths = ("/health", HOLDERS, LOOK_UP, "/llms.txt", "/health")
            statuses = [(await client.get(path)).status_code for path in paths]
            assert not heavy.done()
            heavy.cancel()
            released.set()
            await asyncio.gather(*taken, heavy, return_exceptions=True)
            return statuses

    with whole_service(tmp_path) as service:
        assert asyncio.run(scene(service)) == [200] * 5


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Ledger:
    """A ledger to observe, which can stop answering."""

    def __init__(self) -> None:
        self.state = FINE
        self.observed = 0
        self.answers = threading.Event()
        self.answers.set()

    def __call__(self) -> ServiceState:
        self.observed += 1
        self.answers.wait()
        return self.state


def test_an_observation_is_reported_with_its_age_and_not_repeated_while_it_is_fresh() -> None:
    async def scene() -> None:
        ledger, clock = Ledger(), Clock()
        observer = StateObserver(ledger, clock)
        assert await observer.current() == (FINE, 0)
        clock.now_s += FRESH_FOR_S - 0.5
        assert await observer.current() == (FINE, 1)
        assert ledger.observed == 1
        clock.now_s += 1
        ledger.state = ServiceState(False, None, 0)
        assert await observer.current() == (ledger.state, 0)
        observer.close()

    asyncio.run(scene())


def test_a_ledger_that_stops_answering_is_unreachable_and_holds_up_no_request() -> None:
    async def scene() -> None:
        ledger, clock = Ledger(), Clock()
        observer = StateObserver(ledger, clock)
        await observer.current()
        ledger.answers.clear()
        running = asyncio.create_task(observer.run())
        while ledger.observed < 2:
            await asyncio.sleep(0.01)
        clock.now_s += UNANSWERED_AFTER_S - 1
        assert await observer.current() == (FINE, 4)
        clock.now_s += 2
        state, age_s = await observer.current()
        assert (state.ledger_reachable, age_s) == (False, 6)
        ledger.answers.set()
        while (await observer.current())[0] != FINE:
            await asyncio.sleep(0.01)
        running.cancel()
        observer.close()

    asyncio.run(scene())


def test_the_observer_looks_again_by_itself() -> None:
    async def scene() -> None:
        ledger = Ledger()
        observer = StateObserver(ledger)
        running = asyncio.create_task(observer.run())
        while ledger.observed < 2:
            await asyncio.sleep(0.01)
        running.cancel()
        observer.close()

    asyncio.run(scene())
