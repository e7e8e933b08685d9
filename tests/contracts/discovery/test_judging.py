"""From documents and answers to findings: what counts as working, and which findings keep their time."""

from datetime import timedelta
from typing import Any

import pytest
from installations import NOON, bare, installed

from contracts.base import Quality
from contracts.discovery.capabilities import Status, capability_states
from contracts.discovery.judging import Answers, documents_needed, judge, requests_needed
from contracts.discovery.registry import Finding, kept_findings

STATES = capability_states(installed())
GOOD: dict[str, Any] = {"quality": Quality.EXACT, "reason": None, "node_count": 12}
DOCUMENTS = dict.fromkeys(documents_needed(STATES), GOOD)
HEALTHY = {"ledgerReachable": True, "guardrailProblem": None}
STATUSES = {("OPTIONS", "/mcp"): 204, ("HEAD", "/api/v2/world-model/live"): 402}
ALL_WELL = Answers(health=HEALTHY, statuses={each: STATUSES.get(each, 200) for each in requests_needed(STATES)})


def standing(documents: Any = DOCUMENTS, answers: Answers | None = ALL_WELL) -> dict[str, tuple[str, str | None]]:
    return {id_: (each.status.value, each.reason) for id_, each in judge(STATES, documents, answers, NOON).items()}


def test_everything_that_is_built_is_live_if_all_is_well():
    assert {each for each, _ in standing().values()} == {"live"}


def test_few_requests_are_needed_and_none_of_them_writes():
    needed = requests_needed(STATES)
    assert len(needed) == len(set(needed)) <= 8
    assert {method for method, _ in needed} <= {"HEAD", "OPTIONS"}
    limited = [path for _, path in needed if path.startswith(("/api/", "/blink/")) or path == "/mcp"]
    assert len(limited) <= 4


@pytest.mark.parametrize("silent", ["not_answering", "not_ready", "another_service"])
def test_a_silent_service_turns_off_what_it_answers_and_leaves_what_was_read(silent: str):
    found = standing(answers=Answers(silent=silent))
    assert found["connect"] == found["intake"] == found["paid_access"] == found["guardrail_check"] == ("off", silent)
    assert found["service_health"] == found["descriptions"] == ("off", silent)
    assert found["token_holders"] == ("live", None)


@pytest.mark.parametrize(
    ("answers", "id_", "expected"),
    [
        (Answers(health=HEALTHY | {"ledgerReachable": False}), "intake", ("off", "degraded")),
        (Answers(health=HEALTHY | {"guardrailProblem": "rule x"}), "guardrail_check", ("off", "degraded")),
        (Answers(health=HEALTHY | {"paymentsProblem": "coin_decimals_differ"}), "paid_access", ("off", "degraded")),
        (Answers(health=HEALTHY | {"ledgerReachable": False}), "paid_access", ("off", "degraded")),
        (Answers(health={}), "intake", ("off", "degraded")),
        (Answers(health=HEALTHY, statuses={("OPTIONS", "/mcp"): 404}), "connect", ("off", "http_404")),
        (Answers(health=HEALTHY, statuses={("OPTIONS", "/mcp"): 200}), "connect", ("off", "http_200")),
        (Answers(health=HEALTHY, statuses={("OPTIONS", "/mcp"): None}), "connect", ("off", "not_answering")),
        (Answers(health=HEALTHY, statuses={("HEAD", "/api/v2/health"): 503}), "graph_query", ("off", "http_503")),
        (
            Answers(health=HEALTHY, statuses={("HEAD", "/api/v2/world-model/live"): 401}),
            "payment_signature",
            ("off", "http_401"),
        ),
    ],
)
def test_a_capability_that_answers_wrongly_is_off_with_its_reason(
    answers: Answers, id_: str, expected: tuple[str, str]
):
    assert standing(answers=answers)[id_] == expected


def test_a_refusal_for_the_number_of_requests_is_no_finding():
    assert "connect" not in standing(answers=Answers(health=HEALTHY, statuses={("OPTIONS", "/mcp"): 429}))


def test_without_requests_only_documents_and_settings_are_judged():
    assert set(standing(answers=None)) == {
        id_ for id_, each in STATES.items() if each.capability.judged.way in ("document", "settings")
    }


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"quality": Quality.UNAVAILABLE, "reason": "backfilling"}, ("off", "backfilling")),
        ({"quality": Quality.UNAVAILABLE, "reason": None}, ("off", "no_data")),
        ({"quality": Quality.ESTIMATED, "reason": "proof_pending"}, ("live", "proof_pending")),
        ({"quality": "exact", "reason": None}, ("live", None)),
    ],
)
def test_a_document_without_its_number_is_off(fields: dict[str, Any], expected: tuple[str, str | None]):
    assert standing(DOCUMENTS | {"/api/token/holders": fields})["token_holders"] == expected


@pytest.mark.parametrize("fields", [{"node_count": 0}, {"node_count": None}, {}])
def test_a_graph_without_nodes_is_off(fields: dict[str, Any]):
    assert standing(DOCUMENTS | {"/api/worldmodel/live": fields})["world_projection"] == ("off", "no_data")


def test_unconfigured_sources_are_never_queried_or_read():
    states = capability_states(bare())
    assert "/api/token/holders" not in documents_needed(states)
    found = judge(states, dict.fromkeys(documents_needed(states), GOOD), ALL_WELL, NOON)
    assert (found["token_holders"].status, found["token_holders"].reason) == (Status.OFF, "not_configured")
    assert found["token_holders"].determined_by == "settings"


def at(minutes: int, status: Status = Status.LIVE, reason: str | None = None) -> dict[str, Finding]:
    return {"connect": Finding("connect", status, reason, "http", "OPTIONS /mcp", NOON + timedelta(minutes=minutes))}


@pytest.mark.parametrize(
    ("found", "kept"),
    [
        (at(5), at(0)),
        (at(59), at(0)),
        (at(60), at(60)),
        (at(5, Status.OFF, "not_answering"), at(5, Status.OFF, "not_answering")),
        (at(5, reason="degraded"), at(5, reason="degraded")),
        (at(-5), at(-5)),
    ],
)
def test_the_time_moves_with_the_status_or_hourly(found: dict[str, Finding], kept: dict[str, Finding]):
    assert kept_findings(at(0), found) == kept
