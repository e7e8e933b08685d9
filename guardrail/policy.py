"""The policy table: rows of conditions on effects and facts, and the code that judges effects by them.

Rows are grouped in families. Within a family, the first row that holds for a target of an effect decides, so exceptions
precede the rule that they restrict. Families are judged separately, and the most severe result counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from guardrail.circumstances import CIRCUMSTANCES, Circumstance
from guardrail.compiled import Plain, load_compiled
from guardrail.facts import Facts
from guardrail.model import Effect, Span, Target
from guardrail.record import record
from guardrail.vocabulary import (
    Decision,
    EffectKind,
    ObjectKind,
    Origin,
    Place,
    Reversible,
    Scope,
    Sensitivity,
    Severity,
)

POLICY_FILE = Path(__file__).with_name("policy.yaml")
COMPILED_POLICY = Path(__file__).with_name("policy.json")
_MAKERS = tuple(map(Path(__file__).with_name, ("policy.py", "policy_file.py", "circumstances.py", "vocabulary.py")))

FactSource = Literal["gathered", "approval_token", "context", "claim"]
"""The source of a fact, most trusted first."""

_CLAIMS = frozenset(("approved", "backup_available"))
_GATHERED = frozenset(("workspace", "cwd", "home", "os"))


class Stage(StrEnum):
    """The seven stages of an answer, in order."""

    IMMUTABILITY = "immutability"
    TEMPORAL = "temporal"
    REFERENTIAL_INTEGRITY = "referential_integrity"
    AUTHORITY = "authority"
    DEDUPLICATION = "deduplication"
    PROVENANCE = "provenance"
    ALIGNMENT = "alignment"


class ReliedOn(NamedTuple):
    """A fact that the answer relies on, its source, and its meaning here."""

    fact: str
    source: FactSource
    meaning: str


class Conditions(NamedTuple):
    """Conditions on an effect and one of its targets; None means no condition. `facts` are names of circumstances."""

    kind: frozenset[EffectKind] | None = None
    object: frozenset[ObjectKind] | None = None
    scope: frozenset[Scope] | None = None
    reversible: frozenset[Reversible] | None = None
    place: frozenset[Place] | None = None
    sensitivity: frozenset[Sensitivity] | None = None
    origin: frozenset[Origin] | None = None
    elevated: bool | None = None
    detail: tuple[tuple[str, frozenset[str] | None], ...] = ()
    facts: tuple[str, ...] = ()
    facts_not: tuple[str, ...] = ()

    def may_hold(self, kind: EffectKind, thing: ObjectKind) -> bool:
        """Decides whether the conditions can hold for an effect of this kind and object."""
        return (self.kind is None or kind in self.kind) and (self.object is None or thing in self.object)

    def hold_of_words(self, effect: Effect, target: Target) -> bool:
        """Decides whether effect and target meet the conditions, except those on kind, object, details and
        circumstances."""
        return (
            (self.scope is None or effect.scope in self.scope)
            and (self.reversible is None or effect.reversible in self.reversible)
            and (self.place is None or target.place in self.place)
            and (self.sensitivity is None or target.sensitivity in self.sensitivity)
            and (self.origin is None or target.origin in self.origin)
            and (self.elevated is None or effect.elevated is self.elevated)
        )

    def hold_of_facts(self, effect: Effect, target: Target, facts: Facts) -> bool:
        """Decides whether the conditions on the effect's details and on the circumstances are met."""
        # Plain loops, since this runs for each row and each of possibly thousands of targets.
        for name, values in self.detail:
            if not _has_detail(effect.detail.get(name), values):
                return False
        for name in self.facts:
            if not CIRCUMSTANCES[name].holds(effect, target, facts):
                return False
        return not (self.facts_not and any(CIRCUMSTANCES[name].holds(effect, target, facts) for name in self.facts_not))


def _has_detail(value: str | None, values: frozenset[str] | None) -> bool:
    return value is not None and (values is None or value in values)


class Row(NamedTuple):
    """One row. A `severity` of None lets the effect pass; `lowered_by` names circumstances that lower the severity;
    `asks` is true if a person, where one is present, is asked instead of the action being refused."""

    id: str
    stage: Stage
    when: Conditions
    severity: Severity | None
    reason: str
    remediation: str
    references: tuple[str, ...]
    lowered_by: tuple[tuple[str, Severity | None], ...] = ()
    asks: bool = False


