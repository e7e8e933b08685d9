"""Marks when the work of a request begins: once its head, parameters and body are accepted and its endpoint is called.

A request that is refused earlier does not count against a key's day. Neither does one whose endpoint raises a problem
that could have been refused earlier (`RequestProblem.costs_day`). The front puts a `Work` into the scope and reads it.
"""

import functools
import inspect
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from typing import Any

WORK = "svc.work"
"""Scope key of the request's `Work`."""

MESSAGE = "svc.message"
"""Scope key of the body of a message to an MCP server, once the front has read it."""


class Work:
    """The work of one request."""

    __slots__ = ("began",)

    def __init__(self) -> None:
        self.began = False


_current: ContextVar[Work] = ContextVar("svc_work")


def work_of(scope: MutableMapping[str, Any]) -> Work:
    """Returns the request's `Work`, or, without a front, a new one that nobody reads."""
    work = scope.get(WORK)
    return work if isinstance(work, Work) else Work()


def expect_work(scope: MutableMapping[str, Any]) -> None:
    """Makes an endpoint wrapped by `marking_work` mark the request of `scope`, if this task calls it."""
    _current.set(work_of(scope))


def marking_work(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps `endpoint` so that a call marks the current request's work as begun."""
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
