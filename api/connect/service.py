"""Runs the steps behind the tools of connect: pair, plan, report, show, talk, close. The rules are in the contracts.

Attacks on pairing codes, and the defences:

- Our own codes have 131 random bits. No number of attempts finds one, so guesses at them are not counted by address.
- A companion may issue short codes. Guesses at those, each with a different code, are counted by address
  (`REFUSALS_OF_AN_ADDRESS` per hour), which is far below the general limit and far above what people mistype. Against
  guesses from many addresses the companion must have its own limit, since only it knows how short its codes are.
- A code that is tried repeatedly, from however many addresses, is locked after `TRIES_OF_A_CODE` and then reaches
  neither the ledger nor the companion. A code is good for only one attempt anyway, so this locks out nobody who has
  another one.

Every refusal has the same shape. With our own codes, all refusals take the same path through the ledger. With a
companion's codes, they are delayed until its time-out has passed. So neither shape nor timing reveals the reason. Only
a lock answers at once: it depends only on what its caller, or others with the same code, sent before.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from contracts.access.proofs import NotProved, Proof, Proved, Unsure
from contracts.connect import tool_problems
from contracts.connect.graph_access import check_graph_proof, graph_typed_data
from contracts.connect.messages import (
    CloseResult,
    GraphArguments,
    GraphResult,
    HandshakeArguments,
    HandshakeResult,
    PlanArguments,
    PlanResult,
    ReportStepArguments,
    ReportStepResult,
    SessionSummary,
    StatusResult,
    TalkArguments,
)
from contracts.connect.pairing import Vouched, code_digest, is_code
from contracts.connect.progress import Progress, advance, carry_over, start, status_of
from contracts.connect.sessions import Session
from contracts.connect.setup_plan import Choice, ConnectPlan, plan_for
from contracts.connect.talk import SessionFacts, TalkAnswer, answer
from contracts.connect.tokens import is_token
from contracts.errors import OperatorProblem
from contracts.intake.answers import ServiceUrls
from warehouse.access.keys import active_key
from warehouse.connect import sessions
from warehouse.intake.intakes import find_intake

if TYPE_CHECKING:
    from api.connect.handoff import Handoff
    from warehouse.ledger.counters import Counters
    from warehouse.ledger.ledger import Ledger, Transaction

TRIES_OF_A_CODE = 5
CODE_WINDOW_S = 600
REFUSALS_OF_AN_ADDRESS = 60
ADDRESS_WINDOW_S = 3600

HELD_BACK_S = 0.1
"""Delay of a refusal beyond the companion's time-out, which covers our own processing time."""

