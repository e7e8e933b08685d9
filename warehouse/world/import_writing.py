"""Writes the judged parts of an imported file: in one transaction, or a few parts at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from time import monotonic

import msgspec

from contracts.times import utc_text
from contracts.world.identity import own_id
from contracts.world.proposal import StageResult, Verdict
from warehouse.ledger.ledger import Ledger, Transaction
from warehouse.world.audit import DECISION, record
from warehouse.world.events import Batch, append_batch, head_revision
from warehouse.world.import_judging import merged_stages
from warehouse.world.import_parts import Judged, JudgedParts, OnProgress, Planned
from warehouse.world.import_planning import plan_items
from warehouse.world.import_questions import owners_of, rows_of
from warehouse.world.import_survey import JudgeAgain, SurveyedFile
from warehouse.world.ontologies import put_words
from warehouse.world.taken_over import took_over_since
from warehouse.world.write import JUDGED_AT_MOST, overtaken

WRITES_AT_MOST_S = 3.0
"""Seconds after which no more parts join a transaction. Other writers wait three times as long before they fail."""

CACHE_BYTES = 1_000_000_000
"""Size of the page cache of the ledger's file between two parts: the indexes of some millions of edges."""

SEGMENT_STATES = 500_000
"""States of a large import after which a new segment of the indexes of random keys begins. A commit writes most pages
of the last segment, and a search by id looks into each segment."""

STATES_WORTH_A_SEGMENT = 100_000
"""Minimum number of nodes and edges of a file that gets its own segments."""

_encode = msgspec.json.Encoder(order="sorted").encode


@dataclass
class Written:
    """Counts what an import has written, across all judgements of the file."""

    decisions: list[int] = field(default_factory=list)
    states: int = 0
    _segment: int = 0
    _states_of_segment: int = 0

    def count(self, appended: list[tuple[int, int]]) -> None:
        """Adds decisions with the numbers of states that they wrote."""
        for seq, states in appended:
            self.decisions.append(seq)
            self.states += states

    def segment_for(self, states: int, decision: int) -> int:
        """Returns the segment of the next states: the current one or, if it is full, a new one named by `decision`."""
        if self._states_of_segment == 0 or self._states_of_segment + states > SEGMENT_STATES:
            self._segment, self._states_of_segment = decision, 0
        self._states_of_segment += states
        return self._segment


