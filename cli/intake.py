"""`svc intake`: list and review intakes, and serve the rights of those who sent them."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from cli.environment import effective_settings, make_data_dir
from cli.erasure import erase, told_of
from cli.output import operator_problems, print_json, say
from warehouse.intake import intakes
from warehouse.intake.rights import export_intake, forget_intake, list_intakes
from warehouse.ledger.ledger import Ledger, open_ledger


def list_(most: int, as_json: bool) -> None:
    """Show the newest intakes, without contact data."""
    with operator_problems(as_json), _opened() as ledger, ledger.read() as reader:
        found = list_intakes(reader, most)
    if as_json:
        print_json({"ok": True, "intakes": found})
        return
    for each in found:
        say(
            f"{each['intake_id']}  {each['received_at'][:10]}  {each['lane']:<10}  {each['profile_id']:<20}  "
            f"{each['current_state']:<19}  {each['review_state']:<17}  {each['activation_state']}"
        )
    if not found:
        say("no intakes")


def review(intake_id: str, *, approve: bool, name: str | None, as_json: bool) -> None:
    """Approve an intake, or ask for changes."""
    with operator_problems(as_json), _opened() as ledger, ledger.transaction() as tx:
        record = intakes.review(tx, intake_id, approve=approve, operator=name or getpass.getuser())
    states = record.states
    if as_json:
        said = {"currentState": states.current, "reviewState": states.review, "activationState": states.activation}
        print_json({"ok": True, "intakeId": intake_id, **said})
    else:
        say(f"{intake_id} is {states.review}: {states.current}, {states.activation}")


def export(intake_id: str, as_json: bool) -> None:
    """Print everything that is kept of an intake, contact data too."""
    with operator_problems(as_json), _opened() as ledger, ledger.read() as reader:
        kept = export_intake(reader, intake_id)
    if as_json:
        print_json({"ok": True, "intake": kept})
    else:
        for field, value in kept.items():
            say(f"{field:<18} {value}")


def forget(intake_id: str, name: str | None, as_json: bool) -> None:
    """Delete what is kept of an intake from every file, except lane, profile, day and states. Counts stay.

    May be repeated, and has to be where it was interrupted.
    """
    with operator_problems(as_json):
        with _opened() as ledger:
            nodes = forget_intake(ledger, intake_id, name or getpass.getuser())
        erased = erase([])
    if as_json:
        print_json({"ok": True, "intakeId": intake_id, "erasedInGraph": nodes, "deleted": asdict(erased)})
    else:
        say(f"{intake_id} is forgotten; {nodes} nodes and edges of the graph are erased; {told_of(erased)}")


@contextmanager
def _opened() -> Iterator[Ledger]:
    settings = effective_settings()
    make_data_dir(settings.data_dir)
    ledger = open_ledger(settings, settings.data_dir)
    try:
        yield ledger
    finally:
        ledger.close()
