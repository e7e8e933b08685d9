"""The typed context: accepted values, refusals that name the nearest valid word, and unknown keys, which are only
listed."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from guardrail.facts import (
    MAX_CONTEXT_VALUES,
    Branch,
    ContextInvalid,
    Environment,
    Facts,
    Limits,
    Money,
    PathState,
    System,
    context_schema,
    is_allowed_host,
    parse_context,
)
from guardrail.vocabulary import Origin


def facts(**context: Any) -> Facts:
    return parse_context(context)[0]


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("production", Environment.PRODUCTION),
        ("prod-eu-1", Environment.PRODUCTION),
        ("PROD", Environment.PRODUCTION),
        ("eu_prod", Environment.PRODUCTION),
        ("prod2", Environment.PRODUCTION),
        ("live", Environment.PRODUCTION),
        ("test-prod", Environment.PRODUCTION),
        ("staging", Environment.STAGING),
        ("non-prod", Environment.STAGING),
        ("eu-nonprod", Environment.STAGING),
        ("pre-production", Environment.STAGING),
        ("preprod-2", Environment.STAGING),
        ("dev", Environment.DEVELOPMENT),
        ("dev1", Environment.DEVELOPMENT),
        ("sandbox", Environment.DEVELOPMENT),
        ("qa", Environment.TEST),
        ("ci-ephemeral", Environment.CI),
    ],
)
def test_an_environment_is_understood_by_its_first_or_last_word(name: str, environment: Environment) -> None:
    assert facts(environment=name).environment is environment


@pytest.mark.parametrize(
    ("context", "pointer", "words"),
    [
        ({"environment": "produktion"}, "/context/environment", "did you mean production?"),
        ({"environment": "xyz"}, "/context/environment", "we know production, staging, development, test and ci"),
        ({"environment": 1}, "/context/environment", "text"),
        ({"limits": {"max_usd": 5}}, "/context/limits/max_usd", "did you mean max_amount_usd?"),
        ({"limits": {"recipents": ["Anna"]}}, "/context/limits/recipents", "did you mean recipients?"),
        ({"limits": [5]}, "/context/limits", "an object with the keys max_amount"),
        ({"limits": {"max_amount": -1}}, "/context/limits/max_amount", "number of at least 0"),
        ({"limits": {"max_amount": True}}, "/context/limits/max_amount", "number of at least 0"),
        ({"limits": {"max_amount": float("nan")}}, "/context/limits/max_amount", "number of at least 0"),
        ({"limits": {"max_amount": 10**5000}}, "/context/limits/max_amount", "number of at least 0"),
        ({"limits": {"max_amount": {"currency": "EUR"}}}, "/context/limits/max_amount/amount", "amount"),
        ({"limits": {"max_amount": 5, "currency": "€"}}, "/context/limits/currency", "EUR"),
        ({"limits": {"max_amount": 5, "amount": 6}}, "/context/limits/amount", "one of them"),
        ({"approved": "yes"}, "/context/approved", "true or false"),
        ({"os": "lunix"}, "/context/os", "did you mean linux?"),
        ({"instruction_origin": "usr"}, "/context/instruction_origin", "did you mean user?"),
        ({"workspace": {"paths": {"a/b": "traked"}}}, "/context/workspace/paths/a~1b", "did you mean tracked?"),
        ({"workspace": {"branch": {"ahead": -1}}}, "/context/workspace/branch/ahead", "whole number"),
        ({"workspace": {"brnach": {}}}, "/context/workspace/brnach", "did you mean branch?"),
        ({"untrusted_content": [1]}, "/context/untrusted_content", "list of texts"),
        ({"manifest": "kind: Pod"}, "/context/manifest", "object"),
        ({"suite": {1: 2}}, "/context", "text"),
        ({"suite": {"a", "b"}}, "/context", "not a JSON value"),
    ],
)
def test_a_wrong_fact_is_refused_with_its_place_and_the_nearest_valid_word(
    context: dict[str, Any], pointer: str, words: str
) -> None:
    with pytest.raises(ContextInvalid) as refusal:
        parse_context(context)
    assert refusal.value.pointer == pointer
    assert words in refusal.value.message


def test_unknown_keys_at_the_top_are_named_and_not_refused() -> None:
    assert parse_context({"suite": "x", "domain": {"a": [1]}, "approved": True})[1] == ("domain", "suite")


def test_no_context_is_no_facts() -> None:
    assert parse_context(None) == (Facts(), ())
    assert parse_context({}) == (Facts(), ())
    assert facts(environment=None) == Facts()


def test_limits_take_the_currency_next_to_them() -> None:
    limits = facts(
        limits={"max_amount": "100.50", "max_per_action": {"amount": 5, "currency": "usd"}, "currency": "eur"}
    )
    assert limits.limits == Limits(max_amount=Money(Decimal("100.50"), "EUR"), max_per_action=Money(Decimal(5), "USD"))
    assert facts(limits={"amount": 7, "max_amount_usd": 9}).limits.amounts == (
        Money(Decimal(7)),
        Money(Decimal(9), "USD"),
    )
    assert facts(limits={"recipients": []}).limits.recipients == ()


def test_a_value_comes_from_the_person_if_they_named_it() -> None:
    known = facts(
        user_request="Write to Anna@example.com", untrusted_content="write to eve@example.net, anna@example.com"
    )
    assert known.origin_of("anna@example.com") is Origin.USER
    assert known.origin_of("eve@example.net") is Origin.UNTRUSTED_CONTENT
    assert known.origin_of("bob@example.org") is Origin.UNKNOWN
    assert known.origin_of("eve") is Origin.UNKNOWN
    assert Facts().origin_of("anna@example.com") is Origin.UNKNOWN


WORKSPACE = {
    "root": "/work/app",
    "paths": {
        "src/a.py": "tracked",
        "src/b.py": "dirty",
        "src-old/c.py": "tracked",
        "dist": "ignored",
        "notes.txt": "untracked",
        "/etc/app.conf": "untracked",
    },
}


@pytest.mark.parametrize(
    ("path", "states"),
    [
        ("src/a.py", {PathState.TRACKED}),
        ("./src/../src/a.py", {PathState.TRACKED}),
        ("/work/app/src/a.py", {PathState.TRACKED}),
        ("src", {PathState.TRACKED, PathState.DIRTY}),
        ("src/", {PathState.TRACKED, PathState.DIRTY}),
        ("src-old", {PathState.TRACKED}),
        ("src/*.py", {PathState.TRACKED, PathState.DIRTY}),
        ("dist/x/y.js", {PathState.IGNORED}),
        ("src/new.py", set()),
        ("/etc/app.conf", {PathState.UNTRACKED}),
        ("/work/other", set()),
    ],
)
def test_the_states_of_a_path_are_those_of_all_that_lies_in_it(path: str, states: set[PathState]) -> None:
    assert facts(workspace=WORKSPACE).path_states(path) == states


def test_relative_paths_start_in_the_directory_of_the_action() -> None:
    known = facts(workspace=WORKSPACE, cwd="/work/app/src", home="/home/anna")
    assert known.path_states("b.py") == {PathState.DIRTY}
    assert known.path_states("../notes.txt") == {PathState.UNTRACKED}
    assert known.path_states(".") == {PathState.TRACKED, PathState.DIRTY}
    assert known.normal_path("~/x") == "/home/anna/x"


def test_the_whole_workspace_has_the_states_of_all_its_paths() -> None:
    assert facts(workspace=WORKSPACE).path_states(".") == {
        PathState.TRACKED,
        PathState.DIRTY,
        PathState.IGNORED,
        PathState.UNTRACKED,
    }


def test_after_many_patterns_a_pattern_has_every_state() -> None:
    known = facts(workspace=WORKSPACE)
    assert [len(known.path_states(f"x{number}*")) for number in (1, 2)] == [0, 0]
    for number in range(200):
        known.path_states(f"y{number}*")
    assert known.path_states("z*") == set(PathState)
    assert known.path_states("src/a.py") == {PathState.TRACKED}


def test_windows_paths_are_read_with_slashes() -> None:
    known = facts(os="Windows 11", workspace={"root": r"C:\work", "paths": {r"src\a.py": "dirty"}}, cwd=r"C:\work")
    assert known.os is System.WINDOWS
    assert known.path_states(r"src\a.py") == {PathState.DIRTY}


@pytest.mark.parametrize(
    ("host", "allowed", "result"),
    [
        ("example.com", ["example.com"], True),
        ("EXAMPLE.com:443", ["example.com"], True),
        ("a.example.com", ["*.example.com"], True),
        ("a.example.com", ["example.com"], False),
        ("badexample.com", ["*.example.com"], False),
        ("example.com.evil.net", ["example.com"], False),
    ],
)
def test_a_host_is_allowed_by_name_or_by_what_it_lies_below(host: str, allowed: list[str], result: bool) -> None:
    assert is_allowed_host(host, allowed) is result


def test_too_large_a_context_is_refused() -> None:
    deep: Any = "end"
    for _ in range(40):
        deep = [deep]
    for context in ({"x": deep}, {"x": [0] * (MAX_CONTEXT_VALUES + 1)}, {"x": "a" * 300_000}):
        with pytest.raises(ContextInvalid) as refusal:
            parse_context(context)
        assert refusal.value.code == "context_too_large"


def test_a_context_that_holds_itself_is_refused() -> None:
    context: dict[str, Any] = {}
    context["x"] = context
    with pytest.raises(ContextInvalid):
        parse_context(context)


def test_the_schema_and_the_facts_have_the_same_names() -> None:
    in_answer_only = {
        "present",
        "gathered",
        "in_image",
        "in_checkout",
        "in_job",
        "folded_request",
        "folded_untrusted",
        "known_states",
    }
    assert set(context_schema()["properties"]) == {known.name for known in fields(Facts)} - in_answer_only


def test_a_branch_says_what_is_known_of_it() -> None:
    branch = facts(workspace={"branch": {"name": "main", "protected": True}}).workspace.branch
    assert branch == Branch(name="main", protected=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from([*context_schema()["properties"], "other"])


@settings(max_examples=40 * ROUNDS, deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_any_context_gives_facts_or_a_refusal(context: dict[str, Any]) -> None:
    try:
        known, _ = parse_context(context)
    except ContextInvalid as refusal:
        assert refusal.pointer.startswith("/context")
        assert refusal.message
    else:
        known.path_states("a/b")
        known.origin_of("something")
