"""The engine: one action against every rule, in seven stages. Pure and deterministic; it answers, it never raises.

Patterns are RE2 filters per view: one pass finds the literals that patterns need, and only those whose literals are
there are searched, so that a check hardly grows with the number of rules. An RE2 set, which has no such pass, took
16 times as long on actions that it saw for the first time.
"""

from __future__ import annotations

import fnmatch
import json
import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import re2

from contracts.canonical import sha256_hex
from contracts.guardrail.calls import values_at
from contracts.guardrail.conditions import Check, compile_condition
from contracts.guardrail.credentials import MAX_SECRETS, masked, without_secrets
from contracts.guardrail.limits import Refusal, action_refusal, encodable, plain_context
from contracts.guardrail.rules import (
    Applies,
    Rule,
    Severity,
    SeverityOrNone,
    Stage,
    Status,
    ViewPattern,
    multi_line,
    pattern_options,
)
from contracts.guardrail.views import VIEWS_OF_CONTEXT, Action

ENGINE_VERSION = 2
"""Raised with every change of a view or an operator, since it can change verdicts; part of `ruleset_version`."""

MOST_EVIDENCE = 4
FILTER_PATTERNS = 500
_COMMON = string.ascii_lowercase + string.digits + " -./_=:'\"\n"
_WARM_UP = "".join(first + second for first in _COMMON for second in _COMMON)
"""Every pair of common characters. RE2 builds its automata as it reads: with filters that have read this once, an
action that was never seen before takes a sixth less, for 10 ms at loading."""
_SENTINEL = "\x01sentinel of the filter\x01"
LONGEST_EVIDENCE = 120
"""Characters of matched text that an answer quotes."""

BLOCKS_FROM: Mapping[Severity, Severity] = {
    Severity.LOW: Severity.CRITICAL,
    Severity.MEDIUM: Severity.HIGH,
    Severity.HIGH: Severity.MEDIUM,
    Severity.CRITICAL: Severity.LOW,
}
"""From the request's severity (the impact it claims) to the least severity of a rule that blocks it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What matched: the view, the text in it with secrets masked, and its place there in characters."""

    view: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Match:
    """One rule that holds for an action."""

    id: str
    version: int
    status: Status
    stage: Stage
    severity: Severity
    title: str
    reason: str
    remediation: str
    references: tuple[str, ...]
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class StageResult:
    """One stage: `fail` blocks, `warn` matched below the threshold."""

    stage: Stage
    result: Literal["pass", "warn", "fail"]
    matched: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class GuardrailVerdict:
    """The answer of a check. Equal for equal input and ruleset; it has no time in it.

    `matched_guardrails` are ids of stable rules, most severe first; `drafts` are matches of draft rules, which never
    decide. `problem` says why the action couldn't be judged: then `passed` is false.
    """

    passed: bool
    severity: SeverityOrNone
    reason: str
    rules_checked: int
    matched_guardrails: tuple[str, ...]
    check_id: str
    ruleset_version: str
    stages: tuple[StageResult, ...]
    remediation: tuple[str, ...]
    matches: tuple[Match, ...] = ()
    drafts: tuple[Match, ...] = ()
    problem: str | None = None


@dataclass(slots=True)
class _Compiled:
    rule: Rule
    any: tuple[int, ...]
    all: tuple[int, ...]
    none: tuple[int, ...]
    context: tuple[Check, ...]
    any_context: tuple[Check, ...]
    kinds: frozenset[str] | None
    os: frozenset[str] | None
    tools: Callable[[str], object] | None
    order: int = 0


@dataclass(slots=True)
class _ViewFilter:
    """Patterns of one view, at most `FILTER_PATTERNS`; `ids` are their numbers in the ruleset."""

    view: str
    filter: Any
    ids: list[int] = field(default_factory=list)


