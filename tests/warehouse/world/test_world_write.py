"""The one way into the graph, on both engines: whole or not at all, once, in order, with every decision stored."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from world_writes import ADA, BOB, fact, goal, no_rules, proposal, tie

from contracts.errors import (
    BodyInvalid,
    ClaimTokenUnknown,
    IdempotencyKeyReused,
    OwnerInvalid,
    ProposalUnknown,
    RevisionConflict,
)
from contracts.settings import Settings
from contracts.standing import SourceClass
from contracts.world.capsule import WorldModelCreateRequest
from contracts.world.constitution import load_constitution_drafts
from contracts.world.proposal import Actor, Decision, EdgeDraft, Proposal
from contracts.world.records import Edge, Node
from contracts.world.stages import Judgement
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.audit import newest_decisions, verify
from warehouse.world.capsules import claim_capsule, claim_token, create_capsule
from warehouse.world.events import current_edge, current_node, events_after, head_revision, public_counts
from warehouse.world.forget import forget_owner
from warehouse.world.load import load_constitution
from warehouse.world.write import approve, pending, propose, reject


def write(ledger: Ledger, proposed: Proposal) -> Decision:
    return propose(ledger, proposed, alignment=no_rules)


def intact(ledger: Ledger) -> bool:
    with ledger.read() as reader:
        report = verify(reader)
    assert report.faults == []
    return report.intact


def test_an_accepted_proposal_is_events_and_current_states_at_its_revision(ledger: Ledger) -> None:
    decision = write(ledger, proposal(goal("g"), goal("t", type="Task"), tie("t", "PURSUES", "g")))
    assert (decision.verdict, decision.revision) == ("approved", 4)
    with ledger.read() as reader:
        events = events_after(reader, 0, 10)
        assert [event.seq for event in events] == [2, 3, 4]
        assert [event.node for event in events[:2]] == list(decision.nodes)
        assert [event.edge for event in events[2:]] == list(decision.edges)
        assert current_node(reader, "g") == decision.nodes[0]
        assert current_edge(reader, decision.edges[0].id) == decision.edges[0]
        assert head_revision(reader) == 4
        assert events_after(reader, 2, 1) == events[1:2]
        assert public_counts(reader) == ({}, 0)
    assert intact(ledger)


def test_a_rejected_proposal_writes_nothing_but_its_audit(ledger: Ledger) -> None:
    decision = write(ledger, proposal(goal("g"), tie("g", "RELATED_TO", "nothing")))
    assert (decision.verdict, decision.nodes, decision.revision) == ("rejected", (), 0)
    with ledger.read() as reader:
        assert events_after(reader, 0, 10) == []
        (kept,) = newest_decisions(reader, 5)
    assert kept["verdict"] == "rejected"
    assert kept["payload"]["proposal"]["nodes"][0]["id"] == "g"
    assert [stage["result"] for stage in kept["payload"]["stages"]].count("fail") == 1
    assert intact(ledger)


def test_a_proposal_that_no_graph_could_hold_leaves_no_trace(ledger: Ledger) -> None:
    with pytest.raises(BodyInvalid):
        write(ledger, proposal(goal("g", title="\x00")))
    assert ledger.head() == 0


def test_a_proposal_that_the_rules_refuse_is_rejected(ledger: Ledger) -> None:
    refused = propose(ledger, proposal(goal("g")), alignment=lambda _: Judgement("fail", "a rule"))
    assert (refused.verdict, refused.stages[-1].reason) == ("rejected", "a rule")


def test_the_same_request_gets_the_same_answer_and_writes_once(ledger: Ledger) -> None:
    asked = proposal(goal("g"), idempotency_key="k")
    first = write(ledger, asked)
    write(ledger, proposal(goal("g", title="Changed since")))
    again = write(ledger, asked)
    assert again.replayed
    assert msgspec.structs.replace(again, replayed=False) == first
    with ledger.read() as reader:
        assert len(events_after(reader, 0, 10)) == 2


def test_a_key_with_another_request_is_refused_and_another_actor_has_keys_of_his_own(ledger: Ledger) -> None:
    write(ledger, proposal(goal("g"), idempotency_key="k"))
    with pytest.raises(IdempotencyKeyReused):
        write(ledger, proposal(goal("h"), idempotency_key="k"))
    assert write(ledger, proposal(goal("h"), actor=BOB, idempotency_key="k")).verdict == "approved"


def test_a_rejected_request_may_be_tried_again_under_its_key(ledger: Ledger) -> None:
    asked = proposal(tie("a", "RELATED_TO", "b"), idempotency_key="k")
    assert write(ledger, asked).verdict == "rejected"
    write(ledger, proposal(goal("a"), goal("b")))
    assert write(ledger, asked).verdict == "approved"


def test_a_known_node_is_not_written_again(ledger: Ledger) -> None:
    write(ledger, proposal(goal("g")))
    again = write(ledger, proposal(goal("g")))
    assert (again.verdict, again.nodes, again.revision) == ("approved", (), 2)


def test_of_two_writers_with_the_same_expected_revision_one_wins(ledger: Ledger) -> None:
    seen = write(ledger, proposal(goal("g"))).revision
    together = threading.Barrier(4)

    def one(number: int) -> str:
        together.wait()
        try:
            return write(ledger, proposal(goal(f"w{number}"), expected_revision=seen)).verdict
        except RevisionConflict as conflict:
            return f"{conflict.status} {conflict.code}"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(one, range(4))) == ["409 revision_conflict"] * 3 + ["approved"]
    assert intact(ledger)


def test_simultaneous_writers_write_everything_that_was_acknowledged(ledger: Ledger) -> None:
    def some(writer: int) -> list[int]:
        return [write(ledger, proposal(goal(f"w{writer}-{number}"))).revision for number in range(6)]

    with ThreadPoolExecutor(4) as pool:
        revisions = sorted(revision for each in pool.map(some, range(4)) for revision in each)
    with ledger.read() as reader:
        assert [event.seq for event in events_after(reader, 0, 100)] == revisions
    assert intact(ledger)


def test_one_fact_holds_at_a_time_and_the_superseded_one_stays(ledger: Ledger) -> None:
    write(ledger, proposal(fact("a", "open")))
    second = write(ledger, proposal(fact("b", "shut")))
    ended, new = second.nodes
    assert (ended.id, ended.valid_to, new.id, new.valid_to) == ("a", new.valid_from, "b", None)
    assert [(edge.source, edge.type, edge.target) for edge in second.edges] == [("b", "SUPERSEDES", "a")]
    back = write(ledger, proposal(fact("c", "open")))
    assert [node.id for node in back.nodes] == ["b", "c"]
    assert intact(ledger)


def test_a_single_valued_edge_makes_room_for_the_next(ledger: Ledger) -> None:
    write(ledger, proposal(goal("g"), goal("p", type="Person"), goal("q", type="Person"), tie("g", "OWNED_BY", "p")))
    second = write(ledger, proposal(tie("g", "OWNED_BY", "q")))
    assert [(edge.target, edge.valid_to is None) for edge in second.edges] == [("p", False), ("q", True)]


PEOPLE = [goal(name, type="Person") for name in ("ann", "ben", "cem")]


def owned(target: str, start: str, end: str | None = None) -> EdgeDraft:
    """Returns the edge of the gate's owner from the beginning of one year to that of another."""
    until = None if end is None else f"{end}-01-01T00:00:00Z"
    return tie("gate", "OWNED_BY", target, valid_from=f"{start}-01-01T00:00:00Z", valid_to=until)


