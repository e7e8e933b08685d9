"""Collects the content of the connect page: plans, a quote of this installation, real answers."""

import json
from dataclasses import dataclass
from typing import Any

from contracts.access.example_quote import EXAMPLE_PLAN, example_quote
from contracts.access.plans import QUOTE_PATH, plans_answer
from contracts.access.rail import usd_of
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.connect import key_server, server
from contracts.connect.tools import TOOLS
from contracts.discovery.examples import recorded
from contracts.discovery.installation import Installation
from contracts.problem_links import operation_docs_path

_CATALOG_FIELDS = {"id", "name", "price", "status", "requests_per_day"}
_QUOTE_FIELDS = ("planId", "payer", "amount", "issuedAt", "expiresAt")
_VERDICT_FIELDS = ("passed", "severity", "reason", "matched_guardrails", "remediation")


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim's status, its meaning, and what to do next."""

    status: int
    meaning: str
    next: str


OUTCOMES = (
    ClaimOutcome(
        201,
        "Issued",
        "Keep the key secret. Until its first use, the same claim with the same Idempotency-Key returns it again, "
        "within a day; a claim that was sent without that header is answered 409.",
    ),
    ClaimOutcome(202, "Pending", "Don't pay again. Repeat the same claim after Retry-After seconds."),
    ClaimOutcome(
        402,
        "Not matched",
        "The payment does not match the quote; code tells why. With caseId its money is in a case: don't pay again. "
        "Without it, the transaction contained no money for this quote.",
    ),
    ClaimOutcome(409, "Claimed before, or being claimed now", "Follow links to the receipt, or repeat the claim."),
    ClaimOutcome(429, "Too many requests", "Wait Retry-After seconds."),
)


def connect_facts(installation: Installation) -> dict[str, Any]:
    """Returns the page's facts, in addition to those that every text shares."""
    return {
        "tools": TOOLS,
        "outcomes": OUTCOMES,
        "trial_page": operation_docs_path("agent_access_trial"),
        "catalog_answer": _catalog_answer(installation),
        "example_plan": EXAMPLE_PLAN,
        "quote_command": _quote_command(installation),
        "example_quote": _shown_quote(installation),
        "claim_pending": _pretty(_recorded("agent_access_claim", "pending")["example"]["value"]),
        "claim_issued": _pretty(_claim_issued()),
        **_guardrail(),
        "client_configuration": _pretty(
            {"mcpServers": {server.SERVER_NAME: {"type": "http", "url": installation.url(server.MCP_PATH)}}}
        ),
        "key_client_configuration": _pretty(
            {
                "mcpServers": {
                    key_server.KEY_SERVER_NAME: {
                        "type": "http",
                        "url": installation.url(key_server.KEY_MCP_PATH),
                        "headers": {"Authorization": "Bearer YOUR_KEY"},
                    }
                }
            }
        ),
    }


def _shown_quote(installation: Installation) -> dict[str, str] | None:
    """Returns the parts of a quote of this installation that a payer checks, or None if nothing is for sale."""
    if installation.rail.missing:
        return None
    quote = example_quote(installation.rail, installation.base_url)
    answer = {
        "ok": True,
        "quoteId": quote.quote_id,
        "quoteHash": quote.quote_hash,
        "paymentRequirementHash": quote.requirement_hash,
        "data": {
            "quote": {name: json.loads(quote.quote_json)[name] for name in _QUOTE_FIELDS},
            "paymentRequirement": json.loads(quote.requirement_json),
        },
    }
    claim = {
        "quoteId": quote.quote_id,
        "transactionHash": "0x…",
        "quoteHash": quote.quote_hash,
        "paymentRequirementHash": quote.requirement_hash,
    }
    return {
        "amount": usd_of(quote.amount),
        "answer": _pretty(answer),
        "claim": json.dumps(claim, ensure_ascii=False),
        "id": quote.quote_id,
    }


def _quote_command(installation: Installation) -> str:
    """Returns a command without a payer, because each address can have only a limited number of open quotes."""
    body = json.dumps(json.dumps({"planId": EXAMPLE_PLAN, "payerAddress": "$PAYER"}))
    headers = "-H 'Content-Type: application/json'"
    return f"PAYER=0x…  # the address to pay from\ncurl {installation.url(QUOTE_PATH)} {headers} -d {body}"


def _catalog_answer(installation: Installation) -> str:
    answer = plans_answer(installation.rail, installation.base_url, REQUESTS_A_DAY, trials=installation.issues_trials)
    plans = [plan.model_dump(mode="json", by_alias=True, include=_CATALOG_FIELDS) for plan in answer.plans[:1]]
    return _pretty({"ok": True, "network": answer.network, "plans": plans})


def _claim_issued() -> dict[str, Any]:
    """Returns the recorded answer without the key."""
    data = _recorded("agent_access_claim", "issued")["example"]["value"]["data"]
    packet = data["activationPacket"]
    shown = {name: packet[name] for name in ("tier", "keyId") if name in packet}
    return {"ok": True, "data": {"claim": data["claim"], "activationPacket": {"apiKey": "svc_…", **shown}}}


def _guardrail() -> dict[str, str]:
    exchange = _recorded("guardrail_check", "blocked")
    verdict = {name: exchange["example"]["value"]["data"][name] for name in _VERDICT_FIELDS}
    return {
        "guardrail_request": json.dumps(exchange["request"]["body"]),
        "guardrail_answer": _pretty({"ok": True, "data": verdict}),
    }


def _recorded(operation: str, name: str) -> dict[str, Any]:
    """Returns one exchange that was recorded with the service itself."""
    return next(exchange for exchange in recorded(operation) if exchange["name"] == name)


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
