"""Serves signals over HTTP: an agent makes a statement, and the validator decides on it."""

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import msgspec
from fastapi import APIRouter, Header, Request, Response
from starlette.concurrency import run_in_threadpool

from api.deps import authenticated_router, caller_of
from api.parameters import replayed_header
from api.responses import problems
from api.world.actors import actor_of
from api.world.shown import called_state, shown_dispute, shown_stages, stored_proposal
from contracts.access.tiers import Caller
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    IdempotencyKeyReused,
    MediaTypeUnsupported,
    ParameterInvalid,
    RevisionConflict,
    TrialExcluded,
    TrialFull,
)
from contracts.idempotency import IDEMPOTENCY_HEADER
from contracts.secret_texts import SecretInText
from contracts.times import utc_text
from contracts.world.alignment import Alignment
from contracts.world.graph_documents import decision_fields, dispute_document
from contracts.world.proposal import Actor, Confirmation, Decision, Proposal
from contracts.world.records import is_overruled
from contracts.world.signal import (
    LONGEST_SIGNAL_KEY,
    SignalAnswer,
    SignalRequest,
    SignalResult,
    is_said_again,
    pointed_at_signal,
    signal_proposal,
)
from contracts.world.signed import is_signed
from warehouse.ledger.ledger import Ledger, Reader
from warehouse.world.disputes import disputes_among
from warehouse.world.ontologies import ontology_of
from warehouse.world.taken_over import former_names
from warehouse.world.view import LedgerView
from warehouse.world.write import decision_of_request, is_repeated, propose, stated_again_after, waits_for_owner

SignalKey = Annotated[
    str | None,
    Header(
        alias=IDEMPOTENCY_HEADER,
        min_length=1,
        max_length=LONGEST_SIGNAL_KEY,
        description="The same as `idempotencyKey` in the body, which must not differ",
    ),
]


class Stated(NamedTuple):
    """The decision on a signal; `replayed` if an earlier request with the same key and statements got it too."""

    result: SignalResult
    replayed: bool


def signals_router(ledger: Callable[[], Ledger], alignment: Alignment) -> APIRouter:
    """Creates the route. `ledger` may raise `OperatorProblem`, and so may `alignment` without guardrail rules."""
    router = authenticated_router("world model")

    @router.post(
        "/world-model/signal",
        response_model=SignalAnswer,
        status_code=201,
        responses=problems(
            BodyInvalid,
            ParameterInvalid,
            SecretInText,
            BodyTooLarge,
            MediaTypeUnsupported,
            RevisionConflict,
            IdempotencyKeyReused,
            TrialExcluded,
            TrialFull,
        )
        | {200: {"model": SignalAnswer, "description": "Rejected by a stage: nothing was written"}},
        summary="State something about your world",
        description="One node with its edges, judged by the validator's seven stages. Private to the key's owner "
        "unless it requests `public` and an operator agrees.",
        operation_id="world_model_signal",
    )
    async def signal(body: SignalRequest, request: Request, idempotency_key: SignalKey = None) -> Response:
        caller, sent = caller_of(request), await request.json()
        named = _named(body, idempotency_key)
        stated = await run_in_threadpool(state_signal, ledger, alignment, named, caller, sent)
        status = 200 if stated.result.verdict == "rejected" else 201
        text = SignalAnswer(data=stated.result).model_dump_json(by_alias=True)
        return Response(text, status, replayed_header(stated.replayed), "application/json")

    return router


def state_signal(
    ledger: Callable[[], Ledger],
    alignment: Alignment,
    signal: SignalRequest,
    caller: Caller,
    sent: dict[str, Any],
    confirmation: Confirmation | None = None,
) -> Stated:
    """Writes a signal as `caller` and returns the decision as its owner sees it.

    `sent` is the body as sent, which a signature of the caller's system covers. With a `confirmation` the signal does
    not wait for the owner. Raises `BodyInvalid`, `RevisionConflict`, `IdempotencyKeyReused`.
    """
    actor = actor_of(caller, signed=_is_signed(caller, signal, sent))
    proposal = _proposal(ledger(), signal, actor)
    try:
        decision = propose(ledger(), proposal, alignment=alignment, key_id=caller.key_id, confirmation=confirmation)
    except BodyInvalid as problem:
        raise pointed_at_signal(problem) from None
    with ledger().read() as reader:
        ontology = ontology_of(reader, actor.owner)
        disputes = disputes_among(decision.nodes, LedgerView(reader).holding, ontology)
    result = SignalResult(
        accepted=decision.verdict != "rejected",
        signal_id=proposal.nodes[0].id,
        disputes=[dispute_document(shown_dispute(dispute, actor.name)) for dispute in disputes],
        **decision_fields(_as_called(decision, actor.name)),
    )
    return Stated(result, decision.replayed)


