"""An agent that reads only the front door, errors and what they link to gets from any wrong first request to a paid
answer in at most six requests.

The agent knows link relations, the names of members, and how a wallet pays and signs; it knows no path of the service.
"""

from __future__ import annotations

import inspect
import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from journey_setting import Setting, cold_start
from patience import HANG_S

from cli.demo.anvil import PRUNED, Anvil
from contracts.access.quotes import LIVE_QUOTES_MAX
from contracts.problem_links import paths_by_operation

MOST_REQUESTS = 6

# method, path, arguments of httpx, status and code of the answer
WRONG: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("GET", "/api/v2/world-model/live", {}, 401, "unauthorized"),
    ("POST", "/api/v2/world-model/query", {"json": {"search": "x"}}, 401, "unauthorized"),
    ("POST", "/api/v2/guardrail/check", {"headers": {"X-Api-Key": "nonsense"}, "json": {}}, 401, "unauthorized"),
    ("GET", "/api/v2/me", {"headers": {"Authorization": "Basic eDp5"}}, 401, "unauthorized"),
    ("POST", "/api/v2/me/rotate", {"headers": {"Idempotency-Key": "x" * 30}}, 401, "unauthorized"),
    ("DELETE", "/api/v2/world-model/nodes/a/b", {}, 401, "unauthorized"),
    ("POST", "/api/v2/memory/design", {"headers": {"PAYMENT-SIGNATURE": "e30="}}, 401, "unauthorized"),
    ("GET", "/api/v1/query", {}, 404, "route_unknown"),
    ("POST", "/v1/chat/completions", {"json": {"model": "x"}}, 404, "route_unknown"),
    ("GET", "/api/agent-access/claims/claim_nothing", {}, 404, "claim_not_found"),
    ("GET", "/api/agent-access/cases/case_nothing", {}, 404, "case_not_found"),
    ("GET", "/api/agent-access/payments/pay_nothing", {}, 404, "payment_not_found"),
    ("GET", "/api/agent-access/quotes/quote_nothing/code.svg", {}, 404, "quote_not_found"),
    ("GET", f"/api/intake/{'0' * 32}", {}, 404, "intake_not_found"),
    (
        "POST",
        "/api/agent-access/claim",
        {
            "json": {
                "quoteId": "quote_nothing",
                "transactionHash": "0x" + "ab" * 32,
                "quoteHash": "cd" * 32,
                "paymentRequirementHash": "ef" * 32,
            }
        },
        402,
        "quote_mismatch",
    ),
    ("POST", "/api/agent-access/claim", {"json": {}}, 400, "body_invalid"),
    ("POST", "/api/agent-access/quote", {"json": {"planId": "gold"}}, 400, "body_invalid"),
    (
        "POST",
        "/api/agent-access/quote",
        {"json": {"planId": "gold", "payerAddress": "0x" + "aa" * 20}},
        400,
        "plan_unknown",
    ),
    ("POST", "/api/agent-access/quote", {"content": b"plan=gold"}, 415, "media_type_unsupported"),
    ("GET", "/api/agent-access/quote", {}, 405, "method_not_allowed"),
    ("PUT", "/api/v2/world-model/signal", {"json": {}}, 405, "method_not_allowed"),
    ("GET", "/api/token/holders-map?limit=1", {}, 400, "parameter_invalid"),
    ("POST", "/mcp", {"json": {"method": "tools/list"}}, 400, "body_invalid"),
    ("POST", "/mcp", {"json": {}, "headers": {"Origin": "https://elsewhere.example"}}, 403, "origin_forbidden"),
]

SIGNED_BY_NOBODY = {"issuedAt": 1, "proof": {"type": "eip712", "signature": "0x" + "11" * 65}}
ADDRESS = "0x" + "ab" * 20
RECOVERY = "/api/agent-access/claims/claim_nothing/recovery"
MISPLACED = {"json": {"payerAddress": ADDRESS}, "headers": {"PAYMENT-SIGNATURE": "e30="}}

