"""Plans and judges the items of an imported part that are not plain, against the ledger's states."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from contracts.times import utc_text
from contracts.world.identity import dedupe_key, fact_key
from contracts.world.import_file import (
    Imported,
    ImportedEdge,
    ImportedNode,
    StateReader,
    named_elsewhere,
    refuse_faults,
)
from contracts.world.import_plan import ImportedStates, plan_import
from contracts.world.ontology import Ontology
from contracts.world.own_ontology import ontology_with
from contracts.world.proposal import Proposal
from contracts.world.records import Edge, Node
from contracts.world.stages import Judgement
from contracts.world.validator import judge
from warehouse.ledger.ledger import Reader
from warehouse.world.bulk_view import BulkView
from warehouse.world.events import head_revision
from warehouse.world.import_parts import Planned
from warehouse.world.import_questions import stored_elsewhere
from warehouse.world.import_survey import SurveyedFile
from warehouse.world.judging import RecordingView


def plan_items(
    reader: Reader,
    file: SurveyedFile,
    items: list[Imported],
    source: str,
    aligned: Judgement,
    unchanged: int,
    now: datetime,
    *,
    is_new: bool = False,
) -> Planned:
    """Judges items of a part against the graph that `reader` sees; `unchanged` other items of the part are in it.

    The form of the items is checked only with `is_new`. Raises `ImportInvalid`, `SecretInText`, `JudgeAgain`.
    """
    revision = head_revision(reader)
    file.refuse_other_words(reader)
    ontology, index, actor = file.ontology, file.index, file.actor
    others = stored_elsewhere(reader, file.owner, named_elsewhere(items, index.stored))
    nodes, edges = _states_of(
        items, StateReader(file.owner, actor.name, utc_text(now), ontology, index.stored, others, index.edge_ids)
    )
    if is_new:
        refuse_faults(items, file.owner, nodes, edges)
    imported = ImportedStates(nodes, edges, index.current, file.endings, file.confirmed, unchanged)
    view = BulkView(reader)
    _read_together(view, imported, ontology)
    recording = RecordingView(view)
    proposal = Proposal(actor=actor, source=source)
    planned = plan_import(imported, proposal, recording, ontology, now, ontology_ever=ontology_with(file.words.ever))
    judged = judge(planned.case, aligned, confirmed=True)  # the file is the owner's as a whole
    return Planned(
        proposal=proposal,
        verdict=judged.verdict,
        stages=judged.stages,
        states=planned.written,
        known=planned.known,
        now=utc_text(now),
        revision=revision,
        subjects=recording.subjects,
    )


def _states_of(
    items: Sequence[Imported], reader: StateReader
) -> tuple[tuple[tuple[Node, ...], ...], tuple[tuple[Edge, ...], ...]]:
    """Returns the states of each node and of each edge."""
    return (
        tuple(tuple(map(reader.node, item.states)) for item in items if isinstance(item, ImportedNode)),
        tuple(tuple(map(reader.edge, item.states)) for item in items if isinstance(item, ImportedEdge)),
    )


def _read_together(view: BulkView, imported: ImportedStates, ontology: Ontology) -> None:
    """Prefetches the states that the stages will look up."""
    newest = [states[-1] for states in imported.nodes]
    edges = [states[-1] for states in imported.edges]
    owner = newest[0].owner if newest else edges[0].owner if edges else None
    nodes = {node.id for node in newest} | {end for edge in edges for end in (edge.source, edge.target)}
    keys = (fact_key(ontology, owner, node.properties) for node in newest)
    view.read(
        nodes,
        {edge.id for edge in edges},
        {key for key in keys if key is not None},
        {dedupe_key(owner, node.type, node.title) for node in newest},
    )
