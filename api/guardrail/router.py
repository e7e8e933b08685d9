"""Serves the guardrail over HTTP: judges an action, logs the check, and lets operators approve what is blocked."""

import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of
from api.guardrail.approvals import ApprovalDesk, approvals_router, carries_token
from api.receiving import body_limit
from api.responses import BODY_ERRORS, problems
from api.routes import merge_routes
from contracts.guardrail import (
    LOGGED_CHARACTERS,
    LOGGED_FOR,
    GuardrailAnswer,
    GuardrailRequest,
    GuardrailResult,
    refuse_unusable,
    result_of,
)
from guardrail.approval import Approvals
from guardrail.engine import MAX_ACTION_BYTES, Guardrail
from warehouse.guardrail.log import GuardrailLog

SOURCE = "api"
CHECK_PATH = "/api/v2/guardrail/check"

JUDGED_HERE_BYTES = 4 * 1024
"""Largest request that is judged on the event loop; the costliest of this size takes some 10 ms."""


def guardrail_router(
    guardrail: Callable[[], Guardrail], log: Callable[[], GuardrailLog], desk: ApprovalDesk
) -> APIRouter:
    """Creates the routes. `guardrail` and `log`, the log of checks, may raise `OperatorProblem`."""
    router = authenticated_router("guardrail", AuthenticatedReadingRoute)
    large_checks: CapacityLimiter | None = None

    @router.post(
        "/guardrail/check",
        response_model=GuardrailAnswer,
        responses=problems(*BODY_ERRORS),
        summary="Judge an action before it is taken",
        description="The action is parsed into effects (what is deleted, sent, paid, opened or switched off, where, "
        "and how much of it), and a policy judges them in seven stages. No model is called. Parts that could not be "
        "parsed are listed in `uncovered` and never count as harmless. A blocked action passes once with an operator's "
        f"`approval_token` in its context. The body may have {body_limit(CHECK_PATH) // 1024} KiB and the action in it "
        f"{MAX_ACTION_BYTES // 1024} KiB; the difference leaves room for JSON escapes and the context. The log keeps "
        f"the first {LOGGED_CHARACTERS:,} characters of the action for {LOGGED_FOR.days} days, with known secrets "
        "shortened or left out.",
        operation_id="guardrail_check",
    )
    async def check(body: GuardrailRequest, request: Request) -> Response:
        nonlocal large_checks
        caller = caller_of(request)

        def answer() -> str:
            result = check_action(
                guardrail(), log(), body, source=SOURCE, caller=caller.key_id, owner=caller.owner, desk=desk
            )
            return GuardrailAnswer(data=result).model_dump_json()

        if len(await request.body()) > JUDGED_HERE_BYTES:
            # One at a time, because threads share the interpreter with all other requests.
            large_checks = large_checks or CapacityLimiter(1)
            content = await to_thread.run_sync(answer, limiter=large_checks)
        elif carries_token(body):
            # Using up a token may wait for the ledger. A check without a token finishes sooner than a thread starts.
            content = await to_thread.run_sync(answer)
        else:
            content = answer()
        return Response(content, media_type="application/json")

    merge_routes(router, approvals_router(desk))
    return router


def check_action(
    guardrail: Guardrail,
    log: GuardrailLog,
    request: GuardrailRequest,
    *,
    source: str,
    caller: str,
    owner: str,
    desk: ApprovalDesk,
) -> GuardrailResult:
    """Judges an action, using its approval token if it needs one, and logs the check.

    `caller` is the id of a key or session, `owner` its owner. Raises `BodyInvalid`; with a token also
    `OperatorProblem`.
    """
    started = time.perf_counter()
    with desk.approvals(request, owner) as approvals:
        result = judge_action(guardrail, request, approvals)
    latency_us = round((time.perf_counter() - started) * 1e6)
    log.record(
        result, action=request.action, asked=request.severity, source=source, caller=caller, latency_us=latency_us
    )
    return result


def judge_action(
    guardrail: Guardrail, request: GuardrailRequest, approvals: Approvals | None = None
) -> GuardrailResult:
    """Judges an action without logging it. Without `approvals` no token is accepted. Raises `BodyInvalid`."""
    verdict = guardrail.check(request.action, request.severity, request.context, approvals=approvals)
    refuse_unusable(verdict)
    return result_of(verdict, check_id=f"grc_{secrets.token_hex(16)}", checked_at=datetime.now(UTC))