class Ruleset:
    """Rules, compiled. Immutable and safe to share between threads."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules: tuple[Rule, ...] = tuple(sorted(rules, key=lambda rule: rule.id))
        self._patterns: list[tuple[str, str]] = []
        numbers: dict[tuple[str, str], int] = {}

        def number_of(pattern: ViewPattern) -> int:
            key = (pattern.view, pattern.pattern)
            if key not in numbers:
                numbers[key] = len(self._patterns)
                self._patterns.append(key)
            return numbers[key]

        active = [rule for rule in self.rules if rule.status is not Status.RETIRED]
        self._compiled = [_compile(rule, number_of, order) for order, rule in enumerate(active)]
        self.version = ruleset_version(self.rules)
        self._filters = _filters(self._patterns)
        self._places = {number: (held, place) for held in self._filters for place, number in enumerate(held.ids)}
        self._rules_of: dict[int, list[int]] = defaultdict(list)
        self._without_patterns: list[int] = []
        for order, compiled in enumerate(self._compiled):
            # `all` needs its first pattern at the least; so one of them is enough to find the rule.
            leads = compiled.all[:1] or compiled.any
            for pattern in leads:
                self._rules_of[pattern].append(order)
            if not leads:
                self._without_patterns.append(order)

    @property
    def rules_checked(self) -> int:
        """Rules that a check looks at: all but the retired ones."""
        return len(self._compiled)

    def check(
        self, action: str, severity: Severity = Severity.MEDIUM, context: Mapping[str, Any] | None = None
    ) -> GuardrailVerdict:
        """Judge an action before it is taken. `severity` is the impact that the caller claims.

        Never raises: what can't be judged (out of bounds, or a rule that fails) is answered with `passed` false.
        """
        try:
            severity = Severity(severity)
            refusal = action_refusal(action)
            if refusal is not None:
                raise refusal
            plain = plain_context(context)
        except Exception as fault:
            said = fault.detail if isinstance(fault, Refusal) else f"the request can't be read: {_named(fault)}"
            return self._unjudged(_check_id(self.version, repr(action)[:200], repr(severity)[:40], said), said)
        check_id = _check_id(self.version, action, severity, plain)
        try:
            found = self.matches(action, plain)
        except Exception as fault:
            return self._unjudged(
                check_id, f"a rule or view failed on this action, which therefore fails: {_named(fault)}"
            )
        return self._verdict(found, severity, check_id)

    def matches(self, action: str, context: Mapping[str, Any]) -> list[Match]:
        """Every rule that holds for an action, stable and draft, most severe first. `context` is a plain copy.

        Raises what a view or rule raises; `check` is the form that doesn't.
        """
        seen = Action(encodable(action), context)
        hits: set[int] = set()
        for held in self._filters:
            text = seen.view(held.view)
            if text and (found := held.filter.Match(text)):
                hits.update(held.ids[place] for place in found if place < len(held.ids))
        candidates = {order for hit in hits for order in self._rules_of.get(hit, ())}
        candidates.update(self._without_patterns)
        holding = [compiled for order in sorted(candidates) if _holds(compiled := self._compiled[order], hits, seen)]
        holding.sort(key=lambda compiled: (-compiled.rule.severity.rank, compiled.order))
        return [self._match(compiled, hits, seen) for compiled in holding]

    def _match(self, compiled: _Compiled, hits: set[int], seen: Action) -> Match:
        rule = compiled.rule
        evidence = []
        for number in (*(each for each in compiled.any if each in hits), *compiled.all)[:MOST_EVIDENCE]:
            held, place = self._places[number]
            found = held.filter.re(place).search(seen.view(held.view))
            if found is not None:
                text = _quoted(found.group(0), held.view, seen)
                evidence.append(Evidence(held.view, text, found.start(), found.end()))
        quoted = evidence[0].text if evidence else ""
        return Match(
            rule.id,
            rule.version,
            rule.status,
            rule.stage,
            rule.severity,
            rule.title,
            rule.reason.format(match=quoted),
            rule.remediation,
            rule.references,
            tuple(evidence),
        )

    def _verdict(self, found: Sequence[Match], severity: Severity, check_id: str) -> GuardrailVerdict:
        matches = tuple(match for match in found if match.status is Status.STABLE)
        threshold = BLOCKS_FROM[severity].rank
        blocking = [match for match in matches if match.severity.rank >= threshold]
        stages = tuple(_stage(stage, matches, threshold) for stage in Stage)
        return GuardrailVerdict(
            passed=not blocking,
            severity=matches[0].severity if matches else "none",
            reason=_reason(blocking or matches, bool(blocking), len(self._compiled)),
            rules_checked=len(self._compiled),
            matched_guardrails=tuple(match.id for match in matches),
            check_id=check_id,
            ruleset_version=self.version,
            stages=stages,
            remediation=tuple(dict.fromkeys(match.remediation for match in blocking or matches)),
            matches=matches,
            drafts=tuple(match for match in found if match.status is Status.DRAFT),
        )

    def _unjudged(self, check_id: str, problem: str) -> GuardrailVerdict:
        return GuardrailVerdict(
            passed=False,
            severity=Severity.CRITICAL,
            reason=problem,
            rules_checked=len(self._compiled),
            matched_guardrails=(),
            check_id=check_id,
            ruleset_version=self.version,
            stages=tuple(StageResult(stage, "fail", (), problem) for stage in Stage),
            remediation=("Send an action and a context within the limits, or have it reviewed by a person.",),
            problem=problem,
        )


def rule_content(rule: Rule) -> dict[str, Any]:
    """What a rule decides and says, without its examples and references: what its version stands for."""
    return rule.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude={"examples", "references", "status"})


def content_hash(rule: Rule) -> str:
    """SHA-256 of `rule_content`."""
    return sha256_hex(json.dumps(rule_content(rule), sort_keys=True).encode())


def ruleset_version(rules: Iterable[Rule]) -> str:
    """A hash of the engine's version and of every rule with its status."""
    lines = sorted(f"{rule.id} {rule.version} {rule.status} {content_hash(rule)}" for rule in rules)
    return sha256_hex("\n".join((f"engine {ENGINE_VERSION}", *lines)).encode())[:16]


