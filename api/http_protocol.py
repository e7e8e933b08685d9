"""uvicorn's HTTP/1.1 with limits on what is parsed before the application sees it. Independent of the application.

uvicorn with httptools accepts header fields, chunk extensions and trailers of any size. Here a request line and its
header fields may have 24 KiB together, of which the application accepts less, and chunk framing may be 24 KiB larger
than the data that it frames. Anything larger, or unparseable, such as an unregistered method, is answered with an error
that closes the connection.
"""

import secrets
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from api.receiving import HEAD_LIMIT_BYTES, TARGET_LIMIT_BYTES, head_too_large
from contracts.errors import RequestProblem, RequestUnreadable
from contracts.problems import PROBLEM_MEDIA_TYPE, problem_body

_LIMIT_BYTES = HEAD_LIMIT_BYTES + TARGET_LIMIT_BYTES


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. Counts the bytes of its current request, excluding the data of its body."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._in_head = True
        self._framing_bytes = 0

    def data_received(self, data: bytes) -> None:
        """Parses received data and closes the connection if the request's head or framing is too large."""
        if self.transport.is_closing():
            return
        self._framing_bytes += len(data)
        super().data_received(data)
        if self._framing_bytes > _LIMIT_BYTES and not self.transport.is_closing():
            self._refuse()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Drops trailer fields: uvicorn would add them to the headers of a request that is being answered."""
        if self._in_head:
            HttpToolsProtocol.on_header(self, name, value)

    def on_headers_complete(self) -> None:
        """Accepts a complete head. The application judges it, because it can explain a refusal."""
        super().on_headers_complete()  # raises for a target that is not a URL
        self._in_head = False
        self._framing_bytes = 0

    def on_body(self, body: bytes) -> None:
        """Allows as much framing as data: each body byte offsets itself and one byte of framing."""
        self._framing_bytes = max(self._framing_bytes - 2 * len(body), 0)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Resets the count for the next request."""
        self._in_head = True
        self._framing_bytes = 0
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answers bytes that are not a request."""
        self._answer_and_close(RequestUnreadable("Send a request of HTTP/1.1 with a registered method."))

    def _refuse(self) -> None:
        """Answers a request whose head or framing is too large."""
        if self._in_head:
            self._answer_and_close(head_too_large(HEAD_LIMIT_BYTES + 1))
        else:
            self._answer_and_close(RequestUnreadable("Send chunks without extensions, and no trailers."))

    def _answer_and_close(self, problem: RequestProblem) -> None:
        """Answers and closes; only closes if the client would mistake the answer for that of an earlier request."""
        cycle = self.cycle
        done = cycle is None or cycle.response_complete
        is_of_body = not self._in_head and not (done or cycle.response_started or self.pipeline)
        if (self._in_head and done) or is_of_body:
            self.transport.write(_answer_of(problem))
        if not done:
            cycle.disconnected = True
        self.transport.close()


def _answer_of(problem: RequestProblem) -> bytes:
    request_id = secrets.token_hex(8)
    body = problem_body(problem, "/", request_id, {})
    fields = (
        f"content-type: {PROBLEM_MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\ncache-control: no-store\r\n"
        f"x-request-id: {request_id}\r\nconnection: close\r\n\r\n"
    )
    return STATUS_LINE[problem.status] + fields.encode() + body
