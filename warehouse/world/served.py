"""Serves the graph to the API: the published snapshot with every later event of the ledger on top."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from contracts.errors import OperatorProblem
from contracts.times import utc_text
from contracts.world.records import Event
from warehouse.ledger.ledger import Ledger
from warehouse.publish.generations import current_generation, current_pointer
from warehouse.world.current import CurrentView
from warehouse.world.due import next_due, settle_due
from warehouse.world.events import events_after, has_event
from warehouse.world.overlay import Overlay
from warehouse.world.snapshot import Snapshot

SNAPSHOT_DIR = "world"
"""Directory of the snapshot in a generation."""

OVERLAY_EVENTS_AT_MOST = 5_000
"""Number of events above which a snapshot is due, regardless of its cost."""

EVENTS_AT_ONCE = 2_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Served:
    """A view for one query, the overlay's events in order of `seq`, and the revision of the snapshot below them."""

    view: CurrentView
    snapshot_revision: int
    events: list[Event]

    @property
    def publish_requested(self) -> bool:
        """Returns True if the overlay has grown so large that a snapshot is due."""
        return len(self.events) > OVERLAY_EVENTS_AT_MOST


class ServedGraph:
    """The graph of one process. Queries take turns; each one sees every write that was accepted before it began."""

    def __init__(self, data_dir: Path, ledger: Callable[[], Ledger]) -> None:
        self._data_dir = data_dir
        self._ledger = ledger
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._pointer: str | None = None
        self._snapshot = Snapshot(None)
        self._overlay = Overlay(self._snapshot)
        self._caught_up_to = 0
        self._revision = 0
        self._next_due: str | None = None
        self._due_known_at = -1
        """The ledger's head at which `_next_due` was read."""

    @contextmanager
    def seen_by(self, owner: str | None) -> Iterator[Served]:
        """Yields the newest graph as `owner` sees it; None sees public state. Raises `StoreBusy`, `StoreUnusable`."""
        with self._lock:
            self._follow_pointer()
            if not self._catch_up():
                _log.warning("The ledger was restored while this process ran, which reads it from its beginning")
                self._begin()
                self._follow_pointer()
                self._catch_up()
            self._settle_due()
            view = CurrentView(self._snapshot, self._overlay, self._revision, owner)
            yield Served(view, self._snapshot.revision, self._overlay.events)

    def _follow_pointer(self) -> None:
        pointer = current_pointer(self._data_dir)
        if pointer is None or pointer == self._pointer:
            return
        generation = current_generation(self._data_dir)
        directory = None if generation is None else generation.path / SNAPSHOT_DIR
        # without it, the current snapshot with the ledger's events gives the same answers, only more slowly as events
        # accumulate
        if directory is not None and directory.is_dir():
            try:
                snapshot = Snapshot(directory)
            except OperatorProblem:
                _log.exception("The snapshot of %s is not opened", pointer)
            else:
                if not self._is_of_the_ledger(snapshot):
                    _log.warning(
                        "The ledger was restored and is older than the graph in %s, which is not used", pointer
                    )
                elif snapshot.manifest != self._snapshot.manifest:
                    self._replace_snapshot(snapshot)
        self._pointer = pointer

    def _is_of_the_ledger(self, snapshot: Snapshot) -> bool:
        if not snapshot.revision:
            return True
        with self._ledger().read() as reader:
            return has_event(reader, snapshot.revision, snapshot.manifest.recorded_at)

    def _replace_snapshot(self, snapshot: Snapshot) -> None:
        later = [event for event in self._overlay.events if event.seq > snapshot.revision]
        if snapshot.revision < self._snapshot.revision:  # an older snapshot: the events in between must be read again
            later, self._caught_up_to = [], snapshot.revision
        self._snapshot, self._overlay = snapshot, Overlay(snapshot)
        self._caught_up_to = max(self._caught_up_to, snapshot.revision)
        self._revision = snapshot.revision
        self._apply(later)

    def _catch_up(self) -> bool:
        """Applies new events. Returns False if the ledger is older than the events already read, so that it must have
        been restored."""
        with self._ledger().read() as reader:
            head = reader.head()
            if head < self._caught_up_to:
                return False
            if head != self._due_known_at:
                self._next_due, self._due_known_at = next_due(reader), head
            while self._caught_up_to < head:
                events = events_after(reader, self._caught_up_to, EVENTS_AT_ONCE)
                self._apply(events)
                self._caught_up_to = events[-1].seq if len(events) == EVENTS_AT_ONCE else head
        return True

    def _settle_due(self) -> None:
        """Records states whose time has come. If that can't be written now, a later query does it."""
        ledger = self._ledger()
        if self._next_due is None or self._next_due > utc_text(ledger.now()):
            return
        try:
            settle_due(ledger)
        except OperatorProblem:
            _log.warning("States that began or ended by now are not written yet", exc_info=True)
            return
        self._catch_up()

    def _apply(self, events: list[Event]) -> None:
        self._overlay.apply(events)
        if events:
            self._revision = events[-1].seq
