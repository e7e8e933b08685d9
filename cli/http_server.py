"""uvicorn's server, changed to sleep while there are no requests.

uvicorn wakes ten times a second to check whether it should stop, which was two thirds of the cost of an idle web
server. Here it wakes for a signal, and once a second for the `Date` header of its answers.
"""

import asyncio
import sys
from contextlib import suppress
from types import FrameType

import uvicorn
from uvicorn.config import STARTUP_FAILURE

DATE_EVERY_S = 1.0
"""The `Date` header has whole seconds."""


class SleepingServer(uvicorn.Server):
    """The only server of a process, which a signal stops."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), DATE_EVERY_S)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ending.set)


def serve_until_signal(config: uvicorn.Config) -> None:
    """Serves the application of `config` until a signal arrives, like `uvicorn.run` in one process."""
    config.load_app()
    server = SleepingServer(config)
    try:
        server.run()
    except KeyboardInterrupt:  # uvicorn re-raises the signal that stopped it
        return
    if not server.started:
        sys.exit(STARTUP_FAILURE)
