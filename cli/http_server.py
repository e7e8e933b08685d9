"""uvicorn's server, which sleeps while nobody asks anything.

uvicorn wakes ten times a second to see whether it has to end, which was two thirds of what an idle web server cost.
Here a signal wakes it, and the date of its answers once a second.
"""

import asyncio
import sys
from contextlib import suppress
from types import FrameType

import uvicorn
from uvicorn.config import STARTUP_FAILURE

DATE_EVERY_S = 1.0
"""The header `Date` has whole seconds."""


class SleepingServer(uvicorn.Server):
    """One server of one process, which a signal ends."""

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
    """Serves the application of `config` until a signal comes, as `uvicorn.run` does in one process."""
    config.load_app()
    server = SleepingServer(config)
    try:
        server.run()
    except KeyboardInterrupt:  # uvicorn raises again the signal that ended it
        return
    if not server.started:
        sys.exit(STARTUP_FAILURE)
