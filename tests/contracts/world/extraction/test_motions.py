"""A list of decisions or tasks also states dissent, failed motions and absences."""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def titles(text: str, node_type: str) -> list[str]:
    request = BuildRequest(documents=[{"id": "d", "text": text, "media_type": "text/markdown"}])
    return [node.title for node in build_graph(request, "local:ada", NOW).nodes if node.type == node_type]


@pytest.mark.parametrize(
    "entry",
    [
        "Zara disagreed",
        "Zara Noor and Ian Cole abstained",
        "Ian opposes the tent",
        "Zara voted against the bus",
        "Ian moved that we buy a tent; motion failed",
        "Ian moved that we buy a tent",
        "Zara proposed to buy a bus",
        "Motion to buy a tent: not carried",
        "Ian moved that we buy a tent; the motion was defeated",
        "Proposal to buy a bus did not pass",
        "Vote on bus: 3 yes, 7 no",
        "Vote on bus: yes: 3, no: 3",
        "Buy a bus (2 in favour, 5 against)",
        "Zara war dagegen",
        "Ian enthielt sich",
        "Antrag auf neue Lampen abgelehnt",
        "Abgelehnter Antrag: neue Lampen",
        "Bus kaufen: 3 Ja, 7 Nein",
        "Bus kaufen (3 Ja-Stimmen, 7 Gegenstimmen)",
        "Proposition refusée : acheter un bus",
        "Motion rejetée",
        "Zara s’est abstenue",
        "Acheter un bus : 3 pour, 7 contre",
        "Propuesta de comprar un bus rechazada",
        "Zara se opuso",
        "Comprar un bus: 3 a favor, 7 en contra",
        "Proposta respinta: comprare un bus",
        "Zara si è astenuta",
        "Comprare un bus: 3 favorevoli, 7 contrari",
        "Proposta rejeitada: comprar um autocarro",
        "Zara absteve-se",
        "Comprar um autocarro: 3 sim, 7 não",
        "Voorstel om een bus te kopen verworpen",
        "Zara stemde tegen",
        "Bus kopen: 3 voor, 7 tegen",
        "バス購入の提案は否決",
    ],
)
def test_dissent_and_a_motion_that_was_not_carried_are_no_decision(entry):
    assert titles(f"# M\n\n## Decisions\n\n- {entry}\n- Buy a boat", "Decision") == ["Buy a boat"]


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        ("Motion to buy a tent carried", None),
        ("Ian moved that we buy a tent; carried", None),
        ("Zara proposed a bus, approved", None),
        ("Vote on bus: 7 yes, 3 no", "Vote on bus"),
        ("Bus kaufen: 7 Ja, 3 Nein", "Bus kaufen"),
        ("Zara disagreed, but we agreed to buy a bus", None),
        ("The board opposed the merger", None),
        ("We moved to a new hall", None),
        ("Replace the failed pump", None),
        ("Antrag auf neue Lampen angenommen", None),
        ("Proposition adoptée", None),
        ("The motion of Bo was rejected", None),
        ("Der Antrag auf neue Lampen wurde abgelehnt", None),
    ],
)
def test_a_motion_that_was_carried_and_what_all_did_are_decisions(entry, title):
    assert titles(f"# M\n\n## Decisions\n\n- {entry}", "Decision") == [title or entry]


@pytest.mark.parametrize(
    "heading",
    [
        "Entscheidungen, vertagt",
        "Vertagte Entscheidungen",
        "Entscheidungen (vertagt)",
        "Decisions, postponed",
        "Decisions: deferred",
        "Décisions, reportées",
        "Décisions en attente",
        "Decisiones, aplazadas",
        "Decisioni, rinviate",
        "Decisões adiadas",
        "Besluiten, uitgesteld",
    ],
)
def test_items_below_a_heading_of_postponed_decisions_are_no_decisions(heading):
    assert titles(f"# M\n\n## {heading}\n\n- Dach decken.", "Decision") == []
    assert titles(f"# M\n\n{heading.replace(':', ',')}:\n\n- Dach decken.", "Decision") == []


@pytest.mark.parametrize(
    "heading", ["Decisions and next steps", "Entscheidungen", "Decisions, votes", "Beschlüsse, Mai"]
)
def test_a_heading_of_decisions_and_other_items_is_still_one_of_decisions(heading):
    made = titles(f"# M\n\n## {heading}\n\n- Dach decken.", "Decision")
    assert made == ([] if "next" in heading else ["Dach decken"])


@pytest.mark.parametrize(
    "entry",
    [
        "Ian will not attend on 2026-05-08",
        "Ian won’t be there on 2026-05-08",
        "Zara Noor cannot come",
        "Ada Cole does not water plants",
        "Nothing to do until 2026-05-09",
        "Nothing planned for May",
        "Ian kommt am 8. Mai nicht",
        "Ian nimmt am 8. Mai nicht teil",
        "Nichts zu tun bis 09.05.2026",
        "Ian ne viendra pas le 8 mai",
        "Rien à faire jusqu’au 9 mai",
        "Ian no asistirá el 8 de mayo",
        "Nada que hacer hasta el 9 de mayo",
        "Ian non verrà",
        "Niente da fare fino al 9 maggio",
        "Ian não vem",
        "Nada a fazer até 9 de maio",
        "Ian komt op 8 mei niet",
        "Niets te doen tot 9 mei",
    ],
)
def test_absences_and_statements_that_nothing_is_to_be_done_are_no_tasks(entry):
    assert titles(f"# M\n\nPresent: Ada Cole\n\n## Tasks\n\n- {entry}\n- Book hall", "Task") == ["Book hall"]


@pytest.mark.parametrize(
    "entry",
    [
        "Ada will not forget to pay",
        "Ada to book a hall that is not far",
        "Do not forget the keys",
        "Nicht vergessen: Schlüssel",
        "Door does not close",
        "Attend the fair",
        "Nichts vergessen",
        "No smoking sign for the hall",
        "Ne pas oublier les clés",
        "Non dimenticare le chiavi",
    ],
)
def test_a_task_with_a_negation_stays_one(entry):
    assert titles(f"# M\n\nPresent: Ada Cole\n\n## Tasks\n\n- {entry}", "Task") != []
