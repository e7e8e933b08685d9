"""Describes which operation follows an answer, and which of its fields that operation takes. Pure."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Link:
    """A link from the answer of one operation to a request of another: its parameters, and fields of its body."""

    of: str
    status: int
    name: str
    to: str
    description: str
    parameters: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


def _from(pointer: str) -> str:
    return f"$response.body#{pointer}"


_CLAIM_ID = {"claimId": _from("/data/claim/claimId")}
_INTAKE_ID = {"intakeId": _from("/intakeId")}

LINKS = (
    Link(
        "agent_access_plans",
        200,
        "quote",
        "agent_access_quote",
        "A quote for a plan of the catalog",
        body={"planId": _from("/plans/0/id")},
    ),
    Link(
        "agent_access_quote",
        201,
        "claim",
        "agent_access_claim",
        "Pay what the quote says in one transfer, and claim it with that transfer's hash",
        body={
            "quoteId": _from("/quoteId"),
            "quoteHash": _from("/quoteHash"),
            "paymentRequirementHash": _from("/paymentRequirementHash"),
        },
    ),
    Link("agent_access_claim", 201, "receipt", "agent_access_receipt", "The receipt of the claim", _CLAIM_ID),
    Link(
        "agent_access_claim",
        201,
        "recoveryChallenge",
        "agent_access_recovery_challenge",
        "What to sign when the key is lost",
        _CLAIM_ID,
    ),
    Link(
        "agent_access_claim",
        201,
        "operatorChallenge",
        "agent_access_operator_challenge",
        "What the operator that the quote names signs to own the key",
        _CLAIM_ID,
    ),
    Link(
        "agent_access_operator_challenge",
        200,
        "operator",
        "agent_access_operator",
        "The operator's signature makes it the owner",
        {"claimId": _from("/claimId")},
    ),
    Link(
        "agent_access_recovery_challenge",
        200,
        "recovery",
        "agent_access_recovery",
        "The signed challenge gives the next key",
        {"claimId": _from("/claimId")},
        {"issuedAt": _from("/issuedAt")},
    ),
    Link(
        "agent_access_case_challenge",
        200,
        "case",
        "agent_access_case",
        "The signed challenge gives the case",
        {"caseId": _from("/caseId")},
        {"issuedAt": _from("/issuedAt")},
    ),
    Link(
        "agent_access_case_challenge",
        200,
        "supplement",
        "agent_access_case_supplement",
        "The signed challenge gives a quote over the difference, where the case offers one",
        {"caseId": _from("/caseId")},
        {"issuedAt": _from("/issuedAt")},
    ),
    Link(
        "guardrail_check",
        200,
        "approval",
        "guardrail_approve",
        "An operator lets the action pass once",
        body={"digest": _from("/data/digest")},
    ),
    Link("intake_register", 201, "status", "intake_status", "The intake as it stands", _INTAKE_ID),
    Link("intake_register", 201, "capsule", "intake_capsule", "Its provisioning capsule", _INTAKE_ID),
    Link(
        "intake_register",
        201,
        "erase",
        "intake_erase",
        "Deletes what is kept of the intake",
        _INTAKE_ID,
        {"eraseToken": _from("/eraseToken")},
    ),
    Link("intake_status", 200, "capsule", "intake_capsule", "Its provisioning capsule", _INTAKE_ID),
    Link(
        "world_model_create",
        201,
        "claim",
        "world_model_capsule_claim",
        "Attach the capsule to your key",
        body={"claimToken": _from("/claimToken")},
    ),
    Link(
        "world_model_signal",
        201,
        "query",
        "world_model_query",
        "The node that was written",
        body={"node_id": _from("/data/signalId")},
    ),
    Link(
        "knowledge_graph_build",
        201,
        "query",
        "world_model_query",
        "The first node that was written",
        body={"node_id": _from("/data/nodes/0/id")},
    ),
    Link(
        "world_model_query",
        200,
        "nextPage",
        "world_model_query",
        "The next page: the same question with the cursor",
        body={"cursor": _from("/data/cursor")},
    ),
    Link(
        "world_model_live",
        200,
        "nextPage",
        "world_model_live",
        "The next page",
        {"cursor": _from("/data/cursor")},
    ),
    Link(
        "token_holders_map",
        200,
        "nextPage",
        "token_holders_map",
        "The next page of the same list; none where nextCursor is null",
        {"cursor": _from("/nextCursor")},
    ),
)


def add_links(document: dict[str, Any], links: tuple[Link, ...] = LINKS) -> None:
    """Adds each link to the answer that it starts from, in place."""
    answers = {
        (operation["operationId"], int(status)): response
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, response in operation["responses"].items()
    }
    for link in links:
        described: dict[str, Any] = {"operationId": link.to, "description": link.description}
        described |= {"parameters": link.parameters} if link.parameters else {}
        described |= {"requestBody": link.body} if link.body else {}
        answers[link.of, link.status].setdefault("links", {})[link.name] = described
