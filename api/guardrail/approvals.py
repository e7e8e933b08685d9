"""Serves approvals over HTTP: with an operator's key, one blocked action of another owner may pass once."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response

from api.deps import authenticated_router, caller_of
from api.responses import TEXT_ERRORS, private_document, problems
from contracts.access.tiers import Caller, Role
from contracts.errors import BodyInvalid, OperatorProblem, OperatorRoleNeeded, OwnApproval, ParameterInvalid
from contracts.guardrail import GuardrailRequest
from contracts.guardrail_approvals import (
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalResult,
    IssuedApproval,
    issue_approval,
    owner_named,
    refuse_others,
    repeated_id,
)
from contracts.idempotency import IDEMPOTENCY_HEADER, LONGEST_IDEMPOTENCY_KEY
from guardrail.approval import Approval, Approvals
from warehouse.guardrail.approvals import take_approval
from warehouse.ledger.ledger import Ledger

SharedUse = Annotated[
    str | None,
    Header(
        alias=IDEMPOTENCY_HEADER,
        min_length=1,
        max_length=LONGEST_IDEMPOTENCY_KEY,
        description="Requests with the same value, digest and owner get tokens that together let only one check pass, "
        "so a request whose answer was lost can be repeated",
    ),
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ApprovalDesk:
    """Issues approvals and accepts them. Thread-safe. `ledger` and `key` may raise `OperatorProblem`."""

    ledger: Callable[[], Ledger]
    key: Callable[[], bytes]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    @contextmanager
    def approvals(self, request: GuardrailRequest, owner: str) -> Iterator[Approvals | None]:
        """Provides the `Approvals` with which a check of `owner` accepts its context's token; None if it has no token.

        The ledger is opened only for a matching token. Its `OperatorProblem` is raised at the end, because the library
        treats a store's failure as a fault of the check, and denies.
        """
        if not carries_token(request):
            yield None
            return
        store = _LedgerStore(self.ledger)
        yield Approvals(self.key(), owner, int(self.clock().timestamp()), store)
        if store.problem is not None:
            raise store.problem

    def approve(self, request: ApprovalRequest, caller: Caller, idempotency_key: str | None) -> IssuedApproval:
        """Issues a token for an action of another owner.

        Raises `BodyInvalid`, `OperatorRoleNeeded`, `OwnApproval`, `OperatorProblem`.
        """
        owner = owner_named(request.owner)
        refuse_others(is_operator=caller.role is Role.OPERATOR, caller_owner=caller.owner, owner=owner or "")
        if owner is None:
            fault = "names no owner of a key or session: send an address, local:NAME or profile:ID"
            raise BodyInvalid(f"The owner {fault}.", errors=[("/owner", fault)])
        key, lives = self.key(), timedelta(seconds=request.expires_in)
        shared = (
            None if idempotency_key is None else repeated_id(key, caller.owner, idempotency_key, request.digest, owner)
        )
        issued = issue_approval(key, request.digest, owner, lives, self.clock(), shared)
        # A warning, because the service's log drops lower levels, and it must be traceable who let an action pass.
        _log.warning("Key %s approved %s for %s: approval %s", caller.key_id, request.digest, owner, issued.approval.id)
        return issued


def carries_token(request: GuardrailRequest) -> bool:
    """Decides whether the context of a check has an approval token, so that the check may use the ledger."""
    return (request.context or {}).get("approval_token") is not None


def approvals_router(desk: ApprovalDesk) -> APIRouter:
    router = authenticated_router("guardrail")

    @router.post(
        "/guardrail/approvals",
        response_model=ApprovalAnswer,
        status_code=201,
        responses=problems(*TEXT_ERRORS, ParameterInvalid, OperatorRoleNeeded, OwnApproval),
        summary="Approve a blocked action, once",
        description="For keys of the role `operator`, but never for checks of their own owner. The token is bound to "
        "the digest of a check (its action, severity, context and ruleset) and to the owner of the key or session that "
        "repeats the check. The check that passes with it uses it up.",
        operation_id="guardrail_approve",
    )
    def approve(body: ApprovalRequest, request: Request, idempotency_key: SharedUse = None) -> Response:
        issued = desk.approve(body, caller_of(request), idempotency_key)
        approval = issued.approval
        result = ApprovalResult(
            approval_token=issued.token, digest=approval.digest, owner=approval.owner, expires_at=issued.expires_at
        )
        return private_document(ApprovalAnswer(data=result), 201)

    return router


@dataclass(eq=False)
class _LedgerStore:
    """Uses up approvals in the ledger and remembers why that failed."""

    ledger: Callable[[], Ledger]
    problem: OperatorProblem | None = field(default=None, init=False)

    def take(self, approval: Approval) -> bool:
        try:
            with self.ledger().transaction() as tx:
                return take_approval(tx, approval)
        except OperatorProblem as problem:
            self.problem = problem
            raise
