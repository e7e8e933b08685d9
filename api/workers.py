"""A bounded pool of processes for requests whose work would keep the API's only interpreter from answering others.

anyio starts a process when one is needed, keeps it for later requests and kills it when its request is cancelled. This
module adds limits: a few processes per caller, a bounded queue, and a low priority.
"""

import asyncio
import os
import resource
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

from contracts.errors import WorkersBusy

if TYPE_CHECKING:
    from anyio import CapacityLimiter

NICE = 5
"""A third of the scheduling weight of the processes that answer, and of a pipeline's. With 10 it would be a tenth: a
list that takes a second took twenty while a run kept both processors busy."""

RUNNING_OF_ONE_CALLER = 2
WAITING_OF_ONE_CALLER = 8
WAITING_AT_MOST = 32
RETRY_AFTER_S = 5

CLIENT_LEFT = 499
"""Status of an answer that nobody waits for any more. The request still counts, because the work had begun."""

MEMORY_BYTES = 1 << 30
"""Memory that one process may allocate: more than twice the need of the largest request. Reserved address space, of
which DuckDB takes much, does not count."""

# DuckDB imports `__main__`, which an anyio process lacks if its parent's is not a file. Such a process imports this
# module first.
sys.modules.setdefault("__main__", ModuleType("__main__"))

_Result = TypeVar("_Result")
_Arguments = TypeVarTuple("_Arguments")
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class WorkerPool:
    """Runs functions in processes. One object per event loop. The first call of `run` starts the first process.

    By default there is at least one process more than a single caller may keep busy.
    """

    def __init__(
        self,
        *,
        processes: int | None = None,
        running_of_one_caller: int = RUNNING_OF_ONE_CALLER,
        waiting_of_one_caller: int = WAITING_OF_ONE_CALLER,
        waiting_at_most: int = WAITING_AT_MOST,
    ) -> None:
        self._processes = max(running_of_one_caller + 1, os.cpu_count() or 1) if processes is None else processes
        self._running_of_one_caller = running_of_one_caller
        self._most_of_one_caller = running_of_one_caller + waiting_of_one_caller
        self._most = self._processes + waiting_at_most
        self._inside: Counter[str] = Counter()
        self._limiters: dict[str, CapacityLimiter] = {}
        self._limiter: CapacityLimiter | None = None

    async def run(
        self, caller: str, function: Callable[[Unpack[_Arguments]], _Result], *arguments: *_Arguments
    ) -> _Result:
        """Calls `function` in a process of the pool, which imports it by name; returns its result or raises its error.

        Cancelling ends that process. Raises `WorkersBusy` if the queue is full, or if the process is lost or ran out of
        memory.
        """
        from anyio import BrokenWorkerProcess, CapacityLimiter, to_process

        if self._inside[caller] >= self._most_of_one_caller or self._inside.total() >= self._most:
            raise _busy("Too many large requests wait already.")
        self._inside[caller] += 1
        if self._limiter is None:
            self._limiter = CapacityLimiter(self._processes)
        of_caller = self._limiters.setdefault(caller, CapacityLimiter(self._running_of_one_caller))
        try:
            async with of_caller:
                return await to_process.run_sync(_run, function, arguments, cancellable=True, limiter=self._limiter)
        except (BrokenWorkerProcess, ProcessLookupError, MemoryError):
            # anyio raises `ProcessLookupError` if a process ends before it is ready, and `MemoryError` if one has no
            # room for the arguments or the result.
            raise _busy("The process that worked on this request ended.") from None
        finally:
            self._inside[caller] -= 1
            if not self._inside[caller]:
                del self._inside[caller], self._limiters[caller]


async def unless_disconnected(receive: Receive, work: Awaitable[_Result]) -> _Result | None:
    """Returns the result of `work`, or cancels it and returns None if the client disconnects first."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.wait({working, leaving})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _busy(what: str) -> WorkersBusy:
    return WorkersBusy(f"{what} Try again in a moment.", headers={"Retry-After": str(RETRY_AFTER_S)})


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    _bound_this_process()
    try:
        return function(*arguments)
    except Exception as error:
        if _is_out_of_memory(error):
            os._exit(1)  # the process may retain the freed memory, and the next request would fail like this one
        raise


def _is_out_of_memory(error: Exception) -> bool:
    duckdb = sys.modules.get("duckdb")
    return isinstance(error, MemoryError) or (duckdb is not None and isinstance(error, duckdb.OutOfMemoryException))


@cache
def _bound_this_process() -> None:
    os.nice(NICE)
    # Arrow's own allocator reserves a GiB at once, which would count.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
