"""`/metrics` is valid OpenMetrics with the same facts as `/health`, and only for this machine and operators."""

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from whole_service import WholeService, whole_service

from api.discovery.metrics import openmetrics
from contracts.access.tiers import Role
from contracts.discovery.health import JobFacts, ServiceFacts, health_of
from warehouse.discovery.processes import process_figures
from warehouse.discovery.run_status import EndedRun, update_run_status, with_run

LOCAL = ("127.0.0.1", 50000)
REMOTE = ("203.0.113.9", 50000)
LOOPBACK_HOST = {"host": "127.0.0.1:8000"}
ALERTS = Path(__file__).parents[3] / "docs" / "prometheus-alerts.yaml"
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WholeService]:
    with whole_service(tmp_path_factory.mktemp("metrics")) as service:
        failed = EndedRun("prices", "failure", NOON, 1.0, None, "disk_full")
        update_run_status(service.settings.data_dir, lambda before: with_run(before, failed))
        yield service


def asked(service: WholeService, path: str, client: tuple[str, int], **headers: str) -> httpx.Response:
    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(service.app, client=client)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
            return await http.get(path, headers=headers)

    return asyncio.run(go())


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_this_machine_reads_metrics_that_the_parser_accepts_and_that_agree_with_health(service: WholeService):
    health = asked(service, "/health", LOCAL).json()
    answer = asked(service, "/metrics", LOCAL, **{"accept-encoding": "gzip"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert answer.headers["cache-control"] == "no-store"
    assert "content-encoding" not in asked(service, "/metrics", LOCAL, **{"accept-encoding": "identity"}).headers
    found = samples(answer.text)
    assert found["svc_up", ()] == (health["status"] == "ok") == 0
    assert {
        dict(labels)["document"] for (name, labels), value in found.items() if name == "svc_document_stale" and value
    } == set(health["staleDocuments"])
    assert found["svc_job_consecutive_failures", (("job", "prices"),)] == 1
    assert found["svc_job_failures_total", (("job", "prices"),)] == 1
    assert [(job["job"], job["reason"]) for job in health["failingJobs"]] == [("prices", "disk_full")]
    names = {name for name, _ in found}
    assert {"svc_document_age_seconds", "svc_answers_total", "svc_ledger_reachable", "svc_generation_info"} <= names
    assert found["svc_process_cpu_seconds_total", (("part", "api"),)] > 0, "without a supervisor it is this process"


def test_answers_are_counted_by_who_gave_them(service: WholeService):
    before = samples(asked(service, "/metrics", LOCAL).text)
    etag = asked(service, "/llms.txt", LOCAL).headers["etag"]
    asked(service, "/llms.txt", LOCAL, **{"if-none-match": etag})
    asked(service, "/api/nothing", LOCAL)
    after = samples(asked(service, "/metrics", LOCAL).text)

    def more(by: str, status: int) -> float:
        wanted = {"by": by, "status": str(status)}.items()
        counts = [
            sum(value for (name, labels), value in found.items() if name == "svc_answers_total" and wanted <= {*labels})
            for found in (before, after)
        ]
        return counts[1] - counts[0]

    assert (more("published", 200), more("published", 304), more("rooms", 404)) == (1, 1, 1)


@pytest.mark.parametrize(
    ("client", "headers"),
    [
        (REMOTE, LOOPBACK_HOST),
        (LOCAL, LOOPBACK_HOST | {"x-forwarded-for": "203.0.113.9"}),
        (LOCAL, LOOPBACK_HOST | {"forwarded": "for=203.0.113.9"}),
        (LOCAL, LOOPBACK_HOST | {"x-real-ip": "203.0.113.9"}),
        (LOCAL, LOOPBACK_HOST | {"via": "1.1 proxy"}),
        (LOCAL, {"host": "rebound.example:8000"}),
    ],
)
def test_for_anybody_else_metrics_do_not_exist(service: WholeService, client: tuple[str, int], headers: dict[str, str]):
    answer = asked(service, "/metrics", client, **headers)
    assert answer.status_code in (404, 421)
    assert b"svc_" not in answer.content


def test_an_operators_key_reads_metrics_from_anywhere_and_no_other_key_does(service: WholeService):
    operator, caller = service.key(owner="local:operator", role=Role.OPERATOR), service.key()
    assert asked(service, "/metrics", REMOTE, authorization=f"Bearer {operator}").status_code == 200
    assert asked(service, "/metrics", REMOTE, authorization=f"Bearer {caller}").status_code == 403
    assert asked(service, "/metrics", REMOTE, authorization="Bearer svc_free_nothing").status_code == 404


def facts(**changes: Any) -> ServiceFacts:
    return ServiceFacts(
        **{
            "now": NOON,
            "host": "here",
            "generation": "g",
            "generated_at": NOON,
            "documents": {"/a": (5, False)},
            "ledger_reachable": True,
            "guardrail_problem": None,
            "clock_skew_s": 0,
            "disputes": 0,
            "observed_age_s": 0,
            "nodes_answering": (True,),
            "jobs": (JobFacts("chain", NOON, 2.0, NOON, None, None, 0, 4, 1),),
            "checks": {"raw_chain__transfers": True},
        }
        | changes
    )


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, "ok"),
        ({"documents": {"/a": (5, True)}}, "degraded"),
        ({"ledger_reachable": False}, "degraded"),
        ({"guardrail_problem": "a rule"}, "degraded"),
        ({"payments_problem": "coin_decimals_differ"}, "degraded"),
        ({"clock_skew_s": 31}, "degraded"),
        ({"jobs": (JobFacts("chain", NOON, 2.0, None, NOON, "disk_full", 2, 4, 2),)}, "degraded"),
        ({"checks": {"out_chain__disputes": False}}, "degraded"),
    ],
)
def test_health_is_degraded_by_faults_that_an_operator_should_fix(changes: dict[str, Any], status: str):
    assert health_of(facts(**changes)).status == status


def test_every_alert_that_is_shipped_asks_for_metrics_that_there_are(tmp_path: Path):
    text = openmetrics(facts(), {}, {}, process_figures(tmp_path)).decode()
    families = {family.name for family in text_string_to_metric_families(text)}
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        asked_for = {name.removesuffix("_total") for name in re.findall(r"svc_\w+", rule["expr"])}
        assert asked_for <= families, rule["alert"]
        assert rule["annotations"]["summary"], rule["alert"]
