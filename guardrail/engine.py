"""The engine: reads one action, judges its effects, and answers in seven stages.

It is pure and deterministic: it reads no clock, and no file after loading. It never raises: if the check fails, the
answer denies the action.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from guardrail.approval import Approvals, Outcome
from guardrail.circumstances import REQUESTED, UNREQUESTED
from guardrail.facts import ContextInvalid, Facts, encodable, parse_context
from guardrail.manifest import effects_of_manifest
from guardrail.model import Call, Effect, Passage, Reading, Span, Target, Uncovered
from guardrail.policy import LONGEST_TARGET, Policy, PolicyMatch, ReliedOn, Stage, judge
from guardrail.record import record
from guardrail.verdict import Evidence, Match, Problem, ProblemCode, StageResult, Verdict
from guardrail.vocabulary import (
    Coverage,
    Decision,
    EffectKind,
    Language,
    ObjectKind,
    Origin,
    Severity,
)

if TYPE_CHECKING:
    from guardrail.user_policy import UserPolicy  # imports a YAML parser, which few checks need

ENGINE_VERSION = 8
"""Increased with every code change that can change verdicts; part of `ruleset_version`."""

MAX_ACTION_BYTES = 64 * 1024
MAX_EFFECTS = 4_096
MAX_FINDINGS = 64
MAX_UNCOVERED = 200
"""More unreadable parts than this, if they would run, could hide an important effect."""
LONGEST_EVIDENCE = 120
MOST_REMEDIATIONS = 5

BLOCKS_FROM: Mapping[Severity, Severity] = {
    Severity.LOW: Severity.CRITICAL,
    Severity.MEDIUM: Severity.HIGH,
    Severity.HIGH: Severity.MEDIUM,
    Severity.CRITICAL: Severity.LOW,
}
"""For each severity of a request (the impact it claims), the lowest severity of a match that blocks it."""

_ALLOWED_CONTROLS = "\t\n\r\x1b\x07\x08\x0b\x0c"
_WITHOUT_ALLOWED = dict.fromkeys(map(ord, _ALLOWED_CONTROLS))
_MOST_CONTROLS = 0.3
"""Share of other control characters above which a text counts as binary; terminal captures and patches have a few."""


class Interpreted(Protocol):
    """The effects, calls and texts that the catalogue finds in a reading."""

    @property
    def effects(self) -> tuple[Effect, ...]: ...

    @property
    def uncovered(self) -> tuple[Uncovered, ...]: ...

    @property
    def coverage(self) -> Coverage: ...

    @property
    def passages(self) -> tuple[Passage, ...]: ...

    @property
    def calls(self) -> Sequence[object]: ...


class Found(Protocol):
    """A secret, account number or personal data in a text."""

    @property
    def kind(self) -> str: ...

    @property
    def confidence(self) -> str: ...

    @property
    def category(self) -> str: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


@record
class Parts:
    """The modules that the engine calls; `loading` provides them. `most_calls` is the number of calls at which
    interpreting stops. `matching_nothing` returns texts that it can prove to match no rule. `version` identifies the
    data that the parts were made from."""

    read: Callable[[str, Facts], Reading]
    interpret: Callable[[Reading, Facts], Interpreted]
    match_language: Callable[[str, Sequence[Passage], Facts], Sequence[PolicyMatch]]
    with_intent: Callable[[Sequence[Effect], Sequence[Passage], Facts], Sequence[Effect]]
    effects_of_steps: Callable[[Sequence[str], Span], Sequence[Effect]]
    find: Callable[[str], Sequence[Found]]
    matching_nothing: Callable[[Iterable[str]], set[str]]
    masked: Callable[[str], str]
    language_rules: int
    most_calls: int
    version: str


@record
class Options:
    """The capabilities of the caller. `may_ask`: a person can be asked, so a change of the guard, or an uncovered part
    that would run, becomes a question. `gathered`: our own code collected the facts of the workspace."""

    may_ask: bool = False
    gathered: bool = False


_NO_OPTIONS = Options()


@record
class _Judged:
    """The findings about an action, before the decision."""

    matches: tuple[PolicyMatch, ...] = ()
    effects: tuple[Effect, ...] = ()
    coverage: Coverage = "none"
    uncovered: tuple[Uncovered, ...] = ()
    relied_on: tuple[ReliedOn, ...] = ()
    has_findings: bool = False


class _Refused(Exception):
    def __init__(self, code: ProblemCode, pointer: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(code, pointer, message)


class Guardrail:
    """Catalogue, policy and language, loaded once. Immutable and safe to share between threads."""

    def __init__(self, policy: Policy, parts: Parts) -> None:
        self._policy = policy
        self._parts = parts
        self.rules_checked = len(policy.rows) + parts.language_rules
        self.ruleset_version = _sha256(f"{ENGINE_VERSION} {parts.version} {policy.digest}")[:16]

    def check(
        self,
        action: str,
        severity: str = "medium",
        context: Mapping[str, Any] | None = None,
        *,
        approvals: Approvals | None = None,
        policy: UserPolicy | None = None,
        options: Options = _NO_OPTIONS,
    ) -> Verdict:
        """Judges an action before it is carried out. `severity` is the impact that the caller claims.

        Never raises: an action that can't be judged is denied, and the verdict names the problem.
        """
        digest = self.digest(action, severity, context)
        ignored: tuple[str, ...] = ()
        try:
            claimed = _severity(severity)
            threshold = BLOCKS_FROM[claimed]
            _check_action(action)
            action = encodable(action)
            facts, ignored = parse_context(context)
            if options.gathered:
                facts = replace(facts, gathered=True)
            judged = self._judge(action, facts, claimed, policy)
            return self._verdict(action, facts, judged, threshold, ignored, digest, approvals, options)
        except _Refused as refusal:
            return self._denied(refusal.problem, ignored, digest)
        except ContextInvalid as refusal:
            return self._denied(Problem(refusal.code, refusal.pointer, refusal.message), ignored, digest)
        except Exception as fault:
            message = f"the check failed on this action, which is therefore denied ({type(fault).__name__})"
            return self._denied(Problem("fault", "/action", message), ignored, digest)

    def surely_passing(self, actions: Iterable[str]) -> set[str]:
        """Returns actions that no rule matches at any severity except critical, in any context that states at most a
        tool without a language or program of its own.

        Takes at most a tenth of the time of `check`. It proves nothing about the other actions, which must be judged.
        """
        return self._parts.matching_nothing(actions)

    def digest(self, action: str, severity: str = "medium", context: Mapping[str, Any] | None = None) -> str:
        """Returns the digest that an approval token is bound to. It covers the action, the severity, the context
        without the token, and the rules."""
        known = context
        if context and isinstance(context, _MAPPING):
            known = {name: value for name, value in context.items() if name != "approval_token"}
        try:
            texts = ", ".join(map(_encoded_text, (self.ruleset_version, action, str(severity))))
            content = f"[{texts}, {_encoded(known) if known else '{}'}]"
        except (TypeError, ValueError, RecursionError):
            content = json.dumps([self.ruleset_version, repr(action)[:1_000], str(severity)[:100]])
        return _sha256(content)

    def _judge(self, action: str, facts: Facts, severity: Severity, user_policy: UserPolicy | None) -> _Judged:
        parts = self._parts
        reading = parts.read(action, facts)
        if reading.language in _MADE_ANEW and facts.environment is None:
            facts = replace(facts, in_checkout=True, in_image=reading.language is Language.DOCKERFILE)
        # If our own code examined the working copy, an agent acts and not a CI job, whatever the commands contain.
        is_script = reading.language is Language.BASH and not facts.gathered
        if is_script and _may_use_runner(action) and (_is_template(action) or any(map(_uses_runner, reading.calls))):
            facts = replace(facts, in_job=True)
        self._check_calls(len(reading.calls))
        interpreted = parts.interpret(reading, facts)
        self._check_calls(len(interpreted.calls))
        passages = [_encodable_passage(passage) for passage in interpreted.passages]
        told = _told_of_workflows(action, reading, interpreted.effects)
        effects = [*map(_encodable_effect, told), *effects_of_manifest(facts.manifest)]
        if facts.planned_steps:
            effects += parts.effects_of_steps(facts.planned_steps, Span(0, len(action)))
        is_call = reading.language is Language.TOOL_CALL
        findings = self._findings(_without_escapes(action) if is_call else action, passages)
        if findings:
            effects += _effects_of_findings(findings, effects, facts)
        if len(effects) > MAX_EFFECTS:
            raise _Refused("too_many_effects", "/action", f"the action has more than {MAX_EFFECTS:,} effects")
        effects = list(parts.with_intent(effects, passages, facts))
        judged_effects = effects
        if user_policy is not None:
            judged_effects = [effect for effect in effects if not user_policy.allowed(effect, facts)]
        judgement = judge(judged_effects, facts, self._policy)
        matches = [*judgement.matches, *parts.match_language(action, passages, facts)]
        if user_policy is not None:
            matches += user_policy.matches(effects, facts)
        if interpreted.uncovered:
            matches += _matches_of_uncovered(interpreted.uncovered, severity)
        if len(matches) > 1:
            matches.sort(key=lambda match: -match.severity.rank)
        return _Judged(
            matches=tuple(matches),
            effects=tuple(effects),
            coverage=interpreted.coverage,
            uncovered=tuple([replace(part, reason=encodable(part.reason)) for part in interpreted.uncovered]),
            relied_on=judgement.relied_on,
            has_findings=bool(findings),
        )

    def _check_calls(self, calls: int) -> None:
        """Refuses an action with too many calls: an effect after the last call that is read would pass unseen."""
        most = self._parts.most_calls
        if calls >= most:
            raise _Refused("too_many_calls", "/action", f"the action has {most:,} calls or more")

    def _findings(self, action: str, passages: Sequence[Passage]) -> list[_Carried]:
        """Returns the findings in the action's text, and those in passages that the action contains escaped or
        encoded."""
        find = self._parts.find
        found = []
        for finding in find(action):
            span = Span(finding.start, finding.end)
            in_passage = any(passage.span.start <= span.start and span.end <= passage.span.end for passage in passages)
            found.append(_Carried(finding, action[span.start : span.end], span, in_passage))
        values = {carried.value for carried in found}
        for passage in passages:
            if passage.text in action:
                continue
            for finding in find(passage.text):
                value = passage.text[finding.start : finding.end]
                if value not in values:
                    values.add(value)
                    found.append(_Carried(finding, value, passage.span, True))
        return found[:MAX_FINDINGS]

    def _verdict(
        self,
        action: str,
        facts: Facts,
        judged: _Judged,
        threshold: Severity,
        ignored: tuple[str, ...],
        digest: str,
        approvals: Approvals | None,
        options: Options,
    ) -> Verdict:
        blocking = [match for match in judged.matches if _blocks(match, threshold)]
        decision = _decision(judged, blocking, options)
        relied_on, approval = judged.relied_on, None
        if decision != "allow" and facts.approval_token is not None and approvals is not None:
            approval = approvals.accept(facts.approval_token, digest)
            if approval is Outcome.ACCEPTED:
                decision = "allow"
                relied_on = (_APPROVED, *relied_on)
        decisive = blocking or [match for match in judged.matches if match.decision == "ask"] or judged.matches
        masked = self._parts.masked if self._shows_secrets(action, judged) else None
        matches = tuple([_shown(match, action, masked) for match in judged.matches])
        shown = {match.id: match for match in matches}
        return Verdict(
            passed=decision == "allow",
            decision=decision,
            severity=judged.matches[0].severity if judged.matches else "none",
            reason=_reason(judged, [shown[match.id] for match in decisive], decision, approval),
            rules_checked=self.rules_checked,
            matched_guardrails=tuple(shown),
            matches=matches,
            stages=_stages(judged.matches, matches, threshold),
            remediation=tuple(dict.fromkeys(match.remediation for match in decisive))[:MOST_REMEDIATIONS],
            effects=tuple([_masked_effect(effect, masked) for effect in judged.effects]),
            coverage=judged.coverage,
            uncovered=judged.uncovered,
            relied_on=relied_on,
            ignored_context=ignored,
            ruleset_version=self.ruleset_version,
            digest=digest,
            approval=approval,
        )

    def _shows_secrets(self, action: str, judged: _Judged) -> bool:
        """Decides whether the answer may show a secret. Texts copied from an action without findings contain none; all
        others are searched in one pass, and one by one only if that pass finds something."""
        if judged.has_findings:
            return True
        texts = {text for effect in judged.effects for text in _texts_of(effect)}
        if texts and len(texts) <= _FEW_TEXTS:
            texts = {text for text in texts if text not in action}
        if not texts:
            return False
        reasons = (match.reason for match in judged.matches)
        return bool(self._parts.find("\n".join((*texts, *reasons))))

    def _denied(self, problem: Problem, ignored: tuple[str, ...], digest: str) -> Verdict:
        reason = f"{problem.message[:1].upper()}{problem.message[1:]}."
        return Verdict(
            passed=False,
            decision="deny",
            severity=Severity.CRITICAL,
            reason=reason,
            rules_checked=self.rules_checked,
            matched_guardrails=(),
            matches=(),
            stages=tuple(StageResult(stage, "fail", (), reason) for stage in Stage),
            remediation=("Send an action and a context within the limits, or have a person look at it.",),
            effects=(),
            coverage="none",
            uncovered=(),
            relied_on=(),
            ignored_context=ignored,
            ruleset_version=self.ruleset_version,
            digest=digest,
            problem=problem,
        )


# --- the texts of the answer ---

_Mask = Callable[[str], str] | None
"""Shortens the secrets in a text. None if the answer contains no secrets."""
_FEW_TEXTS = 5_000


def _texts_of(effect: Effect) -> list[str]:
    texts = [target.text for target in effect.targets if len(target.text) >= _SHORTEST_SECRET]
    if effect.detail:
        texts += [text for text in effect.detail.values() if len(text) >= _SHORTEST_SECRET]
    return texts


def _shown(match: PolicyMatch, action: str, masked: _Mask) -> Match:
    return Match(
        id=match.id,
        stage=match.stage,
        severity=match.severity,
        reason=masked(match.reason) if masked else match.reason,
        remediation=match.remediation,
        references=match.references,
        evidence=tuple([_evidence(action, span, masked) for span in match.spans if span.end > span.start]),
    )


def _evidence(action: str, span: Span, masked: _Mask) -> Evidence:
    # Masking must see whole secrets, even those that shortening would cut, so it gets more text than is shown.
    shown = action[span.start : span.end][: LONGEST_EVIDENCE * 10]
    text = " ".join((masked(shown) if masked else shown).split())
    if len(text) > LONGEST_EVIDENCE:
        text = text[: LONGEST_EVIDENCE - 1] + "…"
    return Evidence(text, span.start, span.end)


def _masked_effect(effect: Effect, masked: _Mask) -> Effect:
    texts = _texts_of(effect)
    if not texts or (masked is None and max(map(len, texts)) <= 4 * LONGEST_TARGET):
        return effect
    mask = masked or str
    return replace(
        effect,
        targets=tuple(replace(target, text=_cut(mask(target.text))) for target in effect.targets),
        detail={name: _cut(mask(value)) for name, value in effect.detail.items()},
    )


_MADE_ANEW = frozenset((Language.DOCKERFILE, Language.CI))
"""Languages whose actions run in an image or a runner, on a copy of the workspace made for them. Expressions and
variables that only a runner fills in don't prove that a runner is used: an agent can write them into any command."""

