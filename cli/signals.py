"""Makes SIGINT and SIGTERM end a command in the same way, from its first import to its last line.

Every command imports this module before all others, so it imports nothing slow.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

EXIT_CODE: Final = 128 + signal.SIGINT

INTERRUPTED: Final = {
    "ok": False,
    "code": "interrupted",
    "detail": "A signal ended the command before it was done.",
    "cure": "Run it again: it continues.",
}


def end_on_signals() -> None:
    """Makes a signal end this process on the spot, while it only imports modules.

    An import may swallow a `KeyboardInterrupt`, or turn it into another error.
    """
    _handle_signals(_end)


def end_for_good_on_signals() -> None:
    """Makes a signal end this process on the spot, even if a command that it does later would be interrupted."""
    _handle_signals(_end_for_good)


def interrupt_on_signals() -> None:
    """Makes SIGTERM raise `KeyboardInterrupt`, like Ctrl-C, so that a command can report that it was interrupted."""
    _handle_signals(signal.default_int_handler)


@contextmanager
def while_signals_end() -> Iterator[None]:
    """Makes a signal end this process while a command imports its modules, and interrupt the command afterwards."""
    end_on_signals()
    try:
        yield
    finally:
        interrupt_on_signals()


def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    """Sets the handler of both signals, except those that end this process for good, and those that the parent made it
    ignore, as a shell does with Ctrl-C for a script's background commands."""
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) not in (signal.SIG_IGN, _end_for_good):
                signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> None:
    if "--json" in sys.argv:
        with suppress(OSError):
            os.write(1, json.dumps(INTERRUPTED).encode() + b"\n")
    os._exit(EXIT_CODE)


def _end_for_good(number: int, frame: FrameType | None) -> None:
    os._exit(EXIT_CODE)