def signal_waits_for_owner(
    ledger: Callable[[], Ledger], alignment: Alignment, signal: SignalRequest, caller: Caller
) -> bool:
    """Decides whether a signal without a signature would wait for its owner only. Writes nothing.

    Raises like `state_signal`.
    """
    proposal = _proposal(ledger(), signal, actor_of(caller))
    try:
        return waits_for_owner(ledger(), proposal, alignment=alignment)
    except BodyInvalid as problem:
        raise pointed_at_signal(problem) from None


def _named(signal: SignalRequest, idempotency_key: str | None) -> SignalRequest:
    """Returns a signal with the header's idempotency key. Raises `ParameterInvalid` if the body has another one."""
    if idempotency_key is None or signal.idempotency_key == idempotency_key:
        return signal
    if signal.idempotency_key is not None:
        raise ParameterInvalid(
            f"{IDEMPOTENCY_HEADER} and idempotencyKey name the signal differently: send one of them.",
            errors=[(f"/header/{IDEMPOTENCY_HEADER}", "differs from idempotencyKey of the body")],
        )
    return signal.model_copy(update={"idempotency_key": idempotency_key})


def _proposal(ledger: Ledger, signal: SignalRequest, actor: Actor) -> Proposal:
    with ledger.read() as reader:
        statement = _Statement(reader, signal, actor)
        stated = statement.proposal()
        if is_said_again(signal):
            assert stated.idempotency_key is not None
            stated = statement.proposal(stated_again_after(reader, actor, stated.idempotency_key))
            newest = statement.view.node(stated.nodes[0].id)
            if newest is not None and is_overruled(newest, utc_text(ledger.now())):
                assert stated.idempotency_key is not None
                stated = statement.proposal(decision_of_request(reader, actor, stated.idempotency_key))
        return stated


class _Statement:
    """Derives proposals of a signal from the graph that a reader sees."""

    def __init__(self, reader: Reader, signal: SignalRequest, actor: Actor) -> None:
        self.view = LedgerView(reader)
        self._reader = reader
        self._signal = signal
        self._actor = actor
        self._ontology = ontology_of(reader, actor.owner)

    def proposal(self, after: int = 0) -> Proposal:
        """Returns the proposal of the signal. If it repeats one that the key sent for a former owner, returns that
        proposal."""
        for name in former_names(self._reader, self._actor.name):
            formerly = self._by(name, name, after)
            if is_repeated(self._reader, formerly):
                return formerly
        author = name = self._actor.name
        stated = self._by(author, name, after)
        while self._is_of_others(stated.nodes[0].id):  # stated with a key that now belongs to another owner
            author = f"{author} again"
            stated = self._by(author, name, after)
        return stated

    def _by(self, author: str, name: str, after: int) -> Proposal:
        stated = signal_proposal(self._signal, self._actor, self._ontology, after=after, author=author)
        return stored_proposal(lambda node_id: self.view.node(node_id) is not None, stated, name)

    def _is_of_others(self, node_id: str) -> bool:
        known = self.view.node(node_id)
        return known is not None and not known.erased and known.owner not in (None, self._actor.name)


def _is_signed(caller: Caller, signal: SignalRequest, sent: dict[str, Any]) -> bool:
    if caller.signer is None or signal.signature is None:
        return False
    return is_signed(sent, signal.signature, caller.signer)


def _as_called(decision: Decision, owner: str) -> Decision:
    return msgspec.structs.replace(
        decision,
        nodes=tuple(called_state(node, owner) for node in decision.nodes),
        edges=tuple(called_state(edge, owner) for edge in decision.edges),
        stages=shown_stages(decision.stages, owner),
    )