_APPROVED = ReliedOn("approval_token", "approval_token", "a person approved this very action")
_SHORTEST_SECRET = 8


_SEVERITIES = {severity.value: severity for severity in Severity}
_MAPPING = (dict, Mapping)
"""The concrete type comes first: testing an abstract class takes ten times as long."""


def _severity(severity: str) -> Severity:
    try:
        return _SEVERITIES[severity]
    except (KeyError, TypeError):
        known = ", ".join(Severity)
        raise _Refused("severity_invalid", "/severity", f"the severity must be one of {known}") from None


def _check_action(action: object) -> None:
    if not isinstance(action, str):
        raise _Refused("action_binary", "/action", "the action must be text")
    if not action or action.isspace():
        raise _Refused("action_empty", "/action", "the action is empty")
    size = len(action) if action.isascii() else len(action.encode("utf-8", "surrogatepass"))
    if size > MAX_ACTION_BYTES:
        raise _Refused("action_too_long", "/action", f"the action is longer than {MAX_ACTION_BYTES:,} bytes")
    if "\0" in action or _controls(action) > _MOST_CONTROLS * len(action):
        raise _Refused("action_binary", "/action", "the action is binary, not text")


def _controls(text: str) -> int:
    if text.isprintable() or text.translate(_WITHOUT_ALLOWED).isprintable():
        return 0
    return sum(
        char not in _ALLOWED_CONTROLS and unicodedata.category(char) in ("Cc", "Cs", "Cn", "Co") for char in text
    )


