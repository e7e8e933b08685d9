"""Each stage of the validator on literal graphs: what passes, what warns, what fails, and why."""

from __future__ import annotations

import pytest
from world_writes import ADA, BOB, at, case, fact, goal, held_edge, held_node, no_rules, proposal, tie

from contracts.errors import BodyInvalid, RevisionConflict
from contracts.standing import SourceClass
from contracts.world.identity import own_id
from contracts.world.proposal import CONSTITUTION, PIPELINE, Act, Actor, NodeDraft, Proposal, checked
from contracts.world.records import Edge, Node
from contracts.world.stages import (
    Stage,
    authority,
    deduplication,
    immutability,
    provenance,
    referential_integrity,
    temporal,
)
from contracts.world.validator import judge

VALUE = held_node("value:proof", type="Value", immutable=True)
HERS = held_node("hers", owner="local:ada")
HIS = held_node("his", owner="local:bob")
SHUT = {"subject": "door", "predicate": "state", "value": "shut"}
OPERATOR = Actor("operator", "operator:eve")


def door(node_id: str, *, owner: str = "local:ada", **fields: object) -> Node:
    return held_node(node_id, type="Observation", owner=owner, properties=SHUT, **fields)


def public(draft: NodeDraft) -> NodeDraft:
    return NodeDraft(id=draft.id, type=draft.type, title=draft.title, properties=draft.properties, visibility="public")


