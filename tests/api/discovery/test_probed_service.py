"""Probing the real service: every probed route answers as the capability registry expects."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import httpx
from addressed_service import addressed_service
from patience import HANG_S

from contracts.base import Quality
from contracts.discovery.capabilities import capability_states
from contracts.discovery.installation import installation_of
from contracts.discovery.judging import documents_needed, judge, requests_needed
from pipelines.discovery.probe import ask_ourselves
from warehouse.discovery.probes import is_our_generation


def test_every_answer_of_the_real_service_is_what_the_registry_expects(tmp_path: Path):
    with addressed_service(tmp_path, "/prefix", rate_limit_per_minute=0) as (service, base_url):
        states = capability_states(installation_of(service.settings))
        asked = requests_needed(states)
        for _, path in (("GET", "/health"), *asked):  # modules that the first request loads are not what is probed here
            httpx.get(base_url + path, timeout=HANG_S)
        answers, attempt = asyncio.run(
            ask_ourselves(base_url, asked, lambda generation: is_our_generation(tmp_path, generation))
        )
        assert (answers.silent, attempt.reason) == (None, None)
        good = {"quality": Quality.EXACT, "reason": None, "node_count": 1}
        found = judge(states, dict.fromkeys(documents_needed(states), good), answers, datetime.now(UTC))
        over_http = {id_: each for id_, each in found.items() if each.determined_by == "http"}
        assert {(each.status.value, each.reason) for each in over_http.values()} == {("live", None)}, over_http
        named = {"connect", "intake", "graph_query", "guardrail_check", "paid_access", "wallet_actions"}
        assert named <= set(over_http)
        elsewhere, _ = asyncio.run(ask_ourselves(base_url, asked, lambda _: False))
        assert elsewhere.silent == "another_service"
