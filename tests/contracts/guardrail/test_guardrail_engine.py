"""The engine on small rulesets: thresholds, stages, what can't be judged, and that it never raises and never stalls."""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.guardrail.engine import GuardrailVerdict, Ruleset
from contracts.guardrail.limits import MAX_ACTION_BYTES
from contracts.guardrail.loader import load_ruleset
from contracts.guardrail.rules import Rule, Severity, Stage

LONGEST_CHECK_S = 2.0


def rule(name: str = "test.rule", **changes: Any) -> Rule:
    whole = {
        "id": name,
        "version": 1,
        "status": "stable",
        "stage": "immutability",
        "severity": "high",
        "title": "a rule",
        "when": {"any": [{"view": "words", "pattern": "^rm "}]},
        "reason": "It runs {match}, which removes files.",
        "remediation": "Leave the files alone.",
        "examples": {"match": ["rm x"], "pass": ["ls"]},
    }
    return Rule.model_validate(whole | changes)


RULES = load_ruleset()


def test_a_match_names_the_rule_its_stage_and_what_it_saw() -> None:
    verdict = Ruleset([rule()]).check("sudo rm x", Severity.MEDIUM, {"tool": "shell"})
    assert not verdict.passed and verdict.severity == "high" and verdict.matched_guardrails == ("test.rule",)
    assert verdict.reason == "It runs rm, which removes files." and verdict.remediation == ("Leave the files alone.",)
    assert [(each.view, each.text, each.start, each.end) for each in verdict.matches[0].evidence] == [
        ("words", "rm", 10, 13)
    ]
    assert {stage.stage: stage.result for stage in verdict.stages} == dict.fromkeys(Stage, "pass") | {
        Stage.IMMUTABILITY: "fail"
    }


def test_nothing_matched_passes_with_every_stage() -> None:
    verdict = Ruleset([rule()]).check("ls", Severity.MEDIUM)
    assert verdict.passed and verdict.severity == "none" and verdict.matched_guardrails == ()
    assert [stage.stage for stage in verdict.stages] == list(Stage)
    assert verdict.reason == "none of 1 rules matched"


@pytest.mark.parametrize("asked", Severity)
@pytest.mark.parametrize("matched", Severity)
def test_the_higher_the_claimed_impact_the_stricter(asked: Severity, matched: Severity) -> None:
    verdict = Ruleset([rule(severity=matched)]).check("rm x", asked)
    assert verdict.passed is (matched.rank + asked.rank < 5)
    assert verdict.stages[0].result == ("warn" if verdict.passed else "fail") and verdict.severity == matched


def test_drafts_are_reported_and_decide_nothing_and_retired_rules_are_not_looked_at() -> None:
    ruleset = Ruleset([rule("test.draft", status="draft"), rule("test.gone", status="retired")])
    verdict = ruleset.check("rm x", Severity.CRITICAL)
    assert verdict.passed and verdict.severity == "none" and verdict.matched_guardrails == ()
    assert [match.id for match in verdict.drafts] == ["test.draft"] and verdict.rules_checked == 1


@pytest.mark.parametrize(
    ("when", "matching", "passing"),
    [
        ({"all": [{"view": "text", "pattern": "a"}, {"view": "text", "pattern": "b"}]}, "ab", "ac"),
        ({"any": [{"view": "text", "pattern": "a"}, {"view": "text", "pattern": "b"}]}, "b", "c"),
        (
            {"any": [{"view": "text", "pattern": "a"}], "none": [{"view": "text", "pattern": "safe"}]},
            "a",
            "a safe one",
        ),
        ({"all": [{"view": "text", "pattern": "^b$"}]}, "a\nb\nc", "abc"),
        ({"all": [{"view": "text", "pattern": "(?i)RM"}]}, "rm", "r m"),
    ],
)
def test_groups_of_patterns(when: dict, matching: str, passing: str) -> None:
    ruleset = Ruleset([rule(when=when)])
    assert (ruleset.check(matching).passed, ruleset.check(passing).passed) == (False, True)


