"""Connect sessions in a ledger, advanced through a plan as an assistant's reports would do it."""

from __future__ import annotations

from dataclasses import replace

from contracts.connect.pairing import code_digest
from contracts.connect.progress import Progress, StepReport, advance, next_step, start
from contracts.connect.sessions import Session
from contracts.connect.setup_plan import Choice, ConnectPlan, plan_for
from contracts.intake.answers import ServiceUrls
from warehouse.connect import sessions
from warehouse.ledger.ledger import Ledger

URLS = ServiceUrls("http://127.0.0.1:8000", None)
PEPPER = b"a pepper of tests"
AGENT = "Grace's own operator"


def plan_of(**choice: str) -> ConnectPlan:
    return plan_for(Choice(**choice), URLS)


def finished(plan: ConnectPlan, *, skip_optional: bool = False, intake_id: str | None = None) -> Progress:
    """Returns progress with every step done; optional ones are skipped on request."""
    progress = start(plan)
    while (coming := next_step(plan, progress)) is not None:
        step = coming.step
        outcome = "skipped" if step.optional and skip_optional else "done"
        evidence = {"intake_id": intake_id} if intake_id and "intake_id" in step.evidence and outcome == "done" else {}
        progress = advance(plan, progress, StepReport(step_id=step.id, outcome=outcome, evidence=evidence))
    return progress


def open_session(ledger: Ledger) -> Session:
    """Returns a session that was just paired."""
    with ledger.transaction() as tx:
        issued = sessions.issue_code(tx, PEPPER)
    opened = sessions.redeem_issued(ledger, code_digest(PEPPER, issued.code), PEPPER, AGENT)
    assert opened is not None
    return opened.session


def keep(ledger: Ledger, session: Session, progress: Progress, intake_id: str | None = None) -> Session:
    """Stores a plan's progress with the session and returns it."""
    kept = replace(
        session,
        assistant=progress.choice.assistant,
        os=progress.choice.os,
        runtime_profile=progress.choice.runtime_profile,
        progress_json=progress.model_dump_json(),
        intake_id=intake_id,
    )
    with ledger.transaction() as tx:
        saved = sessions.save_session(tx, kept)
    assert saved is not None
    return saved


def close(ledger: Ledger, session: Session) -> None:
    with ledger.transaction() as tx:
        sessions.close_session(tx, session.session_id)