# --- texts of the action in its effects ---


def _encodable_passage(passage: Passage) -> Passage:
    """Returns the passage without lone surrogates, which escapes in an ASCII text can spell."""
    return passage if passage.text.isascii() else replace(passage, text=encodable(passage.text))


def _encodable_effect(effect: Effect) -> Effect:
    if all(target.text.isascii() for target in effect.targets) and all(map(str.isascii, effect.detail.values())):
        return effect
    return replace(
        effect,
        targets=tuple([replace(target, text=encodable(target.text)) for target in effect.targets]),
        detail={name: encodable(value) for name, value in effect.detail.items()},
    )


# --- secrets and personal data in texts ---

_SENDS = frozenset((EffectKind.SEND, EffectKind.PUBLISH))


@record
class _Carried:
    """A finding, its value, its span in the action, and whether it is in a text that people would read."""

    finding: Found
    value: str
    span: Span
    in_passage: bool


_ESCAPES = re.compile(r"\\(?:[nrtbf\"\\/]|u[0-9a-fA-F]{4})")


def _without_escapes(action: str) -> str:
    """Returns a call with blanks for the escapes in its texts, where everything else keeps its position."""
    return _ESCAPES.sub(_blank, action) if "\\" in action else action


def _blank(escape: re.Match[str]) -> str:
    sign = escape[0][-1] if len(escape[0]) == 2 else " "
    return ("\n" if sign in "nrtbf" else sign).rjust(len(escape[0]))


