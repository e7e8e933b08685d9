"""Describes which operation can follow an answer, and which of the answer's fields it takes as input. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Link:
    """A link to a request: JSON pointers into the answer to the values of its parameters and body fields."""

    name: str
    to: str
    description: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)


LINKS = {
    ("agent_access_plans", 200): (
        Link("quote", "agent_access_quote", "A quote for a plan of the catalog", body={"planId": "/plans/0/id"}),
    ),
    ("agent_access_quote", 201): (
        Link("code", "agent_access_quote_code", "The payment as a QR code", parameters={"quoteId": "/quoteId"}),
        Link(
            "claim",
            "agent_access_claim",
            "Pay the quote's exact amount in one transfer, and claim it with that transfer's hash",
            body={
                "quoteId": "/quoteId",
                "quoteHash": "/quoteHash",
                "paymentRequirementHash": "/paymentRequirementHash",
            },
        ),
    ),
    ("agent_access_claim", 201): (
        Link(
            "receipt", "agent_access_receipt", "The receipt of the claim", parameters={"claimId": "/data/claim/claimId"}
        ),
        Link(
            "recoveryChallenge",
            "agent_access_recovery_challenge",
            "What to sign if the key is lost",
            parameters={"claimId": "/data/claim/claimId"},
        ),
        Link(
            "operatorChallenge",
            "agent_access_operator_challenge",
            "What the operator that the quote names signs to own the key",
            parameters={"claimId": "/data/claim/claimId"},
        ),
    ),
    ("my_key_rotate", 201): (
        Link("account", "my_key", "The account of the new key, which is sent instead of the old one"),
    ),
    ("agent_access_payment", 200): (
        Link("receipt", "agent_access_receipt", "The receipt of what was paid", parameters={"claimId": "/claimId"}),
    ),
    ("agent_access_operator_challenge", 200): (
        Link(
            "operator",
            "agent_access_operator",
            "The operator's signature makes it the owner",
            parameters={"claimId": "/claimId"},
        ),
    ),
    ("agent_access_trial_challenge", 200): (
        Link(
            "trial",
            "agent_access_trial",
            "Exchange the signed challenge for the key",
            parameters={"address": "/signer"},
            body={"issuedAt": "/issuedAt"},
        ),
    ),
    ("agent_access_recovery_challenge", 200): (
        Link(
            "recovery",
            "agent_access_recovery",
            "Exchange the signed challenge for the next key",
            parameters={"claimId": "/claimId"},
            body={"issuedAt": "/issuedAt"},
        ),
    ),
    ("agent_access_case_challenge", 200): (
        Link(
            "case",
            "agent_access_case",
            "Read the case with the signed challenge",
            parameters={"caseId": "/caseId"},
            body={"issuedAt": "/issuedAt"},
        ),
        Link(
            "supplement",
            "agent_access_case_supplement",
            "Get a quote for the difference with the signed challenge, if the case offers one",
            parameters={"caseId": "/caseId"},
            body={"issuedAt": "/issuedAt"},
        ),
    ),
    ("guardrail_check", 200): (
        Link("approval", "guardrail_approve", "An operator lets the action pass once", body={"digest": "/data/digest"}),
    ),
    ("intake_register", 201): (
        Link("status", "intake_status", "The current state of the intake", parameters={"intakeId": "/intakeId"}),
        Link("capsule", "intake_capsule", "Its provisioning capsule", parameters={"intakeId": "/intakeId"}),
        Link(
            "erase",
            "intake_erase",
            "Deletes what is stored of the intake",
            parameters={"intakeId": "/intakeId"},
            body={"eraseToken": "/eraseToken"},
        ),
    ),
    ("intake_status", 200): (
        Link("capsule", "intake_capsule", "Its provisioning capsule", parameters={"intakeId": "/intakeId"}),
    ),
    ("world_model_create", 201): (
        Link(
            "claim", "world_model_capsule_claim", "Attach the capsule to your key", body={"claimToken": "/claimToken"}
        ),
    ),
    ("world_model_signal", 201): (
        Link("query", "world_model_query", "The node that was written", body={"node_id": "/data/signalId"}),
        Link(
            "history",
            "world_model_node",
            "The history of the node that was written",
            parameters={"nodeId": "/data/signalId"},
        ),
        Link(
            "pending",
            "world_model_pending",
            "If it was escalated: whose agreement it waits for",
            parameters={"decision": "/data/decision"},
        ),
    ),
    ("world_model_pending", 200): (
        Link(
            "confirm",
            "world_model_pending_confirm",
            "Confirm it as its owner",
            parameters={"decision": "/data/decision"},
        ),
    ),
    ("world_model_node", 200): (
        Link("erase", "world_model_node_erase", "Erase this node", parameters={"nodeId": "/data/node/id"}),
    ),
    ("knowledge_graph_build", 201): (
        Link("query", "world_model_query", "The first node that was written", body={"node_id": "/data/nodes/0/id"}),
    ),
    ("world_model_import_begin", 201): (
        Link("chunk", "world_model_import_chunk", "Send a chunk", parameters={"importId": "/data/importId"}),
        Link("state", "world_model_import_state", "What arrived", parameters={"importId": "/data/importId"}),
        Link("delete", "world_model_import_delete", "Abandon the import", parameters={"importId": "/data/importId"}),
    ),
    ("world_model_import_chunk", 200): (
        Link("apply", "world_model_import_apply", "Apply the whole file", parameters={"importId": "/data/importId"}),
    ),
    ("world_model_import_apply", 201): (
        Link("query", "world_model_query", "The first node of the file", body={"node_id": "/data/nodeIds/0"}),
    ),
    ("world_model_query", 200): (
        Link("history", "world_model_node", "The history of the first node", parameters={"nodeId": "/data/nodes/0/id"}),
        Link(
            "nextPage",
            "world_model_query",
            "The next page: the same query with the cursor",
            body={"cursor": "/data/cursor"},
        ),
    ),
    ("world_model_live", 200): (
        Link("nextPage", "world_model_live", "The next page", parameters={"cursor": "/data/cursor"}),
    ),
    ("token_holders_map", 200): (
        Link(
            "nextPage",
            "token_holders_map",
            "The next page of the same list; there is none if nextCursor is null",
            parameters={"cursor": "/nextCursor"},
        ),
        Link(
            "largest",
            "token_holder",
            "The history of the page's first holder",
            parameters={"address": "/holders/0/address"},
        ),
    ),
    ("token_holder", 200): (
        Link(
            "transfers",
            "token_holder_transfers",
            "The transfers of the address",
            parameters={"address": "/address"},
        ),
    ),
}
"""The links from each answer, keyed by operation and status."""


def add_links(document: dict[str, Any], links: Mapping[tuple[str, int], Sequence[Link]] = LINKS) -> None:
    """Adds each link to the answer that it starts from, in place."""
    answers = {
        (operation["operationId"], int(status)): response
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, response in operation["responses"].items()
    }
    for origin, links_of_answer in links.items():
        answers[origin]["links"] = {link.name: _described(link) for link in links_of_answer}


def _described(link: Link) -> dict[str, Any]:
    described: dict[str, Any] = {"operationId": link.to, "description": link.description}
    for member, pointers in (("parameters", link.parameters), ("requestBody", link.body)):
        if pointers:
            described[member] = {name: f"$response.body#{pointer}" for name, pointer in pointers.items()}
    return described