# method, path, arguments of httpx, status and code of the answer, and its link that leads most directly to a paid
# answer
MORE_WRONG: list[tuple[str, str, dict[str, Any], int, str, str]] = [
    ("POST", "/api/v2/me/revoke", {}, 401, "unauthorized", "plans"),
    ("GET", "/api/v2/world-model/nodes/x?asOf=yesterday", {}, 401, "unauthorized", "plans"),
    ("POST", "/api/v2/mcp", {"json": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}, 401, "unauthorized", "plans"),
    ("GET", "/api/v2/mcp", {}, 405, "method_not_allowed", "home"),
    ("GET", "/api/v2/world-model/query", {}, 405, "method_not_allowed", "home"),
    ("POST", "/", {}, 405, "method_not_allowed", "home"),
    ("GET", "/api/agent-access/trials/nobody", {}, 400, "parameter_invalid", "home"),
    ("POST", f"/api/agent-access/trials/{ADDRESS}", {"json": SIGNED_BY_NOBODY}, 403, "trial_refused", "challenge"),
    ("POST", RECOVERY, {"json": SIGNED_BY_NOBODY}, 404, "claim_not_found", "plans"),
    ("GET", "/api/agent-access/claims/claim_nothing/operator", {}, 404, "claim_not_found", "plans"),
    ("POST", "/api/agent-access/cases/case_nothing", {"json": SIGNED_BY_NOBODY}, 404, "case_not_found", "home"),
    ("POST", "/api/intake", {"json": {}}, 400, "body_invalid", "home"),
    ("GET", "/api/intake/xyz", {}, 404, "intake_not_found", "home"),
    ("GET", "/api/token/holders/0xabc", {}, 400, "parameter_invalid", "home"),
    ("GET", f"/api/token/holders/{ADDRESS}/transfers?cursor=bad", {}, 400, "cursor_invalid", "home"),
    ("GET", "/api/token/holders", {"headers": {"Accept-Encoding": "identity;q=0"}}, 406, "not_acceptable", "home"),
    ("GET", "/data/manifest.json", {"headers": {"Range": "bytes=9999999-"}}, 416, "range_not_satisfiable", "home"),
    ("GET", "/data/nothing.parquet", {}, 404, "route_unknown", "plans"),
    ("GET", "/docs/operations/nothing/", {}, 404, "route_unknown", "plans"),
    ("POST", "/blink/guardrail", {"json": {}}, 400, "body_invalid", "home"),
    ("POST", "/mcp", {"content": b"hello"}, 415, "media_type_unsupported", "home"),
    ("POST", "/api/agent-access/quote", {"json": {"planId": "x" * 70_000}}, 413, "body_too_large", "home"),
    ("POST", "/api/agent-access/quote", MISPLACED, 400, "payment_signature_not_live", "plans"),
]


