"""An event loop that survives between the requests of a test, as it does in the service.

Threads and worker processes belong to a loop: with a loop per request, each large request would start a process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class LastingLoop:
    """A loop in its own thread, from the first `run` until `close`."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._ended: asyncio.Event | None = None

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Returns the result of `work` on the loop, or raises what it raises."""
        if self._loop is None:
            self._start()
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        if self._loop is None or self._ended is None or self._thread is None:
            return
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._loop = None

    def _start(self) -> None:
        started = threading.Event()

        async def live() -> None:
            self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
            started.set()
            await self._ended.wait()

        self._thread = threading.Thread(target=lambda: asyncio.run(live()), daemon=True)
        self._thread.start()
        started.wait()
