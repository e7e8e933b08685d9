"""Implements `svc world`: loads the constitution, verifies the audit, records restores, decides proposals, and forgets
owners."""

import getpass
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import typer
import yaml

from cli.erasure import erase, erasure_text
from cli.output import note, operator_problems, print_json, say
from cli.owners import given_owner
from cli.stores import existing_ledger, opened_ledger
from contracts.errors import OntologyRefused, OwnerInvalid, RequestProblem, RestoreRefused
from contracts.world.audit import AuditReport
from contracts.world.own_ontology import OwnOntology
from contracts.world.proposal import Actor, Decision, Proposal
from warehouse.ledger.ledger import Reader
from warehouse.world.audit import begins_with, newest_decisions, verify
from warehouse.world.audit_heads import known_heads, record_restore
from warehouse.world.events import head_revision, public_counts
from warehouse.world.forget import finish_erasures, forget_owner, waiting_erasures
from warehouse.world.load import load_constitution
from warehouse.world.ontologies import OntologyVersion, set_ontology, version_of
from warehouse.world.write import approve, pending, reject


def load(as_json: bool) -> None:
    with operator_problems(as_json), opened_ledger() as (_, ledger):
        decision = load_constitution(ledger)
        with ledger.read() as reader:
            counts, edges = public_counts(reader)
            revision = head_revision(reader)
    written = 0 if decision is None else len(decision.nodes) + len(decision.edges)
    if as_json:
        print_json({"ok": True, "written": written, "nodes": counts, "edges": edges, "revision": revision})
    else:
        say(f"{written} written; {sum(counts.values())} public nodes and {edges} edges at revision {revision}")


def audit(newest: int, as_json: bool) -> None:
    """Verifies the chain of decisions, every event behind it, and the signed heads of kept generations.

    Exits with 1 after tampering, and after an unrecorded restore.
    """
    with operator_problems(as_json), existing_ledger() as (settings, ledger), ledger.read() as reader:
        report = verify(reader, known_heads(settings))
        shown = newest_decisions(reader, newest)
    if as_json:
        found = {"verdict": report.verdict, **msgspec.to_builtins(report)}
        print_json({"ok": report.intact, **found, "newest": shown})
    else:
        for row in shown:
            say(f"{row['seq']:>8}  {row['decidedAt']}  {row['verdict']:<9}  {_payload_text(row['payload'])}")
        say(f"{report.decisions} decisions, {report.events} events, {report.forgotten} forgotten; head {report.head}")
        say(f"compared with the signed heads of {report.signed_heads} generations")
        if report.restored_at is not None:
            say(f"restored at {report.restored_at}: {_superseded_text(report.superseded)}")
        for fault in report.rolled_back:
            say(f"ROLLED BACK: {fault}")
        for fault in report.faults:
            say(f"TAMPERED: {fault}")
        if report.verdict == "rolled_back":
            note(
                "svc: Published decisions are missing from the ledger.\n"
                "     If you restored a backup, run `svc world restored` with the output of `svc world audit --json` "
                "from the time of the backup. If nobody did, someone removed them: restore the newest backup."
            )
    if not report.intact:
        raise typer.Exit(1)


def restored(backup_audit: Path | None, as_json: bool) -> None:
    """Records that a backup was restored, so that `audit` does not expect the decisions published after that backup.

    Refuses a chain that was tampered with, or that is not the backup's.
    """
    with operator_problems(as_json), existing_ledger() as (settings, ledger), ledger.read() as reader:
        report = verify(reader, known_heads(settings))
        if report.faults:
            raise RestoreRefused(
                f"The ledger was changed other than by a restore: {report.faults[0]}.",
                cure="Run `svc world audit` to see all findings, and restore another backup.",
            )
        if backup_audit is not None:
            _require_chain_of(reader, backup_audit)
        restore = record_restore(settings, reader, datetime.now(UTC))
        superseded = verify(reader, known_heads(settings)).superseded
    head = restore.head
    if as_json:
        recorded = {"restoredAt": restore.restored_at, "decisions": head.decisions, "head": head.link}
        print_json({"ok": True, **recorded, "superseded": superseded})
    else:
        say(f"recorded: restored to {head.decisions} decisions, head {head.link}")
        say(_superseded_text(superseded))


def _require_chain_of(reader: Reader, backup_audit: Path) -> None:
    """Raises `RestoreRefused` unless the chain begins with the chain whose `svc world audit --json` output is given."""
    try:
        printed = msgspec.json.decode(backup_audit.read_bytes(), type=AuditReport)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise RestoreRefused(
            f"{backup_audit} is not output of `svc world audit --json`.",
            cure="Pass the output from the time of the backup, or leave it out to skip the comparison.",
        ) from None
    if not begins_with(reader, printed.decisions, printed.head):
        raise RestoreRefused(
            f"The ledger's first {printed.decisions} decisions differ from those in {backup_audit}.",
            cure="Restore the ledger of that backup, or pass the file that belongs to the restored backup.",
        )


