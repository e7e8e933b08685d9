"""The user's own policy file, which may only tighten: it asks or denies by effect and place. Its rows that allow count
only if the caller states that a person trusted the file's digest."""

from __future__ import annotations

import fnmatch
import hashlib
import re
from collections.abc import Sequence
from typing import Any, Literal, cast

from guardrail.facts import Facts
from guardrail.model import Effect, Target
from guardrail.policy import Conditions, PolicyMatch, Stage, reason_of
from guardrail.policy_file import Reader
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Reversible, Scope, Sensitivity, Severity

MAX_RULES = 500
MAX_BYTES = 256 * 1024

UserDecision = Literal["allow", "ask", "deny"]

_LISTS = {
    "effect": EffectKind,
    "object": ObjectKind,
    "scope": Scope,
    "place": Place,
    "reversible": Reversible,
    "sensitivity": Sensitivity,
}
_FIELDS = {"effect": "kind"}
_RULE = ("decision", *_LISTS, "target", "reason")
_DECISIONS = ("allow", "ask", "deny")
_FILE_KEYS = ("version", "rules")


@record
class UserRule:
    """One row: its conditions and its decision. `targets` are patterns of names, with `*` for any text."""

    decision: UserDecision
    when: Conditions
    targets: tuple[re.Pattern[str], ...]
    reason: str
    line: int

    def holds(self, effect: Effect, target: Target, facts: Facts) -> bool:
        """Decides whether the rule applies to this target of the effect."""
        if not (
            self.when.may_hold(effect.kind, effect.object)
            and self.when.hold_of_words(effect, target)
            and self.when.hold_of_facts(effect, target, facts)
        ):
            return False
        names = (target.text, facts.normal_path(target.located))
        return not self.targets or any(pattern.match(name) for pattern in self.targets for name in names)


@record
class UserPolicy:
    """The rules of a file. A person trusts its `digest`; `ignored_allows` counts the rows that allow and are not
    trusted."""

    rules: tuple[UserRule, ...]
    digest: str
    ignored_allows: int = 0

    def allowed(self, effect: Effect, facts: Facts) -> bool:
        """Decides whether trusted rows allow every target of the effect. No row allows a change of the guard, and only
        a row that names the object allows a secret in a text."""
        if effect.object is ObjectKind.GUARD:
            return False
        rules = [
            rule
            for rule in self.rules
            if rule.decision == "allow" and (rule.when.object is not None or not effect.source.startswith("format "))
        ]
        return bool(rules) and all(
            any(rule.holds(effect, target, facts) for rule in rules) for target in effect.targets or (Target(""),)
        )

    def matches(self, effects: Sequence[Effect], facts: Facts) -> tuple[PolicyMatch, ...]:
        """Returns the rows that ask or deny, each once, with the spans of the effects that they apply to."""
        found = []
        for rule in self.rules:
            if rule.decision == "allow":
                continue
            hits = [
                (effect, target)
                for effect in effects
                for target in effect.targets or (Target(""),)
                if rule.holds(effect, target, facts)
            ]
            if hits:
                found.append(_match(rule, hits))
        return tuple(found)


def _match(rule: UserRule, hits: Sequence[tuple[Effect, Target]]) -> PolicyMatch:
    return PolicyMatch(
        id=f"user-policy.line-{rule.line}",
        stage=Stage.AUTHORITY,
        severity=Severity.HIGH,
        reason=reason_of(rule.reason, *hits[0]),
        remediation="Ask the person who wrote the policy file.",
        references=(),
        spans=tuple(dict.fromkeys(effect.span for effect, _ in hits))[:4],
        decision=rule.decision,
    )


def load_user_policy(source: bytes, file: str, *, trusted: bool = False) -> UserPolicy:
    """Loads the policy from a file's bytes. Raises `PolicyInvalid` with file and line. `trusted` is true if a person
    trusted the digest of exactly these bytes."""
    reader = Reader(file)
    if len(source) > MAX_BYTES:
        raise reader.invalid_at(1, f"a policy file has at most {MAX_BYTES:,} bytes")
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        raise reader.invalid_at(1, "the file is not UTF-8") from None
    parts = reader.keys(reader.document(text), _FILE_KEYS, required=("version", "rules"))
    reader.one_of(parts["version"], ("1",))
    nodes = reader.items(parts["rules"])
    if len(nodes) > MAX_RULES:
        raise reader.invalid(parts["rules"], f"a policy file has at most {MAX_RULES} rules")
    rules = tuple(_rule(node, reader) for node in nodes)
    counting = tuple(rule for rule in rules if trusted or rule.decision != "allow")
    return UserPolicy(counting, policy_digest(source), len(rules) - len(counting))


def policy_digest(source: bytes) -> str:
    """Returns the digest of the unmodified file, which a person trusts."""
    return hashlib.sha256(source).hexdigest()


def _rule(node: Any, reader: Reader) -> UserRule:
    parts = reader.keys(node, _RULE, required=("decision", "effect"))
    known: dict[str, Any] = {}
    for name, values in _LISTS.items():
        if name in parts:
            words = [reader.one_of(item, (*values, "any")) for item in reader.one_or_more(parts[name])]
            if "any" not in words:
                known[_FIELDS.get(name, name)] = frozenset(values(word) for word in words)
    patterns = reader.texts(parts["target"]) if "target" in parts else ()
    return UserRule(
        decision=cast(UserDecision, reader.one_of(parts["decision"], _DECISIONS)),
        when=Conditions(**known),
        targets=tuple(re.compile(fnmatch.translate(pattern)) for pattern in patterns),
        reason=reader.text(parts["reason"])
        if "reason" in parts
        else "The policy of this workspace applies to {target}.",
        line=node.start_mark.line + 1,
    )


def user_policy_schema() -> dict[str, Any]:
    """Returns the JSON Schema of a user's policy file."""
    properties: dict[str, Any] = {
        "decision": {"enum": list(_DECISIONS), "description": "allow counts only after a person has trusted the file"},
        "target": {**_one_or_more({"type": "string"}), "description": "Names of targets; * stands for any text"},
        "reason": {
            "type": "string",
            "description": "The reason in the answer; {target} is the name of what the effect reaches",
        },
    }
    for name, values in _LISTS.items():
        properties[name] = _one_or_more({"enum": [*(value.value for value in values), "any"]})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Policy of a workspace",
        "type": "object",
        "required": list(_FILE_KEYS),
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "rules": {
                "type": "array",
                "maxItems": MAX_RULES,
                "items": {
                    "type": "object",
                    "required": ["decision", "effect"],
                    "additionalProperties": False,
                    "properties": properties,
                },
            },
        },
    }


def _one_or_more(item: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}
