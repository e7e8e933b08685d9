"""HTTP/1.1 of uvicorn with bounds on what is parsed before an application sees it. Nothing of the application.

uvicorn over httptools keeps header fields, chunk extensions and trailers of any size. Here a request may take 16 KiB
beside its body, and chunk framing as much again as the data that it frames; the answer past that closes the connection.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.receiving import HEAD_LIMIT_BYTES, TARGET_LIMIT_BYTES

_LIMIT_BYTES = HEAD_LIMIT_BYTES + TARGET_LIMIT_BYTES


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Counts what its current request takes beside the data of its body."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._in_head = True
        self._framing_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, and end the connection of a request whose head or framing is too large."""
        if self.transport.is_closing():
            return
        self._framing_bytes += len(data)
        super().data_received(data)
        if self._framing_bytes > _LIMIT_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Drop the fields of a trailer: uvicorn would add them to the headers of a request that is being answered."""
        if self._in_head:
            HttpToolsProtocol.on_header(self, name, value)

    def on_headers_complete(self) -> None:
        """A head that is whole is judged by the application, which can say what is wrong with it."""
        self._in_head = False
        self._framing_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Data of a body pays for itself, and for as much framing."""
        self._framing_bytes = max(self._framing_bytes - 2 * len(body), 0)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin to count for the next request."""
        self._in_head = True
        self._framing_bytes = 0
        super().on_message_complete()

    def _refuse(self) -> None:
        """Answer and close; only close where an answer would be taken for that of an earlier request."""
        cycle = self.cycle
        done = cycle is None or cycle.response_complete
        status = 431 if self._in_head and done else None
        if not self._in_head and not (done or cycle.response_started or self.pipeline):
            status = 400
        if status is not None:
            self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        if not done:
            cycle.disconnected = True
        self.transport.close()
