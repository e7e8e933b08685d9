"""Searches: which words find which nodes, in which order, and the answer of a search without hits."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from world_graphs import T0, Graph, edge, events_of, node, write

from contracts.world.records import Node
from warehouse.world import current
from warehouse.world.query import Answer, Filter, Hints, Query, Scope, answer
from warehouse.world.text import parse_search

ME, OTHER = "0xaa", "0xbb"
ANYTHING = Filter()


@pytest.fixture(params=["snapshot", "overlay"])
def search(request: pytest.FixtureRequest, tmp_path: Path):
    """Answers a search of a graph of these nodes as `owner` sees it, from a snapshot or without one."""

    def asked(nodes: list[Node], text: str, owner: str | None = ME, within: Filter = ANYTHING) -> Answer:
        events = events_of(nodes)
        in_snapshot = request.param == "snapshot"
        directory = write(tmp_path / f"graph{len(list(tmp_path.iterdir()))}", events) if in_snapshot else None
        return answer(Graph.of(directory, events).seen_by(owner), Query(search=text, filter=within))

    return asked


def ids(found: Answer) -> list[str]:
    return [each.id for each in found.nodes]


def titled(*titles: str, owner: str | None = None) -> list[Node]:
    """Returns nodes with these titles as ids, each from a source of its own, so that none is a neighbour of another."""
    return [node(title, title=title, owner=owner, source=title) for title in titles]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Invoice 17", "invoices"),
        ("Paying invoices", "invoice"),
        ("Die Rechnung ist bezahlt", "Rechnungen"),
        ("Rechnungen Müller", "Rechnung Meier"),
        ("Les factures sont payées", "la facture"),
        ("Las facturas de la empresa", "factura"),
        ("Zürich office", "zurich"),
        ("ＡＣＭＥ Holding", "acme"),
        ("Treasury", "treas"),
        ("Kubernetes cluster", "kuberntes"),
        ("Maximilian", "Maxmilian"),
        ("The Who", "the who"),
        ("İstanbul office", "istanbul"),
        ("İstanbul office", "i\u0307stanbul"),
        ("先週の会議の議事録を作成する", "議事録"),
        ("2024年度の予算をとても詳しく説明するために書かれた非常に長い日本語の文書の題名", "予算"),
        ("カレーライス", "ライス"),
        ("서울에서 회의를 한다", "회의"),
    ],
)
def test_a_word_is_found_in_any_form(search, title, text):
    assert ids(search(titled(title, "something else entirely"), text)) == [title]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("What the report is about", "what is the status"),
        ("Port", "pert"),  # four letters: too short for a typo
        ("Kubernetes", "kubrntes"),  # two letters
        ("goal", "goat"),
    ],
)
def test_function_words_and_other_words_find_nothing(search, title, text):
    assert ids(search(titled(title), text)) == []


def test_typos_are_only_searched_if_no_node_has_the_word(search):
    assert ids(search(titled("Marina", "Martina"), "Marina")) == ["Marina"]
    assert ids(search(titled("Marina", "Martina", owner=OTHER) + titled("Martinas"), "Martina")) == ["Martinas"]


def test_rare_words_count_more_than_common_ones(search):
    nodes = titled("plan of apollo", *(f"plan number {number}" for number in range(20)))
    assert ids(search([*nodes, *titled("apollo thirteen")], "apollo plan"))[:2] == ["plan of apollo", "apollo thirteen"]


def test_a_title_counts_more_than_a_text(search):
    below = node("below", title="Minutes", properties={"text": "budget"}, source="s")
    assert ids(search([below, *titled("Budget of the whole year")], "budget")) == ["Budget of the whole year", "below"]


def test_the_owner_s_nodes_rank_before_public_ones_with_the_same_words(search):
    nodes = [node("a", title="CEO of Acme", source="a"), node("b", title="CEO of Acme", owner=ME, source="b")]
    assert ids(search(nodes, "who is the CEO of Acme")) == ["b", "a"]
    assert ids(search(nodes, "who is the CEO of Acme", owner=OTHER)) == ["a"]


@pytest.mark.parametrize(("scope", "found"), [("own", ["b"]), ("public", ["a"]), ("both", ["b", "a"])])
def test_a_scope_keeps_to_own_or_public_nodes(search, scope: Scope, found):
    nodes = [node("a", title="plan", source="a"), node("b", title="plan", owner=ME, source="b")]
    assert ids(search(nodes, "plan", within=Filter(scope=scope))) == found
    listed = answer(Graph.of(None, events_of(nodes)).seen_by(ME), Query(filter=Filter(scope=scope)))
    assert sorted(ids(listed)) == sorted(found) and listed.matched == len(found)


def test_nodes_of_one_source_raise_the_rank_of_their_neighbours(search):
    said = ["Where do we meet?", "At the harbour in Lisbon", "When shall we meet?", "On Friday", "Fine", "See you"]
    talk = [node(f"{place}", title=text, owner=ME, source="talk") for place, text in enumerate(said)]
    alone = node("x", title="We meet on Friday or later", owner=ME, source="other")
    assert ids(search([*talk, alone], "Lisbon Friday"))[0] == "1"
    assert ids(search([*talk, alone], "meet harbour Lisbon"))[:2] == ["1", "0"]


def test_nodes_of_others_move_no_rank_and_are_no_neighbours(search):
    mine = [node("a", title="alpha beta", owner=ME, source="s"), node("b", title="alpha", owner=ME, source="s")]
    hidden = [node(f"h{number}", title="beta " * 3, owner=OTHER, source="s") for number in range(30)]
    plain = ids(search(mine, "alpha beta"))
    assert ids(search([*mine, *hidden], "alpha beta")) == plain == ["a", "b"]


def test_a_search_without_hits_names_near_words_and_what_was_searched(search):
    nodes = titled("Kubernetes", "Postgres") + titled("Kubernauts", owner=ME) + titled("Kubernetic", owner=OTHER)
    assert search(nodes, "Kubermetis").hints == Hints(("kubernetes",), {"Goal": 3}, own=1, public=2)
    assert search(nodes, "Kubermauds").hints == Hints(("kubernauts",), {"Goal": 3}, own=1, public=2)
    assert search(nodes, "Kubermauds", owner=None).hints == Hints((), {"Goal": 2}, own=0, public=2)
    own = search(nodes, "Kubermetis", within=Filter(scope="own"))
    assert own.hints == Hints((), {"Goal": 1}, own=1, public=0)
    assert search(nodes, "Postgres").hints is None


def test_words_of_nodes_that_were_hidden_since_the_snapshot_are_not_named(tmp_path: Path):
    events = events_of([node("a", title="Kubernetes"), node("b"), node("a", title="Kubernetes", owner=OTHER)])
    for known in (2, 3):
        view = Graph.of(write(tmp_path / f"{known}", events[:known]), events).seen_by(ME)
        assert answer(view, Query(search="Kubermetis")).hints == Hints((), {"Goal": 1}, own=0, public=1)


def test_a_search_that_spares_lists_finds_and_counts_the_same_nodes_in_the_same_order_as_one_that_reads_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    dice = random.Random("lists")
    words = ["plan", "plans", "planet", "atlas", "atlases", "atlantic", "note"]

    def some(number: int) -> Node:
        title, body = " ".join(dice.choices(words, k=2)), " ".join(dice.choices([*words, "rarity"], k=4))
        title = title if number % 10 else f"{title} memo"
        body = body if number % 17 else f"{body} memo"
        owner = dice.choice([None, None, None, ME])
        return node(f"{number}", title=title, properties={"text": body}, owner=owner, source=f"{number % 7}")

    states = [some(number) for number in range(1_200)]
    states += [some(number) for number in range(0, 1_200, 27)]
    view = Graph.of(write(tmp_path / "graph", events_of(states[:1_200])), events_of(states)).seen_by(ME)
    monkeypatch.setattr(current, "PUBLIC_LIFTED_AT_MOST", 30)
    texts = ["plan", "plan*", "atlas", "atl", "planning", "atlas plan", "memo", "memo plan", "plan memo", "memo rarity"]
    for text in [*texts, "memo atlas note", "atlas* memo note", "memo memory memo* note", "rarity atlases memos"]:
        # Conditions keep a search from skipping lists, and this one holds for every node.
        spared, whole = (
            answer(view, Query(search=text, limit=30, filter=Filter(node_types=types))) for types in ((), ("Goal",))
        )
        assert (ids(spared), spared.matched) == (ids(whole), whole.matched), text
        assert whole.matched > 50, text


def test_recent_nodes_come_newest_first_page_by_page(tmp_path: Path):
    events = events_of([*(node(each, title=each) for each in "cab"), node("d", owner=OTHER), node("c", title="again")])
    for known in (0, 3, 5):
        view = Graph.of(write(tmp_path / f"{known}", events[:known]), events).seen_by(ME)
        first = answer(view, Query(order="recent", limit=2))
        assert (ids(first), first.matched, first.next_skip) == (["c", "b"], 3, 2)
        assert ids(answer(view, Query(order="recent", limit=2, skip=2))) == ["a"]


def test_a_search_is_read_by_the_language_of_its_function_words():
    german, unknown = parse_search("Wo sind die Farben"), parse_search("Farben")
    assert [word.written for word in german.words] == ["farben"]
    assert german.words[0].forms == {"farb", "farben"} < unknown.words[0].forms


def test_the_type_of_an_edge_in_a_snapshot_is_its_own_whatever_its_properties_say_and_however_long(
    tmp_path: Path,
) -> None:
    longest = "N" * 58 + "_ZEBRA"
    history = events_of(
        [
            node("a", title="Heron"),
            node("b", title="Crane"),
            node("c", title="Stork"),
            edge("a", "b", type="RELATED_TO", properties={"type": "ALIAS_OF"}),
            edge("b", "c", type=longest),
        ]
    )
    graph = Graph.of(write(tmp_path / "s", history), history)

    def found(search: str) -> list[str]:
        return [found_node.id for found_node in answer(graph.seen_by(None), Query(search=search)).nodes]

    assert found("heron") == ["a"]
    assert sorted(found("related")) == ["a", "b"]
    assert sorted(found("zebra")) == ["b", "c"]


def test_a_node_in_a_snapshot_is_found_by_its_alias_where_no_edge_has_properties(tmp_path: Path) -> None:
    history = events_of([node("a", title="Egret"), node("b", title="Ibis"), edge("a", "b", type="ALIAS_OF")])
    graph = Graph.of(write(tmp_path / "s", history), history)
    assert [found_node.id for found_node in answer(graph.seen_by(None), Query(search="egret")).nodes] == ["a", "b"]


ALIASED = [
    node("acme", title="Acme Corporation"),
    node("nick", title="Roadrunner Supplies"),
    node("plan", title="Winter plan"),
    node("plans", title="Winter supplies"),
    edge("nick", "acme", type="ALIAS_OF"),
    edge("plan", "acme", type="DEPENDS_ON", properties={"note": "since the merger", "confidence": 0.25}),
    edge("plan", "nick", owner="0xaa", type="USES", properties={"note": "a secret handshake"}),
]


@pytest.mark.parametrize("in_snapshot", [0, 4, 6, len(ALIASED)])
def test_a_node_is_found_by_its_alias_and_by_the_words_of_its_edges_below_those_that_say_so_themselves(
    tmp_path: Path, in_snapshot: int
) -> None:
    history = events_of(ALIASED)
    graph = Graph.of(write(tmp_path / "s", history[:in_snapshot]) if in_snapshot else None, history)

    def found(search: str, owner: str | None = None) -> list[str]:
        return [each.id for each in answer(graph.seen_by(owner), Query(search=search)).nodes]

    assert found("supplies") == ["nick", "plans", "acme"]
    assert found("merger") == ["acme", "plan"], "both ends have the words of an edge"
    assert found("depend") == ["acme", "plan"]
    assert found("25") == [], "a number describes no node"
    assert found("handshake") == found("handshake", "0xaa") == [], "public nodes have public words only"


def test_words_of_an_edge_go_with_it_with_its_end_and_with_the_name_of_an_alias(tmp_path: Path) -> None:
    history = events_of(ALIASED)
    graph = Graph.of(write(tmp_path / "s", history), history)

    def found(search: str) -> list[str]:
        return [each.id for each in answer(graph.seen_by(None), Query(search=search)).nodes]

    graph.apply(events_of([node("nick", title="Coyote Traders")], first=20))
    assert (found("supplies"), found("coyote")) == (["plans"], ["nick", "acme"])
    gone = {"note": "since the merger", "confidence": 0.25}
    graph.apply(events_of([edge("plan", "acme", type="DEPENDS_ON", properties=gone, valid_to=T0)], first=30))
    assert found("merger") == []
    graph.apply(events_of([node("nick", title="Coyote Traders", valid_to=T0)], first=40))
    assert found("coyote") == []