def _effects_of_findings(findings: Sequence[_Carried], effects: Sequence[Effect], facts: Facts) -> list[Effect]:
    """Returns an effect for each secret that the action contains, and for personal data that it sends."""
    made = []
    for carried in findings:
        finding, span = carried.finding, carried.span
        carriers = [effect for effect in effects if effect.span.start <= span.start and span.end <= effect.span.end]
        sender = next((effect for effect in carriers if effect.kind in _SENDS), None)
        if finding.category != "secret" and (sender is None or _is_addressee(carried.value, carriers)):
            continue
        wanted = facts.origin_of(carried.value) is Origin.USER
        detail = {
            "confidence": "possible" if wanted else finding.confidence,
            "carried_by": "text" if carried.in_passage else "command",
        }
        if sender is not None and "url" in sender.detail:
            detail["url"] = sender.detail["url"]
        made.append(
            Effect(
                kind=sender.kind if sender is not None else EffectKind.WRITE,
                object=ObjectKind.SECRET if finding.category == "secret" else ObjectKind.PERSONAL_DATA,
                span=span,
                source=f"format {finding.kind}",
                targets=(Target(f"{finding.kind.replace('-', ' ')} in the text"),),
                detail=detail,
            )
        )
    return made


def _is_addressee(value: str, carriers: Sequence[Effect]) -> bool:
    """Decides whether the value is the recipient or object of the action, such as the account that is paid."""
    return any(
        value in (effect.detail.get("recipient", ""), *(target.text for target in effect.targets))
        for effect in carriers
    )