def _superseded_text(superseded: int) -> str:
    return f"{superseded} kept generations were published from decisions that are now lost"


def pending_(as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger):
        waiting = pending(ledger)
    if as_json:
        rows = [
            {"decision": seq, "since": since, "proposal": msgspec.to_builtins(proposal)}
            for seq, since, proposal in waiting
        ]
        print_json({"ok": True, "pending": rows})
        return
    for seq, since, proposal in waiting:
        say(f"{seq:>8}  {since:%Y-%m-%d %H:%M:%SZ}  {proposal.actor.name:<32}  {_proposal_text(proposal)}")
    if not waiting:
        say("nothing is pending")


def approve_(decision: int, name: str | None, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger):
        decided = approve(ledger, decision, name or getpass.getuser())
    _print_decision(decided, as_json)
    if decided.verdict != "approved":
        raise typer.Exit(1)


def reject_(decision: int, reason: str, name: str | None, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger):
        decided = reject(ledger, decision, name or getpass.getuser(), reason)
    _print_decision(decided, as_json)


def show_ontology(owner: str, version: int | None, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        known = version_of(reader, given_owner(owner), version)
        if known is None:
            raise OwnerInvalid(f"{owner} has no version {version}.", cure="Leave out --version to see the newest.")
    _print_ontology(known, [], as_json)


def set_ontology_(owner: str, file: Path, as_json: bool) -> None:
    """Sets an owner's words from a file, on the operator's authority."""
    with operator_problems(as_json), opened_ledger() as (_, ledger):
        try:
            words = OwnOntology.model_validate(yaml.safe_load(file.read_text()) or {})
            actor = Actor("operator", f"operator:{getpass.getuser()}", on_behalf_of=given_owner(owner))
            outcome = set_ontology(ledger, actor, words, None)
        except (OSError, ValueError, yaml.YAMLError, RequestProblem) as fault:
            detail = fault.detail if isinstance(fault, RequestProblem) else str(fault)
            raise OntologyRefused(f"{file} is refused: {detail}", cure="Fix the file; nothing was written.") from None
    _print_ontology(outcome.version, [node.id for node in outcome.changed], as_json)


def _print_ontology(version: OntologyVersion, changed: list[str], as_json: bool) -> None:
    words = msgspec.json.decode(version.text)
    if as_json:
        recorded = {"version": version.version, "recordedAt": version.recorded_at, "changedFacts": changed}
        print_json({"ok": True, "ontology": words, **recorded})
        return
    say(yaml.safe_dump(words, sort_keys=False).rstrip())
    say(f"# version {version.version}, since {version.recorded_at or 'ever'}; {len(changed)} facts changed with it")


def forget(owner: str, name: str | None, as_json: bool) -> None:
    """Deletes the texts of an owner's private nodes and edges from every file. The audit chain stays intact.

    The command must be repeated after an interruption. It also completes owners' own erasures that are still waiting
    for the files.
    """
    with operator_problems(as_json):
        with existing_ledger() as (_, ledger):
            forgotten = forget_owner(ledger, given_owner(owner), name or getpass.getuser())
            with ledger.read() as reader:
                waiting = waiting_erasures(reader)
        erased = erase(waiting.callers)
        with existing_ledger() as (_, ledger):
            finish_erasures(ledger, waiting.ids)
    if as_json:
        print_json({"ok": True, "forgotten": forgotten, "deleted": asdict(erased)})
    else:
        say(f"{forgotten} nodes and edges forgotten; {erasure_text(erased)}")


def _print_decision(decision: Decision, as_json: bool) -> None:
    if as_json:
        print_json({"ok": decision.verdict == "approved"} | msgspec.to_builtins(decision))
        return
    for stage in decision.stages:
        say(f"{stage.result:<5} {stage.stage:<22} {stage.reason}")
    say(f"{decision.verdict}: {len(decision.nodes)} nodes, {len(decision.edges)} edges; revision {decision.revision}")


def _proposal_text(proposal: Proposal) -> str:
    titles = ", ".join(node.title for node in proposal.nodes[:3])
    return f"{titles} ({len(proposal.nodes)} nodes, {len(proposal.edges)} edges)"


def _payload_text(payload: dict[str, Any] | None) -> str:
    if payload is None:
        return "forgotten"
    failed = [stage["stage"] for stage in payload["stages"] if stage["result"] == "fail"]
    return f"{payload['actor']['name']}: {_proposal_text(msgspec.convert(payload['proposal'], Proposal))}" + (
        f"; failed {', '.join(failed)}" if failed else ""
    )