def _compile(rule: Rule, number_of: Callable[[ViewPattern], int], order: int) -> _Compiled:
    when, applies = rule.when, rule.applies
    return _Compiled(
        rule,
        any=tuple(number_of(each) for each in when.any or ()),
        all=tuple(number_of(each) for each in when.all or ()),
        none=tuple(number_of(each) for each in when.none or ()),
        context=tuple(compile_condition(each) for each in when.context or ()),
        any_context=tuple(compile_condition(each) for each in when.any_context or ()),
        kinds=frozenset(applies.kinds) if applies.kinds else None,
        os=frozenset(applies.os) if applies.os else None,
        tools=_globs(applies),
        order=order,
    )


def _globs(applies: Applies) -> Callable[[str], object] | None:
    if not applies.tools:
        return None
    return re.compile("|".join(fnmatch.translate(each.lower()) for each in applies.tools)).match


def _filters(patterns: Sequence[tuple[str, str]]) -> list[_ViewFilter]:
    by_view: dict[str, list[int]] = defaultdict(list)
    for number, (view, _) in enumerate(patterns):
        by_view[view].append(number)
    return [
        made
        for view, numbers in by_view.items()
        for first in range(0, len(numbers), FILTER_PATTERNS)
        for made in _filters_of(view, numbers[first : first + FILTER_PATTERNS], patterns)
    ]


def _filters_of(view: str, numbers: list[int], patterns: Sequence[tuple[str, str]]) -> list[_ViewFilter]:
    """One filter that was seen to find something, or two of half the size: too large a one silently finds nothing."""
    held = _ViewFilter(view, re2.Filter(), numbers)
    for number in numbers:
        held.filter.Add(multi_line(patterns[number][1]), pattern_options())
    held.filter.Add(re2.escape(_SENTINEL), pattern_options())
    try:
        held.filter.Compile()
        works = held.filter.Match(_SENTINEL) is not None
        held.filter.Match(_WARM_UP, True)
    except re2.error:
        works = False
    if works:
        return [held]
    if len(numbers) == 1:
        raise ValueError(f"a pattern on the view {view} is too large: {patterns[numbers[0]][1][:80]}")
    half = len(numbers) // 2
    return _filters_of(view, numbers[:half], patterns) + _filters_of(view, numbers[half:], patterns)


def _holds(compiled: _Compiled, hits: set[int], seen: Action) -> bool:
    if compiled.any and hits.isdisjoint(compiled.any):
        return False
    if not all(each in hits for each in compiled.all) or not hits.isdisjoint(compiled.none):
        return False
    if compiled.kinds is not None and seen.kinds.isdisjoint(compiled.kinds):
        return False
    if compiled.os is not None and seen.os is not None and seen.os not in compiled.os:
        return False
    if compiled.tools is not None and not any(compiled.tools(name.lower()) for name in seen.tools):
        return False

    def lookup(path: str) -> list[Any]:
        return values_at(seen.context, path) or seen.derived(path)

    return all(check(lookup) for check in compiled.context) and (
        not compiled.any_context or any(check(lookup) for check in compiled.any_context)
    )


def _quoted(found: str, view: str, seen: Action) -> str:
    if view == "secrets":
        found = " ".join(found.split(" ", 3)[:3])
    elif view in VIEWS_OF_CONTEXT:
        found = without_secrets(found)
    else:
        found = masked(found, seen.secrets)
        if len(seen.secrets) >= MAX_SECRETS:
            found = without_secrets(found)
    found = " ".join(found.split())
    return found if len(found) <= LONGEST_EVIDENCE else found[: LONGEST_EVIDENCE - 1] + "…"


_PASSED = {stage: StageResult(stage, "pass", (), None) for stage in Stage}


def _stage(stage: Stage, matches: Sequence[Match], threshold: int) -> StageResult:
    here = [match for match in matches if match.stage is stage]
    if not here:
        return _PASSED[stage]
    fails = here[0].severity.rank >= threshold
    return StageResult(stage, "fail" if fails else "warn", tuple(match.id for match in here), here[0].reason)


def _reason(decisive: Sequence[Match], blocks: bool, rules: int) -> str:
    if not decisive:
        return f"none of {rules} rules matched"
    first = decisive[0].reason
    more = len(decisive) - 1
    also = f" ({more} more)" if more else ""
    return f"{first}{also}" if blocks else f"below what blocks at this severity: {first}{also}"


def _named(fault: Exception) -> str:
    return f"{type(fault).__name__}: {str(fault)[:200]}"


def _check_id(version: str, action: str, severity: str, context: Any) -> str:
    held = json.dumps([version, action, severity, context], sort_keys=True, ensure_ascii=True)
    return "grc_" + sha256_hex(held.encode())[:32]
