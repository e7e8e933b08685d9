"""Implements the client's operations without sending anything: generators that yield requests and receive answers.

`clients.py` has a sync and an async form of each. An operation that gets a key makes the client use it.
"""

from __future__ import annotations

import hashlib
import uuid
from typing import Any, Literal, Protocol, TypedDict, Unpack, cast
from urllib import parse

import rfc8785

from svc_client import api_types as api
from svc_client.errors import Altered, Pending, refusal
from svc_client.exchange import Flow, Request, Response, Use, Wait
from svc_client.holders import VerifiedHolders, list_to_verify, verified

ACCEPT_AS_IT_IS = {"Accept-Encoding": "identity"}
"""Requested because a list's digest is of the file itself, which is already compressed."""


class Account(Protocol):
    """A wallet that can sign, such as an account of `eth_account`."""

    @property
    def address(self) -> Any: ...

    def sign_typed_data(self, *, full_message: dict[str, Any]) -> Any: ...


class BuildMembers(TypedDict, total=False):
    """The members of `api_types.BuildRequest`, which is a union and therefore can't type keyword arguments."""

    documents: list[api.SourceDocument]
    edges: list[api.Edge]
    graphId: str | None
    mode: Literal["preview", "apply"]
    nodes: list[api.Node]
    triples: list[api.Triple]
    visibility: Literal["public", "private"]


def document(path: str, **query: Any) -> Flow[Any]:
    """Reads a published document, such as `/api/site-metrics`. Returns its JSON, or else its text."""
    return (yield from _asked(Request("GET", path, repeatable=True, query=query))).body


def plans() -> Flow[api.PlansAnswer]:
    """Reads the plans that can be bought, and what a trial key offers."""
    return cast(api.PlansAnswer, (yield from document("/api/agent-access/plans")))


def trial_key(account: Account) -> Flow[api.TrialPacket]:
    """Gets a trial key in return for a wallet's signature, without payment."""
    path = f"/api/agent-access/trials/{_segment(account.address)}"
    challenge = (yield from _asked(Request("GET", path, repeatable=True))).body
    signature = signature_of(account, challenge["typedData"])
    body = {"issuedAt": challenge["issuedAt"], "proof": {"type": "eip712", "signature": signature}}
    answer = yield from _asked(Request("POST", path, repeatable=True, body=body))
    packet = cast(api.TrialPacket, answer.body["data"])
    yield Use(packet["apiKey"])
    return packet


def quote(plan_id: str, payer: str) -> Flow[api.QuoteAnswer]:
    """Requests an offer for the address that will pay. Raises `Altered` if the offer does not match its hashes."""
    body = {"planId": plan_id, "payerAddress": payer}
    answer = yield from _asked(Request("POST", "/api/agent-access/quote", repeatable=True, body=body))
    offered = cast(api.QuoteAnswer, answer.body)
    said = offered["data"]["quote"], offered["data"]["paymentRequirement"]
    if [*map(_sha256, said)] != [offered["quoteHash"], offered["paymentRequirementHash"]]:
        raise Altered("the quote or its payment requirement does not match its hash")
    return offered


def claim(
    offered: api.QuoteAnswer, transaction_hash: str, *, account: Account | None = None, wait_s: float = 300.0
) -> Flow[api.ClaimAnswer]:
    """Redeems a paid quote, waiting up to `wait_s` seconds for the payment to settle.

    `account` signs if the quote requires the payer's proof. If the answer is lost, repeat the claim with the same
    arguments, even from another process: it never pays or issues twice. Raises `Pending`.
    """
    step = offered["data"]["next"]["claim"]
    names = ("quoteId", "quoteHash", "paymentRequirementHash")
    body: dict[str, Any] = {name: cast(Any, offered)[name] for name in names} | {"transactionHash": transaction_hash}
    if step["proofRequired"] and account is not None:
        body["integrity"] = {"type": "eip712", "signature": signature_of(account, step["proof"])}
    key = {"Idempotency-Key": f"claim-{offered['quoteId']}"}
    request = Request("POST", "/api/agent-access/claim", repeatable=True, body=body, headers=key)
    waited_s = 0.0
    while True:
        answer = yield from _asked(request)
        if answer.status != 202:
            issued = cast(api.ClaimAnswer, answer.body)
            yield Use(issued["data"]["activationPacket"]["apiKey"])
            return issued
        pause_s = float(answer.retry_after_s or answer.body["retryAfter"])
        if waited_s + pause_s > wait_s:
            raise Pending(answer.body)
        waited_s += pause_s
        yield Wait(pause_s)