def _may_use_runner(action: str) -> bool:
    """Returns False if the text cannot contain an expression that a CI runner fills in. These begin with a `$`, which
    may also be spelled with a character outside ASCII."""
    return "$" in action or not action.isascii()


def _uses_runner(call: Call) -> bool:
    """Decides whether a command's words contain an expression that only a CI runner fills in; a comment doesn't
    count."""
    words = [*call.words, *(redirection.target for redirection in call.redirections)]
    if call.directory is not None:
        words.append(call.directory)
    return any(not word.known and _OF_RUNNER.search(word.text) for word in words)


def _is_template(action: str) -> bool:
    """Decides whether the text contains a workflow expression outside comments, where a runner replaces it."""
    return "${{" in action and "${{" in _COMMENT.sub("", action)


def _told_of_workflows(action: str, reading: Reading, effects: Sequence[Effect]) -> Sequence[Effect]:
    """Returns the effects, marking those that only a workflow can have: a shell stops at a command that contains an
    expression `${{` outside single quotes."""
    if reading.language is not Language.BASH or "${{" not in action:
        return effects
    spans = [call.span for call in reading.calls if _stops_shells(call, action)]
    return [
        replace(effect, detail={**effect.detail, "runs": "in_job"})
        if any(span.start <= effect.span.start and effect.span.end <= span.end for span in spans)
        else effect
        for effect in effects
    ]