def years(edges: Iterable[Edge]) -> list[tuple[str, str, str | None, bool]]:
    """Returns the target and years of each edge, and whether it is disputed."""
    return sorted(
        (edge.target, edge.valid_from[:4], edge.valid_to and edge.valid_to[:4], edge.disputed) for edge in edges
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.both_engines
def test_targets_one_after_the_other_are_written_together_and_end_a_known_one_at_the_first(
    ledger: Ledger, reverse: bool
) -> None:
    write(ledger, proposal(goal("gate"), *PEOPLE, owned("cem", "2019")))
    both = [owned("ann", "2020", "2022"), owned("ben", "2022")]
    written = write(ledger, proposal(*(reversed(both) if reverse else both)))
    assert written.verdict == "approved"
    assert years(written.edges) == [
        ("ann", "2020", "2022", False), ("ben", "2022", None, False), ("cem", "2019", "2020", False)
    ]  # fmt: skip
    assert write(ledger, proposal(*both)).edges == ()
    assert intact(ledger)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_target_that_is_given_an_end_is_not_also_ended_by_its_successor(ledger: Ledger, reverse: bool) -> None:
    write(ledger, proposal(goal("gate"), *PEOPLE, owned("ann", "2020")))
    both = [owned("ann", "2020", "2022"), owned("ben", "2023")]
    written = write(ledger, proposal(*(reversed(both) if reverse else both)))
    assert years(written.edges) == [("ann", "2020", "2022", False), ("ben", "2023", None, False)]


def test_an_older_target_is_not_disputed_by_one_that_begins_after_it_has_ended(ledger: Ledger) -> None:
    write(ledger, proposal(goal("gate"), *PEOPLE, owned("ben", "2022"), source_class=SourceClass.DOCUMENT))
    write(ledger, proposal(owned("cem", "2024"), source="a rumour", source_class=SourceClass.HEARSAY))
    older = write(ledger, proposal(owned("ann", "2020"), source_class=SourceClass.DOCUMENT))
    assert years(older.edges) == [("ann", "2020", "2022", False)]


def test_two_targets_of_one_proposal_at_one_time_are_rejected(ledger: Ledger) -> None:
    write(ledger, proposal(goal("gate"), *PEOPLE))
    overlapping = [owned("ben", "2021"), owned("ann", "2020", "2022"), owned("cem", "2010", "2020")]
    rejected = write(ledger, proposal(*overlapping))
    (reason,) = [stage.reason for stage in rejected.stages if stage.result == "fail"]
    assert (rejected.verdict, reason) == ("rejected", "gate has two OWNED_BY in the proposal; one holds at a time")


def test_what_asks_to_be_public_waits_and_an_operator_lets_it_in(ledger: Ledger) -> None:
    asked = proposal(goal("g", visibility="public"), goal("h"), tie("h", "PURSUES", "g"), idempotency_key="k")
    waiting = write(ledger, asked)
    assert (waiting.verdict, waiting.nodes) == ("escalated", ())
    assert write(ledger, asked).seq == waiting.seq
    ((seq, _, proposed),) = pending(ledger)
    assert (seq, proposed.actor) == (waiting.seq, ADA)
    let_in = approve(ledger, seq, "eve", alignment=no_rules)
    assert [(node.id, node.owner, node.actor) for node in let_in.nodes] == [
        ("g", None, "operator:eve"),
        ("h", "local:ada", "operator:eve"),
    ]
    assert pending(ledger) == []
    with pytest.raises(ProposalUnknown):
        approve(ledger, seq, "eve", alignment=no_rules)
    with ledger.read() as reader:
        assert public_counts(reader) == ({"VISION": 1}, 0)
    assert intact(ledger)


def test_what_an_operator_declines_is_never_written_and_a_stage_may_still_reject(ledger: Ledger) -> None:
    first = write(ledger, proposal(goal("g", visibility="public")))
    declined = reject(ledger, first.seq, "eve", "too vague")
    assert (declined.verdict, declined.stages[0].reason) == ("rejected", "operator:eve declined: too vague")
    second = write(ledger, proposal(goal("g2", visibility="public")))
    refused = approve(ledger, second.seq, "eve", alignment=lambda _: Judgement("fail", "a rule"))
    assert refused.verdict == "rejected"
    assert [seq for seq, _, _ in pending(ledger)] == [second.seq], "it waits on"
    with ledger.read() as reader:
        assert events_after(reader, 0, 10) == []
    assert intact(ledger)


def test_somebody_elses_private_node_seems_not_to_exist(ledger: Ledger) -> None:
    write(ledger, proposal(goal("secret"), actor=BOB))
    tied = write(ledger, proposal(goal("g"), tie("g", "RELATED_TO", "secret")))
    assert tied.verdict == "rejected"
    assert "there is no node secret" in tied.stages[2].reason


def test_the_constitution_loads_whole_and_twice_is_nothing(ledger: Ledger) -> None:
    nodes, edges = load_constitution_drafts()
    first = load_constitution(ledger, alignment=no_rules)
    assert first is not None
    assert (len(first.nodes), len(first.edges)) == (len(nodes), len(edges))
    head = ledger.head()
    assert load_constitution(ledger, alignment=no_rules) is None
    assert ledger.head() == head
    with ledger.read() as reader:
        counts, tied = public_counts(reader)
    assert (sum(counts.values()), len(counts), tied) == (len(nodes), 7, len(edges))
    assert intact(ledger)


def test_a_changed_constitution_amends_and_what_it_dropped_ends(ledger: Ledger) -> None:
    nodes, edges = load_constitution_drafts()
    load_constitution(ledger, alignment=no_rules)
    value = next(node for node in nodes if node.id == "value:proof")
    kept = tuple(node for node in nodes if node.id not in ("value:proof", "attestation:work"))
    fewer = tuple(edge for edge in edges if "attestation:work" not in (edge.source, edge.target))
    changed = (*kept, msgspec.structs.replace(value, title="Proof, always"))
    amended = load_constitution(ledger, (changed, fewer), alignment=no_rules)
    assert amended is not None
    assert sorted((node.id, node.valid_to is None) for node in amended.nodes) == [
        ("attestation:work", False),
        ("value:proof", True),
    ]
    assert [edge.valid_to is None for edge in amended.edges] == [False]
    assert load_constitution(ledger, (changed, fewer), alignment=no_rules) is None
    back = load_constitution(ledger, (nodes, edges), alignment=no_rules)
    assert back is not None
    assert {node.id for node in back.nodes} == {"value:proof", "attestation:work"}


def test_forgetting_an_owner_deletes_texts_and_leaves_the_chain_whole(ledger: Ledger) -> None:
    write(ledger, proposal(goal("hers", title="Ada's secret"), goal("t", type="Task"), tie("t", "PURSUES", "hers")))
    write(ledger, proposal(goal("hers", title="Ada's other secret"), idempotency_key="secret key"))
    write(ledger, proposal(goal("p", title="Ada's wish", visibility="public")))
    write(ledger, proposal(goal("g", title="Ada's slip"), tie("g", "RELATED_TO", "nothing")))
    write(ledger, proposal(goal("his"), actor=BOB))
    assert forget_owner(ledger, "local:ada", "eve") == 3
    with ledger._readers.begin() as connection:
        for table in ("world_events", "world_nodes", "world_edges", "world_decision_payloads", "world_pending"):
            text = str([tuple(row) for row in connection.exec_driver_sql(f"select * from {table}")])
            assert "Ada" not in text and "local:ada" not in text, table
        assert connection.exec_driver_sql("select count(*) from world_requests").scalar_one() == 0
    with ledger.read() as reader:
        tomb = current_node(reader, "hers")
        assert tomb is not None and tomb.erased and (tomb.title, tomb.properties, tomb.owner) == ("", {}, "forgotten")
        his = current_node(reader, "his")
        assert his is not None and not his.erased
        assert verify(reader).forgotten == 4
    assert intact(ledger)
    again = write(ledger, proposal(goal("hers")))
    assert again.verdict == "rejected"


def test_forgetting_who_claimed_a_capsule_forgets_what_the_capsule_asked_for(ledger: Ledger) -> None:
    asked = WorldModelCreateRequest(owner_id="Ada's label", name="Ada", visibility="public")
    claimed, waiting = (create_capsule(ledger, asked, request_key=None, alignment=no_rules) for _ in range(2))
    assert claimed.id is not None and waiting.id is not None
    claim_capsule(ledger, b"pepper", claim_token(b"pepper", claimed.id), "local:ada", alignment=no_rules)
    forget_owner(ledger, "local:ada", "eve")
    forget_owner(ledger, f"capsule:{waiting.id}", "eve")
    assert pending(ledger) == []
    with ledger._readers.begin() as connection:
        for table in ("world_events", "world_nodes", "world_decision_payloads", "world_pending", "world_capsules"):
            text = str([tuple(row) for row in connection.exec_driver_sql(f"select * from {table}")])
            assert "Ada" not in text and "local:ada" not in text, table
    with pytest.raises(ClaimTokenUnknown):
        claim_capsule(ledger, b"pepper", claim_token(b"pepper", waiting.id), "local:bob", alignment=no_rules)
    assert intact(ledger)


def test_what_an_owner_made_public_stays_without_what_it_was_before(ledger: Ledger) -> None:
    asked = WorldModelCreateRequest(
        owner_id="Ada's label", name="Ada's name", display_name="Shown", visibility="public"
    )
    capsule = create_capsule(ledger, asked, request_key=None, alignment=no_rules)
    assert capsule.id is not None and capsule.public_decision is not None
    claim_capsule(ledger, b"pepper", claim_token(b"pepper", capsule.id), "local:ada", alignment=no_rules)
    write(ledger, proposal(goal("g", title="Ada's wish")))
    shown = write(ledger, proposal(goal("g", title="A wish", visibility="public")))
    for waiting in (capsule.public_decision, shown.seq):
        approve(ledger, waiting, "eve", alignment=no_rules)
    with ledger.read() as reader:
        before = public_counts(reader)
    forget_owner(ledger, "local:ada", "eve")
    with ledger.read() as reader:
        node = current_node(reader, "g")
        assert node is not None and (node.title, node.visibility, node.erased) == ("A wish", "public", False)
        assert public_counts(reader) == before
    with ledger._readers.begin() as connection:
        for table in ("world_events", "world_nodes", "world_edges", "world_decision_payloads", "world_pending"):
            text = str([tuple(row) for row in connection.exec_driver_sql(f"select * from {table}")])
            assert "Ada" not in text and "local:ada" not in text, table
    assert intact(ledger)


@pytest.mark.parametrize("owner", ["", " ", "ada", "local:", "0x12", "constitution"])
def test_what_names_no_owner_forgets_nothing(ledger: Ledger, owner: str) -> None:
    write(ledger, proposal(goal("p", visibility="public"), actor=Actor("operator", "operator:eve")))
    with pytest.raises(OwnerInvalid):
        forget_owner(ledger, owner, "eve")
    with ledger.read() as reader:
        node = current_node(reader, "p")
    assert node is not None and not node.erased


def test_a_claimant_takes_over_a_capsule_and_nothing_else(ledger: Ledger) -> None:
    capsule = Actor("capsule", "capsule:1")
    write(ledger, proposal(goal("a"), goal("b", type="Task"), tie("b", "PURSUES", "a"), actor=capsule))
    write(ledger, proposal(goal("his"), actor=BOB))
    claimant = Actor("claimant", "local:ada", takes_over="capsule:1")
    taken = write(ledger, proposal(goal("a"), goal("b", type="Task"), tie("b", "PURSUES", "a"), actor=claimant))
    states: list[Node | Edge] = [*taken.nodes, *taken.edges]
    assert {state.owner for state in states} == {"local:ada"}
    with ledger.read() as reader:
        assert len(reader.rows("world_edges_of_owner", owner="capsule:1")) == 0
    assert write(ledger, proposal(goal("his"), actor=claimant)).verdict == "rejected"


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    opened = open_ledger(Settings(_env_file=None), tmp_path_factory.mktemp("audit"))
    write(opened, proposal(goal("g"), goal("t", type="Task"), tie("t", "PURSUES", "g")))
    write(opened, proposal(tie("t", "RELATED_TO", "nothing")))
    write(opened, proposal(goal("g", title="Other")))
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("tampering", "found"),
    [
        ("update world_decisions set verdict = 'approved' where number = 2", "decision 2 does not fit the chain"),
        ("update world_decisions set decided_at = '2020' where number = 1", "decision 1 does not fit the chain"),
        (
            "update world_decision_payloads set payload = replace(payload, 'Title', 'Tale') where seq = 1",
            "the payload of decision 1 was changed",
        ),
        (
            "delete from world_decision_payloads where seq = 5; pragma foreign_keys = off; "
            "delete from world_decisions where number = 2",
            "decision 2 is missing",
        ),
        (
            "delete from world_decision_payloads where seq = 6; delete from world_decisions where number = 3",
            "decision with seq 6 was removed",
        ),
        (
            "update world_events set body = replace(body, 'Title', 'Tale') where seq = 2",
            "event 2 is not the one that decision 1",
        ),
        ("delete from world_events where seq = 4", "event 4 is not the one that decision 1 accepted"),
        ("update world_events set decision_seq = 5 where seq = 7", "event 7 has no approved decision"),
        (
            "insert into world_events select 99, kind, 'x', 99, actor, source, recorded_at, body, 0 from world_events "
            "where seq = 2",
            "event 99 has no approved decision",
        ),
        ("update world_nodes set body = replace(body, 'Title', 'Tale') where id = 't'", "t differs from"),
        ("update world_events set segment = 1 where seq = 7", "differs from its newest event"),
        ("update world_edges set segment = 1", "differs from its newest event"),
        ("delete from world_edges", "differs from its newest event"),
        ("update world_edges set revision = revision + 1000", "differs from its newest event"),
        (
            "insert into world_edges (revision, id, source, target, type, owner, visibility, live) "
            "select 98, id, source, target, type, owner, visibility, live from world_edges",
            "differs from its newest event",
        ),
        (
            "create temp table copied as select * from world_nodes where id = 't'; update copied set id = 'x'; "
            "insert into world_nodes select * from copied",
            "x differs from its newest event",
        ),
    ],
)
def test_tampering_without_the_service_is_found(small: Ledger, tampering: str, found: str) -> None:
    assert intact(small)
    with small._writers.begin() as connection:
        for statement in tampering.split("; "):
            connection.exec_driver_sql(statement)
    with small.read() as reader:
        report = verify(reader)
    assert not report.intact
    assert any(found in fault for fault in report.faults), report.faults
