"""A large proposal is judged before the ledger's lock is taken, with the same result as judging it under the lock."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS
from world_writes import ADA, BOB, NOW, at, fact, goal, no_rules, proposal, tie

from contracts.errors import RevisionConflict, StoreBusy
from contracts.settings import Settings
from contracts.world.proposal import Act, Decision, EdgeDraft, NodeDraft, Proposal, checked
from contracts.world.records import Event
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.audit import verify
from warehouse.world.events import events_after
from warehouse.world.forget import forget_owner
from warehouse.world.judging import Judgment
from warehouse.world.write import (
    JUDGED_AT_MOST,
    JUDGED_UNDER_LOCK_AT_MOST,
    decide,
    judge_outside,
    propose,
    write_judged,
)

FINE = no_rules(proposal(goal("any")))


@dataclass
class SetClock:
    """A clock that a test sets."""

    now: datetime = field(default=NOW)

    def __call__(self) -> datetime:
        return self.now


def states(ledger: Ledger) -> list[Event]:
    with ledger.read() as reader:
        report = verify(reader)
        assert report.faults == []
        return events_after(reader, 0, 10_000)


def write(ledger: Ledger, proposed: Proposal) -> Decision:
    return propose(ledger, proposed, alignment=no_rules)


def goals(count: int, prefix: str = "part") -> list[NodeDraft]:
    return [goal(f"{prefix}:{number}", title=f"{prefix.title()} {number}") for number in range(count)]


# interleaved with small writes, over so few ids that most of them collide

IDS = st.sampled_from(["a", "b", "c", "d"])
ACTORS = st.sampled_from([ADA, ADA, BOB])
NODES = st.one_of(
    st.builds(goal, IDS, title=st.sampled_from(["One", "Two", "one "]), valid_to=st.sampled_from([None, at(hours=-2)])),
    st.builds(fact, IDS, st.integers(0, 2), valid_from=st.sampled_from([at(hours=-2), at(hours=-1), None])),
)
EDGES = st.builds(tie, IDS, st.sampled_from(["RELATED_TO", "SUPERSEDES", "OWNED_BY"]), IDS)
DRAFTS = st.lists(st.one_of(NODES, NODES, EDGES), min_size=1, max_size=4)
PROPOSALS = st.builds(
    lambda drafts, actor, expected, key: proposal(
        *drafts, actor=actor, expected_revision=expected, idempotency_key=key
    ),
    DRAFTS,
    ACTORS,
    st.sampled_from([None, None, None, 4, 12]),
    st.sampled_from([None, None, "once"]),
)
WRITES = st.lists(st.one_of(PROPOSALS, PROPOSALS, PROPOSALS, st.just("forget bob")), max_size=4)


@pytest.fixture(scope="module")
def template() -> Iterator[Path]:
    """The file of an empty ledger, which is faster to copy than to create."""
    with tempfile.TemporaryDirectory() as directory:
        open_ledger(Settings(_env_file=None), Path(directory)).close()
        yield Path(directory) / "ledger.db"


@contextmanager
def copied(template: Path, clock: SetClock) -> Iterator[Ledger]:
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(template, Path(directory) / "ledger.db")
        ledger = open_ledger(Settings(_env_file=None), Path(directory), clock=clock)
        yield ledger
        ledger.close()


def outcome(step: Callable[[], Decision | Judgment | int | None]) -> Decision | Judgment | int | str | None:
    try:
        return step()
    except Exception as refusal:
        return f"{type(refusal).__name__}: {refusal}"


def perform(ledger: Ledger, clock: SetClock, written: list[Proposal | str]) -> None:
    for step in written:
        clock.now += timedelta(seconds=1)
        if isinstance(step, str):
            outcome(lambda: forget_owner(ledger, BOB.name, "op"))
        else:
            outcome(partial(write, ledger, step))


@settings(max_examples=12 * ROUNDS)
@given(before=WRITES, meanwhile=WRITES.filter(bool), large=PROPOSALS)
def test_a_judgement_outside_the_lock_writes_what_judging_under_the_lock_would(
    template: Path, before: list[Proposal | str], meanwhile: list[Proposal | str], large: Proposal
) -> None:
    shaped = checked(large)
    clock, serial_clock = SetClock(), SetClock()
    with copied(template, clock) as ledger, copied(template, serial_clock) as serial:
        perform(ledger, clock, before)
        perform(serial, serial_clock, before)
        judged_at = clock.now
        judgment = outcome(lambda: judge_outside(ledger, shaped, FINE))
        if isinstance(judgment, str):
            return  # refused at a revision that the graph had: nothing is written, as it would have been then
        perform(ledger, clock, meanwhile)
        perform(serial, serial_clock, meanwhile)
        # the stages see the instant of judging as the time, on both sides
        clock.now = serial_clock.now = judged_at
        written = outcome(lambda: write_judged(ledger, shaped, judgment))
        if written is None:
            return
        with serial.transaction() as tx:
            under_lock = outcome(lambda: decide(tx, shaped, FINE))
        assert written == under_lock
        assert states(ledger) == states(serial)


# literal cases, on both engines

GATE = {"subject": "gate", "predicate": "state", "value": 1}
LARGE = proposal(
    *goals(JUDGED_UNDER_LOCK_AT_MOST),
    tie("part:0", "RELATED_TO", "there"),
    tie("there", "RELATED_TO", "near"),
    tie("there", "OWNED_BY", "one"),
    fact("f", 1),
    fact("h", 1, properties=GATE),
)
KNOWN = proposal(
    goal("there"),
    goal("near"),
    goal("twin", title="Part 3"),
    goal("one", type="Person"),
    goal("two", type="Person"),
    fact("known", 0, valid_from=at(hours=-2)),
)
ALREADY = {node.id for node in KNOWN.nodes}


def judged(ledger: Ledger, proposed: Proposal = LARGE) -> Judgment | None:
    return judge_outside(ledger, checked(proposed), FINE)


def test_a_judgement_holds_through_writes_that_touch_nothing_of_it(ledger: Ledger) -> None:
    write(ledger, KNOWN)
    judgment = judged(ledger)
    write(ledger, proposal(goal("elsewhere"), goal("more"), tie("near", "RELATED_TO", "there")))
    write(ledger, proposal(fact("theirs", 1), actor=BOB))
    decision = write_judged(ledger, checked(LARGE), judgment)
    assert decision is not None and decision.verdict == "approved"
    assert {event.node.id for event in states(ledger) if event.node} >= {"more", "theirs", "part:0", "f"}


@pytest.mark.parametrize(
    "meanwhile",
    [
        proposal(goal("part:7", title="Taken"), actor=BOB),
        proposal(goal("there", title="Renamed")),
        proposal(goal("part:0", title="Here before")),
        proposal(goal("another", title="PART  4")),
        proposal(goal("twin", title="No twin")),
        proposal(fact("g", 2, valid_from=at(hours=-1))),
        proposal(fact("j", 1, properties=GATE, valid_from=at(hours=-1))),
        proposal(tie("there", "RELATED_TO", "near", properties={"since": "May"})),
        proposal(tie("there", "OWNED_BY", "two")),
    ],
    ids=[
        "an id taken",
        "the end of an edge",
        "a node of it",
        "a title alike",
        "a title alike no more",
        "a fact of the subject",
        "the first fact of a subject",
        "an edge of it",
        "an edge of a single-valued type",
    ],
)
def test_a_judgement_falls_with_a_write_that_touches_a_subject_of_it(ledger: Ledger, meanwhile: Proposal) -> None:
    write(ledger, KNOWN)
    judgment = judged(ledger)
    assert write(ledger, meanwhile).verdict == "approved"
    before = states(ledger)
    assert write_judged(ledger, checked(LARGE), judgment) is None
    assert states(ledger) == before


def test_a_judgement_falls_when_a_fact_in_its_way_turns_out_to_be_of_another_subject(ledger: Ledger) -> None:
    write(ledger, proposal(fact("later", 0, valid_from=at(days=900))))
    early = proposal(*goals(JUDGED_UNDER_LOCK_AT_MOST), fact("f", 1))
    judgment = judged(ledger, early)
    assert judgment is not None
    assert next(state.valid_to for state in judgment.states if state.id == "f") == at(days=900)
    write(ledger, proposal(fact("later", 0, valid_from=at(days=900), properties=GATE)))
    assert write_judged(ledger, checked(early), judgment) is None
    assert next(node.valid_to for node in write(ledger, early).nodes if node.id == "f") is None


def test_a_newer_revision_of_the_owner_is_a_conflict_also_for_a_judgement_before_it(ledger: Ledger) -> None:
    head = write(ledger, proposal(goal("there"))).revision
    expecting = proposal(*goals(101), expected_revision=head)
    judgment = judged(ledger, expecting)
    write(ledger, proposal(goal("newer")))
    assert write_judged(ledger, checked(expecting), judgment) is None
    with pytest.raises(RevisionConflict):
        write(ledger, expecting)


def test_the_same_large_request_is_answered_again_and_written_once(ledger: Ledger) -> None:
    keyed = proposal(*goals(101), idempotency_key="once")
    judgment = judged(ledger, keyed)
    first = write(ledger, keyed)
    again = write_judged(ledger, checked(keyed), judgment)
    assert again is not None and (again.seq, again.replayed) == (first.seq, True)
    assert write(ledger, keyed).seq == first.seq
    assert len(states(ledger)) == 101


class WritesDuringJudging:
    """A ledger to which somebody else writes between each judging and its writing, `times` times."""

    def __init__(self, ledger: Ledger, times: int) -> None:
        self._ledger = ledger
        self._left = times
        self.judged = 0

    @contextmanager
    def read(self) -> Iterator[object]:
        with self._ledger.read() as reader:
            yield reader
        self.judged += 1
        if self._left:
            self._left -= 1
            write(self._ledger, proposal(goal("there", title=f"Changed {self._left}")))

    def __getattr__(self, name: str) -> object:
        return getattr(self._ledger, name)


def test_a_large_proposal_is_judged_again_until_it_holds(ledger: Ledger) -> None:
    write(ledger, KNOWN)
    busy = WritesDuringJudging(ledger, JUDGED_AT_MOST - 1)
    assert write(busy, LARGE).verdict == "approved"
    assert busy.judged == JUDGED_AT_MOST
    assert {event.node.id for event in states(ledger) if event.node} >= {"part:0", "f"}


def test_a_large_proposal_that_is_overtaken_each_time_is_sent_away_and_writes_nothing(ledger: Ledger) -> None:
    write(ledger, KNOWN)
    busy = WritesDuringJudging(ledger, JUDGED_AT_MOST)
    with pytest.raises(StoreBusy, match="changed 3 times"):
        write(busy, LARGE)
    assert {event.node.id for event in states(ledger) if event.node} == ALREADY


def test_others_write_while_a_large_proposal_is_judged(ledger: Ledger) -> None:
    seen: list[Decision] = []

    class Meanwhile(WritesDuringJudging):
        @contextmanager
        def read(self) -> Iterator[object]:
            with self._ledger.read() as reader:
                yield reader
                seen.append(write(self._ledger, proposal(goal("small"), actor=BOB)))

    write(ledger, KNOWN)
    decision = write(Meanwhile(ledger, 0), LARGE)
    assert [small.verdict for small in seen] == ["approved"]
    assert decision.seq > seen[0].seq


def test_a_small_proposal_is_judged_under_the_lock_and_never_overtaken(ledger: Ledger) -> None:
    write(ledger, KNOWN)
    busy = WritesDuringJudging(ledger, JUDGED_AT_MOST)
    small: list[NodeDraft | EdgeDraft] = [*goals(JUDGED_UNDER_LOCK_AT_MOST - 1), tie("part:0", "RELATED_TO", "there")]
    assert write(busy, proposal(*small)).verdict == "approved"
    assert busy.judged == 0


@pytest.mark.parametrize(("edges", "judged_outside"), [(JUDGED_UNDER_LOCK_AT_MOST, 1), (20, 0)])
def test_a_correction_of_a_node_with_many_edges_is_judged_outside_the_lock_and_misses_none(
    ledger: Ledger, edges: int, judged_outside: int
) -> None:
    parts = [f"part:{number}" for number in range(edges)]
    write(ledger, proposal(goal("p", type="Person"), *goals(edges), *(tie(part, "OWNED_BY", "p") for part in parts)))
    write(ledger, proposal(goal("late"), tie("late", "OWNED_BY", "p")))
    correction = proposal(goal("q", type="Person"), acts=(Act("corrects", "q", "p", "a new name"),))
    judgment = judged(ledger, correction)
    write(ledger, proposal(goal("later"), tie("later", "OWNED_BY", "p")))
    assert write_judged(ledger, checked(correction), judgment) is None
    counting = WritesDuringJudging(ledger, 0)
    kept = {edge.source for edge in write(counting, correction).edges if (edge.type, edge.target) == ("OWNED_BY", "q")}
    assert kept == {*parts, "late", "later"}
    assert counting.judged == 2 * judged_outside + (1 - judged_outside)