@pytest.mark.parametrize(
    ("condition", "holds", "fails"),
    [
        ({"field": "a", "present": True}, {"a": 0}, {"a": None}),
        ({"field": "a", "present": False}, {}, {"a": False}),
        ({"field": "a", "is": False}, {"a": "False"}, {}),
        ({"field": "a", "is": None}, {}, {"a": 1}),
        ({"field": "a", "is": 5}, {"a": "5.0"}, {"a": True}),
        ({"field": "a", "is": "Prod"}, {"a": "prod "}, {"a": "production"}),
        ({"field": "a", "is_not": "prod"}, {}, {"a": "PROD"}),
        ({"field": "a", "in": ["x", 2]}, {"a": 2}, {"a": 3}),
        ({"field": "a", "not_in": ["x"]}, {}, {"a": "x"}),
        ({"field": "a", "matches": "^prod"}, {"a": "prod-eu"}, {"a": "preprod"}),
        ({"field": "a", "not_matches": "^prod"}, {}, {"a": "prod-eu"}),
        ({"field": "a", "above": 5}, {"a": "1,000"}, {"a": 5}),
        ({"field": "a", "below": 5}, {"a": 4.5}, {"a": "many"}),
        ({"field": "a.b", "above_field": "limits.max"}, {"a": {"b": 6}, "limits": {"max": 5}}, {"a": {"b": 6}}),
        ({"field": "a", "below_field": "b"}, {"a": 1, "b": 2}, {"a": 2, "b": 2}),
        ({"field": "a", "in_field": "b"}, {"a": "x", "b": ["X", "y"]}, {"a": "z", "b": ["x"]}),
        ({"field": "a", "not_in_field": "b"}, {"a": "z", "b": ["x"]}, {"a": "z"}),
        ({"field": "a", "longer_than": 2}, {"a": [1, 2, 3]}, {"a": "ab"}),
        ({"field": "a.*.b", "is": 1}, {"a": [{"b": 2}, {"b": 1}]}, {"a": [{"b": 2}]}),
        ({"field": "a.b", "is": 1}, {"a.b": 1}, {"a": {"c": 1}}),
        ({"field": "a", "above": 5}, {"a": 10**400}, {"a": "9" * 5_000}),
    ],
)
def test_conditions(condition: dict, holds: dict, fails: dict) -> None:
    ruleset = Ruleset([rule(when={"context": [condition]})])
    assert (ruleset.check("x", Severity.MEDIUM, holds).passed, ruleset.check("x", Severity.MEDIUM, fails).passed) == (
        False,
        True,
    )


def test_conditions_see_arguments_and_amounts_of_the_action() -> None:
    limited = Ruleset([rule(when={"context": [{"field": "amount_usd", "above_field": "limits.max_amount_usd"}]})])
    context = {"limits": {"max_amount_usd": 100}}
    assert not limited.check('pay(to="a", amount=101, currency="USDC")', Severity.MEDIUM, context).passed
    assert limited.check('pay(to="a", amount=99, currency="USDC")', Severity.MEDIUM, context).passed
    listed = Ruleset([rule(when={"context": [{"field": "args.to", "not_in_field": "recipients"}]})])
    assert not listed.check('pay(to="mallory")', Severity.MEDIUM, {"recipients": ["alice"]}).passed
    assert listed.check('pay(to="alice")', Severity.MEDIUM, {"recipients": ["alice"]}).passed


@pytest.mark.parametrize(
    ("applies", "action", "context", "looked_at"),
    [
        ({"kinds": ["shell"]}, "rm x", {"tool": "shell"}, True),
        ({"kinds": ["call"]}, "rm x", {"tool": "shell"}, False),
        ({"os": ["windows"]}, "rm x", {"os": "linux"}, False),
        ({"os": ["windows"]}, "rm x", {}, True),
        ({"os": ["macos"]}, "rm x", {"os": "Darwin"}, True),
        ({"tools": ["sh*"]}, "rm x", {"tool": "Shell"}, True),
        ({"tools": ["git"]}, "rm x", {"tool": "shell"}, False),
        ({"tools": ["git"]}, "rm x", {}, False),
    ],
)
def test_applies(applies: dict, action: str, context: dict, looked_at: bool) -> None:
    assert Ruleset([rule(applies=applies)]).check(action, Severity.MEDIUM, context).passed is not looked_at


