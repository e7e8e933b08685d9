"""Decides whether the person asked for an action's effects. Compares the kinds of effects in the request, in content
that was only read, and in the action, by the words of one lexicon."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

from guardrail.language.actions import (
    Meaning,
    is_negated,
    is_reported,
    kinds_spoken_of,
    meanings_in_sentence,
    only_shows,
)
from guardrail.language.lexicon import Lexicon, Token, tokens_of
from guardrail.model import Effect, Passage, Span
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Origin, Severity


class Provenance(Protocol):
    """The facts that this module needs: the person's request, content that was only read, and the origin of a value."""

    @property
    def user_request(self) -> str | None: ...

    @property
    def untrusted_content(self) -> Sequence[str]: ...

    def origin_of(self, value: str) -> Origin: ...


@record
class Unrequested:
    """An effect that nobody asked for although content that was only read mentions it. `why` is `kind` if that content
    asks for this kind of action, `target` if only that content names the target, or `both`."""

    effect: Effect
    why: str
    severity: Severity
    value: str = ""

    @property
    def span(self) -> Span:
        """The span of the effect in the action."""
        return self.effect.span


Requested = tuple[EffectKind, ObjectKind | None]

_GROUPS: dict[EffectKind, str] = {
    EffectKind.DELETE: "take away",
    EffectKind.DISCARD: "take away",
    EffectKind.CANCEL: "take away",
    EffectKind.REVOKE: "take away",
    EffectKind.SEND: "send",
    EffectKind.PUBLISH: "send",
    EffectKind.EXPOSE: "send",
    EffectKind.PAY: "pay",
    EffectKind.GRANT: "grant",
    EffectKind.ESCALATE: "grant",
    EffectKind.EXECUTE: "run",
    EffectKind.INSTALL: "run",
    EffectKind.STOP: "stop",
    EffectKind.DISABLE: "stop",
    EffectKind.DISRUPT: "stop",
    EffectKind.ACTUATE: "actuate",
}
_HARMLESS = frozenset((EffectKind.READ, EffectKind.DOWNLOAD))
_OWN_RIGHT = frozenset((ObjectKind.CREDENTIAL, ObjectKind.PERMISSION, ObjectKind.GUARD, ObjectKind.PAYMENT))
"""Things whose change counts as requested only if the request names them."""

_NEVER_DELEGATED = frozenset((ObjectKind.CREDENTIAL, ObjectKind.PERMISSION, ObjectKind.GUARD))
"""Things that no list of tasks may change: the person must name them."""

_DELEGATION = Lexicon(
    {
        "delegation": (
            "task*", "to do*", "todo*", "instruction*", "action items", "the actions", "actions specified", "follow",
            "accordingly", "as described", "as requested", "as mentioned", "do what", "do all", "do everything",
            "whatever it says", "take care of", "handle", "process", "act on", "respond to", "answer",
        )
    }
)  # fmt: skip


