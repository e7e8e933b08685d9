"""Imports a graph into an owner's part: the whole file is judged before any of it is written.

A file is judged and written in parts, each by one decision with one digest of its states (`import_judging.py`,
`import_writing.py`). An operator's import commits a few parts at a time; after a kill the same command continues,
because parts that are already written count as known. An import by a key commits once. An owner without words first
gets those of the file. If the owner's words change meanwhile, or the owner erases nodes, everything that is not written
yet is judged again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import islice
from tempfile import SpooledTemporaryFile

from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.import_api import IDS_RETURNED
from contracts.world.import_file import Limits, Lines
from contracts.world.proposal import Actor, StageResult, Verdict
from warehouse.cycles import without_cycles
from warehouse.ledger.ledger import Ledger, Transaction
from warehouse.world.events import head_revision
from warehouse.world.import_helper import ImportHelper
from warehouse.world.import_judging import FileJudgement, judge_file
from warehouse.world.import_parts import JudgedParts, OnProgress
from warehouse.world.import_survey import JudgeAgain, SurveyedFile, survey_file
from warehouse.world.import_writing import PartWriter, Written
from warehouse.world.write import JUDGED_AT_MOST, overtaken

KEPT_IN_MEMORY_BYTES = 64_000_000
"""Maximum size of judged, compressed parts in memory. Above it they wait in a file until they are written."""


@dataclass(frozen=True)
class ImportOutcome:
    """The result of an import. Unless the verdict is `approved`, nothing is written, or nothing more."""

    verdict: Verdict
    stages: tuple[StageResult, ...]
    nodes: int
    edges: int
    """Nodes and edges of the file."""
    written: int
    """States that were written; states that the graph already has are not written again."""
    decisions: tuple[int, ...]
    first_ids: tuple[str, ...]
    """The ids of the first nodes, as given in the file."""
    revision: int


def import_graph(
    ledger: Ledger,
    lines: Lines,
    actor: Actor,
    *,
    alignment: Alignment = guardrails,
    limits: Limits | None = None,
    key_id: str | None = None,
    on_progress: OnProgress = lambda what, done, of: None,
    on_written: Callable[[Transaction, ImportOutcome], None] = lambda tx, outcome: None,
) -> ImportOutcome:
    """Judges a whole file and writes it into the part of `actor.owner` if every stage approves.

    With `limits` it is written in one transaction, of which `on_written` is the last step. Raises `ImportInvalid`,
    `IdTaken`, `SecretInText`, and the ledger's errors; and `StandingTooLow` if the words would change facts of a higher
    class than the actor may claim.
    """
    with without_cycles(), ExitStack() as ended:
        importer = _Importer(ledger, ImportHelper(alignment, ended), key_id, on_progress, Written())
        for _ in range(JUDGED_AT_MOST):
            on_progress("reading", 0, 0)
            with ledger.read() as reader:
                file = survey_file(reader, lines, actor, limits, importer.helper.begin)
            with suppress(JudgeAgain):
                return importer.judge_and_write(file, on_written, in_one=limits is not None)
    raise overtaken()


@dataclass(frozen=True)
class _Importer:
    ledger: Ledger
    helper: ImportHelper
    key_id: str | None
    on_progress: OnProgress
    written: Written

    def judge_and_write(
        self, file: SurveyedFile, on_written: Callable[[Transaction, ImportOutcome], None], *, in_one: bool
    ) -> ImportOutcome:
        """Judges all parts before it writes any. With `in_one`, `on_written` is the last step of the transaction."""
        with SpooledTemporaryFile(KEPT_IN_MEMORY_BYTES) as kept:
            parts = JudgedParts(kept)
            judged = judge_file(self.ledger, file, parts, self.helper, self.on_progress)
            if judged.verdict != "approved":
                return self._refused(file, judged)
            writer = PartWriter(self.ledger, file, parts, judged.revision, self.written, self.key_id)
            if not in_one:
                return self._outcome_now(file, *writer.write_in_parts(self.on_progress))
            with self.ledger.transaction() as tx:
                writer.write_whole(tx)
                outcome = self._outcome(file, "approved", judged.stages, head_revision(tx))
                on_written(tx, outcome)
                return outcome

    def _refused(self, file: SurveyedFile, judged: FileJudgement) -> ImportOutcome:
        """Returns the outcome of a file that the stages do not approve, unless the owner has other words by now."""
        with self.ledger.read() as reader:
            file.refuse_other_words(reader)
        return self._outcome_now(file, judged.verdict, judged.stages)

    def _outcome_now(self, file: SurveyedFile, verdict: Verdict, stages: tuple[StageResult, ...]) -> ImportOutcome:
        with self.ledger.read() as reader:
            revision = head_revision(reader)
        return self._outcome(file, verdict, stages, revision)

    def _outcome(
        self, file: SurveyedFile, verdict: Verdict, stages: tuple[StageResult, ...], revision: int
    ) -> ImportOutcome:
        return ImportOutcome(
            verdict=verdict,
            stages=stages,
            nodes=len(file.index.types),
            edges=file.index.edges,
            written=self.written.states,
            decisions=tuple(self.written.decisions),
            first_ids=tuple(islice(file.index.types, IDS_RETURNED)),
            revision=revision,
        )