class Agent:
    """Follows answers. `requests` counts the requests that it has sent."""

    def __init__(self, setting: Setting, client: httpx.Client, number: int) -> None:
        self._setting = setting
        self._client = client
        self._address = {"X-Forwarded-For": f"198.51.100.{number}"}
        self._sent: dict[str, Any] = {}
        self.requests = 0

    def ask(self, method: str, url: str, **options: Any) -> httpx.Response:
        """Returns the answer to a request; after a 429, repeats the request once the stated time is over."""
        self.requests += 1
        headers = self._address | (options.pop("headers", None) or {})
        answer = self._client.request(method, url, headers=headers, **options)
        if answer.status_code == 429:
            wait_s = members(answer)["retryAfter"]
            assert str(wait_s) == answer.headers["Retry-After"]
            front, now_s = self._setting.service.app, time.time()
            front._clock = lambda: now_s + wait_s
            return self.ask(method, url, headers=headers, **options)
        return answer

    def goes_on_from(self, answer: httpx.Response) -> httpx.Response:
        """Returns the paid answer to which an answer leads."""
        while (following := self._next(answer)) is not None:
            answer = following
        return answer

    def _next(self, answer: httpx.Response) -> httpx.Response | None:
        body = members(answer)
        steps = [body, body.get("next", {}), body.get("data", {}).get("next", {})]
        packet = body.get("data", {}).get("activationPacket")
        if packet is not None:
            method, url = packet["firstRequest"].split(" ")
            return self.ask(method, url, headers={"Authorization": packet["headers"]["Authorization"]})
        for step in (each[name] for each in steps for name in ("claim", "quote") if "url" in (each.get(name) or {})):
            return self._send(step, steps[2].get("pay"), body.get("proof"))
        if "typedData" in body:
            return self._send(body, None, body["typedData"])
        if body.get("next", {}).get("action") == "pay_difference":
            return self.ask("POST", body["next"]["url"], json=self._sent)
        links = body.get("links", {}) | {name: link["url"] for name, link in answer.links.items()}
        ways = ("case", "challenge", "plans", "payment", "home")
        target = next((links[name] for name in ways if name in links), None)
        if target is None or "data" in body:
            return None
        return self.ask("GET", str(answer.url.join(target)))

    def _send(self, step: dict[str, Any], pay: dict[str, Any] | None, message: dict[str, Any] | None) -> httpx.Response:
        """Fills in the angle brackets in a request's body, sends the request and returns the answer."""
        wallet = self._setting.wallet
        ways = {
            "payerAddress": lambda: wallet.address,
            "transactionHash": lambda: wallet.send(pay["asset"], pay["call"]) if pay else None,
            "signature": lambda: wallet.sign(message) if message else None,
        }
        self._sent = filled(step["body"], ways)
        return self.ask(step["method"], step["url"], headers=step.get("headers"), json=self._sent)


def filled(body: Any, ways: dict[str, Any]) -> Any:
    """Returns a body with its placeholders filled in: texts that contain angle brackets, by name."""
    if not isinstance(body, dict):
        return body
    return {
        name: ways[name]() if isinstance(value, str) and "<" in value else filled(value, ways)
        for name, value in body.items()
    }


def members(answer: httpx.Response) -> dict[str, Any]:
    """Returns the members of a JSON body, or of the data of a JSON-RPC error, or nothing for a page."""
    if not answer.headers.get("content-type", "").partition(";")[0].endswith("json"):
        return {}
    body = answer.json()
    return body["error"]["data"] if "jsonrpc" in body else body


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with (
        Anvil(flags=PRUNED) as anvil,
        cold_start(tmp_path_factory.mktemp("led"), anvil, trusted_proxies=("127.0.0.1",)) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=HANG_S, trust_env=False) as opened:
        yield opened


@pytest.mark.parametrize("number", range(len(WRONG)), ids=lambda number: f"{WRONG[number][4]} of {WRONG[number][1]}")
def test_a_wrong_first_request_leads_to_a_paid_answer(setting: Setting, client: httpx.Client, number: int) -> None:
    method, path, options, status, code = WRONG[number]
    agent = Agent(setting, client, number)
    refused = agent.ask(method, setting.base_url + path, **options)
    assert (refused.status_code, members(refused)["code"]) == (status, code)
    paid = agent.goes_on_from(refused)
    assert (paid.status_code, paid.json()["ok"]) == (200, True)
    assert paid.request.headers["Authorization"].startswith("Bearer svc_")
    assert agent.requests <= MOST_REQUESTS


def test_every_other_refusal_names_a_link_that_leads_on(setting: Setting, client: httpx.Client) -> None:
    """From each of these links the paid answer is as near as from those above."""
    seen = []
    for number, (method, path, options, *_) in enumerate(MORE_WRONG):
        refused = Agent(setting, client, 60 + number).ask(method, setting.base_url + path, **options)
        links = members(refused)["links"]
        nearest = next(name for name in ("challenge", "plans", "home") if name in links)
        seen.append((method, path, options, refused.status_code, members(refused)["code"], nearest))
        assert str(refused.url.join(links[nearest])).startswith(setting.base_url)
    assert seen == MORE_WRONG


