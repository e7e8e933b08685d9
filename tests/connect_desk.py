"""A connect service on its own stores, with the state of one process and of the next one."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self

from companion_app import Companion
from patience import slowness_at_the_start

from api.connect.handoff import Handoff
from api.connect.service import ConnectService
from contracts.access.proofs import AskContract, NotProved, Proof, Proved
from contracts.connect.messages import HandshakeArguments, HandshakeResult, PlanArguments, ReportStepArguments
from contracts.connect.tool_problems import ToolProblem
from contracts.intake.answers import ServiceUrls
from contracts.settings import Settings
from warehouse.connect.sessions import issue_code
from warehouse.ledger.counters import open_counters
from warehouse.ledger.ledger import open_ledger

PEPPER = bytes(range(32))
BASE_URL = "http://127.0.0.1:8000"
HANDOFF_TIMEOUT_S = 0.7 * slowness_at_the_start()


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, now: datetime = datetime(2026, 11, 21, 12, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def ahead(self, by: timedelta) -> None:
        self.now += by


def real_clock() -> datetime:
    return datetime.now(UTC)


class Desk:
    """Use as a context manager. A second one on the same settings is the process after a restart."""

    def __init__(
        self,
        settings: Settings,
        clock: Any = real_clock,
        companion: Companion | None = None,
        handoff_timeout_s: float = HANDOFF_TIMEOUT_S,
    ) -> None:
        self.handoff_timeout_s = handoff_timeout_s
        self.clock = clock
        self.ledger = open_ledger(settings, settings.data_dir, clock=clock)
        self.counters = open_counters(settings, settings.data_dir)
        self.companion = companion
        self.service = ConnectService(
            ServiceUrls(base_url=BASE_URL, app_url=None if companion is None else companion.url),
            lambda: self.ledger,
            lambda: PEPPER,
            lambda: self.counters,
            None if companion is None else self._handoff,
            settings.chain_id,
            self._settled,
        )

    @staticmethod
    async def _settled(proof: Proof) -> Proved | NotProved:
        assert not isinstance(proof, AskContract)
        return proof

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.counters.close()
        self.ledger.close()

    def give(self) -> str:
        """Returns a fresh code, from the companion if there is one."""
        if self.companion is not None:
            return self.companion.give()
        with self.ledger.transaction() as tx:
            return issue_code(tx, PEPPER).code

    async def tried(self, code: object, client: str | None = None) -> HandshakeResult | ToolProblem:
        """Returns the result of a handshake, from a new address unless one is given."""
        asked = HandshakeArguments(pairing_code=code, agent="Ada")
        try:
            return await self.service.handshake(asked, client or secrets.token_hex(4))
        except ToolProblem as problem:
            return problem

    def handshake(self, code: object, client: str | None = None) -> HandshakeResult | ToolProblem:
        return asyncio.run(self.tried(code, client))

    def at_once(self, *codes: object) -> list[HandshakeResult | ToolProblem]:
        """Runs handshakes that race each other."""

        async def raced() -> list[HandshakeResult | ToolProblem]:
            return list(await asyncio.gather(*map(self.tried, codes)))

        return asyncio.run(raced())

    def paired(self) -> str:
        """Returns the token of a fresh session."""
        opened = self.handshake(self.give())
        assert isinstance(opened, HandshakeResult), opened
        return opened.session_token

    def session(self, token: object) -> Any:
        return outcome(self.service.session(token))

    def plan(self, token: str, **choice: Any) -> Any:
        async def planned() -> Any:
            session = await self.service.session(token)
            return await self.service.plan(session, PlanArguments(session_token=token, **choice))

        return outcome(planned())

    def report(self, token: str, step_id: str, result: str = "done", **more: Any) -> Any:
        async def reported() -> Any:
            session = await self.service.session(token)
            asked = ReportStepArguments(session_token=token, step_id=step_id, outcome=result, **more)
            return await self.service.report_step(session, asked)

        return outcome(reported())

    def status(self, token: str) -> Any:
        async def looked() -> Any:
            return await self.service.status(await self.service.session(token))

        return outcome(looked())

    def close(self, token: str) -> Any:
        async def closed() -> Any:
            return await self.service.close(await self.service.session(token))

        return outcome(closed())

    def _handoff(self) -> Handoff:
        assert self.companion is not None
        return Handoff(
            self.companion.url, self.companion.secret, self.counters, real_clock, timeout_s=self.handoff_timeout_s
        )


def outcome(asked: Coroutine[Any, Any, Any]) -> Any:
    """Returns the result of a call, or its problem."""

    async def heard() -> Any:
        try:
            return await asked
        except ToolProblem as problem:
            return problem

    return asyncio.run(heard())


def opened(results: list[HandshakeResult | ToolProblem]) -> list[HandshakeResult]:
    return [each for each in results if isinstance(each, HandshakeResult)]
