"""Each answer of the rooms is logged as a line of JSON and a span, under the id that its client received."""

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from collector import collector

from api.publish.front import Front, Receive, Scope, Send
from contracts.logs import REQUESTS, JsonLines, TextLines, log_config, log_fields
from contracts.settings import Settings
from warehouse.tracing import trace_process

WALLET = "0x" + "ab" * 20
PATH = f"/api/agent-access/trials/{WALLET}"
PATTERN = "/api/agent-access/trials/{address}"


class Route:
    path = PATTERN


async def room(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers as a room does: sets its route, and logs."""
    scope["route"] = Route()
    logging.getLogger("api.access.trials").warning("The chain is slow.")
    await send({"type": "http.response.start", "status": 201, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


class Lines(logging.Handler):
    """Parses each log line and stores the object."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.read.append(json.loads(JsonLines().format(record)))


@pytest.fixture
def lines() -> Iterator[list[dict[str, Any]]]:
    handler, requests, root = Lines(), logging.getLogger(REQUESTS), logging.getLogger("api")
    before = requests.level, requests.propagate
    requests.setLevel(logging.INFO)
    requests.propagate = True  # a command that ran earlier in this process has configured the logs
    root.addHandler(handler)
    yield handler.read
    root.removeHandler(handler)
    requests.setLevel(before[0])
    requests.propagate = before[1]


def asked(front: Front, path: str = PATH, **headers: str) -> httpx.Response:
    async def go() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(front), base_url="http://svc.example") as client:
            return await client.post(path, headers=headers)

    return asyncio.run(go())


def test_the_lines_of_a_request_bear_its_id_and_its_answer_names_the_route(tmp_path: Path, lines: list[dict[str, Any]]):
    answer = asked(Front(Settings(data_dir=tmp_path, _env_file=None), room, None))
    warning, request = lines
    assert warning["message"] == "The chain is slow."
    assert (request["logger"], request["message"]) == (REQUESTS, f"POST {PATTERN}: 201")
    assert (request["method"], request["route"], request["status"]) == ("POST", PATTERN, 201)
    assert request["duration_ms"] >= 0
    assert warning["request_id"] == request["request_id"] == answer.headers["x-request-id"]
    assert WALLET not in json.dumps(lines)


def test_a_refused_request_is_a_line_with_the_code_of_its_problem(tmp_path: Path, lines: list[dict[str, Any]]):
    answer = asked(Front(Settings(data_dir=tmp_path, _env_file=None), room, None), "/" + "a" * 10_000)
    (request,) = lines
    assert (request["status"], request["code"]) == (answer.status_code, answer.json()["code"])
    assert request["request_id"] == answer.json()["requestId"] == answer.headers["x-request-id"]


def test_a_fault_that_is_raised_after_its_answer_is_a_line_too(tmp_path: Path, lines: list[dict[str, Any]]):
    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})
        raise RuntimeError("a fault of ours")

    with pytest.raises(RuntimeError):
        asked(Front(Settings(data_dir=tmp_path, _env_file=None), broken, None))
    (request,) = lines
    assert (request["status"], request["route"]) == (500, None)


def test_a_request_is_a_span_of_its_route_that_ends_with_its_status(tmp_path: Path, lines: list[dict[str, Any]]):
    with collector() as collected:
        settings = Settings(data_dir=tmp_path, otlp_url=collected.url, _env_file=None)
        end = trace_process(settings, "api")
        answer = asked(Front(settings, room, None), traceparent=f"00-{'12' * 16}-{'34' * 8}-01")
        end()
    span = collected.named(f"POST {PATTERN}")
    assert (span.trace_id, span.parent_id) == ("12" * 16, "34" * 8)
    assert span.attributes == {
        "http.route": PATTERN,
        "http.request.method": "POST",
        "http.response.status_code": 201,
        "svc.request_id": answer.headers["x-request-id"],
    }
    assert {line["trace_id"] for line in lines} == {"12" * 16}


def test_a_line_for_people_ends_with_what_it_belongs_to():
    record = logging.LogRecord("pipelines", logging.WARNING, "f", 1, "A node is away.", (), None)
    with log_fields(run_id="7f3a", job="chain"):
        assert TextLines().format(record).endswith("WARNING A node is away. run_id=7f3a job=chain")
    assert TextLines().format(record).endswith("WARNING A node is away.")


def test_a_log_record_is_one_json_object_with_its_exception():
    try:
        raise ValueError("broken")
    except ValueError as error:
        record = logging.LogRecord("pipelines", logging.ERROR, "f", 1, "%s failed", ("it",), (ValueError, error, None))
    line = json.loads(JsonLines().format(record))
    assert (line["level"], line["logger"], line["message"]) == ("error", "pipelines", "it failed")
    assert "broken" in line["exception"]


@pytest.mark.parametrize("text", ["contracts.logs.TextLines", "cli.logs.ConsoleLines"])
@pytest.mark.parametrize("log_format", ["text", "json"])
def test_the_format_that_is_set_is_the_one_of_every_handler(log_format: Any, text: str):
    config = log_config(log_format, text=text)
    assert {handler["formatter"] for handler in config["handlers"].values()} == {log_format}
    assert (config["loggers"][REQUESTS]["level"] == "INFO") == (log_format == "json"), "people read their proxy's log"
