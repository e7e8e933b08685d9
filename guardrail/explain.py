"""Builds the tree that explains a verdict: the calls that were read, their effects, and the policy rows that apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from guardrail import reading
from guardrail.catalogue.loader import Catalogue
from guardrail.facts import encodable, parse_context
from guardrail.formats import masked
from guardrail.interpret import interpret
from guardrail.model import Call, Effect
from guardrail.record import record
from guardrail.verdict import Match, Verdict, plain_verdict

LONGEST = 100


@record
class Explanation:
    """A verdict, with the language and the calls that its action was read into."""

    verdict: Verdict
    language: str
    calls: tuple[Call, ...]


def explain(action: str, context: Mapping[str, Any] | None, verdict: Verdict, catalogue: Catalogue) -> Explanation:
    """Returns the calls behind a verdict. An action that could not be judged has none."""
    if verdict.problem is not None:
        return Explanation(verdict, "none", ())
    language, calls = read_calls(action, context, catalogue)
    return Explanation(verdict, language, calls)


def read_calls(action: str, context: Mapping[str, Any] | None, catalogue: Catalogue) -> tuple[str, tuple[Call, ...]]:
    """Returns the language of an action and the calls that it was read into, including those of inner actions."""
    facts, _ = parse_context(context)
    read_action = reading.read(action, facts, catalogue)
    return str(read_action.language), interpret(read_action, catalogue, facts).calls


def plain_explanation(explanation: Explanation) -> dict[str, Any]:
    """Returns the explanation as plain JSON data."""
    return {
        "language": explanation.language,
        "calls": [
            {
                "program": call.program,
                "words": [masked(encodable(word.text)) for word in call.words],
                "start": call.span.start,
                "end": call.span.end,
                "sure": call.sure,
                "elevated": call.elevated,
                "host": call.host,
            }
            for call in explanation.calls
        ],
        **plain_verdict(explanation.verdict),
    }


def tree(explanation: Explanation) -> Iterator[str]:
    """Yields the explanation as lines for a person."""
    verdict = explanation.verdict
    yield f"{verdict.decision}: {verdict.reason}"
    yield f"├─ read as {explanation.language}, coverage {verdict.coverage}"
    shown: set[int] = set()
    calls = explanation.calls
    for number, call in enumerate(calls):
        yield f"│  {_branch(number, len(calls))} {_spelled(call)}"
        bar = " " if number == len(calls) - 1 else "│"
        for at, effect in enumerate(verdict.effects):
            if at not in shown and _is_of(effect, call, calls[number + 1 :]):
                shown.add(at)
                yield from _effect_lines(effect, verdict.matches, f"│  {bar}    ")
    rest = [effect for at, effect in enumerate(verdict.effects) if at not in shown]
    if rest:
        yield "├─ effects of the text itself"
        for effect in rest:
            yield from _effect_lines(effect, verdict.matches, "│  ")
    if verdict.uncovered:
        yield "├─ not covered"
        for part in verdict.uncovered:
            yield f"│  - {part.reason}{' (it would run)' if part.executable else ''}"
    for fact in verdict.relied_on:
        yield f"├─ relied on {fact.fact} ({fact.source}): {fact.meaning}"
    if verdict.ignored_context:
        yield f"├─ unknown context keys, which are ignored: {', '.join(verdict.ignored_context)}"
    yield f"├─ {verdict.rules_checked} rules checked, {len(verdict.matches)} hold"
    for match in verdict.matches:
        yield f"│  - {match.id:<36} {match.severity:<8} {match.reason}"
    yield f"└─ {'; '.join(verdict.remediation) or 'nothing to remedy'}"


def _is_of(effect: Effect, call: Call, later: Sequence[Call]) -> bool:
    """Decides whether an effect belongs to the call: its span is inside the call's, and not inside a smaller, later
    call's."""
    return _inside(effect, call) and not any(
        _inside(effect, other) and _length(other) <= _length(call) for other in later
    )


def _inside(effect: Effect, call: Call) -> bool:
    return call.span.start <= effect.span.start and effect.span.end <= call.span.end


def _length(call: Call) -> int:
    return call.span.end - call.span.start


def _effect_lines(effect: Effect, matches: Sequence[Match], indent: str) -> Iterator[str]:
    targets = ", ".join(_cut(target.text) for target in effect.targets)
    places = ", ".join(dict.fromkeys(str(target.place) for target in effect.targets))
    facts = [f"scope {effect.scope}", f"reversible {effect.reversible}", *([f"place {places}"] if places else [])]
    if not effect.sure:
        facts.append("perhaps")
    if effect.elevated:
        facts.append("elevated")
    yield f"{indent}→ {effect.kind} {effect.object} {targets}".rstrip() + f"  [{effect.source}; {', '.join(facts)}]"
    for match in matches:
        if any(part.start == effect.span.start and part.end == effect.span.end for part in match.evidence):
            yield f"{indent}    ⇒ {match.id} ({match.severity})"


def _branch(number: int, count: int) -> str:
    return "└─" if number == count - 1 else "├─"


def _spelled(call: Call) -> str:
    marks = [*(["elevated"] if call.elevated else []), *([] if call.sure else ["perhaps"])]
    if call.host:
        marks.append(f"on {call.host}")
    text = _cut(masked(encodable(" ".join((call.program or "?", *(word.text for word in call.words))))))
    return text + (f"  ({', '.join(marks)})" if marks else "")


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
