"""HTTP/1.1 of uvicorn with limits on what is parsed before an application sees it. Knows nothing of the application.

uvicorn with httptools accepts header fields, chunk extensions and trailers of any size. Here a request may take 16 KiB
beside its body, and chunk framing as much again as the data that it frames; the answer to more closes the connection.
"""

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.receiving import HEAD_LIMIT_BYTES, TARGET_LIMIT_BYTES

_LIMIT_BYTES = HEAD_LIMIT_BYTES + TARGET_LIMIT_BYTES


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Counts the bytes of its current request beside the data of its body."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._in_head = True
        self._framing_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Parses arrived data and ends the connection of a request whose head or framing is too large."""
        if self.transport.is_closing():
            return
        self._framing_bytes += len(data)
        super().data_received(data)
        if self._framing_bytes > _LIMIT_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Drops the fields of a trailer: uvicorn would add them to the headers of a request that is being answered."""
        if self._in_head:
            HttpToolsProtocol.on_header(self, name, value)

    def on_headers_complete(self) -> None:
        """Accepts a complete head. The application judges it, because it can explain a refusal."""
        self._in_head = False
        self._framing_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Allows as much framing as data: each byte of a body pays for itself and for one byte of framing."""
        self._framing_bytes = max(self._framing_bytes - 2 * len(body), 0)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Starts to count for the next request."""
        self._in_head = True
        self._framing_bytes = 0
        super().on_message_complete()

    def _refuse(self) -> None:
        """Answers and closes; only closes if the answer would be taken for that of an earlier request."""
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