CASES: dict[str, tuple[Stage, Proposal, list[Node | Edge], str, str]] = {
    # immutability
    "what is immutable can't be changed": (
        immutability, proposal(goal("value:proof", type="Value", title="Other"), actor=OPERATOR), [VALUE],
        "fail", "value:proof is immutable",
    ),
    "but for an amendment of the constitution": (
        immutability, proposal(goal("value:proof", type="Value", visibility="public"), actor=CONSTITUTION), [VALUE],
        "pass", "Nothing immutable",
    ),
    "what is forgotten can't come back": (
        immutability, proposal(goal("hers")), [held_node("hers", owner="local:ada", erased=True)],
        "fail", "forgotten",
    ),
    "no public edge goes out from what is immutable": (
        immutability, proposal(tie("value:proof", "RELATED_TO", "g", visibility="public"), actor=OPERATOR),
        [VALUE, held_node("g")], "fail", "outgoing RELATED_TO",
    ),
    "a private edge of one's own does": (
        immutability, proposal(tie("value:proof", "RELATED_TO", "g")), [VALUE, held_node("g")],
        "pass", "Nothing immutable",
    ),
    "an edge to what is immutable may be": (
        immutability, proposal(tie("g", "GOVERNED_BY", "value:proof")), [VALUE, held_node("g")],
        "pass", "Nothing immutable",
    ),
    # temporal
    "validity ends before it starts": (
        temporal, proposal(goal("g", valid_from=at(), valid_to=at(hours=-1))), [], "fail", "not after it starts",
    ),
    "validity ends when it starts": (
        temporal, proposal(goal("g", valid_from=at(), valid_to=at())), [], "fail", "not after it starts",
    ),
    "a known node would end before it started": (
        temporal, proposal(goal("hers", valid_to=at(days=-2))), [HERS], "fail", "not after it starts",
    ),
    "a start in the far future": (
        temporal, proposal(goal("g", valid_from="2999-01-01T00:00:00Z")), [], "fail", "more than ten years from now",
    ),
    "an end in the far future": (
        temporal, proposal(goal("g", valid_to="9999-12-31T23:59:59Z")), [], "fail", "more than a hundred years",
    ),
    "an edge's end in the far future": (
        temporal, proposal(tie("hers", "RELATED_TO", "g", valid_to="9999-01-01T00:00:00Z")), [HERS],
        "fail", "more than a hundred years",
    ),
    "a start to come": (temporal, proposal(goal("g", valid_from=at(days=3))), [], "warn", "from a future time"),
    "observed in the future": (
        temporal, proposal(goal("g", properties={"observed_at": at(hours=1)})), [], "fail", "in the future",
    ),
    "observed by a clock that is two minutes ahead": (
        temporal, proposal(goal("g", properties={"observed_at": at(minutes=2)})), [], "pass", "in order",
    ),
    "a long past": (temporal, proposal(goal("g", valid_from="0001-01-01T00:00:00Z")), [], "pass", "in order"),
    "a fact after the one that holds": (temporal, proposal(fact("b", "open")), [door("a")], "pass", "in order"),
    "a fact of the same instant and another source": (
        temporal, proposal(fact("b", "open", valid_from=at(hours=-1)), source="s"), [door("a")], "warn", "disputed",
    ),
    "an older fact without an end": (
        temporal, proposal(fact("b", "open", valid_from=at(hours=-2))), [door("a")], "pass", "goes into history",
    ),
    "an older fact that ends in time": (
        temporal, proposal(fact("b", "open", valid_from=at(hours=-2), valid_to=at(hours=-1))), [door("a")],
        "pass", "in order",
    ),
    "two facts of one proposal, one after the other": (
        temporal, proposal(fact("b", 1, valid_from=at(hours=-3)), fact("c", 2, valid_from=at(hours=-2))), [],
        "pass", "c supersedes b",
    ),
    "two facts of one proposal that contradict each other": (
        temporal, proposal(fact("b", 1), fact("c", 2)), [], "fail", "b and c of the proposal contradict each other",
    ),
    "a fact that stands lower than the one that holds": (
        temporal, proposal(fact("b", "open"), source="a joke", source_class=SourceClass.HEARSAY), [door("a")],
        "warn", "disputed, along with a: a stands highest, as inference by 'a test'",
    ),
    "a stated succession that the rule does not give": (
        temporal,
        proposal(fact("b", "open"), tie("b", "SUPERSEDES", "a"), source="s", source_class=SourceClass.HEARSAY),
        [door("a")], "fail", "b does not supersede a",
    ),
    "a correction of what was corrected": (
        temporal, proposal(goal("g"), acts=(Act("corrects", "g", "hers", "it is wrong"),)),
        [held_node("hers", owner="local:ada", retracted=True, ended_by="h")],
        "fail", "hers was corrected or retracted by h already",
    ),
    "a confirmation of what ended": (
        temporal, proposal(goal("g"), acts=(Act("confirms", "g", "hers", "it is right"),)),
        [held_node("hers", owner="local:ada", valid_to=at(minutes=-1))], "fail", "state it again",
    ),
    "two targets at once": (
        temporal, proposal(tie("hers", "OWNED_BY", "p"), tie("hers", "OWNED_BY", "q")),
        [HERS, held_node("p", type="Person"), held_node("q", type="Person")], "fail", "one holds at a time",
    ),
    # referential integrity
    "an unknown type": (
        referential_integrity, proposal(goal("g", type="Wish")), [], "fail", "no node type Wish; known are Action",
    ),
    "a type of another domain": (
        referential_integrity, proposal(goal("g", domain="TRACK")), [], "fail", "a Goal is of VISION, not of TRACK",
    ),
    "a type that changes": (
        referential_integrity, proposal(goal("hers", type="Task")), [HERS], "fail", "can't become a Task",
    ),
    "a property of another kind": (
        referential_integrity, proposal(goal("g", properties={"tags": "one"})), [], "fail", "`tags` must be a list",
    ),
    "a property that the type does not name": (
        referential_integrity, proposal(goal("g", properties={"colour": {"r": 1}})), [], "pass", "types are known",
    ),
    "an edge to nothing": (
        referential_integrity, proposal(tie("hers", "RELATED_TO", "x")), [HERS], "fail", "there is no node x",
    ),
    "an edge from nothing": (
        referential_integrity, proposal(tie("x", "RELATED_TO", "hers")), [HERS], "fail", "there is no node x",
    ),
    "an edge to what is forgotten": (
        referential_integrity, proposal(tie("hers", "RELATED_TO", "e")),
        [HERS, held_node("e", owner="local:ada", erased=True)], "fail", "there is no node e",
    ),
    "an edge to somebody's private node": (
        referential_integrity, proposal(tie("hers", "RELATED_TO", "his")), [HERS, HIS], "fail", "there is no node his",
    ),
    "somebody's private node as an id": (
        referential_integrity, proposal(goal("his")), [HIS], "fail", "his can't be used as an id",
    ),
    "an own node that was erased": (
        referential_integrity, proposal(goal(own_id("local:ada", "g"))),
        [held_node(own_id("local:ada", "g"), owner="forgotten", erased=True)], "fail",
        "g was erased, and can't come back",
    ),
    "an erased node of somebody else": (
        referential_integrity, proposal(goal(own_id("local:bob", "g"))),
        [held_node(own_id("local:bob", "g"), owner="forgotten", erased=True)], "fail", "g can't be used as an id",
    ),
    "an edge within the proposal": (
        referential_integrity, proposal(goal("g"), goal("t", type="Task"), tie("t", "PURSUES", "g")), [],
        "pass", "every edge has both ends",
    ),
    "an edge to itself": (
        referential_integrity, proposal(tie("hers", "RELATED_TO", "hers")), [HERS], "fail", "be connected to itself",
    ),
    "an unknown relationship": (
        referential_integrity, proposal(goal("g"), tie("hers", "LIKES", "g")), [HERS],
        "fail", "no relationship type LIKES; known are ACHIEVES",
    ),
    "wrong ends": (
        referential_integrity, proposal(tie("hers", "TRACKS", "g")), [HERS, held_node("g")],
        "fail", "TRACKS can't go from a Goal to a Goal",
    ),
    "a public edge to a private node": (
        referential_integrity, proposal(tie("hers", "RELATED_TO", "g", visibility="public")), [HERS, held_node("g")],
        "fail", "an end of it is private",
    ),
    "superseding itself": (
        referential_integrity, proposal(tie("a", "SUPERSEDES", "a")), [door("a")], "fail", "be connected to itself",
    ),
    "superseding another subject": (
        referential_integrity,
        proposal(fact("b", "open", properties={**SHUT, "subject": "gate"}), tie("b", "SUPERSEDES", "a")),
        [door("a")], "fail", "the same subject and single-valued predicate",
    ),
    "superseding without a predicate": (
        referential_integrity, proposal(tie("hers", "SUPERSEDES", "h2")), [HERS, held_node("h2", owner="local:ada")],
        "fail", "the same subject and single-valued predicate",
    ),
    "a circle of superseding": (
        referential_integrity, proposal(tie("a", "SUPERSEDES", "b")),
        [door("a"), door("b"), held_edge("b", "SUPERSEDES", "a", owner="local:ada")], "fail", "which supersedes it",
    ),
    "a longer circle, partly proposed": (
        referential_integrity, proposal(tie("a", "SUPERSEDES", "c"), tie("c", "SUPERSEDES", "b")),
        [door("a"), door("b"), door("c"), held_edge("b", "SUPERSEDES", "a", owner="local:ada")],
        "fail", "which supersedes it",
    ),
    "an act on a node of somebody else": (
        referential_integrity, proposal(goal("g"), acts=(Act("retracts", "g", "his", "I say so"),)), [HIS],
        "fail", "there is no node his",
    ),
    "a retraction of what others build on": (
        referential_integrity, proposal(goal("g"), acts=(Act("retracts", "g", "hers", "so"),)),
        [HERS, held_node("b", owner="local:ada"), held_edge("b", "DERIVED_FROM", "hers", owner="local:ada"),
         held_node("c", owner="local:bob"), held_edge("c", "DERIVED_FROM", "hers", owner="local:bob")],
        "warn", "hers is the basis of b, which stays",
    ),
    "an act on nothing": (
        referential_integrity, proposal(goal("g"), acts=(Act("retracts", "g", "x", "I say so"),)), [],
        "fail", "there is no node x",
    ),
    "an act on what is forgotten": (
        referential_integrity, proposal(goal("g"), acts=(Act("retracts", "g", "e", "I say so"),)),
        [held_node("e", owner="local:ada", erased=True)], "fail", "there is no node e",
    ),
    "a relationship of acts as a link": (
        referential_integrity, proposal(goal("g"), tie("g", "CORRECTS", "hers")), [HERS],
        "fail", "stated by `corrects` of a signal",
    ),
    # authority
    "an act on what stands higher than the key may claim": (
        authority, proposal(goal("g"), acts=(Act("corrects", "g", "a", "so"),)),
        [door("a", confirmed_as=SourceClass.OWNER, confirmed_at=at(hours=-1))],
        "fail", "a stands as owner; this key corrects up to document",
    ),
    "an act on what is public": (
        authority, proposal(goal("g"), acts=(Act("retracts", "g", "p", "so"),)),
        [held_node("p", source_class=SourceClass.SIGNED_SYSTEM)],
        "warn", "p: public content waits for an operator",
    ),
    "a known fact changed in place by a weaker source": (
        authority, proposal(fact("a", "open"), source="s", source_class=SourceClass.HEARSAY), [door("a")],
        "fail", "a stands as inference, higher than this",
    ),
    "the name of a source that stands higher": (
        authority, proposal(fact("b", "open")), [door("a", source_class=SourceClass.SIGNED_SYSTEM)],
        "fail", "a test stated a as signed_system; this key claims up to document",
    ),
    "one's own part": (authority, proposal(goal("hers")), [HERS], "pass", "local:ada may write this"),
    "what is to become public": (
        authority, proposal(public(goal("g"))), [], "warn", "waits for an operator",
    ),
    "an immutable node of a caller": (
        authority, proposal(goal("g", immutable=True)), [], "fail", "only the constitution makes nodes immutable",
    ),
    "a public node taken back": (
        authority, proposal(goal("g")), [held_node("g")], "fail", "can't make it private",
    ),
    "the pipeline outside TRACK": (
        authority, proposal(public(goal("g")), actor=PIPELINE), [], "fail", "the pipeline writes only TRACK",
    ),
    "the pipeline within TRACK": (
        authority, proposal(public(fact("m", 1)), actor=PIPELINE), [], "pass", "pipeline may write this",
    ),
    "the pipeline on another's node": (
        authority, proposal(public(fact("m", 1)), actor=PIPELINE),
        [held_node("m", type="Observation", actor="operator:eve")], "fail", "was written by operator:eve",
    ),
    "the pipeline in private": (
        authority, proposal(fact("m", 1), actor=PIPELINE), [], "fail", "must be public",
    ),
    "the constitution on another's node": (
        authority, proposal(public(goal("g")), actor=CONSTITUTION), [held_node("g", actor="operator:eve")],
        "fail", "not part of the constitution",
    ),
    # deduplication
    "nothing like it": (deduplication, proposal(goal("g")), [], "pass", "Nothing like it"),
    "the same title in other letters": (
        deduplication, proposal(goal("g", title="  ＴＩＴＬＥ of   HERS")), [HERS], "warn", "g may be hers",
    ),
    "the same title of another type": (
        deduplication, proposal(goal("g", type="Task", title="Title of hers")), [HERS], "pass", "Nothing like it",
    ),
    "the same title of somebody else": (
        deduplication, proposal(goal("g", title="Title of his")), [HIS], "pass", "Nothing like it",
    ),
    "two of one title in a proposal": (
        deduplication, proposal(goal("g", title="One"), goal("h", title="one")), [], "warn", "h may be g",
    ),
    "what is known already": (
        deduplication, proposal(goal("hers")), [HERS], "pass", "Already known and not written again: 1.",
    ),
    "one id twice": (deduplication, proposal(goal("g"), goal("g")), [], "fail", "g: stated twice"),
    # provenance
    "a source": (provenance, proposal(goal("g")), [], "pass", "Stated in a test by local:ada"),
    "little confidence": (
        provenance, proposal(goal("g", properties={"confidence": 0.1})), [], "warn", "little confidence",
    ),
    "a class above what the key may claim": (
        provenance, proposal(goal("g"), source_class=SourceClass.OWNER), [],
        "warn", "stored as document, the highest class that this statement may claim, not as owner",
    ),
    "a class above what a weak key may claim, with little confidence": (
        provenance,
        proposal(
            goal("g", properties={"confidence": 0.1}),
            actor=Actor("caller", "local:ada", max_class=SourceClass.HEARSAY), source_class=SourceClass.DOCUMENT,
        ),
        [], "warn", "g: little confidence; stored as hearsay, the highest class",
    ),
    "a class that the key may claim": (
        provenance, proposal(goal("g"), source_class=SourceClass.DOCUMENT), [], "pass", "Stated in a test",
    ),
    "a class that was not stated": (
        provenance, proposal(goal("g"), actor=Actor("caller", "local:ada", max_class=SourceClass.HEARSAY)), [],
        "pass", "Stated in a test",
    ),
    "the pipeline on the graph's own tables": (
        provenance, proposal(public(fact("m", 1)), actor=PIPELINE, source="out_world__counts"), [],
        "fail", "feed the graph on itself",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_stage_reports_its_result_and_the_reason(name: str) -> None:
    stage, proposed, held, result, reason = CASES[name]
    judged = stage(case(proposed, *held))
    assert (judged.result, reason in judged.reason) == (result, True), judged


def test_every_stage_runs_and_the_first_fail_does_not_hide_the_others() -> None:
    judged = judge(case(proposal(goal("g", type="Wish", valid_to=at(days=-1)), source="s")), no_rules(proposal()))
    assert judged.verdict == "rejected"
    assert [stage.stage for stage in judged.stages] == [
        "immutability",
        "temporal",
        "referential_integrity",
        "authority",
        "deduplication",
        "provenance",
        "alignment",
    ]
    assert [stage.stage for stage in judged.stages if stage.result == "fail"] == ["temporal", "referential_integrity"]


def test_a_public_node_escalates_and_a_failure_in_the_same_proposal_rejects() -> None:
    fine = case(proposal(public(goal("g"))))
    assert judge(fine, no_rules(fine.proposal)).verdict == "escalated"
    bad = case(proposal(public(goal("g")), tie("g", "RELATED_TO", "x")))
    assert judge(bad, no_rules(bad.proposal)).verdict == "rejected"


def test_a_fact_ends_the_one_before_and_says_so_by_an_edge() -> None:
    planned = case(proposal(fact("b", "open")), door("a"))
    assert [(node.id, node.valid_to, node.ended_by) for _, node in planned.changed_nodes] == [("a", at(), "b")]
    assert [(e.draft.source, e.draft.type, e.draft.target) for e in planned.edges] == [("b", "SUPERSEDES", "a")]


def test_a_fact_of_somebody_else_ends_nothing() -> None:
    planned = case(proposal(fact("b", "open"), actor=BOB), door("a"))
    assert planned.changed_nodes == ()
    assert planned.edges == ()


@pytest.mark.parametrize(
    ("source_class", "start", "ends", "disputed"),
    [
        (SourceClass.DOCUMENT, None, {"p": at()}, False),
        (SourceClass.HEARSAY, None, {"p": None}, True),
        (SourceClass.DOCUMENT, at(hours=-2), {"p": None, "q": at(hours=-1)}, False),
    ],
    ids=["as high", "lower", "older"],
)
def test_an_edge_of_a_single_valued_type_gives_way_to_one_of_equal_standing(
    source_class: SourceClass, start: str | None, ends: dict[str, str | None], disputed: bool
) -> None:
    held = held_edge("hers", "OWNED_BY", "p", owner="local:ada", source_class=SourceClass.DOCUMENT)
    people = [held_node(name, type="Person") for name in "pq"]
    proposed = proposal(tie("hers", "OWNED_BY", "q", valid_from=start), source="s", source_class=source_class)
    planned = case(proposed, HERS, *people, held)
    states = {held.target: held} | {after.target: after for _, after in planned.changed_edges}
    states |= {change.after.target: change.after for change in planned.edges}
    assert {target: states[target].valid_to for target in ends} == ends
    assert [states[target].disputed for target in "pq"] == [disputed, disputed]


def test_a_single_valued_edge_is_not_ended_by_restating_it_from_below() -> None:
    held = held_edge("hers", "OWNED_BY", "p", owner="local:ada", source_class=SourceClass.DOCUMENT)
    ending = proposal(tie("hers", "OWNED_BY", "p", valid_to=at()), source="s", source_class=SourceClass.HEARSAY)
    people = [held_node(name, type="Person") for name in "pq"]
    judged = authority(case(ending, HERS, *people, held))
    assert judged.result == "fail" and "stands as document" in judged.reason
    weak = Actor("caller", "local:ada", max_class=SourceClass.HEARSAY)
    judged = authority(case(proposal(tie("hers", "OWNED_BY", "q"), actor=weak), HERS, *people, held))
    assert judged.result == "fail" and "this key claims up to hearsay" in judged.reason


@pytest.mark.parametrize(
    ("expected", "conflict"), [(None, False), (6, True), (7, False), (9, False)], ids=["none", "old", "seen", "later"]
)
def test_a_newer_change_of_the_callers_own_part_is_a_conflict(expected: int | None, conflict: bool) -> None:
    asked = case(proposal(goal("g"), expected_revision=expected), HERS, held_node("far", revision=9))
    if conflict:
        with pytest.raises(RevisionConflict, match="changed at revision 7"):
            judge(asked, no_rules(asked.proposal))
    else:
        assert judge(asked, no_rules(asked.proposal)).verdict == "approved"


@pytest.mark.parametrize("expected", [8, 10**15])
def test_a_future_revision_can_t_be_expected(expected: int) -> None:
    asked = case(proposal(goal("g"), expected_revision=expected), HERS)
    with pytest.raises(BodyInvalid) as refused:
        judge(asked, no_rules(asked.proposal))
    assert refused.value.errors == [("/expectedRevision", "is above 7")]


def test_changes_by_others_elsewhere_are_no_conflict_but_a_change_of_a_linked_node_is() -> None:
    elsewhere: list[Node | Edge] = [held_node("his2", owner="local:bob", revision=50), held_node("far", revision=60)]
    free = case(proposal(goal("g"), expected_revision=7), HERS, *elsewhere)
    assert judge(free, no_rules(free.proposal)).verdict == "approved"
    tied = case(proposal(goal("g"), tie("g", "RELATED_TO", "far"), expected_revision=7), HERS, *elsewhere)
    with pytest.raises(RevisionConflict, match="60"):
        judge(tied, no_rules(tied.proposal))


@pytest.mark.parametrize(
    ("draft", "pointer", "detail"),
    [
        (goal("g", title="x" * 10_000), "/nodes/0/title", "10,000 characters"),
        (goal("g", title=""), "/nodes/0/title", "is empty"),
        (goal("g", title="a\x00b"), "/nodes/0/title", "control character U+0000"),
        (goal("g", title="a\x1bb"), "/nodes/0/title", "control character U+001B"),
        (goal("g", title="a\x85b"), "/nodes/0/title", "control character U+0085"),
        (goal("g", title="a\nb"), "/nodes/0/title", "line break"),
        (goal("g", title="a\ud800b"), "/nodes/0/title", "surrogate"),
        (goal("g", title="a\u2028b"), "/nodes/0/title", "contains a line break"),
        (goal("g", title="\u200b \u2060"), "/nodes/0/title", "is empty"),
        (goal("g", title="abc\u202egnp.exe"), "/nodes/0/title", "U+202E, which reorders"),
        (goal("g", properties={"a": ["\x00"]}), "/nodes/0/properties", "control character U+0000"),
        (goal("g", properties={"\udfff": 1}), "/nodes/0/properties", "surrogate"),
        (goal("g", properties={"a": 2**60}), "/nodes/0/properties", "2^53"),
        (goal("g", properties={"a": float("nan")}), "/nodes/0/properties", "JSON can't represent"),
        (goal("g", properties={"a": "x" * 30_000}), "/nodes/0/properties", "the maximum is 24,000"),
        (goal("a b"), "/nodes/0/id", "not a valid id"),
        (goal(""), "/nodes/0/id", "not a valid id"),
        (goal("g", valid_from="2026-01-01"), "/nodes/0/validFrom", "RFC 3339"),
        (goal("g", valid_from="2026-01-01T00:00:00"), "/nodes/0/validFrom", "RFC 3339"),
        (goal("g", valid_from="2026-W01-4T00:00:00Z"), "/nodes/0/validFrom", "RFC 3339"),
        (goal("g", valid_to="9999-12-31T23:59:59-10:00"), "/nodes/0/validTo", "RFC 3339"),
        (goal("g", valid_to="soon"), "/nodes/0/validTo", "RFC 3339"),
    ],
)
def test_a_draft_that_no_graph_could_hold_is_refused_before_any_stage(
    draft: NodeDraft, pointer: str, detail: str
) -> None:
    with pytest.raises(BodyInvalid) as caught:
        checked(proposal(draft))
    assert caught.value.errors[0][0] == pointer
    assert detail in caught.value.errors[0][1]


def test_deep_properties_are_refused_and_an_empty_proposal_too() -> None:
    deep: dict[str, object] = {}
    for _ in range(40):
        deep = {"a": deep}
    with pytest.raises(BodyInvalid, match="nested deeper than 16"):
        checked(proposal(goal("g", properties=deep)))
    with pytest.raises(BodyInvalid, match="at least one"):
        checked(proposal())


@pytest.mark.parametrize("title", ["שלום עולם", "مرحبا بالعالم", "Zürich 🏔️ 東京", "a\u200fb", "e\u0301"])
def test_every_script_is_fine(title: str) -> None:
    asked = proposal(goal("g", title=title, properties={"description": f"{title}\n\t{title}"}))
    assert checked(asked).nodes[0].title == title


def test_times_become_one_form_so_that_texts_sort_as_instants() -> None:
    drafted = checked(proposal(goal("g", valid_from="2026-01-01T02:00:00+02:00"))).nodes[0]
    assert drafted.valid_from == "2026-01-01T00:00:00.000000Z"


def test_an_operator_approves_on_behalf_of_an_owner() -> None:
    actor = Actor("operator", "operator:eve", on_behalf_of=ADA.name)
    asked = case(proposal(public(goal("hers")), goal("other"), actor=actor), HERS)
    assert judge(asked, no_rules(asked.proposal)).verdict == "approved"
    assert [(change.after.owner, change.after.actor) for change in asked.nodes] == [
        (None, "operator:eve"),
        ("local:ada", "operator:eve"),
    ]
