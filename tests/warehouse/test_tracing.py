"""Spans and figures reach a collector, and contain nothing that could be a secret."""

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from collector import Collector, collector

from contracts.logs import JsonLines
from contracts.settings import Settings
from warehouse.clients.http import ask
from warehouse.tracing import span, trace_process

SECRET = "a1b2c3-the-key-of-a-provider"


@pytest.fixture
def collected() -> Iterator[Collector]:
    with collector() as made:
        yield made


def traced(tmp_path: Path, url: str | None) -> Settings:
    return Settings(data_dir=tmp_path, otlp_url=url, _env_file=None)


def test_a_traced_part_arrives_as_one_trace_with_the_figures_of_its_process(collected: Collector, tmp_path: Path):
    end = trace_process(traced(tmp_path, collected.url), "worker", {"svc.answers": lambda: {(("status", 200),): 3}})
    with span("run chain", attributes={"svc.job": "chain"}), span("step transfers") as step:
        step.set_attribute("svc.succeeded", True)
    end()
    outer, inner = collected.named("run chain"), collected.named("step transfers")
    assert (inner.trace_id, inner.parent_id) == (outer.trace_id, outer.span_id)
    assert (outer.service, outer.attributes, inner.attributes) == (
        "svc-worker",
        {"svc.job": "chain"},
        {"svc.succeeded": True},
    )
    assert collected.metrics["svc-worker"] >= {"process.cpu.time", "process.memory.usage", "svc.answers"}


def test_a_request_to_another_service_is_a_span_with_its_host_and_without_its_address(
    collected: Collector, tmp_path: Path
):
    async def asked() -> None:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, content=b"{}"))
        async with httpx.AsyncClient(transport=transport) as client:
            await ask(client, "POST", f"https://node.example/v3/{SECRET}", timeout_s=60, max_bytes=10)

    end = trace_process(traced(tmp_path, collected.url), "api")
    asyncio.run(asked())
    end()
    sent = collected.named("POST")
    assert (sent.attributes["server.address"], sent.attributes["http.response.status_code"]) == ("node.example", 200)
    assert SECRET not in repr(collected.spans)


def test_a_failure_is_a_class_and_not_its_text(collected: Collector, tmp_path: Path):
    end = trace_process(traced(tmp_path, collected.url), "api")
    with pytest.raises(ConnectionError), span("POST"):
        raise ConnectionError(f"https://node.example/v3/{SECRET} is away")
    end()
    assert collected.named("POST").attributes["error.type"] == "ConnectionError"
    assert SECRET not in repr(collected.spans)


def test_a_sender_that_traces_is_the_parent_and_the_log_names_its_trace(collected: Collector, tmp_path: Path):
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    end = trace_process(traced(tmp_path, collected.url), "api")
    record = logging.LogRecord("api", logging.WARNING, "f", 1, "slow", (), None)
    with span("GET", "server", headers={"traceparent": f"00-{trace}-{parent}-01"}):
        line = JsonLines().format(record)
    end()
    assert (collected.named("GET").trace_id, collected.named("GET").parent_id) == (trace, parent)
    assert f'"trace_id": "{trace}"' in line


def test_without_a_collector_a_span_costs_nothing_and_names_nothing(tmp_path: Path):
    trace_process(traced(tmp_path, None), "api")()
    record = logging.LogRecord("api", logging.WARNING, "f", 1, "slow", (), None)
    with span("GET", "server") as opened:
        opened.set_attribute("http.route", "/health")
        assert "trace_id" not in JsonLines().format(record)