class PartWriter:
    """Writes the parts of a file that was judged at the revision `seen`, and counts its writes in `written`."""

    def __init__(
        self, ledger: Ledger, file: SurveyedFile, parts: JudgedParts, seen: int, written: Written, key_id: str | None
    ) -> None:
        self._ledger = ledger
        self._file = file
        self._parts = parts
        self._seen = seen
        """The revision at the judgement of the file, and later that after the last written part."""
        self._written = written
        self._key_id = key_id
        self._others_wrote = False
        self._decided: list[tuple[StageResult, ...]] = []
        """The stages of each written part."""

    def write_whole(self, tx: Transaction) -> None:
        """Writes all parts in one transaction. Raises `JudgeAgain` if something changed that they build on."""
        planned_parts = self._parts.planned
        self._file.refuse_other_words(tx)
        self._notice_others(tx)
        if self._others_wrote:
            for part in self._parts:
                self._refuse_known(tx, part)
        if not all(planned.subjects.unchanged_in(tx, planned.revision) for planned in planned_parts):
            raise JudgeAgain
        self._take_over_words(tx, {key for planned in planned_parts for key in planned.subjects.fact_keys})
        for part in self._parts:
            self._written.count(self._append(tx, part, part.planned))

    def write_in_parts(self, on_progress: OnProgress) -> tuple[Verdict, tuple[StageResult, ...]]:
        """Writes a few parts at a time. Items that are not plain are judged again when they are written, together with
        the earlier parts. Returns the verdict and the stages of that judgement.

        Raises `JudgeAgain`.
        """
        with self._ledger.transaction() as tx:
            self._file.refuse_other_words(tx)
            self._take_over_words(tx)
        self._file = replace(self._file, known=self._file.words)
        done, waiting = 0, iter(self._parts)
        part = next(waiting, None)
        with self._ledger.moving_log() as move_log:
            while part is not None:
                if part.unchanged == part.size:
                    self._decided.append(part.planned.stages)
                    done, part = done + part.size, next(waiting, None)
                elif part.rest:
                    planned = self._write(part)
                    if planned.verdict != "approved":
                        return planned.verdict, planned.stages
                    done, part = done + part.size, next(waiting, None)
                else:
                    done, part = self._write_plain(part, waiting, done)
                move_log()
                on_progress("writing", done, self._file.size)
        return "approved", merged_stages(self._decided)

    def _write_plain(self, part: Judged, waiting: Iterator[Judged], done: int) -> tuple[int, Judged | None]:
        """Writes a wholly plain part, and similar parts after it for as long as other writers may wait, in one
        transaction, because each transaction writes almost all of an index's last segment.

        Returns the number of nodes and edges done by then, and the next part.
        """
        next_part: Judged | None = part
        appended: list[tuple[int, int]] = []
        with self._ledger.transaction(cache_bytes=CACHE_BYTES) as tx:
            until = monotonic() + WRITES_AT_MOST_S
            self._file.refuse_other_words(tx)
            self._notice_others(tx)
            while next_part is not None and not next_part.rest and (next_part is part or monotonic() < until):
                self._refuse_known(tx, next_part)
                now = utc_text(self._ledger.now())
                appended += self._append(tx, next_part, replace(next_part.planned, now=now))
                self._decided.append(next_part.planned.stages)
                done, next_part = done + next_part.size, next(waiting, None)
            self._seen = head_revision(tx)
        self._written.count(appended)
        return done, next_part

    def _take_over_words(self, tx: Transaction, settled: Collection[str] = ()) -> None:
        """Gives the owner the words of the file. The parts themselves place the facts of the keys in `settled`."""
        if self._file.words != self._file.known:
            # as two versions, if ended states need former words, so that an export contains both again
            for text in (self._file.words.ever, self._file.words.newest):
                put_words(tx, self._file.actor, text, key_id=self._key_id, settled=settled)

    def _write(self, part: Judged) -> Planned:
        """Writes a part that is not wholly plain, unless its rest is no longer approved."""
        for _ in range(JUDGED_AT_MOST):
            with self._ledger.read() as reader:
                now = self._ledger.now()
                planned = plan_items(reader, self._file, part.rest, part.source, part.aligned, part.unchanged, now)
            if planned.verdict != "approved":
                return planned
            with self._ledger.transaction(cache_bytes=CACHE_BYTES) as tx:
                self._file.refuse_other_words(tx)
                self._notice_others(tx)
                self._refuse_known(tx, part)
                if not planned.subjects.unchanged_in(tx, planned.revision):
                    continue
                appended = self._append(tx, part, planned)
                self._seen = head_revision(tx)
            self._written.count(appended)
            self._decided.append(planned.stages)
            return planned
        raise overtaken()

    def _notice_others(self, tx: Transaction) -> None:
        """Notices whether others wrote. Raises `JudgeAgain` if the owner took over edges, or if nodes of the owner were
        erased, because an edge to one of them would still count as plain."""
        if head_revision(tx) == self._seen:
            return
        self._others_wrote = True
        own, moved = own_id(self._file.owner, ""), self._file.index.stored.moved.values()
        erased = [row["id"] for row in tx.rows("world_erased_after", seq=self._seen)]
        is_erased = any(node_id.startswith(own) or node_id in moved for node_id in erased)
        if is_erased or took_over_since(tx, self._file.owner, self._seen):
            raise JudgeAgain

    def _refuse_known(self, tx: Transaction, part: Judged) -> None:
        """Raises `JudgeAgain` if others have written nodes or edges that are new in the file, or similar ones."""
        if not self._others_wrote:
            return
        nodes = [node for node in part.nodes if not isinstance(node, str)]
        edges = [edge.id for edge in part.edges if not isinstance(edge, str)]
        if (
            owners_of(tx, [node.id for node in nodes])
            or rows_of(tx, "world_alike_by_keys", [node.dedupe_key for node in nodes])
            or rows_of(tx, "world_edges_known", edges)
        ):
            raise JudgeAgain

    def _append(self, tx: Transaction, part: Judged, planned: Planned) -> list[tuple[int, int]]:
        """Writes a part. Returns the seq of the decision and the number of states, if there are any."""
        states = part.to_write(planned)
        if not states:
            return []
        file, seq = self._file, tx.changed(DECISION, planned.verdict)
        segment = self._written.segment_for(len(states), seq) if file.size >= STATES_WORTH_A_SEGMENT else 0
        batch = Batch(file.actor.name, file.owner, planned.now, seq, segment)
        digest = append_batch(tx, states, part.forms, batch)
        record(tx, seq, planned.verdict, planned.proposal, planned.stages, (), key_id=self._key_id, batch=digest)
        tx.run_each(
            "world_keep_origin_decision",
            [
                {"owner": file.owner, "id": decision.id, "body": _encode(decision).decode()}
                for decision in part.decisions
            ],
        )
        return [(seq, len(states))]
