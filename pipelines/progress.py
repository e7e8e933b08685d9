"""Shows the progress of a long run: a bar on a terminal, otherwise a log line every five seconds."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TextIO

log = logging.getLogger(__name__)

_LINE_EVERY_S: Final = 5.0


@dataclass(frozen=True)
class Progress:
    """A backfill at one moment: the blocks of the whole history, and this slice's progress in `elapsed_s` seconds."""

    first_block: int
    at_block: int
    last_block: int
    slice_blocks: int
    slice_logs: int
    elapsed_s: float

    @property
    def percent(self) -> float:
        total = self.last_block - self.first_block + 1
        return 100.0 if total <= 0 else min(100.0, 100.0 * max(0, self.at_block - self.first_block + 1) / total)

    @property
    def logs_per_s(self) -> float:
        return self.slice_logs / self.elapsed_s if self.elapsed_s else 0.0

    @property
    def left_s(self) -> float | None:
        """Returns the remaining seconds at the pace so far, or None before there is a pace."""
        if not self.slice_blocks:
            return None
        return (self.last_block - self.at_block) * self.elapsed_s / self.slice_blocks


class Pace:
    """Decides when the next log line about a long task is due: every five seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last_line_s = clock()

    def line_is_due(self) -> bool:
        """Returns True if five seconds have passed since the start, or since this last returned True."""
        due = self._clock() - self._last_line_s >= _LINE_EVERY_S
        if due:
            self._last_line_s = self._clock()
        return due


Listener = Callable[[Progress], None]


@contextmanager
def show_progress(stream: TextIO = sys.stderr) -> Iterator[Listener]:
    """Yields a listener that shows progress on `stream` if that is a terminal, else in the log."""
    if not stream.isatty():
        yield logged_progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    state = TextColumn("{task.fields[state]}")
    columns = (TextColumn("transfers"), BarColumn(), TextColumn("{task.percentage:5.1f}%"), state)
    with Bar(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task("transfers", total=100.0, state="")
        yield lambda progress: bar.update(task, completed=progress.percent, state=_state(progress))


def logged_progress(write: Callable[[str], None] = log.info, clock: Callable[[], float] = time.monotonic) -> Listener:
    """Returns a listener that logs a line at most every five seconds."""
    pace = Pace(clock)

    def listen(progress: Progress) -> None:
        if pace.line_is_due():
            write(f"transfers {progress.percent:.1f} %, {_state(progress)}")

    return listen


def _state(progress: Progress) -> str:
    left = "" if progress.left_s is None else f", {int(progress.left_s) // 60}:{int(progress.left_s) % 60:02d} left"
    return f"block {progress.at_block:,} of {progress.last_block:,}, {progress.logs_per_s:,.0f} events/s{left}"
