"""Bounds on a partner's answers, and the places where a credential may hide in them."""

from base64 import b64encode
from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.market import Refusal
from contracts.partner import (
    MAX_DEPTH,
    MAX_TEXT,
    MAX_VALUES,
    PartnerAnswer,
    RevenueAnswer,
    bounds_broken,
    gives_away,
    host_of,
    moment,
)
from pipelines.partner import marketplace, snapshot

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECRET = 'k-5c21d8/+aé"Q'
FIGURES = {"id": 84, "virtualAgentId": "19520", "revenue": Decimal("572787.33"), "grossAgenticAmount": 218099220.98}


def read(answer, secret=SECRET):
    return snapshot.decode(answer, chain_id=8453, secret=secret, now=NOW)


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return {"a": value}


@pytest.mark.parametrize(
    ("answer", "observed_at"),
    [
        ({"tvlUsd": Decimal("12.5"), "asOf": "2026-11-20T11:58:00Z"}, datetime(2026, 11, 20, 11, 58, tzinfo=UTC)),
        ({"tvlUsd": -3, "chainId": 8453, "timestamp": 1795175880}, datetime(2026, 11, 20, 11, 58, tzinfo=UTC)),
        ({"ok": True, "data": {"tvlUsd": 0}, "timestamp": 1795175880000}, datetime(2026, 11, 20, 11, 58, tzinfo=UTC)),
        ({"chain_id": "eip155:8453", "pools": [], "error": None}, None),
        ({"tvlUsd": 1, "asOf": "lately"}, None),
    ],
)
def test_an_object_is_taken_as_it_is_with_its_own_time(answer, observed_at):
    assert read(answer) == PartnerAnswer(answer.get("data", answer), observed_at)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "error_answer"),
        ([1], "error_answer"),
        ("fine", "error_answer"),
        ({"error": "no such key"}, "error_answer"),
        ({"ok": False}, "error_answer"),
        ({"status": "ERROR", "tvlUsd": 1}, "error_answer"),
        ({"statusCode": 401, "message": "Unauthorized"}, "error_answer"),
        ({"ok": True, "data": {"errors": ["x"]}}, "error_answer"),
        ({}, "empty_answer"),
        ({"data": {}}, "empty_answer"),
        (nested(MAX_DEPTH), "too_deep"),
        ({"a": [0] * MAX_VALUES}, "too_many_values"),
        ({"a": "x" * (MAX_TEXT + 1)}, "text_too_long"),
        ({"x" * (MAX_TEXT + 1): 1}, "text_too_long"),
        ({"tvlUsd": 10**30}, "absurd_value"),
        ({"tvlUsd": Decimal("-1e30")}, "absurd_value"),
        ({"tvlUsd": Decimal("Infinity")}, "absurd_value"),
        ({"chainId": 1, "tvlUsd": 1}, "other_chain"),
        ({"tvlUsd": 1, "asOf": "2026-11-20T12:06:00Z"}, "time_ahead"),
        ({"headers": {"authorization": f"Bearer {SECRET}"}}, "credential_echoed"),
        ({SECRET: 1}, "credential_echoed"),
        ({"data": {"a": 1}, "debug": [["x", SECRET.upper()]]}, "credential_echoed"),
        ({"basic": b64encode(f"user:{SECRET}".encode()).decode()}, "credential_echoed"),
    ],
)
def test_everything_else_is_refused_with_its_reason(answer, reason):
    assert read(answer) == Refusal(reason)


def test_without_a_credential_there_is_nothing_to_give_away():
    assert read({"a": "any"}, secret=None) == PartnerAnswer({"a": "any"}, None)


@given(st.text(min_size=6, max_size=60), st.text(max_size=9), st.text(max_size=9))
def test_a_secret_is_found_in_every_form_and_place(secret, before, after):
    whole = before + secret + after
    encodings = (
        whole,
        whole.encode("utf-8", "surrogatepass").hex(),
        b64encode(whole.encode("utf-8", "surrogatepass")).decode(),
        quote(whole, safe="", errors="surrogatepass"),
    )
    for text in encodings:
        assert gives_away(text, secret)


