"""Limits the connections of `svc serve`: their number, and how long a client may take to send and to read.

uvicorn closes idle connections, but it waits forever for the rest of a header or body and for a client that does not
read, and it accepts connections until no descriptor is left. granian has a time-out only for headers. nginx in front
provides all of these limits (`site/hosting/nginx.conf.j2` sets them), but the service must be safe without it. So the
server is uvicorn, which is cheaper for an answer from memory, and this module makes one pass per second over all
connections; a request pays only for a few assignments.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from uvicorn.protocols.http.httptools_impl import STATUS_LINE
from uvicorn.server import ServerState

from api.http_protocol import BoundedHttpProtocol

FIRST_BYTES_S = 1.0
"""How long a stopping server waits for the request of a new connection."""

DESCRIPTORS_KEPT_BACK = 128
"""Reserved for stores, published files, worker processes and logs."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Times in seconds. Beyond `most` or `most_of_one_address`, a connection that waits for its client is closed."""

    most: int
    most_of_one_address: int
    header_s: float = 10.0
    body_s: float = 30.0
    """For the body, in addition to what is left of the header's time."""
    idle_s: float = 5.0
    """Between an answer and the next request."""
    stalled_s: float = 20.0
    """Longest time for which a client may read nothing of an answer."""
    unread_bytes: int = 64 * 1024 * 1024
    """Total of all unread answers. Beyond it, the connections that have stalled longest are closed."""
    check_every_s: float = 1.0

    @classmethod
    def of_this_process(cls) -> ConnectionLimits:
        """Returns limits that allow as many connections as there are descriptors, and half as many per address."""
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = max(16, descriptors - DESCRIPTORS_KEPT_BACK)
        return cls(most=most, most_of_one_address=max(8, most // 2))


class Phase(IntEnum):
    """The phase of a connection. The client must act in all of them except `ANSWER`."""

    HEADER = 0
    BODY = 1
    ANSWER = 2
    IDLE = 3


@dataclass
class _Connections:
    """The connections of one server, in the order in which they were opened."""

    limits: ConnectionLimits
    all: dict[TimedHttpProtocol, str] = field(default_factory=dict)
    of_address: Counter[str] = field(default_factory=Counter)
    timer: asyncio.TimerHandle | None = None

    def add(self, connection: TimedHttpProtocol, address: str) -> bool:
        """Adds a new connection. Returns False if there is no room and none can be made."""
        if self.of_address[address] >= self.limits.most_of_one_address and not self._make_room(address):
            return False
        if len(self.all) >= self.limits.most and not self._make_room(None):
            return False
        self.all[connection] = address
        self.of_address[address] += 1
        if self.timer is None:
            self.timer = connection.loop.call_later(self.limits.check_every_s, self._check, connection.loop)
        return True

    def remove(self, connection: TimedHttpProtocol) -> None:
        address = self.all.pop(connection, None)
        if address is not None:
            self.of_address[address] -= 1
            if not self.of_address[address]:
                del self.of_address[address]

    def _make_room(self, address: str | None) -> bool:
        """Closes the oldest idle connection (of one address, or of all), or else the oldest with an incomplete
        request."""
        waiting = [
            connection
            for connection, its_address in self.all.items()
            if address in (None, its_address) and connection.waits_for_its_client
        ]
        if not waiting:
            return False
        oldest = min(waiting, key=lambda connection: (connection.phase is not Phase.IDLE, connection.since))
        self.remove(oldest)
        oldest.transport.abort()
        return True

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        unread = 0
        stalled: list[tuple[float, TimedHttpProtocol]] = []
        for connection in list(self.all):
            if connection.flow.write_paused:
                unread += connection.unread_bytes(now)
                stalled.append((connection.stalled_since, connection))
            connection.end_if_late(now)
        for _, connection in sorted(stalled, key=lambda pair: pair[0]):
            if unread <= self.limits.unread_bytes:
                break
            unread -= connection.transport.get_write_buffer_size()
            connection.transport.abort()
        self.timer = loop.call_later(self.limits.check_every_s, self._check, loop) if self.all else None


class TimedHttpProtocol(BoundedHttpProtocol):
    """One connection with time limits. A subclass may define `limits` other than those of the process."""

    limits: ClassVar[ConnectionLimits | None] = None
    _servers: ClassVar[WeakKeyDictionary[ServerState, _Connections]] = WeakKeyDictionary()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.phase = Phase.HEADER
        self.since = self.loop.time()
        self.stalled_since = 0.0
        self._last_request = False
        self._unread_bytes = 0
        if self.server_state not in self._servers:
            self._servers[self.server_state] = _Connections(self.limits or ConnectionLimits.of_this_process())
        self._others = self._servers[self.server_state]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self._others.add(self, self.client[0] if self.client else ""):
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._others.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.phase is Phase.IDLE:
            self.phase = Phase.HEADER
            self.since = self.loop.time()
        super().data_received(data)

    def on_message_begin(self) -> None:
        if self.phase is not Phase.HEADER:  # a pipelined request
            self._begin_header()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self.phase = Phase.BODY
        super().on_headers_complete()
        if self._last_request:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if self.cycle.response_complete:
            self._become_idle()
        else:
            self.phase = Phase.ANSWER

    def on_response_complete(self) -> None:
        """Waits for the next request without a timer per answer: the pass over all connections closes idle ones."""
        if self.pipeline:
            super().on_response_complete()
        else:
            self.server_state.total_requests += 1
            if not self.transport.is_closing():
                self.flow.resume_reading()
        if self.phase is Phase.ANSWER and self.cycle.response_complete:
            self._become_idle()

    def shutdown(self) -> None:
        """Closes the connection after its answer, or at once if it is idle.

        A new connection gets a moment for its request, which is still answered: a proxy connects for each request and
        sends it slightly later.
        """
        if self.phase is Phase.HEADER and not self.transport.is_closing():
            self._last_request = True
            self.loop.call_later(FIRST_BYTES_S, self._close_if_silent)
        else:
            super().shutdown()

    def _close_if_silent(self) -> None:
        if self.phase is Phase.HEADER:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stalled_since = self.loop.time()
        self._unread_bytes = self.transport.get_write_buffer_size()

    @property
    def waits_for_its_client(self) -> bool:
        """Returns True while no request is being answered and no answer is being sent."""
        return self.phase is not Phase.ANSWER and not self.transport.get_write_buffer_size()

    def _unsupported_upgrade_warning(self) -> None:
        """Logs nothing: an upgrade request is answered like any other, and anyone may send one."""

    def unread_bytes(self, now: float) -> int:
        """Returns the number of answer bytes that the client has not read. Reading some restarts its time-out."""
        unread = self.transport.get_write_buffer_size()
        if unread < self._unread_bytes:
            self.stalled_since = now
        self._unread_bytes = unread
        return unread

    def end_if_late(self, now: float) -> None:
        """Closes the connection if its client has taken longer than the limits allow."""
        limits = self._others.limits
        if self.transport.is_closing():
            if self.transport.get_write_buffer_size() and now - self.since > limits.stalled_s:
                self.transport.abort()
        elif self.flow.write_paused:
            if now - self.stalled_since > limits.stalled_s:
                self.transport.abort()
        elif self.flow.read_paused:
            self.since = now
        elif self.phase is Phase.IDLE:
            if now - self.since > limits.idle_s:
                self.transport.close()
        elif self.phase is Phase.HEADER and now - self.since > limits.header_s:
            self._time_out() if self._framing_bytes else self.transport.abort()
        elif self.phase is Phase.BODY and now - self.since > limits.header_s + limits.body_s:
            self._time_out()

    def _begin_header(self) -> None:
        self.phase = Phase.HEADER
        self.since = self.loop.time()

    def _become_idle(self) -> None:
        self.phase = Phase.IDLE
        self.since = self.loop.time()

    def _time_out(self) -> None:
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(STATUS_LINE[408] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()