def _stops_shells(call: Call, action: str) -> bool:
    words = [*call.words, *(redirection.target for redirection in call.redirections)]
    sources = (action[word.span.start : word.span.end] for word in words if not word.known)
    return any("${{" in source and "'" not in source and "\\" not in source for source in sources)


_COMMENT = re.compile(r"(?m)(?:^|[ \t])#.*$")
_OF_RUNNER = re.compile(
    r"\$\{\{|\$\{?(?:GITHUB|GITLAB|CI|RUNNER|CIRCLE|TRAVIS|BUILDKITE|BITBUCKET|APPVEYOR|CODEBUILD|DRONE|SEMAPHORE)_[A-Z]"
    r"|\$\((?:Build|System|Agent|Pipeline)\.[A-Z]"
)


# --- the decision ---


_REASONS_OF_UNCOVERED = {
    Severity.CRITICAL: "It is too long or too deeply nested to be read to its end, and the rest may contain anything.",
    Severity.HIGH: "It would run many parts that could not be read.",
    Severity.LOW: "It would run something that could not be read.",
}


def _matches_of_uncovered(uncovered: Sequence[Uncovered], severity: Severity) -> list[PolicyMatch]:
    """Returns a match if reading stopped before the end or if too many unread parts would run; at severity critical, if
    any unread part would run."""
    stops = [part.span for part in uncovered if part.stopped]
    if stops:
        return [_match_of_uncovered("uncovered.not-read-to-the-end", Severity.CRITICAL, stops)]
    spans = list(dict.fromkeys(part.span for part in uncovered if part.executable))
    if len(spans) > MAX_UNCOVERED:
        return [_match_of_uncovered("uncovered.too-much", Severity.HIGH, spans)]
    if spans and severity is Severity.CRITICAL:
        return [_match_of_uncovered("uncovered.executable", Severity.LOW, spans)]
    return []


