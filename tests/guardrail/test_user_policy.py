"""A user's policy files: the subject of each rule, and the error for each mistake."""

from __future__ import annotations

import pytest

from guardrail.facts import Facts, parse_context
from guardrail.model import Effect, Span, Target
from guardrail.policy_file import PolicyInvalid
from guardrail.user_policy import load_user_policy, policy_digest, user_policy_schema
from guardrail.vocabulary import EffectKind, ObjectKind, Place


def effect(kind: str, target: str, place: str = "workspace") -> Effect:
    return Effect(EffectKind(kind), ObjectKind.PATH, Span(0, 1), "rm", (Target(target, Place(place)),))


def holds(rule: str, done: Effect, facts: Facts | None = None) -> bool:
    policy = load_user_policy(f"version: 1\nrules:\n- {{decision: deny, {rule}}}\n".encode(), "p")
    return bool(policy.matches([done], facts or Facts()))


@pytest.mark.parametrize(
    ("rule", "done", "result"),
    [
        ("effect: delete", effect("delete", "a"), True),
        ("effect: any", effect("delete", "a"), True),
        ("effect: [write, overwrite]", effect("delete", "a"), False),
        ("effect: delete, place: [home, system]", effect("delete", "a"), False),
        ("effect: delete, place: home", effect("delete", "~/a", "home"), True),
        ("effect: delete, target: 'migrations/*'", effect("delete", "migrations/1.sql"), True),
        ("effect: delete, target: 'migrations/*'", effect("delete", "src/1.sql"), False),
        ("effect: delete, target: [a, b]", effect("delete", "b"), True),
    ],
)
def test_a_rule_speaks_of_effects_by_kind_place_and_name(rule: str, done: Effect, result: bool) -> None:
    assert holds(rule, done) is result


def test_names_are_compared_relative_to_the_workspace_too() -> None:
    facts = parse_context({"workspace": {"root": "/w/app"}, "cwd": "/w/app/db"})[0]
    assert holds("effect: delete, target: 'db/migrations/*'", effect("delete", "migrations/1.sql"), facts)


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("version: 2\nrules: []", 1, "'2' is not one of the values"),
        ("version: 1", 1, "the key rules is missing"),
        ("version: 1\nrules:\n- {decision: dney, effect: any}", 3, "did you mean deny?"),
        ("version: 1\nrules:\n- {decision: deny}", 3, "the key effect is missing"),
        ("version: 1\nrules:\n- {decision: deny, effect: delet}", 3, "did you mean delete?"),
        ("version: 1\nrules:\n- {decision: deny, effect: any, wher: home}", 3, "there is no key 'wher'"),
        ("version: 1\nrules: [", 2, "not valid YAML"),
        ("", 1, "empty"),
        ("- a", 1, "mapping"),
        ("version: 1\nrules:\n" + "- {decision: deny, effect: any}\n" * 501, 3, "at most 500"),
    ],
)
def test_a_mistake_is_named_with_its_line(source: str, line: int, words: str) -> None:
    with pytest.raises(PolicyInvalid) as mistake:
        load_user_policy(source.encode(), "guardrail.yaml")
    assert words in mistake.value.message
    assert mistake.value.line == line


def test_bytes_that_are_not_text_are_a_mistake() -> None:
    for source in (b"\xff\xfe", b"#" * 300_000):
        with pytest.raises(PolicyInvalid):
            load_user_policy(source, "guardrail.yaml")


def test_the_digest_is_of_the_bytes() -> None:
    source = b"version: 1\nrules: []\n"
    assert load_user_policy(source, "p").digest == policy_digest(source) != policy_digest(source + b"\n")


def test_the_schema_has_the_keys_of_a_rule() -> None:
    keys = set(user_policy_schema()["properties"]["rules"]["items"]["properties"])
    assert keys == {"decision", "effect", "object", "scope", "place", "reversible", "sensitivity", "target", "reason"}