def test_an_ordinary_text_gives_nothing_away():
    assert not gives_away('{"tvlUsd":12.5,"name":"a partner"}', SECRET)
    assert bounds_broken({"a": [1, None, True, "x", {"b": Decimal("1.5")}]}) is None


def test_the_text_of_a_snapshot_keeps_every_digit_and_sorts_names():
    assert snapshot.as_text({"b": Decimal("0.10000000000000000001"), "a": [1, None]}) == (
        '{"a":[1,null],"b":0.10000000000000000001}'
    )


@pytest.mark.parametrize(
    ("value", "year"),
    [
        ("2026-11-20T11:58:00+02:00", 2026),
        (1795175880, 2026),
        (1795175880123, 2026),
        ("1970-01-01T00:00:00Z", None),
        (True, None),
        (-1, None),
        (10**20, None),
        ("x" * 99, None),
        ({}, None),
    ],
)
def test_times_are_read_in_the_usual_forms(value, year):
    found = moment(value)
    assert (found and found.year) == year


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user:pass@partner.example/key/abc?key=1", "partner.example"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080"),
    ],
)
def test_a_source_is_named_only_by_its_host(url, host):
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://acpx.example", "https://acpx.example/api/metrics/agent/84"),
        ("https://acpx.example/api", "https://acpx.example/api/metrics/agent/84"),
        ("https://acpx.example/v2/acp", "https://acpx.example/v2/acp/metrics/agent/84"),
    ],
)
def test_the_marketplace_is_asked_for_one_agent(base, address):
    assert marketplace.address(base, "84") == address
    assert marketplace.address(base, "a/../b") == address.replace("/84", "/a%2F..%2Fb")


@pytest.mark.parametrize("agent_id", ["84", "19520"])
@pytest.mark.parametrize("wrap", [lambda facts: facts, lambda facts: {"data": facts}])
def test_revenue_and_gross_are_kept_apart(agent_id, wrap):
    answer = marketplace.decode(wrap(FIGURES), agent_id=agent_id, now=NOW)
    assert isinstance(answer, RevenueAnswer)
    assert (answer.revenue_usd, answer.gross_usd, answer.reason) == (
        Decimal("572787.33"),
        Decimal("218099220.98"),
        None,
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": 85, "virtualAgentId": None}, "other_agent"),
        ({"revenue": None, "grossAgenticAmount": None}, "missing_keys"),
        ({"revenue": -1}, "absurd_value"),
        ({"grossAgenticAmount": Decimal("1e13")}, "absurd_value"),
        ({"revenue": "NaN"}, "absurd_value"),
        ({"revenue": "lots"}, "absurd_value"),
        ({"volume": {}}, "absurd_value"),
        ({"error": "unknown agent"}, "error_answer"),
        ({"statusCode": 404}, "error_answer"),
    ],
)
def test_odd_figures_are_refused(change, reason):
    assert marketplace.decode(FIGURES | change, agent_id="84", now=NOW) == Refusal(reason)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"revenue": 9e9}, "revenue_above_gross"),
        ({"revenue": None}, "incomplete"),
        ({"grossAgenticAmount": None}, "incomplete"),
    ],
)
def test_inconsistent_figures_are_stored_and_named(change, reason):
    assert marketplace.decode(FIGURES | change, agent_id="84", now=NOW).reason == reason


def test_counts_that_are_no_whole_numbers_are_left_out():
    answer = marketplace.decode(
        FIGURES | {"successfulJobCount": 1.5, "uniqueBuyerCount": "7496", "successRate": 101}, agent_id="84", now=NOW
    )
    assert isinstance(answer, RevenueAnswer)
    assert (answer.successful_jobs, answer.unique_buyers, answer.success_rate_percent) == (None, 7496, None)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_answer_breaks_an_adapter(answer):
    assert isinstance(read(answer), PartnerAnswer | Refusal)
    marketplace.decode(answer, agent_id="84", now=NOW)
