"""A JSON-RPC node over HTTP that misbehaves on demand: scripted faults in front of a recorded chain."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import msgspec

from cli.demo.recorded import AnswersRpc, RpcFault

Call = dict[str, Any]


@dataclass
class Reply:
    """A reply that replaces the true answer; `body` None is the true answer, `cut` sends only its first bytes."""

    body: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut: int | None = None


@dataclass
class Fault:
    """Applies to requests that contain a call of `method`, `times` times (None: always)."""

    method: str
    reply: Callable[[Call], Reply | None]
    times: int | None = None


def rpc_error(code: int, message: str, *, status: int = 200, **headers: str) -> Callable[[Call], Reply]:
    def reply(call: Call) -> Reply:
        error = {"jsonrpc": "2.0", "id": call["id"], "error": {"code": code, "message": message}}
        return Reply(
            msgspec.json.encode(error), status, {name.replace("_", "-"): text for name, text in headers.items()}
        )

    return reply


def rpc_result(result: Any) -> Callable[[Call], Reply]:
    return lambda call: Reply(msgspec.json.encode({"jsonrpc": "2.0", "id": call["id"], "result": result}))


def always(reply: Reply) -> Callable[[Call], Reply]:
    return lambda _: reply


def blocks_asked(call: Call) -> tuple[int, int]:
    """Returns the block range of an `eth_getLogs` call."""
    query = call["params"][0]
    return int(query["fromBlock"], 16), int(query["toBlock"], 16)


@contextmanager
def silent_node() -> Iterator[str]:
    """Yields the URL of a node that accepts connections and never answers, as if behind a firewall."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as hole:
        yield f"http://127.0.0.1:{hole.getsockname()[1]}"


class FaultNode:
    """Serves `chain` on a free port while the context is open. `calls` records every call that it received."""

    def __init__(self, chain: AnswersRpc, *faults: Fault) -> None:
        self.chain = chain
        self.faults = list(faults)
        self.calls: list[Call] = []
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"node": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v2/a-secret-key"

    def asked(self, method: str) -> list[Call]:
        return [call for call in self.calls if call["method"] == method]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply(self, calls: Sequence[Call]) -> Reply | None:
        with self.lock:
            self.calls += calls
            for fault in self.faults:
                for call in calls:
                    if call["method"] == fault.method and fault.times != 0:
                        found = fault.reply(call)
                        if found is not None:
                            fault.times = None if fault.times is None else fault.times - 1
                            return found
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that hang up, which tests expect."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 20
    node: FaultNode

    def do_POST(self) -> None:
        request = msgspec.json.decode(self.rfile.read(int(self.headers["Content-Length"])))
        calls = request if isinstance(request, list) else [request]
        reply = self.node.reply(calls) or Reply()
        body = reply.body
        if body is None:
            answers = [_answer(self.node.chain, call) for call in calls]
            body = msgspec.json.encode(answers if isinstance(request, list) else answers[0])
        time.sleep(reply.delay_s)
        with suppress(OSError):
            self.send_response(reply.status)
            for name, text in reply.headers.items():
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if reply.cut is None else body[: reply.cut])
            self.wfile.flush()
        if reply.cut is not None:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


def _answer(chain: AnswersRpc, call: Call) -> dict[str, Any]:
    try:
        return {"jsonrpc": "2.0", "id": call["id"], "result": chain.answer(call["method"], call["params"])}
    except RpcFault as fault:
        return {"jsonrpc": "2.0", "id": call["id"], "error": {"code": fault.code, "message": fault.message}}
