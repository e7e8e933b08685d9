"""Drains a load balancer before stopping: after SIGTERM, `/health` is 503 for a while and all else works as before."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from types import FrameType


def leave_first(seconds: int, leaving: Callable[[], None]) -> None:
    """On SIGTERM calls `leaving` at once and the previous handler `seconds` later. Ctrl-C still stops immediately.

    Further SIGTERMs are ignored: each of several workers gets one with its process group and one from its parent.
    Call it in the main thread, in the event loop whose server handles the signal.
    """
    loop = asyncio.get_running_loop()
    stop = signal.getsignal(signal.SIGTERM)
    assert callable(stop)

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        loop.call_soon_threadsafe(leaving)
        loop.call_soon_threadsafe(loop.call_later, seconds, stop, number, None)

    signal.signal(signal.SIGTERM, leave)