def query(**question: Unpack[api.GraphQueryRequest]) -> Flow[api.GraphQueryAnswer]:
    """Queries the graph: the key's own part and the public part."""
    answer = yield from _asked(Request("POST", "/api/v2/world-model/query", repeatable=True, body=question))
    return cast(api.GraphQueryAnswer, answer.body)


def node(node_id: str, **query: Any) -> Flow[api.NodeHistoryAnswer]:
    """Reads a node with its states, decisions and sources."""
    return cast(api.NodeHistoryAnswer, (yield from document(f"/api/v2/world-model/nodes/{_segment(node_id)}", **query)))


def signal(**statement: Unpack[api.SignalRequest]) -> Flow[api.SignalAnswer]:
    """States a fact, exactly once even if it is retried. A stage may reject it: see `data.verdict`."""
    body = {"idempotencyKey": uuid.uuid4().hex, **statement}
    answer = yield from _asked(Request("POST", "/api/v2/world-model/signal", repeatable=True, body=body))
    return cast(api.SignalAnswer, answer.body)


def erase(node_id: str) -> Flow[api.ErasureAnswer]:
    """Erases a private node and its edges."""
    answer = yield from _asked(Request("DELETE", f"/api/v2/world-model/nodes/{_segment(node_id)}", repeatable=True))
    return cast(api.ErasureAnswer, answer.body)


def build(request: api.BuildRequest | None = None, **members: Unpack[BuildMembers]) -> Flow[api.BuildAnswer]:
    """Builds a graph from documents. Repeating `apply` with a graph id replaces that graph's content.

    Pass the request's members as keywords, or as a whole request, whose members keywords override.
    """
    body: dict[str, Any] = {**cast(Any, request or {}), **members}
    repeatable = body.get("mode", "preview") == "preview" or "graphId" in body
    answer = yield from _asked(Request("POST", "/api/v2/knowledge-graph/build", repeatable=repeatable, body=body))
    return cast(api.BuildAnswer, answer.body)


def design_memory(**request: Unpack[api.DesignRequest]) -> Flow[api.DesignAnswer]:
    """Creates a memory plan for an agent."""
    repeatable = request.get("mode", "preview") == "preview"
    answer = yield from _asked(Request("POST", "/api/v2/memory/design", repeatable=repeatable, body=request))
    return cast(api.DesignAnswer, answer.body)


def check(**action: Unpack[api.GuardrailRequest]) -> Flow[api.GuardrailAnswer]:
    """Has an action judged before it is taken: if `data.passed` is false, don't take it."""
    answer = yield from _asked(Request("POST", "/api/v2/guardrail/check", repeatable=True, body=action))
    return cast(api.GuardrailAnswer, answer.body)


def holders() -> Flow[api.TokenHolders]:
    """Reads the count, concentration and proof of the token's holders."""
    return cast(api.TokenHolders, (yield from document("/api/token/holders")))


def holder(address: str, **query: Any) -> Flow[api.TokenHolder]:
    """Reads the history of one address."""
    return cast(api.TokenHolder, (yield from document(f"/api/token/holders/{_segment(address)}", **query)))


def verify() -> Flow[VerifiedHolders]:
    """Reads the whole list of holders and checks that its count and sum are those that the service states at its block.

    Raises `NotProven`. `svc verify` proves more, against nodes of the chain.
    """
    document = yield from holders()
    path = list_to_verify(document)["path"]
    packed = yield from _asked(Request("GET", path, repeatable=True, headers=ACCEPT_AS_IT_IS))
    return verified(document, packed.content)


def signature_of(account: Account, typed_data: dict[str, Any]) -> str:
    """Returns a wallet's signature of EIP-712 typed data as hex with 0x."""
    return "0x" + bytes(account.sign_typed_data(full_message=typed_data).signature).hex()


def _asked(request: Request) -> Flow[Response]:
    answer: Response = yield request
    if answer.status >= 400:
        raise refusal(answer.status, answer.body, answer.retry_after_s)
    return answer


def _segment(name: str) -> str:
    """Quotes a name as one segment of a path, because `#` and `?` would end the path."""
    return parse.quote(name, safe="")


def _sha256(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