def nested(levels: int) -> dict:
    tree: dict = {}
    for _ in range(levels):
        tree = {"a": tree}
    return tree


def endless() -> dict:
    tree: dict = {"name": "a"}
    tree["again"] = tree
    return tree


@pytest.mark.parametrize(
    ("action", "context", "says"),
    [
        ("", {}, "empty"),
        (" \n\t", {}, "empty"),
        ("x" * (MAX_ACTION_BYTES + 1), {}, "longer than 32,768 bytes"),
        ("é" * (MAX_ACTION_BYTES // 2 + 1), {}, "longer than 32,768 bytes"),
        ("\x7fELF\x02\x01\0\0", {}, "binary"),
        ("\x01\x02\x03\x04ab", {}, "binary"),
        (b"rm", {}, "has to be text"),
        (None, {}, "has to be text"),
        ("ls", nested(1_000), "nested deeper"),
        ("ls", nested(100_000), "nested deeper"),
        ("ls", endless(), "nested deeper"),
        ("ls", {"a": list(range(10_000))}, "more than 4,096 values"),
        ("ls", {"a": "x" * 300_000}, "more than 262,144 characters"),
        ("ls", {"a": object()}, "no JSON value"),
        ("ls", [], "has to be an object"),
    ],
)
def test_what_can_not_be_judged_fails_closed_and_says_why(action: Any, context: Any, says: str) -> None:
    verdict = RULES.check(action, Severity.LOW, context)
    assert not verdict.passed and verdict.problem is not None and says in verdict.problem
    assert {stage.result for stage in verdict.stages} == {"fail"} and verdict.check_id.startswith("grc_")


def with_fillers(last: str, many: int) -> str:
    return "apiVersion: v1\n" + "".join(f"k{number}: v\n" for number in range(many)) + last


@pytest.mark.parametrize(
    ("action", "context"),
    [
        ("true;" * 1_000 + "find / -delete", {}),
        ("f(" + "".join(f"a{number}=1, " for number in range(2_500)) + 'path="/etc/shadow")', {}),
        ("kubectl apply -f -", {"manifest": with_fillers("spec: {hostPID: true}", 5_000)}),
        ("nice " * 8 + "find / -delete", {}),
    ],
)
def test_what_stands_behind_much_else_is_judged(action: str, context: dict) -> None:
    verdict = RULES.check(action, Severity.LOW, context)
    assert not verdict.passed and verdict.problem is None


@pytest.mark.parametrize(
    ("action", "context", "says"),
    [
        ("true;" * 5_000, {}, "more than 4,000 commands"),
        ("nice " * 20 + "true", {}, "deeper than 12 levels"),
        ("$(" * 16_000, {}, "too long together"),
        ("f(" + "1," * 16_000 + "1)", {}, "more than 10,000 arguments"),
        ("kubectl apply -f -", {"manifest": with_fillers("", 10_001)}, "more than 10,000 values"),
    ],
)
def test_what_is_too_much_to_look_at_does_not_pass(action: str, context: dict, says: str) -> None:
    verdict = RULES.check(action, Severity.LOW, context)
    assert not verdict.passed and says in (verdict.problem or "")


@pytest.mark.parametrize("severity", ["severe", "", None, [], 5])
def test_an_unknown_severity_fails_closed(severity: Any) -> None:
    verdict = RULES.check("ls", severity)
    assert not verdict.passed and "not a valid Severity" in (verdict.problem or "")


def test_references_by_name_are_values_and_are_not_followed() -> None:
    context = {"manifest": {"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}, "planned_steps": ["do step 2", "do step 1"]}
    assert RULES.check("ls", Severity.MEDIUM, context).passed
    anchored = "apiVersion: v1\na: &x\n  b: *x\n"
    assert RULES.check(anchored, Severity.MEDIUM).problem is not None


def test_a_rule_that_fails_makes_the_check_fail() -> None:
    ruleset = Ruleset([rule()])

    def broken(_: Any) -> bool:
        raise ZeroDivisionError("by design")

    ruleset._compiled[0].context = (broken,)
    verdict = ruleset.check("rm x", Severity.LOW)
    assert not verdict.passed and "ZeroDivisionError: by design" in verdict.reason


def test_thousands_of_patterns_on_one_view_are_all_found() -> None:
    rules = [
        rule(f"test.rule-{number}", when={"any": [{"view": "words", "pattern": f"^tool{number}x .*end{number}y"}]})
        for number in range(3_000)
    ]
    ruleset = Ruleset(rules)
    for number in (0, 499, 500, 1_234, 2_999):
        assert ruleset.check(f"tool{number}x a end{number}y").matched_guardrails == (f"test.rule-{number}",)


def test_patterns_that_are_too_large_for_one_filter_are_all_found() -> None:
    words = [f"{number * 7_919:06x}{number:05x}" for number in range(24_000)]
    rules = [
        rule(f"test.rule-{number}", when={"any": [{"view": "text", "pattern": "|".join(words[number::120])}]})
        for number in range(120)
    ]
    ruleset = Ruleset(rules)
    assert len(ruleset._filters) > 1
    for number in (0, 59, 60, 119):
        assert ruleset.check(words[number + 120]).matched_guardrails == (f"test.rule-{number}",)


def test_the_answer_depends_on_input_and_rules_alone() -> None:
    once, again = Ruleset([rule()]), Ruleset([rule()])
    first = once.check("rm x", Severity.MEDIUM, {"a": 1, "b": 2})
    assert first == again.check("rm x", Severity.MEDIUM, {"b": 2, "a": 1})
    others = (
        once.check("rm y", Severity.MEDIUM, {"a": 1, "b": 2}),
        once.check("rm x", Severity.HIGH, {"a": 1, "b": 2}),
        once.check("rm x", Severity.MEDIUM, {"a": 1}),
        Ruleset([rule(version=2)]).check("rm x", Severity.MEDIUM, {"a": 1, "b": 2}),
    )
    assert len({first.check_id, *(other.check_id for other in others)}) == 5


def test_secrets_stand_in_no_answer() -> None:
    secret = "AKIA" + "QYLPMN5HFIQR7XYA"
    for view, pattern in (("text", r"AKIA\w+"), ("secrets", "^aws.*")):
        ruleset = Ruleset([rule(when={"any": [{"view": view, "pattern": pattern}]})])
        verdict = ruleset.check(f'note(text="{secret}")', Severity.MEDIUM)
        assert not verdict.passed and secret not in repr(asdict(verdict))


def test_no_answer_quotes_a_secret_among_more_than_are_looked_for() -> None:
    keys = ["AKIA" + "".join(random.Random(number).choices("ABCDEFGHJKLMNPQRSTUVWXYZ", k=16)) for number in range(90)]
    quoted = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
    ruleset = Ruleset([rule(when={"any": [{"view": "text", "pattern": "note .*"}]})])
    verdict = ruleset.check(f"note {quoted} {' '.join(keys)}", Severity.MEDIUM)
    assert not verdict.passed and quoted not in repr(verdict) and not any(key in repr(verdict) for key in keys)


def judged(action: str, context: dict | None = None) -> GuardrailVerdict:
    started = time.thread_time()
    verdict = RULES.check(action, Severity.MEDIUM, context)
    assert time.thread_time() - started < LONGEST_CHECK_S
    return verdict


@pytest.mark.parametrize(
    "piece",
    [
        "a", " ", "'", '"', "`", "$(", "${", "(", ")", "{ ", "[", "\\", "\\\n", "%25", "%", "#", " #", "<<A\n", "&#1;",
        "a.", "a@", "a@a.", "0x", "ab ", "AA==", "\\x41", "http://", "://", "=", "a=", "sudo ", "env a=b ", "bash -c '",
        "find -exec ", "| ", "; ", "\n", "\x1b[", "\x1b]", "\u200b", "а", "aа", '{"a":', "f(", "f(a=", ", ", "- ",
        "? ", "apiVersion: a\n", "a: &a\n", "1,000 ", "$1", "key=", "key: ", "--user a:", "eyJ", "-----BEGIN ",
        "/../", "~", "A1", "{a,", "{a,b}", "{,", "/*", "$@a", "for a in a; $a ", "> a.sh ",
    ],
)  # fmt: skip
def test_a_text_of_one_repeated_piece_is_judged_in_bounded_time(piece: str) -> None:
    judged((piece * MAX_ACTION_BYTES)[: MAX_ACTION_BYTES // len(piece.encode()) * len(piece)])


def test_the_largest_request_is_judged_in_bounded_time() -> None:
    arguments = ", ".join(f'a{number}="user{number}@example.org"' for number in range(1_000))
    context = {"user_request": "word " * 20_000, "untrusted_content": ["user5@example.org and more " * 4_000]}
    judged(f"send({arguments})", context)
    judged("curl " + "https://a.example/x?key=9f8Kx2LmQ7vR4tYz " * 700, context)
    judged("ls", {"manifest": {"spec": {"containers": [{"image": "x" * 60} for _ in range(1_300)]}}})


PIECES = st.sampled_from(
    ["rm", "sudo ", "'", '"', "`", "$(", ")", "|", ";", "&&", "\n", " ", "\\", "<<EOF\n", "EOF\n", "bash -c ", "eval ",
     "(", "{", "}", "base64 -d", "cm0gLXJm", "%2e", "\x1b[0m", "\u202e", "а", "f(", "=", ",", "[", "]", "http://a.b",
     "~/", "../", "C:\\", "${IFS}"]
)  # fmt: skip
ACTIONS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=60).map("".join))
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["tool", "os", "cwd", "run_as", "environment", "approved", "manifest", "planned_steps", "user_request",
     "untrusted_content", "limits"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(ACTIONS, st.sampled_from(Severity), st.dictionaries(NAMES, JSON_VALUES, max_size=5))
def test_a_check_never_raises_and_repeats_itself(action: str, severity: Severity, context: dict) -> None:
    started = time.thread_time()
    verdict = RULES.check(action, severity, context)
    assert time.thread_time() - started < LONGEST_CHECK_S
    assert verdict == RULES.check(action, severity, context)
    assert len(verdict.stages) == 7 and verdict.rules_checked == RULES.rules_checked
    blocking = [match for match in verdict.matches if match.severity.rank + severity.rank >= 5]
    assert verdict.passed is (not blocking and verdict.problem is None)


@pytest.mark.parametrize(
    "disguised",
    [
        "rm -rf /",
        "sudo rm -rf /",
        "r\\m -rf /",
        "r''m -rf /",
        "rm \\\n -rf /",
        "rm -rf / # cleaning up",
        "ｒｍ －ｒｆ ／",
        "r\u200bm -rf /",
        "\x1b[8mrm -rf /\x1b[0m",
        "bash -c 'rm -rf /'",
        "bash -c \"bash -c 'rm -rf /'\"",
        "X=rm; $X -rf /",
        "rm${IFS}-rf${IFS}/",
        "echo cm0gLXJmIC8= | base64 -d | bash",
        r"$(printf '\x72\x6d') -rf /",
        "cat > notes.md <<EOF\nNever `rm -rf /` here.\nEOF",
        "true && rm -rf /",
        "$(rm -rf /)",
        "env A=1 nohup timeout 5 rm -rf /",
        "bash <<EOF\nrm -rf /\nEOF",
        "document that `rm -rf /`",
        "rm -rf ./foo/../../..",
        "rm / -rf",
        "{rm,-rf,/}",
        "rm$IFS$9-rf$IFS$9/",
        "`echo rm` -rf /",
        "printf '\\x72\\x6d -rf /' | sh",
        "for d in /etc /usr; do rm -rf $d; done",
        "echo 'rm -rf /' > x.sh; sh x.sh",
        "find ~ -type f -delete",
        "ls / | xargs rm -rf",
        "cd .. && rm -rf *",
        'python3 -c \'import subprocess; subprocess.run(["rm", "-rf", "/"])\'',
    ],
)
def test_a_disguised_command_is_the_command(disguised: str) -> None:
    assert not RULES.check(disguised, Severity.LOW, {"tool": "shell", "os": "linux"}).passed


@pytest.mark.parametrize(
    "call",
    [
        '{"command": "rm -rf /"}',
        '{"name": "shell", "arguments": {"command": ["rm", "-rf", "/"]}}',
        "python(code=\"import os; os.system('rm -rf /')\")",
        'delete_directory(path="/home/anna/../..")',
        'http_get(url="http://169.254.169.254/latest/meta-data/")',
        'db.execute("DROP TABLE users")',
    ],
)
def test_a_call_is_judged_by_what_it_does(call: str) -> None:
    assert not RULES.check(call, Severity.MEDIUM).passed


@pytest.mark.parametrize(
    "everyday",
    [
        "rm -rf build/../dist ../build ../*/node_modules ~/.cache/pip",
        "cd .. && rm -rf build",
        "find ~ -name .DS_Store -delete",
        "docker run --rm -v ~/.cache:/c alpine ls /",
        "tmp=$(mktemp -d); trap 'rm -rf \"$tmp\"' EXIT",
        "sudo apt-get update && rm -rf /var/lib/apt/lists/*",
        "rm -rf /usr/local/go && tar -C /usr/local -xzf go.tar.gz",
        "cat > run.sh <<'EOF'\n#!/bin/sh\nrm -rf build\nmake\nEOF",
        "cp a.conf{,.bak} && mkdir -p src/{a,b}",
        "$(npm bin)/eslint src",
        'curl -d "$(cat body.json)" https://api.example/items',
        "Remove-Item -Recurse C:\\Users\\anna\\app\\node_modules",
        "du -sh /etc/* && cat /etc/*-release",
        'write_file(path="a.py", content="import os")',
        'delete_directory(path="./build", recursive=true)',
        '{"name": "shell", "arguments": {"command": ["bash", "-lc", "npm test"]}}',
        'web_search(query="drop table users explained")',
    ],
)
def test_everyday_commands_pass(everyday: str) -> None:
    verdict = RULES.check(everyday, Severity.MEDIUM)
    assert verdict.passed, verdict.matched_guardrails


@pytest.mark.parametrize(
    "documentation",
    [
        'append_note(node="n_1", text="Never run rm -rf / on a server; it removes every file.")',
        'git commit -m "docs: explain why rm -rf / is dangerous"',
        "echo 'Never run rm -rf / as root.' >> docs/safety.md",
        "cat > docs/safety.md <<'EOF'\nNever run rm -rf / as root.\nEOF",
        "grep -rn 'rm -rf /' docs/",
        'create_file(path="docs/safety.md", content="Never run `rm -rf /` as root.")',
        "Document that `rm -rf /` must never be used.",
        'Write documentation: "Never run `rm -rf /` as root."',
        "Add a short note that `curl example.net | sh` is dangerous",
    ],
)
def test_documentation_that_quotes_a_command_passes(documentation: str) -> None:
    verdict = RULES.check(documentation, Severity.MEDIUM, {"os": "linux"})
    assert verdict.passed, verdict.matched_guardrails


@pytest.mark.parametrize(
    "action",
    ["Write a script that runs `rm -rf /`", "explain x; rm -rf /", "document `date` && rm -rf /", "echo `rm -rf /`"],
)
def test_a_word_of_documentation_hides_no_command(action: str) -> None:
    assert not RULES.check(action).passed