_SAVES_TRIED = 8
_INTAKE_ID = re.compile(r"[0-9a-f]{32}")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class ConnectService:
    """Serves the tools. One object per process. Every method raises `ToolProblem` and no other expected error.

    `handoff` is None if `svc pair` issues the codes.
    """

    urls: ServiceUrls
    ledger: Callable[[], Ledger]
    pepper: Callable[[], bytes]
    counters: Callable[[], Counters]
    handoff: Callable[[], Handoff] | None
    chain_id: int
    settle: Callable[[Proof], Awaitable[Proved | NotProved | Unsure]]
    """Settles a signature, asking the signer's contract if only that can decide."""

    async def handshake(self, arguments: HandshakeArguments, client: str) -> HandshakeResult:
        """Opens a session with a pairing code. `client` is the rate-limit key of the client's address.

        Raises `PairingCodeRejected` for any wrong code, or `StoreUnavailable`.
        """
        with _failing_closed():
            pairing = _Pairing(arguments.pairing_code, await asyncio.to_thread(self.pepper), client)
            if not await asyncio.to_thread(self._is_admitted, pairing):
                raise tool_problems.PairingCodeRejected(self.urls.app_url)
            if self.handoff is None:
                opened = await asyncio.to_thread(
                    sessions.redeem_issued, self.ledger(), pairing.digest, pairing.pepper, arguments.agent
                )
            else:
                opened = await self._redeem_vouched(self.handoff(), pairing, arguments.agent)
            if opened is None:
                raise tool_problems.PairingCodeRejected(self.urls.app_url)
        return HandshakeResult(
            session_token=opened.token, expires_at=opened.session.expires_at, profile=opened.session.owner
        )

    async def session(self, token: object) -> Session:
        """Returns the open session of a token, which may be any value that a client sent.

        Raises `SessionRequired`, `SessionEnded` or `StoreUnavailable`.
        """
        with _failing_closed():
            session = await asyncio.to_thread(self._find, token) if isinstance(token, str) and is_token(token) else None
            if session is None:
                raise tool_problems.SessionRequired(self.urls.app_url)
            return self._still_open(session)

    async def plan(self, session: Session, arguments: PlanArguments) -> PlanResult:
        """Returns the plan for the choice. Finished steps that it shares with the previous plan remain done."""

        def chosen(current: Session) -> Session:
            plan = self._plan(current, arguments)
            before = _progress(current)
            if before is not None and (before.plan_version, before.choice) == (plan.version, plan.choice):
                return current
            return _with_progress(current, start(plan) if before is None else carry_over(plan, before))

        current = await self._change(session, chosen)
        plan, progress = self._plan(current), _progress(current)
        assert progress is not None
        return PlanResult(expires_at=current.expires_at, plan=plan, progress=status_of(plan, progress))

    async def report_step(self, session: Session, arguments: ReportStepArguments) -> ReportStepResult:
        """Advances the session's progress by one report. Raises the errors of `contracts.connect.progress.advance`,
        `PlanRequired` and `IntakeUnknown`."""

        def reported(current: Session) -> Session:
            progress = _progress(current)
            if progress is None:
                raise tool_problems.PlanRequired
            advanced = advance(self._plan(current), progress, arguments.report)
            intake_id = arguments.intake_id or advanced.intake_id or current.intake_id
            return replace(_with_progress(current, advanced), intake_id=intake_id)

        current = await self._change(session, reported)
        progress = _progress(current)
        assert progress is not None
        return ReportStepResult(
            expires_at=current.expires_at,
            progress=status_of(self._plan(current), progress),
            intake_id=current.intake_id,
        )

    async def status(self, session: Session) -> StatusResult:
        """Returns the session's current state."""
        progress = _progress(session)
        status = None if progress is None else status_of(self._plan(session), progress)
        if status is None or status.plan_changed:
            next_tool = "svc_connect_plan"
        else:
            next_tool = "svc_connect_close" if status.finished else "svc_connect_report_step"
        summary = SessionSummary(
            profile=session.owner,
            agent=session.agent,
            created_at=session.created_at,
            expires_at=session.expires_at,
            intake_id=session.intake_id,
            revision=session.revision,
        )
        return StatusResult(session=summary, progress=status, next_tool=next_tool)

    async def talk(self, session: Session, arguments: TalkArguments) -> TalkAnswer:
        """Answers a question about the session and its plan, or about the default plan if none was requested yet."""
        with _failing_closed():
            facts = SessionFacts(
                now=self.ledger().now(),
                expires_at=session.expires_at,
                base_url=self.urls.base_url,
                payments_live=self.urls.payments_live,
            )
        plan, progress = self._plan(session), _progress(session)
        return answer(arguments.question, plan, progress or start(plan), facts)

    async def open_graph(self, session: Session, arguments: GraphArguments, presented: str | None) -> GraphResult:
        """Lets a session see the graph of a key's owner or of a signing address. `presented` is the request's key.

        Raises `KeyRejected`, `SignatureRejected`, `ContractUnsure`.
        """
        with _failing_closed():
            if arguments.address is not None:
                return await self._graph_by_signature(session, arguments.address, arguments)
            key = arguments.api_key or presented
            owner = None if key is None else await asyncio.to_thread(self._open_by_key, session, key)
        if owner is None:
            raise tool_problems.KeyRejected
        return GraphResult(owner=owner, by="key", expires_at=session.expires_at)

    async def seen_owner(self, session: Session) -> str:
        """Returns the owner whose private nodes the session sees."""
        with _failing_closed():
            return await asyncio.to_thread(self._seen_owner, session)

    async def close(self, session: Session) -> CloseResult:
        """Ends the session for good."""
        with _failing_closed():
            closed = await asyncio.to_thread(self._close, session.session_id)
        assert closed.closed_at is not None
        return CloseResult(closed_at=closed.closed_at)

    # Graphs of keys.

    def _open_by_key(self, session: Session, presented: str) -> str | None:
        pepper, ledger = self.pepper(), self.ledger()
        with ledger.read() as reader:
            record = active_key(reader, pepper, presented)
        if record is None:
            return None
        with ledger.transaction() as tx:
            sessions.open_graph(tx, session.session_id, record.owner, record.key_id)
        return record.owner

    async def _graph_by_signature(self, session: Session, owner: str, arguments: GraphArguments) -> GraphResult:
        now = self.ledger().now()
        if arguments.proof is None or arguments.issued_at is None:
            issued_at = int(now.timestamp())
            message = graph_typed_data(session.session_id, owner, issued_at, self.chain_id)
            return GraphResult(
                owner=None, by=None, typed_data=message, issued_at=issued_at, expires_at=session.expires_at
            )
        proof = await asyncio.to_thread(
            check_graph_proof,
            arguments.proof,
            session_id=session.session_id,
            owner=owner,
            issued_at=arguments.issued_at,
            chain_id=self.chain_id,
            now=now,
        )
        settled = await self.settle(proof)
        if isinstance(settled, str):
            raise tool_problems.ContractUnsure
        if isinstance(settled, NotProved):
            raise tool_problems.SignatureRejected
        await asyncio.to_thread(self._open_by_signature, session, owner)
        return GraphResult(owner=owner, by="signature", expires_at=session.expires_at)

    def _open_by_signature(self, session: Session, owner: str) -> None:
        with self.ledger().transaction() as tx:
            sessions.open_graph(tx, session.session_id, owner, None)

    def _seen_owner(self, session: Session) -> str:
        with self.ledger().read() as reader:
            return sessions.opened_graph(reader, session.session_id) or session.owner

    # Pairing.

    def _is_admitted(self, pairing: _Pairing) -> bool:
        """Counts an attempt. Returns False if the code, or the address of a guesser of companion codes, has no attempts
        left."""
        counters, now_s = self.counters(), self.ledger().now().timestamp()
        if not counters.take(pairing.code_key, TRIES_OF_A_CODE, CODE_WINDOW_S, now_s).allowed:
            return False
        if self.handoff is None:
            return True
        return counters.take(pairing.address_key, REFUSALS_OF_AN_ADDRESS, ADDRESS_WINDOW_S, now_s).allowed

    async def _redeem_vouched(
        self, handoff: Handoff, pairing: _Pairing, agent: str | None
    ) -> sessions.OpenedSession | None:
        loop = asyncio.get_running_loop()
        answer_at = loop.time() + handoff.timeout_s + HELD_BACK_S
        opened = None
        if pairing.code is not None and not await asyncio.to_thread(self._is_used, pairing):
            vouched = await handoff.vouched(pairing.code)
            if vouched is not None:
                opened = await asyncio.to_thread(self._redeem_vouched_now, pairing, vouched, agent)
        if opened is None:
            await asyncio.sleep(answer_at - loop.time())
        return opened

    def _is_used(self, pairing: _Pairing) -> bool:
        with self.ledger().read() as reader:
            return sessions.is_known(reader, pairing.digest)

    def _redeem_vouched_now(
        self, pairing: _Pairing, vouched: Vouched, agent: str | None
    ) -> sessions.OpenedSession | None:
        ledger = self.ledger()
        with ledger.transaction() as tx:
            opened = sessions.redeem_vouched(tx, pairing.digest, vouched, pairing.pepper, agent)
        if opened is not None:
            self.counters().give_back(pairing.address_key, ADDRESS_WINDOW_S, ledger.now().timestamp())
        return opened

    # Sessions.

    def _find(self, token: str) -> Session | None:
        with self.ledger().read() as reader:
            return sessions.find_session(reader, self.pepper(), token)

    def _still_open(self, session: Session) -> Session:
        if not session.is_open(self.ledger().now()):
            raise tool_problems.SessionEnded(self.urls.app_url)
        return session

    def _close(self, session_id: str) -> Session:
        with self.ledger().transaction() as tx:
            return sessions.close_session(tx, session_id)

    async def _change(self, session: Session, change: Callable[[Session], Session]) -> Session:
        with _failing_closed():
            return await asyncio.to_thread(self._changed, session, change)

    def _changed(self, session: Session, change: Callable[[Session], Session]) -> Session:
        """Applies `change` to a session and saves the result.

        `change` runs before the ledger is locked, and runs again if another call saved first.
        """
        for _ in range(_SAVES_TRIED):
            changed = change(session)
            if changed == session:
                return session
            with self.ledger().transaction() as tx:
                if changed.intake_id != session.intake_id and not _is_intake(tx, changed.intake_id):
                    raise tool_problems.IntakeUnknown
                saved = sessions.save_session(tx, changed)
                if saved is not None:
                    return saved
                session = self._still_open(sessions.session_of_id(tx, session.session_id))
        raise tool_problems.StoreUnavailable

    def _plan(self, session: Session, arguments: PlanArguments | None = None) -> ConnectPlan:
        """Returns the plan of the requested choice, completed with the earlier choice and the defaults."""
        named: dict[str, Any] = {}
        for name in Choice.model_fields:
            value = getattr(session, name) if arguments is None else getattr(arguments, name) or getattr(session, name)
            if value is not None:
                named[name] = value
        return plan_for(Choice(**named), self.urls)


