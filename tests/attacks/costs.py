"""Requests that are costly to answer: long headers, bodies made to be slow, values that caches store."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from typing import Any

import httpx

from .registry import Outcome, attack
from .service import Service

WITHOUT_KEY_S = 0.25
WITH_KEY_S = 1.0
TRIES = 3
LARGEST_REFUSAL = 64 * 1024
LARGEST_HEADERS = 16 * 1024
MOST_GROWTH_MB = 30.0
BUILD = "/api/v2/knowledge-graph/build"
LISTS = ("If-None-Match", "Accept", "Accept-Encoding", "Forwarded", "X-Forwarded-For", "Access-Control-Request-Headers")


@attack("A2", "one request with a long header stops the process")
def long_headers(service: Service) -> Outcome:
    broken, dearest = [], 0.0
    for path, name, length in (
        [("/llms.txt", "If-None-Match", 1_000_000), ("/", "X-Padding", 30_000_000)]
        + [("/llms.txt", name, 15_000) for name in LISTS]
        + [("/api/agent-access/plans", "If-None-Match", 15_000)]
    ):
        with service.measured() as cost:
            answered = service.raw(_request(path, name, _listed(name, length)), timeout_s=20)
            service.settle()
        dearest = max(dearest, cost.cpu_s)
        status = answered[9:12].decode("latin-1")
        if length > LARGEST_HEADERS and status not in ("", "400", "413", "431"):
            broken.append(f"{length:,} bytes of {name} answered {status}")
        if cost.cpu_s > WITHOUT_KEY_S:
            broken.append(f"{length:,} bytes of {name} cost {cost.cpu_s:.2f} CPU s")
    return Outcome(broken, f"dearest {dearest:.2f} CPU s")


def _request(path: str, name: str, value: bytes) -> bytes:
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{name}: ".encode()
    return head + value + b"\r\n\r\n"


def _listed(name: str, length: int) -> bytes:
    item = {"If-None-Match": b'"x",', "Forwarded": b'for="[::1]";', "X-Forwarded-For": b"1.2.3.4,"}.get(name, b"a/b,")
    return item * (length // len(item))


@attack("A3", "forwarding headers of a stranger fill the memory")
def cached_headers(service: Service) -> Outcome:
    with service.measured() as cost, service.client() as client:
        for name, length, count in (("X-Forwarded-For", 60_000, 700), ("Forwarded", 15_000, 2_500)):
            for _ in range(count):
                value = secrets.token_hex(length // 2)
                with suppress(httpx.TransportError):  # refused by closing the connection
                    client.get("/api/agent-access/plans", headers={name: value})
    broken = [] if cost.growth_mb < MOST_GROWTH_MB else [f"memory grew by {cost.growth_mb:.0f} MB"]
    return Outcome(broken, "3,200 values of 80 MB")


@attack("A11", "a body of allowed size is dear")
def dear_bodies(service: Service) -> Outcome:
    broken, dearest, largest = [], 0.0, 0
    bodies = _dear_bodies(service)
    for path, key in {(path, key) for _, path, key, _, _ in bodies}:
        _answer(service, path, key, b"{}")  # what a first request imports is not the price of each
    for name, path, key, body, limit_s in bodies:
        costs_s: list[float] = []
        # what else runs on the machine can only make a request look dearer than it is
        while len(costs_s) < TRIES and min(costs_s, default=limit_s + 1) > limit_s:
            with service.measured() as cost:
                status, length = _answer(service, path, key, body)
                service.settle()
            costs_s.append(cost.cpu_s)
        dearest = max(dearest, min(costs_s))
        largest = max(largest, length if status >= 400 else 0)
        if min(costs_s) > limit_s:
            broken.append(f"{name} cost {min(costs_s):.2f} CPU s ({status})")
        if status >= 400 and length > LARGEST_REFUSAL:
            broken.append(f"{name} was answered with {length:,} bytes")
        if status == 500:
            broken.append(f"{name} was answered with 500")
    return Outcome(broken, f"dearest {dearest:.2f} CPU s, largest refusal {largest:,} bytes")


def _answer(service: Service, path: str, key: str | None, body: bytes) -> tuple[int, int]:
    """Returns the answer's status and length, or 0 and 0 if the server refused the body by closing the connection."""
    try:
        answer = service.ask("POST", path, key, content=body, headers={"Content-Type": "application/json"})
    except httpx.TransportError:
        return 0, 0
    return answer.status_code, len(answer.content)


def _dear_bodies(service: Service) -> list[tuple[str, str, str | None, bytes, float]]:
    mib, write = 1_000_000, 64_000
    key = service.pro_key
    unknown = b'{"documents": [{"text": "x"}]' + b"".join(b',"k%d":1' % n for n in range(80_000)) + b"}"
    headings = "".join(f"# {n}\n" for n in range(55_000))
    rows = "a,b\n" * 200_000
    keyed = [
        ("80,000 unknown keys", unknown),
        ("1 MB of [", b"[" * mib),
        ("1 MB of [ inside a document", b'{"documents": [{"text": "' + b"[" * mib + b'"}]}'),
        ("55,000 headings", _documents(markdown=headings)),
        ("200,000 rows of CSV", _documents(text=rows, mediaType="text/csv")),
        ("9,000 triples to apply", _triples(9_000)),
        ("9,000 bad triples", json.dumps({"triples": [{"subject": 1}] * 9_000}).encode()),
    ]
    wide = b'{"payerAddress": 1' + b"".join(b',"k%d":1' % n for n in range(5_500)) + b"}"
    nested = b'{"consent": ' + b'{"a":' * 9_000 + b"1" + b"}" * 9_000 + b"}"
    numbers = b'{"consent": ' + b"9" * (write - 20) + b"}"
    return [(name, BUILD, key, body, WITH_KEY_S) for name, body in keyed] + [
        (f"{name} to {path}", path, None, body, WITHOUT_KEY_S)
        for path in (
            "/api/intake",
            "/api/agent-access/quote",
            "/api/agent-access/claim",
            "/api/worldmodel/create",
            "/mcp",
        )
        for name, body in (("64 KB of unknown keys", wide), ("64 KB of depth", nested), ("64,000 digits", numbers))
    ]


def _documents(**document: str) -> bytes:
    return json.dumps({"documents": [document]}).encode()


def _triples(count: int) -> bytes:
    triples: list[dict[str, Any]] = [
        {"subject": f"Task {n}", "predicate": "PART_OF", "object": f"Project {n % 50}"} for n in range(count)
    ]
    return json.dumps({"triples": triples, "mode": "apply"}).encode()
