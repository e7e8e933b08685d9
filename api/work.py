"""The moment at which the work of a request begins: its head, parameters and body are accepted, its endpoint is called.

What is refused before that does not count against a key's day. The front puts a `Work` into the scope and reads it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

WORK = "svc.work"
"""In the ASGI scope: the `Work` of the request."""


class Work:
    """The work of one request."""

    __slots__ = ("began",)

    def __init__(self) -> None:
        self.began = False


_current: ContextVar[Work] = ContextVar("svc_work")


def work_of(scope: MutableMapping[str, Any]) -> Work:
    """The work of a request; one that nobody reads where no front is before it."""
    work = scope.get(WORK)
    return work if isinstance(work, Work) else Work()


def expect_work(scope: MutableMapping[str, Any]) -> None:
    """Let an endpoint that `marking_work` made and that this task calls mark the request of `scope`."""
    _current.set(work_of(scope))


def marking_work(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """`endpoint`, marking the work of the current request when it is called."""
    if inspect.iscoroutinefunction(endpoint):

        @functools.wraps(endpoint)
        async def begun(*arguments: Any, **options: Any) -> Any:
            _current.get().began = True
            return await endpoint(*arguments, **options)

        return begun

    @functools.wraps(endpoint)
    def begun_in_thread(*arguments: Any, **options: Any) -> Any:
        _current.get().began = True
        return endpoint(*arguments, **options)

    return begun_in_thread