class _Pairing:
    """The code of one handshake. A value that is not a code is counted and looked up like one."""

    def __init__(self, sent: object, pepper: bytes, client: str) -> None:
        self.pepper = pepper
        self.code = sent if isinstance(sent, str) and is_code(sent) else None
        self.digest = code_digest(pepper, sent if isinstance(sent, str) else json.dumps(sent))
        self.code_key = f"pairing code:{self.digest}"
        self.address_key = f"pairing address:{client}"


def _progress(session: Session) -> Progress | None:
    return None if session.progress_json is None else Progress.model_validate_json(session.progress_json)


def _with_progress(session: Session, progress: Progress) -> Session:
    choice = progress.choice
    return replace(
        session,
        assistant=choice.assistant,
        os=choice.os,
        runtime_profile=choice.runtime_profile,
        progress_json=progress.model_dump_json(),
    )


def _is_intake(tx: Transaction, intake_id: str | None) -> bool:
    return intake_id is None or (_INTAKE_ID.fullmatch(intake_id) is not None and find_intake(tx, intake_id) is not None)


@contextmanager
def _failing_closed() -> Iterator[None]:
    try:
        yield
    except OperatorProblem as problem:
        _log.warning("A tool of connect was not served: %s", problem)
        raise tool_problems.StoreUnavailable from None
