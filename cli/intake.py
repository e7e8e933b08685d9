"""Implements `svc intake`: lists and reviews intakes, and exports or forgets them for the people who sent them."""

import getpass
from dataclasses import asdict

from cli.erasure import erase, erasure_text
from cli.output import operator_problems, print_json, say
from cli.stores import existing_ledger
from warehouse.intake import intakes
from warehouse.intake.rights import export_intake, forget_intake, list_intakes


def list_(most: int, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        intakes = list_intakes(reader, most)
    if as_json:
        print_json({"ok": True, "intakes": intakes})
        return
    for intake in intakes:
        say(
            f"{intake['intake_id']}  {intake['received_at'][:10]}  {intake['lane']:<10}  {intake['profile_id']:<20}  "
            f"{intake['current_state']:<19}  {intake['review_state']:<17}  {intake['activation_state']}"
        )
    if not intakes:
        say("no intakes")


def review(intake_id: str, *, approve: bool, name: str | None, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.transaction() as tx:
        record = intakes.review(tx, intake_id, approve=approve, operator=name or getpass.getuser())
    states = record.states
    if as_json:
        shown = {"currentState": states.current, "reviewState": states.review, "activationState": states.activation}
        print_json({"ok": True, "intakeId": intake_id, **shown})
    else:
        say(f"{intake_id} is {states.review}: {states.current}, {states.activation}")


def export(intake_id: str, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        stored = export_intake(reader, intake_id)
    if as_json:
        print_json({"ok": True, "intake": stored})
    else:
        for field, value in stored.items():
            say(f"{field:<18} {value}")


def forget(intake_id: str, name: str | None, as_json: bool) -> None:
    """Deletes everything of an intake from every file, except lane, profile, day and states. Counts remain.

    The command may be repeated, and must be repeated after an interruption.
    """
    with operator_problems(as_json):
        with existing_ledger() as (_, ledger):
            nodes = forget_intake(ledger, intake_id, name or getpass.getuser())
        erased = erase([])
    if as_json:
        print_json({"ok": True, "intakeId": intake_id, "erasedInGraph": nodes, "deleted": asdict(erased)})
    else:
        say(f"{intake_id} is forgotten; {nodes} nodes and edges of the graph are erased; {erasure_text(erased)}")