class Family(NamedTuple):
    """Rows for effects of some kinds and objects; the first row that holds decides."""

    name: str
    title: str
    when: Conditions
    rows: tuple[Row, ...]


_Words = tuple[EffectKind, ObjectKind, Scope, Reversible, bool, Place, Sensitivity, Origin]


@record
class Policy:
    """All families, and the digest of the file."""

    families: tuple[Family, ...]
    digest: str
    _by_words: dict[_Words, tuple[tuple[Row, ...], ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def rows_for(self, effect: Effect, target: Target) -> tuple[tuple[Row, ...], ...]:
        """Returns, for each family that covers this kind and object, the rows whose conditions on the words of effect
        and target hold.

        The result is computed once for each combination of words. There are few combinations, so the cache stays small.
        """
        words = (
            *(effect.kind, effect.object, effect.scope, effect.reversible, effect.elevated),
            *(target.place, target.sensitivity, target.origin),
        )
        known = self._by_words.get(words)
        if known is None:
            known = self._by_words[words] = tuple(
                tuple(
                    row
                    for row in family.rows
                    if row.when.may_hold(effect.kind, effect.object) and row.when.hold_of_words(effect, target)
                )
                for family in self.families
                if family.when.may_hold(effect.kind, effect.object)
            )
        return known

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, in the order of the file."""
        return tuple(row for family in self.families for row in family.rows)


class PolicyMatch(NamedTuple):
    """A row that holds for effects of the action. `decision` is set only by a row of the user's own policy."""

    id: str
    stage: Stage
    severity: Severity
    reason: str
    remediation: str
    references: tuple[str, ...]
    spans: tuple[Span, ...]
    asks: bool = False
    decision: Decision | None = None


class Judgement(NamedTuple):
    """The matching rows for all effects, most severe first, and the facts that counted."""

    matches: tuple[PolicyMatch, ...]
    relied_on: tuple[ReliedOn, ...]


MOST_SPANS = 4
LONGEST_TARGET = 60


def judge(effects: Sequence[Effect], facts: Facts, policy: Policy) -> Judgement:
    """Returns the rows that hold for these effects. A row that holds for several effects is one match with several
    spans."""
    found: dict[str, list[tuple[Row, Severity, Effect, Target]]] = defaultdict(list)
    relied_on: dict[ReliedOn, None] = {}
    for effect in effects:
        targets = [(target, policy.rows_for(effect, target)) for target in _distinct(effect.targets)]
        for family in range(len(targets[0][1])):
            worst: tuple[Row, Severity, Target] | None = None
            for target, rows in targets:
                row = _first(rows[family], effect, target, facts)
                if row is None:
                    continue
                severity, names = _severity(row, effect, target, facts)
                for name in names:
                    relied_on.update(dict.fromkeys(_relied_on(CIRCUMSTANCES[name], facts)))
                if severity is not None and (worst is None or severity.rank > worst[1].rank):
                    worst = (row, severity, target)
            if worst is not None:
                row, severity, target = worst
                found[row.id].append((row, severity, effect, target))
    matches = [_match(hits) for hits in found.values()]
    matches.sort(key=lambda match: -match.severity.rank)
    return Judgement(tuple(matches), tuple(relied_on))


def _first(rows: tuple[Row, ...], effect: Effect, target: Target, facts: Facts) -> Row | None:
    """Returns the first row whose conditions on details and circumstances hold."""
    for row in rows:
        if row.when.hold_of_facts(effect, target, facts):
            return row
    return None


def _distinct(targets: tuple[Target, ...]) -> Collection[Target]:
    if len(targets) > 1:
        return dict.fromkeys(targets)
    return targets or _NO_TARGETS


_NO_TARGETS = (Target(""),)


def _severity(row: Row, effect: Effect, target: Target, facts: Facts) -> tuple[Severity | None, list[str]]:
    """Returns the severity after circumstances lowered it, and the circumstances that it relies on."""
    severity, names = row.severity, list(row.when.facts)
    for name, lower in row.lowered_by:
        if _rank(lower) < _rank(severity) and CIRCUMSTANCES[name].holds(effect, target, facts):
            severity = lower
            names.append(name)
    if severity is not None and not effect.sure:
        severity = _ONE_STEP_LOWER[severity]
    return severity, names


def _rank(severity: Severity | None) -> int:
    return severity.rank if severity is not None else 0


_ONE_STEP_LOWER = {
    Severity.CRITICAL: Severity.HIGH,
    Severity.HIGH: Severity.MEDIUM,
    Severity.MEDIUM: Severity.LOW,
    Severity.LOW: Severity.LOW,
}
"""The severity for an effect that may never happen, such as that of a function that nothing calls."""


def _relied_on(circumstance: Circumstance, facts: Facts) -> Iterator[ReliedOn]:
    for fact in circumstance.facts:
        if fact in facts.present:
            source: FactSource = "context"
            if fact in _CLAIMS:
                source = "claim"
            elif facts.gathered and fact in _GATHERED:
                source = "gathered"
            yield ReliedOn(fact, source, circumstance.meaning)


def _match(hits: Sequence[tuple[Row, Severity, Effect, Target]]) -> PolicyMatch:
    row, severity, effect, target = max(hits, key=lambda hit: hit[1].rank)
    spans = dict.fromkeys(hit[2].span for hit in sorted(hits, key=lambda hit: -hit[1].rank))
    return PolicyMatch(
        id=row.id,
        stage=row.stage,
        severity=severity,
        reason=reason_of(row.reason, effect, target),
        remediation=row.remediation,
        references=row.references,
        spans=tuple(spans)[:MOST_SPANS],
        asks=row.asks,
    )


def reason_of(template: str, effect: Effect, target: Target) -> str:
    """Fills in a row's reason with the name of the target and the kind of object."""
    text = " ".join(target.located.split())
    if len(text) > LONGEST_TARGET:
        text = text[: LONGEST_TARGET - 1] + "…"
    return template.replace("{target}", text or _named(effect.object)).replace("{object}", _named(effect.object))


def _named(kind: ObjectKind) -> str:
    name = kind.value.replace("_", " ")
    return name if kind in _WITHOUT_ARTICLE else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


_WITHOUT_ARTICLE = frozenset((ObjectKind.ROWS, ObjectKind.PERSONAL_DATA))


# --- from plain data ---

LISTS: Mapping[str, type[StrEnum]] = {
    "kind": EffectKind,
    "object": ObjectKind,
    "scope": Scope,
    "reversible": Reversible,
    "place": Place,
    "sensitivity": Sensitivity,
    "origin": Origin,
}
"""Conditions that are lists of words, each with its closed list."""


@cache
def default_policy() -> Policy:
    """Returns the policy of this installation, loaded once."""
    return load_policy()


def load_policy(source: Path = POLICY_FILE, compiled: Path = COMPILED_POLICY) -> Policy:
    """Loads the policy from this source, or from the compiled file of an installed wheel."""
    sources = {source.name: source.read_bytes()} if source.is_file() else {}

    def make() -> Plain:
        from guardrail.policy_file import plain_policy  # imports a YAML parser, which only a checkout needs

        return plain_policy(sources[source.name].decode(), source.name)

    return policy_of(load_compiled(compiled, sources, _MAKERS, make))


def policy_of(plain: Plain) -> Policy:
    """Builds the policy from plain data that `policy_file` has checked."""
    return Policy(tuple(_family(family) for family in plain["families"]), plain["digest"])


def _family(plain: Plain) -> Family:
    return Family(
        plain["family"], plain["title"], _conditions(plain["when"]), tuple(_row(row) for row in plain["rows"])
    )


def _row(plain: Plain) -> Row:
    return Row(
        id=plain["id"],
        stage=Stage(plain["stage"]),
        when=_conditions(plain["when"]),
        severity=_severity_or_none(plain["severity"]),
        reason=plain["reason"],
        remediation=plain["remediation"],
        references=tuple(plain["references"]),
        lowered_by=tuple((name, _severity_or_none(severity)) for name, severity in plain["lowered_by"].items()),
        asks=plain["asks"],
    )


def _severity_or_none(name: str) -> Severity | None:
    return None if name == "none" else Severity(name)


def _conditions(plain: Plain) -> Conditions:
    known: Plain = {}
    for name, value in plain.items():
        if name in LISTS:
            known[name] = frozenset(LISTS[name](word) for word in value)
        elif name == "detail":
            known[name] = tuple((detail, frozenset(words) if words else None) for detail, words in value.items())
        elif name == "elevated":
            known[name] = value
        else:
            known[name] = tuple(value)
    return Conditions(**known)