_QUESTION = re.compile(
    r"\s*(?:what|when|whom?|whose|where|which|why|how|is|are|was|were|did|does|has|had|wann|wer|wem|wo|wie|warum|ist|sind"
    r"|welche[rsmn]?|war|hat|combien|quand|qui|où|quel(?:le)?s?|pourquoi|cuánto|cuándo|quién|dónde|cuál(?:es)?)\b"
    r"(?! (?:about|if|not)\b)",
    re.I,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_ADDRESSES = re.compile(r"\b(?:you|please|then|du|sie|bitte|vous|tu|por favor|usted)\b", re.I)
"""Words with which a question may be a polite request: "Why don't you cancel it?"."""


@record
class _Asked:
    """The content of a request: its words, the groups of kinds that it asks for and those that it only mentions, the
    effects that it asks for, and whether it leaves the choice of actions to content. `only_shows` is true if it asks
    for nothing but information."""

    words: frozenset[str]
    groups: frozenset[str]
    mentioned: frozenset[str]
    requested: frozenset[Requested]
    delegates: bool
    only_shows: bool


@lru_cache(maxsize=1)
def _asked_for(request: str) -> _Asked:
    """Parses the request of the current check, once for all its effects."""
    tokens = tokens_of(request)
    meanings = meanings_in_sentence(tokens)
    asked = [meaning for meaning in meanings if not is_reported(tokens, meaning)]
    # "Show my standing orders" asks for no order, but other requests ask by a noun: "I need a refund".
    shows = _only_questions(request) or (bool(meanings) and all(only_shows(tokens, meaning) for meaning in asked))
    mentioned = frozenset(_GROUPS.get(kind, "change") for kind in kinds_spoken_of(tokens))
    return _Asked(
        frozenset(token.text for token in tokens),
        frozenset() if shows else mentioned,
        mentioned,
        _requested(tokens, asked),
        bool(_DELEGATION.hits(tokens)),
        shows,
    )


def _only_questions(request: str) -> bool:
    """Decides whether every sentence is a question about facts: "Is the garage door closed?"."""
    sentences = [sentence for sentence in _SENTENCE.findall(request) if sentence.strip()]
    return bool(sentences) and all(
        sentence.endswith("?") and _QUESTION.match(sentence) and not _ADDRESSES.search(sentence)
        for sentence in sentences
    )


def origin_of(value: str, facts: Provenance) -> Origin:
    """Returns the origin of a value. An address is also the user's if the request names the person in it."""
    origin = facts.origin_of(value)
    if origin is not Origin.USER and "@" in value and facts.user_request:
        request = _asked_for(facts.user_request).words
        local, _, domain = value.lower().partition("@")
        names = {part for part in re.findall(r"[a-z]{3,}", local) if part not in ("info", "mail", "contact", "sales")}
        if domain and names and names <= request:
            return Origin.USER
    return origin


def with_origins(effects: Iterable[Effect], facts: Provenance) -> tuple[Effect, ...]:
    """Adds to the effects the origin of each target that the reader could not know."""
    return tuple(
        replace(
            effect,
            targets=tuple(
                replace(target, origin=origin_of(target.text, facts)) if target.origin is Origin.UNKNOWN else target
                for target in effect.targets
            ),
        )
        for effect in effects
    )


def requested_kinds(text: str) -> frozenset[Requested]:
    """Returns the kinds of effects that a text asks for, with the object if it names one. Forbidden ones don't
    count."""
    tokens = tokens_of(text)
    return _requested(tokens, meanings_in_sentence(tokens))


def _requested(tokens: Sequence[Token], meanings: Iterable[Meaning]) -> frozenset[Requested]:
    return frozenset((meaning.kind, meaning.object) for meaning in meanings if not is_negated(tokens, meaning))


def delegates(text: str) -> bool:
    """Decides whether a request leaves the choice of actions to content: "do the tasks on my list"."""
    return bool(_DELEGATION.hits(tokens_of(text)))


def is_requested(effect: Effect, facts: Provenance) -> bool | None:
    """Decides whether the person's request mentions this kind of effect at all. None if there is no request to compare,
    or if it leaves the choice of actions to content."""
    if not facts.user_request:
        return None
    request = _asked_for(facts.user_request)
    asked = _GROUPS.get(effect.kind, "change") in request.groups
    return None if not asked and request.delegates else asked


def only_informs(effect: Effect, facts: Provenance) -> bool:
    """Decides whether the person's request asks only for information, and mentions nothing like this effect."""
    if not facts.user_request:
        return False
    request = _asked_for(facts.user_request)
    return request.only_shows and not request.delegates and _GROUPS.get(effect.kind, "change") not in request.mentioned


def drifts(action: str, request: str) -> bool:
    """Decides whether an action in plain words reaches a record by a number that the request does not mention, with an
    effect that the request does not ask for."""
    numbers = {match[0].lower() for match in _RECORD.finditer(action)}
    if not numbers or delegates(request) or any(number in request.lower() for number in numbers):
        return False
    asked = {(_GROUPS.get(kind, "change"), thing) for kind, thing in requested_kinds(request)}
    groups = {group for group, _ in asked}
    wanted = requested_kinds(action)
    return not any(
        (_GROUPS[kind] in groups if kind in _GROUPS else ("change", thing) in asked) for kind, thing in wanted
    )


_RECORD = re.compile(r"\bID[ :#]{1,2}[A-Z]{0,4}-?\d{2,}|#\d{3,}|\b[A-Z]{1,4}-?\d{4,}\b|\b\d{5,}\b")


def unrequested(
    effects: Iterable[Effect], facts: Provenance, passages: Iterable[Passage] = ()
) -> tuple[Unrequested, ...]:
    """Returns the effects that the person did not ask for, although content that was only read asks for them or is the
    only source of their target. Empty without a request or without untrusted content: there is nothing to compare. Of
    `passages`, only passwords and addresses that come from that content matter."""
    if not facts.user_request or not facts.untrusted_content:
        return ()
    request = _asked_for(facts.user_request)
    suggested = requested_kinds("\n".join(facts.untrusted_content))
    planted = next((text for text in _telling(passages) if origin_of(text, facts) is Origin.UNTRUSTED_CONTENT), None)
    found = (
        _unrequested(effect, request.requested, suggested, request.delegates, planted, facts) for effect in effects
    )
    return tuple(finding for finding in found if finding is not None)


def _unrequested(
    effect: Effect,
    asked: frozenset[Requested],
    suggested: frozenset[Requested],
    delegated: bool,
    planted_value: str | None,
    facts: Provenance,
) -> Unrequested | None:
    value = _foreign_value(effect, facts) or planted_value
    if effect.kind in _HARMLESS:
        # An address named only by content can carry data out, and its page can bring instructions in.
        opens = value is not None and ("://" in value or value.startswith("www."))
        return Unrequested(effect, "target", Severity.HIGH, value or "") if opens else None
    wanted, exactly_wanted = _asked(effect, asked, exactly=False), _asked(effect, asked, exactly=True)
    planted, exactly_planted = _asked(effect, suggested, exactly=False), _asked(effect, suggested, exactly=True)
    kind = (not wanted and planted) or (not exactly_wanted and exactly_planted)
    if kind and delegated and value is None and effect.object not in _NEVER_DELEGATED:
        return None
    if kind or value is not None:
        why = "both" if kind and value is not None else "kind" if kind else "target"
        return Unrequested(effect, why, Severity.CRITICAL, value or "")
    return None


def _asked(effect: Effect, asked: frozenset[Requested], *, exactly: bool) -> bool:
    """Decides whether a text asks for this kind of effect. Unless `exactly`, another object with an effect of the same
    group suffices, except for things that the request must name."""
    group = _GROUPS.get(effect.kind, "change")
    for kind, thing in asked:
        if _GROUPS.get(kind, "change") != group or kind in _HARMLESS:
            continue
        if thing is None or thing is effect.object:
            return True
        if not exactly and effect.object not in _OWN_RIGHT:
            return True
    return False


def _foreign_value(effect: Effect, facts: Provenance) -> str | None:
    """Returns a value of the effect that occurs in untrusted content and not in the request, if it identifies somebody
    or something: an address, a number, a phrase."""
    values = [target.text for target in effect.targets]
    values += [effect.detail[name] for name in ("recipient", "url", "account") if name in effect.detail]
    return next(
        (value for value in values if _names_one(value) and origin_of(value, facts) is Origin.UNTRUSTED_CONTENT), None
    )


_CREDENTIAL_NAMES = re.compile(r"(?i)passw|passcode|secret|\bpin\b|token|api_?key")


def _telling(passages: Iterable[Passage]) -> list[str]:
    """Returns the texts whose origin is significant: passwords, and addresses without other text."""
    return [
        passage.text
        for passage in passages
        if passage.name and (_CREDENTIAL_NAMES.search(passage.name) or _ADDRESS.fullmatch(passage.text))
    ]


_ADDRESS = re.compile(r"(?:https?://|www\.)\S{3,300}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")


_ONE = re.compile(r"[@:/#]|\d.*\d.*\d.*\d|\w\.\w")


def _names_one(value: str) -> bool:
    return _ONE.search(value) is not None or len(value) >= 16