def test_an_agent_that_was_sent_away_waits_as_long_as_it_is_told(setting: Setting, client: httpx.Client) -> None:
    agent = Agent(setting, client, 100)
    for _ in range(20):
        agent.ask("GET", setting.base_url + "/api/agent-access/plans")
    agent.requests = -1  # counts the refused request and its repetition as one
    paid = agent.goes_on_from(agent.ask("GET", setting.base_url + "/api/agent-access/plans"))
    assert paid.status_code == 200
    assert agent.requests <= MOST_REQUESTS


def test_a_payment_of_too_little_leads_over_its_case_to_a_paid_answer(setting: Setting, client: httpx.Client) -> None:
    agent, wallet = Agent(setting, client, 101), setting.wallet
    plans = agent.ask("GET", f"{setting.base_url}/api/agent-access/plans").json()
    body = plans["next"]["quote"]["body"] | {"payerAddress": wallet.address}
    quote = agent.ask("POST", plans["next"]["quote"]["url"], json=body).json()["data"]["next"]
    units = int(quote["pay"]["amountUnits"]) - 1_000_000
    short = wallet.send(quote["pay"]["asset"], quote["pay"]["call"][:-64] + f"{units:064x}")
    agent.requests = 0
    refused = agent.ask("POST", quote["claim"]["url"], json=quote["claim"]["body"] | {"transactionHash": short})
    assert (refused.status_code, refused.json()["code"]) == (402, "amount_mismatch")
    paid = agent.goes_on_from(refused)
    assert (paid.status_code, agent.requests) == (200, MOST_REQUESTS)


def test_a_payer_with_too_many_quotes_signs_the_same_request_and_continues(
    setting: Setting, client: httpx.Client
) -> None:
    wallet = setting.new_wallet()
    agent = Agent(replace(setting, wallet=wallet), client, 102)
    plans = agent.ask("GET", f"{setting.base_url}/api/agent-access/plans").json()["next"]["quote"]
    body = plans["body"] | {"payerAddress": wallet.address}
    for number in range(LIVE_QUOTES_MAX):
        Agent(setting, client, 200 + number // 10).ask("POST", plans["url"], json=body)
    agent.requests = 0
    refused = agent.ask("POST", plans["url"], json=body | {"agentName": "Ada"})
    assert (refused.status_code, refused.json()["code"]) == (400, "payer_proof_required")
    assert refused.json()["next"]["quote"]["body"]["agentName"] == "Ada"
    paid = agent.goes_on_from(refused)
    assert (paid.status_code, agent.requests) == (200, 4)


def test_a_signature_that_is_refused_leads_to_the_message_that_is_to_be_signed(
    setting: Setting, client: httpx.Client
) -> None:
    agent = Agent(setting, client, 103)
    address = setting.new_wallet().address
    wrong = {"issuedAt": int(time.time()), "proof": {"type": "eip712", "signature": "0x" + "11" * 65}}
    refused = agent.ask("POST", f"{setting.base_url}/api/agent-access/trials/{address}", json=wrong)
    assert (refused.status_code, refused.json()["code"]) == (403, "trial_refused")
    challenge = agent.ask("GET", refused.json()["links"]["challenge"]).json()
    assert challenge["url"].endswith(address.lower())
    assert challenge["typedData"]["primaryType"] == "TrialKey"


def test_the_agent_knows_no_path_of_the_service() -> None:
    source = inspect.getsource(Agent)
    assert [path for path in paths_by_operation().values() if len(path) > 1 and path.partition("{")[0] in source] == []
    assert not re.search(r"\"/\w", source)


def test_every_link_of_a_refusal_leads_somewhere(setting: Setting, client: httpx.Client) -> None:
    targets: set[str] = set()
    for number, (method, path, options, _, _) in enumerate(WRONG):
        refused = Agent(setting, client, 110 + number).ask(method, setting.base_url + path, **options)
        targets |= set(members(refused)["links"].values()) | {link["url"] for link in refused.links.values()}
    assert len(targets) > 20
    missing = [
        url
        for number, url in enumerate(sorted(targets))
        if Agent(setting, client, 150 + number).ask("GET", url).status_code == 404
    ]
    assert missing == []
    assert json.dumps(sorted(targets)).count(setting.base_url) == len(targets)
