"""Serves approvals over HTTP: an operator's key lets one blocked action of somebody else pass once."""

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
        description="The tokens of requests with the same one, digest and owner let one check pass together, so a "
        "request whose answer was lost can be repeated",
    ),
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ApprovalDesk:
    """Makes approvals and accepts them. Threads may share it. `ledger` and `key` may raise `OperatorProblem`."""

    ledger: Callable[[], Ledger]
    key: Callable[[], bytes]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    @contextmanager
    def approvals(self, request: GuardrailRequest, owner: str) -> Iterator[Approvals | None]:
        """Provides what a check of `owner` needs to accept the token of its context; None if there is no token.

        The ledger is opened only for a token that fits. Raises its `OperatorProblem` at the end: the library takes
        the failure of a store for a fault of the check, and denies.
        """
        if not carries_token(request):
            yield None
            return
        store = _LedgerStore(self.ledger)
        yield Approvals(self.key(), owner, int(self.clock().timestamp()), store)
        if store.problem is not None:
            raise store.problem

    def approve(self, request: ApprovalRequest, caller: Caller, idempotency_key: str | None) -> IssuedApproval:
        """Makes a token for an action of another owner.

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
        # A warning, because the service's log keeps nothing less, and who let an action pass has to be found.
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
        description="For keys of the role `operator`, and never for checks of their own owner. The token is bound to "
        "the digest of a check (its action, severity, context and ruleset) and to the owner of the key or session that "
        "checks again. It is used up by the check that passes with it.",
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
    """Takes approvals in the ledger and remembers why that failed."""

    ledger: Callable[[], Ledger]
    problem: OperatorProblem | None = field(default=None, init=False)

    def take(self, approval: Approval) -> bool:
        try:
            with self.ledger().transaction() as tx:
                return take_approval(tx, approval)
        except OperatorProblem as problem:
            self.problem = problem
            raise