def _match_of_uncovered(name: str, severity: Severity, spans: Sequence[Span]) -> PolicyMatch:
    return PolicyMatch(
        id=name,
        stage=Stage.REFERENTIAL_INTEGRITY,
        severity=severity,
        reason=_REASONS_OF_UNCOVERED[severity],
        remediation="Send it in smaller parts that can be read, or have a person look at it.",
        references=("OWASP LLM06",),
        spans=tuple(spans[:4]),
    )


def _blocks(match: PolicyMatch, threshold: Severity) -> bool:
    if match.decision is not None:
        return match.decision == "deny"
    return match.severity.rank >= threshold.rank


def _decision(judged: _Judged, blocking: Sequence[PolicyMatch], options: Options) -> Decision:
    if blocking:
        return "ask" if options.may_ask and all(match.asks for match in blocking) else "deny"
    if any(match.decision == "ask" for match in judged.matches):
        return "ask"
    if options.may_ask and any(part.executable for part in judged.uncovered):
        return "ask"
    return "allow"


def _reason(judged: _Judged, decisive: Sequence[Match], decision: Decision, approval: Outcome | None) -> str:
    if approval is Outcome.ACCEPTED:
        return (
            f"A person approved this very action: {_as_clause(decisive[0].reason)}" if decisive else "It is approved."
        )
    if not decisive:
        if decision == "ask":
            return "It would run something that could not be read."
        if judged.coverage == "full":
            return "No rule objects to anything that it would do."
        if judged.coverage == "partial":
            return "No rule objects to what could be read, but some of it could not be read."
        return "No rule objects, but no effect could be read from it."
    more = len(decisive) - 1
    also = f" ({more} more)" if more else ""
    if decision == "allow":
        return f"It passes at this severity, though {_as_clause(decisive[0].reason).removesuffix('.')}{also}."
    return f"{decisive[0].reason.removesuffix('.')}{also}."


def _as_clause(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _stages(matches: Sequence[PolicyMatch], shown: Sequence[Match], threshold: Severity) -> tuple[StageResult, ...]:
    if not matches:
        return _PASSED_STAGES
    matched: dict[Stage, list[tuple[PolicyMatch, Match]]] = {}
    for match, visible in zip(matches, shown, strict=True):
        matched.setdefault(match.stage, []).append((match, visible))
    results = list(_PASSED_STAGES)
    for stage, here in matched.items():
        fails = any(_blocks(match, threshold) for match, _ in here)
        ids = tuple([visible.id for _, visible in here])
        results[_PLACES[stage]] = StageResult(stage, "fail" if fails else "warn", ids, here[0][1].reason)
    return tuple(results)


_PASSED_STAGES = tuple(StageResult(stage, "pass") for stage in Stage)
_PLACES = {stage: place for place, stage in enumerate(Stage)}


_encoded = json.JSONEncoder(sort_keys=True).encode
_encoded_text = json.encoder.encode_basestring_ascii
"""Encodes a text like `_encoded`, which would take longer to create an encoder than to encode a short text."""


def _cut(text: str) -> str:
    return text if len(text) <= 4 * LONGEST_TARGET else text[: 4 * LONGEST_TARGET - 1] + "…"


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def with_intent_details(effect: Effect, *, requested: str | None, unrequested: str | None) -> Effect:
    """Returns the effect with details on who requested it, in the words that policy rows use."""
    if requested is None and unrequested is None:
        return effect
    detail = dict(effect.detail)
    if requested is not None:
        detail[REQUESTED] = requested
    if unrequested is not None:
        detail[UNREQUESTED] = unrequested
    return replace(effect, detail=detail)
