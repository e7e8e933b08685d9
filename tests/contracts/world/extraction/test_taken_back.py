"""What a sentence reverses, calls a joke or leaves to an alternative is not certain, and states nothing."""

from datetime import UTC, datetime

import pytest

from contracts.world.extraction.build import BuildRequest, BuiltGraph, build_graph

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def read(text: str) -> BuiltGraph:
    document = {"id": "d", "text": text, "media_type": "text/markdown"}
    return build_graph(BuildRequest(documents=[document]), "local:ada", NOW)


def titles(graph: BuiltGraph, *types: str) -> list[str]:
    return [node.title for node in graph.nodes if node.type in types]


def depending(graph: BuiltGraph) -> set[tuple[str, str]]:
    title = {node.id: node.title for node in graph.nodes}
    return {(title[edge.source], title[edge.target]) for edge in graph.edges if edge.type == "DEPENDS_ON"}


@pytest.mark.parametrize(
    "text",
    [
        "We had decided to hire Dora because she is good, but we reversed that.",
        "We decided to hire Dora because she is good, but we later changed our minds.",
        "We decided to hire Dora because she is good. We reversed that in May.",
        "We decided to hire Dora. That decision was overturned.",
        "We chose SQLite over a server, but later we reversed that.",
        "RESOLVED - To order the signs. It was later revoked.",
        "Wir haben beschlossen, Dora einzustellen, aber wir haben das zurückgenommen.",
        "Wir haben beschlossen, Dora einzustellen. Das wurde widerrufen.",
        "Nous avons décidé de vendre la voiture, mais nous avons changé d’avis.",
        "Hemos decidido vender el coche, pero lo hemos anulado.",
        "Abbiamo deciso di vendere la macchina, ma abbiamo cambiato idea.",
        "We decided to sell the car because it is old. just kidding",
        "We decided to sell the car. Just kidding!",
        "Wir haben beschlossen, das Auto zu verkaufen. Kleiner Scherz!",
        "Nous avons décidé de vendre la voiture. Je plaisante.",
        "Hemos decidido vender el coche. Es broma.",
        "Abbiamo deciso di vendere la macchina. Scherzo!",
    ],
)
def test_a_decision_that_was_reversed_or_meant_as_a_joke_is_none(text):
    assert titles(read(f"# T\n\n{text}"), "Decision") == []


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("We decided to hire Dora because she is cheap but good.", "hire Dora"),
        ("We decided to sell the boat. We dropped the price.", "sell the boat"),
        ("We decided to sell the car. Bo is kidding nobody.", "sell the car"),
        ("We decided to sell the car. We will not reverse that.", "sell the car"),
        ("Wir haben beschlossen, das Auto zu verkaufen. Es ist alt.", "das Auto zu verkaufen"),
    ],
)
def test_a_decision_before_another_sentence_stays_one(text, decision):
    assert titles(read(f"# T\n\n{text}"), "Decision") == [decision]


def test_an_entry_that_is_a_joke_or_reversed_is_no_decision():
    graph = read(
        "# T\n\n## Decisions\n\n- Sell the car (just kidding)\n- Hire Dora, but we reversed that\n- Buy a boat"
    )
    assert titles(graph, "Decision") == ["Buy a boat"]


def test_a_speaker_can_take_back_a_message_in_a_later_one():
    chat = (
        "[10:01] Ada Byron: We decided to sell the car because it is old.\n"
        "[10:02] Bo Li: We decided to sell the boat because it is old.\n"
        "[10:03] Ada Byron: what?\n"
        "[10:04] Bo Li: haha, just kidding\n"
    )
    assert titles(read(chat), "Decision") == ["sell the car"]


@pytest.mark.parametrize(
    "text",
    [
        "Mail depends on SendGrid or Mailgun.",
        "Mail depends on either SendGrid or Mailgun.",
        "Mail depends on SendGrid, or on Mailgun.",
        "Mail relies on Twilio Flex or Mailgun.",
        "The launch depends on the licence or the permit.",
        "Der Umzug hängt von der Genehmigung oder dem Vertrag ab.",
        "Le lancement dépend de la licence ou du permis.",
        "El lanzamiento depende de la licencia o del permiso.",
        "Il lancio dipende dalla licenza o dal permesso.",
    ],
)
def test_something_that_depends_on_one_of_two_things_depends_on_neither_for_certain(text):
    assert depending(read(f"# T\n\n{text}")) == set()


def test_alternatives_elsewhere_in_the_sentence_leave_a_dependency_certain():
    assert depending(read("# T\n\nMail relies on Postgres for storage or caching.")) == {("Mail", "Postgres")}
    assert depending(read("# T\n\nMail depends on SAP. We take this or that.")) == {("Mail", "SAP")}


def test_one_of_two_people_is_no_name_of_a_task():
    graph = read("# T\n\nPresent: Ada Byron, Bo Li\n\n## Tasks\n\n- Ada or Bo: paint\n- Ada oder Bo: malen")
    assert titles(graph, "Task") == ["Ada or Bo: paint", "Ada oder Bo: malen"]
    assert not any(edge.type == "ASSIGNED_TO" for edge in graph.edges)
