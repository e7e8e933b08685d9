"""Judges a change of the graph in stages. Pure: each maps a case to a result with its reason.

The seventh stage is in `alignment.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from contracts.standing import UNSTATED, rank
from contracts.times import instant_of, is_instant, utc_text
from contracts.world.case import MOST_NAMED, Case, EdgeChange, NodeChange
from contracts.world.extraction.same_place import said_there_too
from contracts.world.facts import claim_of, claim_of_edge, may_replace, stated_end
from contracts.world.identity import dedupe_key, fact_key, own_id
from contracts.world.ontology import ACT_EDGES, BUILDS_ON, GOVERNED_BY, OWNER_CONFIRMATION, PART_OF, SUPERSEDES
from contracts.world.proposal import CLOCK_SKEW, StageName, StageResult, authority_of
from contracts.world.records import FORGOTTEN, Edge, Node

FURTHEST_START = timedelta(days=3653)
FURTHEST_END = timedelta(days=36525)
LONGEST_CHAIN = 10_000
LITTLE_CONFIDENCE = 0.3
_ERASED = "was erased, and can't come back"

DERIVED_SOURCES = ("core_world__", "out_world__", "document/", "generation")
"""Prefixes of sources from which the pipeline may not derive nodes: the graph itself, and published documents."""


@dataclass(frozen=True)
class Judgement:
    """A stage's result. `escalates` is True if somebody must agree first: the operator, or the owner if
    `owner_may_confirm` is True."""

    result: Literal["pass", "warn", "fail"]
    reason: str
    escalates: bool = False
    owner_may_confirm: bool = False

    def of(self, stage: StageName) -> StageResult:
        """Returns the result in the form for clients and the audit."""
        return StageResult(stage, self.result, self.reason)


def _judgement(faults: Iterator[str], fine: str) -> Judgement:
    """Returns a failure with the first faults, or else a pass with the reason `fine`."""
    reasons = list(faults)
    return Judgement("fail", _named(reasons)) if reasons else Judgement("pass", fine)


def _named(reasons: list[str]) -> str:
    more = len(reasons) - MOST_NAMED
    return "; ".join(reasons[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")


def immutability(case: Case) -> Judgement:
    """Refuses changes of immutable nodes, except amendments of the constitution."""
    return _judgement(_immutability(case), "Nothing immutable would change.")


def _immutability(case: Case) -> Iterator[str]:
    for change in case.nodes:
        if change.before is None or not change.is_new_state or not case.sees(change.before):
            continue
        if change.before.erased:
            yield f"{change.draft.id} was forgotten for the rights of a person and can't come back"
        elif change.before.immutable and case.actor.kind != "constitution":
            yield f"{change.draft.id} is immutable"
    if case.actor.kind == "constitution":
        return
    for node, _ in case.changed_nodes:
        if node.immutable and case.sees(node):
            yield f"{node.id} is immutable: it can't be superseded, corrected, retracted or confirmed"
    for edge in case.edges:
        source = case.end(edge.draft.source)
        if source is not None and source.immutable and source.visibility == edge.after.visibility and edge.is_new_state:
            yield f"{source.id} is immutable, and so are its statements: it can't get an outgoing {edge.draft.type}"


def temporal(case: Case) -> Judgement:
    """Checks that times are ordered and not too far away, and reports what the rule of standing decided about facts."""
    outcomes = f" {_named(list(case.outcomes))}." if case.outcomes else ""
    judged = _judgement(_temporal(case), f"Validity is in order.{outcomes}")
    if judged.result == "fail":
        return judged
    later = [change.draft.id for change in case.nodes if change.after.valid_from > case.now]
    if later:
        gaps = f" {_named(list(case.gaps))}." if case.gaps else ""
        return Judgement("warn", f"{_named(later)}: holds only from a future time.{outcomes}{gaps}")
    if case.gaps:
        return Judgement("warn", f"{judged.reason} {_named(list(case.gaps))}.")
    if any(change.after.disputed for change in case.changes):
        return Judgement("warn", judged.reason)
    return judged


def _temporal(case: Case) -> Iterator[str]:
    now = datetime.fromisoformat(case.now)
    latest_start, latest_end = utc_text(now + FURTHEST_START), utc_text(now + FURTHEST_END)
    for change in case.changes:
        state = change.after
        stated_to = stated_end(state) if isinstance(state, Node) else change.draft.valid_to
        if stated_to is not None and stated_to <= state.valid_from:
            yield f"{state.id} would end at {stated_to}, not after it starts at {state.valid_from}"
        if state.valid_from > latest_start:
            yield f"{state.id} would start at {state.valid_from}, more than ten years from now"
        if stated_to is not None and stated_to > latest_end:
            yield f"{state.id} would end at {stated_to}, more than a hundred years from now"
    soon = now + CLOCK_SKEW
    for node in case.nodes:
        observed_at = node.after.properties.get("observed_at")
        if isinstance(observed_at, str) and is_instant(observed_at) and instant_of(observed_at) > soon:
            yield f"{node.draft.id} was observed at {observed_at}, which is in the future"
    for act in case.proposal.acts:
        target = case.view.node(act.target)
        if target is None or target.erased or not case.sees(target):
            continue  # the stage of referential integrity refuses it like a node that does not exist
        if target.retracted:
            yield f"{target.id} was corrected or retracted by {target.ended_by} already"
        elif act.kind == "confirms" and target.valid_to is not None and target.valid_to <= case.now:
            yield f"{target.id} ended at {target.valid_to}; state it again, or correct what holds"
    for node in case.nodes:
        before = node.before
        if before is not None and before.retracted and case.sees(before) and case.actor.kind != "constitution":
            yield f"{before.id} was corrected or retracted by {before.ended_by}; state it under another id"
    yield from case.clashes


def referential_integrity(case: Case) -> Judgement:
    """Checks types and properties against the ontology, and that the ends of edges exist.

    Reports the edges that a correction keeps, nodes that build on a corrected or retracted one, and other nodes that a
    build read from the same place.
    """
    kept = f" {_named(list(case.kept))}." if case.kept else ""
    fine = f"All types are known, properties fit them, and every edge has both ends.{kept}"
    judged = _judgement(_integrity(case), fine)
    left = [*case.left, *_built_on(case), *_said_too(case)] if judged.result == "pass" else []
    return Judgement("warn", f"{_named(left)}.{kept}") if left else judged


def _built_on(case: Case) -> Iterator[str]:
    """Yields a sentence about the visible nodes that build on a corrected or retracted one."""
    for act in case.proposal.acts:
        if act.kind == "confirms":
            continue
        edges = [edge for edge in case.view.edges_to(act.target) if edge.type in BUILDS_ON and case.sees(edge)]
        sources = [edge.source for edge in edges if (node := case.end(edge.source)) is not None and not node.retracted]
        if sources:
            yield f"{act.target} is the basis of {_named(sorted(set(sources)))}, which stays unchanged"


def _said_too(case: Case) -> Iterator[str]:
    """Yields a sentence about other nodes that a build read from the place of a corrected or retracted passage."""
    changed = {act.target for act in case.proposal.acts}
    for act in case.proposal.acts:
        node = case.view.node(act.target)
        if act.kind == "confirms" or node is None:
            continue
        ends = {edge.source for edge in case.view.edges_to(node.id)}
        ends |= {edge.target for edge in case.view.edges_from(node.id, PART_OF)}
        around = [other for end in sorted(ends - changed) if (other := case.view.node(end)) is not None]
        said = [other.id for other in said_there_too(node, around) if case.sees(other)]
        if said:
            yield f"{node.id} is not alone in stating this: {_named(said)} was read from its place and stays unchanged"


def _integrity(case: Case) -> Iterator[str]:
    for change in case.nodes:
        ontology = case.ontology_of(change.after)
        known = ontology.node_types.get(change.draft.type)
        if change.before is not None and not case.sees(change.before):
            gone = change.before.erased and change.before.id.startswith(own_id(case.actor.owner or "", ""))
            yield f"{change.draft.id} " + (_ERASED if gone else "can't be used as an id")
        elif change.before is not None and change.before.type != change.draft.type and not change.before.erased:
            yield f"{change.draft.id} is a {change.before.type} and can't become a {change.draft.type}"
        if known is None:
            yield f"no node type {change.draft.type}; known are {', '.join(sorted(ontology.node_types))}"
            continue
        if change.draft.domain not in (None, known.domain):
            yield f"a {known.name} is of {known.domain}, not of {change.draft.domain}"
        for fault in ontology.faults_of(known.name, change.draft.properties):
            yield f"{change.draft.id}: {fault}"
    stated = {(draft.source, draft.type, draft.target) for draft in case.proposal.edges}
    for edge in case.edges:
        is_stated = (edge.draft.source, edge.draft.type, edge.draft.target) in stated
        yield from _edge_faults(case, edge, is_stated=is_stated)
    for draft in case.proposal.edges:
        if draft.type in ACT_EDGES:
            yield f"{draft.type} is stated by `{draft.type.lower()}` of a signal, which names a reason"


def _edge_faults(case: Case, change: EdgeChange, *, is_stated: bool) -> Iterator[str]:
    draft = change.draft
    ontology = case.ontology_of(change.after)
    known = ontology.edge_types.get(draft.type)
    source, target = case.end(draft.source), case.end(draft.target)
    if known is None:
        yield f"no relationship type {draft.type}; known are {', '.join(sorted(ontology.edge_types))}"
    for end in dict.fromkeys(name for name, node in ((draft.source, source), (draft.target, target)) if node is None):
        yield f"there is no node {end}"
    if draft.source == draft.target:
        yield f"{draft.source} can't be connected to itself by {draft.type}"
    elif known is not None and source is not None and target is not None:
        allowing = case.ontology_of(change.after, source, target).edge_types[draft.type]
        if not allowing.allows(source.type, target.type):
            yield f"{draft.type} can't go from a {source.type} to a {target.type}"
        if draft.visibility == "public" and "private" in (source.visibility, target.visibility):
            yield f"{draft.source} {draft.type} {draft.target} can't be public: an end of it is private"
        if draft.type == SUPERSEDES and is_stated:  # successions that the rule of standing implies have no cycles
            yield from _superseding_faults(case, source, target)


def _superseding_faults(case: Case, source: Node, target: Node) -> Iterator[str]:
    key = fact_key(case.ontology, source.owner, source.properties)
    if key is None or key != fact_key(case.ontology, target.owner, target.properties):
        yield (f"{source.id} can't supersede {target.id}: both must have the same subject and single-valued predicate")
    elif _reaches(case, target.id, source.id):
        yield f"{source.id} can't supersede {target.id}, which supersedes it"


def _reaches(case: Case, start: str, end: str) -> bool:
    """Decides whether `start` supersedes `end`, over any number of steps."""
    proposed: dict[str, list[str]] = {}
    for change in case.edges:
        if change.draft.type == SUPERSEDES:
            proposed.setdefault(change.draft.source, []).append(change.draft.target)
    seen, waiting = {start}, [start]
    while waiting and len(seen) <= LONGEST_CHAIN:
        node = waiting.pop()
        known = [edge.target for edge in case.view.edges_from(node, SUPERSEDES)]
        for target in (*known, *proposed.get(node, ())):
            if target == end:
                return True
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return bool(waiting)


def authority(case: Case) -> Judgement:
    """Checks that an actor writes only its own part, and changes nothing of a higher class than it may claim.

    An operator must agree to everything public, the owner to whatever a rule in the owner's graph covers.
    """
    judged = _judgement(_authority(case), f"{case.actor.name} may write this.")
    if judged.result == "pass" and case.actor.kind in ("caller", "capsule", "claimant"):
        public = [change.after.id for change in case.changes if change.after.visibility == "public"]
        public += [before.id for before, _ in case.changed_nodes if before.visibility == "public"]
        if public:
            return Judgement("warn", f"{_named(public)}: public content waits for an operator.", escalates=True)
        ruled = list(dict.fromkeys(_ruled(case)))
        if ruled:
            reason = f"{_named(ruled)}: a rule of its store requires its owner's confirmation."
            return Judgement("warn", reason, escalates=True, owner_may_confirm=True)
    return judged


def _ruled(case: Case) -> Iterator[str]:
    """Yields the nodes that the proposal writes or changes and that need the owner's confirmation by a rule.

    Such a rule is a node of the owner that governs a store (GOVERNED_BY) and lists `OWNER_CONFIRMATION` in its `needs`.
    It covers the records, which are PART_OF the store, and itself, so that no agent can set it aside.
    """
    for edge in case.proposal.edges:
        if edge.type == PART_OF and _asks_owner(case, edge.target):
            yield edge.source
    for act in case.proposal.acts:
        stores = [edge.target for edge in case.view.edges_from(act.target, PART_OF) if _holds(edge, case.now)]
        if _is_rule(case, act.target) or any(_asks_owner(case, store) for store in (act.target, *stores)):
            yield act.target


def _asks_owner(case: Case, store: str) -> bool:
    rules = [edge.target for edge in case.view.edges_from(store, GOVERNED_BY) if _holds(edge, case.now)]
    return any(_is_rule(case, rule) for rule in rules)


def _is_rule(case: Case, node_id: str) -> bool:
    rule = case.view.node(node_id)
    if rule is None or rule.owner is None or rule.owner != case.actor.owner or not _holds(rule, case.now):
        return False
    needs = rule.properties.get("needs")
    return isinstance(needs, list) and OWNER_CONFIRMATION in needs


def _holds(state: Node | Edge, now: str) -> bool:
    return state.valid_from <= now and (state.valid_to is None or now < state.valid_to)


def _authority(case: Case) -> Iterator[str]:
    if case.actor.kind != "constitution":
        yield from _standing_faults(case)
    match case.actor.kind:
        case "caller" | "capsule" | "claimant":
            yield from _authority_of_caller(case)
        case "pipeline":
            for node in case.nodes:
                if node.after.domain != "TRACK":
                    yield f"the pipeline writes only TRACK, but {node.draft.id} is of {node.after.domain}"
                if node.before is not None and node.before.actor != case.actor.name and case.sees(node.before):
                    yield f"{node.draft.id} was written by {node.before.actor}"
            for edge in case.edges:
                source = case.end(edge.draft.source)
                if source is not None and source.domain != "TRACK":
                    yield f"the pipeline connects only TRACK, but {source.id} is of {source.domain}"
            yield from _private_faults(case)
        case "intake":
            for node in case.nodes:
                if node.after.domain not in ("SYMBIOSIS", "EXECUTION"):
                    yield f"intake writes only SYMBIOSIS and EXECUTION, but {node.draft.id} is of {node.after.domain}"
                if node.before is not None and node.before.actor != case.actor.name and case.sees(node.before):
                    yield f"{node.draft.id} was written by {node.before.actor}"
            yield from _private_faults(case)
        case "constitution":
            for node in case.nodes:
                if node.before is not None and node.before.actor != case.actor.name:
                    yield f"{node.draft.id} is not part of the constitution"
            yield from _private_faults(case)
        case "operator":
            if case.actor.owner is None:
                yield from _private_faults(case)


def _standing_faults(case: Case) -> Iterator[str]:
    """Yields a fault for each state that an actor would change although its class exceeds what the actor may claim."""
    ceiling = authority_of(case.actor)
    yield from case.overclaimed
    for act in case.proposal.acts:
        target = case.view.node(act.target)
        if target is None or target.erased or not case.sees(target):
            continue
        if target.visibility == "public":
            continue  # an operator decides, whoever proposes it
        stands_as = claim_of(target).stands_as
        if rank(stands_as) > rank(ceiling):
            yield f"{target.id} stands as {stands_as}; this key {act.kind} up to {ceiling}"
    for change in case.nodes:
        before, after = change.before, change.after
        if before is None or not change.is_new_state or not case.sees(before) or before.erased:
            continue
        if fact_key(case.ontology, before.owner, before.properties) is None:
            continue
        if case.actor.kind == "operator":
            continue
        if rank(claim_of(before).stands_as) > rank(ceiling) or not may_replace(claim_of(after), claim_of(before)):
            yield f"{before.id} stands as {claim_of(before).stands_as}, higher than this; state it under another id"
    for edge in case.edges:
        known = case.ontology.edge_types.get(edge.draft.type)
        if edge.before is None or known is None or not known.single_valued or not edge.is_new_state:
            continue
        if case.actor.kind == "operator":
            continue
        is_above = rank(edge.before.source_class) > rank(ceiling)
        if is_above or not may_replace(claim_of_edge(edge.after), claim_of_edge(edge.before)):
            yield f"{edge.before.id} stands as {edge.before.source_class}, higher than this"
    corrected = {act.target for act in case.proposal.acts if act.kind == "corrects"}
    for ended, edge_after in case.changed_edges:
        if ended.target in corrected:
            continue  # it continues at the replacement
        is_spoofed = ended.stated_in == case.proposal.source and rank(ended.source_class) > rank(ceiling)
        if is_spoofed and ended.valid_to != edge_after.valid_to:
            yield f"{ended.stated_in} stated {ended.id} as {ended.source_class}; this key claims up to {ceiling}"
    for before, after in case.changed_nodes:
        successor = next((change.after for change in case.nodes if change.after.id == after.ended_by), None)
        if successor is None or successor.id == before.ended_by or after.retracted:
            continue
        if rank(before.source_class) > rank(ceiling) and claim_of(successor).source == claim_of(before).source:
            yield f"{before.source} stated {before.id} as {before.source_class}; this key claims up to {ceiling}"


def _authority_of_caller(case: Case) -> Iterator[str]:
    for change in case.nodes:
        if change.after.immutable and (change.before is None or not change.before.immutable):
            yield f"{change.draft.id}: only the constitution makes nodes immutable"
        before = change.before
        if before is not None and before.visibility == "public" and change.after.visibility == "private":
            yield f"{change.draft.id} is public, so you can't make it private"
    for edge in case.edges:
        if edge.before is not None and edge.before.owner not in (edge.after.owner, case.actor.takes_over):
            yield f"{edge.after.id} " + (_ERASED if edge.before.owner == FORGOTTEN else "is not yours")


def _private_faults(case: Case) -> Iterator[str]:
    """Yields the faults of actors that may only write the public graph."""
    for change in case.changes:
        if change.after.visibility != "public":
            yield f"{change.after.id} must be public: {case.actor.name} has no private part"


def deduplication(case: Case) -> Judgement:
    """Checks that one thing is one node. A node that resembles another one causes a warning; nodes are never merged."""
    twice = [state_id for state_id, times in Counter(change.after.id for change in case.changes).items() if times > 1]
    if twice:
        return Judgement("fail", f"{_named(twice)}: stated twice in one proposal")
    alike = [f"{change.draft.id} may be {_named(others)}" for change, others in _alike(case)]
    if alike:
        return Judgement("warn", f"{_named(alike)}: same type and title. Both are kept.")
    same = case.unchanged + sum(not change.is_new_state for change in case.changes)
    if same:
        return Judgement("pass", f"Already known and not written again: {same}.")
    return Judgement("pass", "Nothing like it is known.")


def _alike(case: Case) -> Iterator[tuple[NodeChange, list[str]]]:
    seen: dict[str, list[str]] = {}
    for change in case.nodes:
        node = change.after
        if change.before is not None or fact_key(case.ontology, node.owner, node.properties) is not None:
            continue
        key = dedupe_key(node.owner, node.type, node.title)
        others = [node_id for node_id in (*case.view.alike(key), *seen.get(key, ())) if node_id != node.id]
        seen.setdefault(key, []).append(node.id)
        if others:
            yield change, others


def provenance(case: Case) -> Judgement:
    """Checks the origin of the statements, and reports the class that replaces a claim above the allowed one.

    The pipeline may not derive nodes from the graph itself.
    """
    source, claimed = case.proposal.source, case.proposal.source_class
    if case.actor.kind == "pipeline" and source.startswith(DERIVED_SOURCES):
        return Judgement(
            "fail",
            f"{source} is derived from the graph or its published documents, which would feed the graph on itself",
        )
    unsure = [
        change.draft.id
        for change in case.nodes
        if isinstance(value := change.draft.properties.get("confidence"), int | float) and value < LITTLE_CONFIDENCE
    ]
    warnings = [f"{_named(unsure)}: little confidence"] if unsure else []
    kept_as = case.actor.claimed(claimed)
    if kept_as is not claimed is not UNSTATED:
        warnings.append(f"stored as {kept_as}, the highest class that this statement may claim, not as {claimed}")
    if warnings:
        return Judgement("warn", "; ".join(warnings))
    return Judgement("pass", f"Stated in {source} by {case.actor.name}.")


Stage = Callable[[Case], Judgement]
