"""Rule files: every committed rule's examples, what the loader refuses, versions, and reading again."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
import yaml

from cli.guardrail import SCHEMA_NAME, rule_schema
from contracts.guardrail.engine import Ruleset
from contracts.guardrail.limits import plain_context
from contracts.guardrail.loader import (
    LOCK_NAME,
    RULES_DIRECTORY,
    LoadedRule,
    RulesetInvalid,
    as_action,
    example_problems,
    load_ruleset,
    read_rules,
    updated_lock,
)
from contracts.guardrail.reload import RulesetFiles
from contracts.guardrail.rules import Severity, Stage, Status

COMMITTED, PROBLEMS = read_rules(RULES_DIRECTORY)

FAMILY = """\
family: test
description: rules of a test
rules:
  - id: test.first
    version: 1
    status: stable
    stage: immutability
    severity: high
    title: removes files
    when:
      any: [{view: words, pattern: '^rm '}]
    reason: It removes files.
    remediation: Leave the files alone.
    examples:
      match: ['rm x']
      pass: ['ls']
"""


def directory_of(path: Path, text: str = FAMILY, name: str = "test.yaml") -> Path:
    (path / name).write_text(text, encoding="utf-8")
    return path


def problems_of(directory: Path) -> list[str]:
    with pytest.raises(RulesetInvalid) as caught:
        load_ruleset(directory)
    return [str(problem) for problem in caught.value.problems]


def test_the_committed_rules_fit_the_format() -> None:
    assert PROBLEMS == [] and COMMITTED


@pytest.mark.parametrize("loaded", COMMITTED, ids=lambda loaded: loaded.rule.id)
def test_the_examples_of(loaded: LoadedRule) -> None:
    assert example_problems(loaded) == []


def test_a_rule_matches_its_examples_among_all_the_others() -> None:
    ruleset = Ruleset(loaded.rule for loaded in COMMITTED)
    for loaded in COMMITTED:
        action, context = as_action(loaded.rule.examples.match[0])
        matched = [match.id for match in ruleset.matches(action, plain_context(context))]
        assert loaded.rule.id in matched or loaded.rule.status is Status.RETIRED


def test_the_committed_rules_load_in_under_a_second() -> None:
    times_s = []
    for _ in range(3):
        started = time.process_time()
        load_ruleset()
        times_s.append(time.process_time() - started)
    assert min(times_s) < 1.0


def test_every_stage_has_a_rule() -> None:
    assert {loaded.rule.stage for loaded in COMMITTED} == set(Stage)


def test_the_schema_for_editors_is_the_committed_one() -> None:
    assert json.loads((RULES_DIRECTORY / SCHEMA_NAME).read_text(encoding="utf-8")) == rule_schema()


def test_a_rule_is_added_by_one_file(tmp_path: Path) -> None:
    ruleset = load_ruleset(directory_of(tmp_path))
    assert not ruleset.check("sudo rm x", Severity.MEDIUM).passed and ruleset.check("ls").passed


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("match: ['rm x']", "match: ['ls']", "test.yaml:4: test.first: example should match and does not: 'ls'"),
        ("pass: ['ls']", "pass: ['rm y']", "test.yaml:4: test.first: example should pass and matches: 'rm y'"),
        ("match: ['rm x']", "match: ['']", "test.yaml:4: test.first: an example is no request: the action is empty"),
        (
            "match: ['rm x']",
            f"match: ['{'nice ' * 20}rm x']",
            "test.yaml:4: test.first: an example can't be judged: commands within commands, deeper than 12 levels",
        ),
        ("'^rm '", "'(?=rm)'", "test.yaml:11: test.first: when.any.0.pattern: not a pattern that RE2 takes"),
        ("'^rm '", "'(a)\\1'", "not a pattern that RE2 takes"),
        ("'^rm '", "'((a{1,100}){1,100}){1,100}'", "not a pattern that RE2 takes"),
        ("'^rm '", "'x*'", "also matches nothing at all"),
        (
            "view: words",
            "view: word",
            "test.yaml:11: test.first: when.any.0.view: there is no view 'word'; the views are raw,",
        ),
        ("stage: immutability", "stage: stability", "test.yaml:7: test.first: stage: Input should be 'immutability'"),
        ("severity: high", "severity: severe", "test.yaml:8: test.first: severity: Input should be"),
        ("title: removes", "titel: removes", "test.first: title: Field required"),
        ("title: removes", "extra: 1\n    title: removes", "test.yaml:9: test.first: extra: there is no such key"),
        ("It removes files.", "It removes {what}.", "a reason may hold {match} and no other name"),
        ("id: test.first", "id: other.first", "test.yaml:4: other.first: its id has to start with test."),
        ("family: test", "family: testing", "so its name is testing.yaml"),
        ("rules:", "rules: [", "is no YAML"),
        (
            "      any: [{view: words, pattern: '^rm '}]",
            "      none: [{view: words, pattern: '^rm '}]",
            "fits everything",
        ),
        (
            "      any: [{view: words, pattern: '^rm '}]",
            "      context: [{field: approved, equals: 1}]",
            "there is no such key in the format",
        ),
        (
            "      any: [{view: words, pattern: '^rm '}]",
            "      context: [{field: approved, is: 1, above: 2}]",
            "exactly one operator",
        ),
        (
            "      any: [{view: words, pattern: '^rm '}]",
            "      context: [{field: 'a b', is: 1}]",
            "when.context.0.field",
        ),
    ],
)
def test_a_bad_rule_is_refused_with_its_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in FAMILY
    problems = problems_of(directory_of(tmp_path, FAMILY.replace(old, new, 1)))
    assert any(says in problem for problem in problems), problems


def test_the_same_id_twice_is_refused(tmp_path: Path) -> None:
    head, rules = FAMILY.split("rules:\n")
    directory_of(tmp_path, f"{head}rules:\n{rules}{rules}")
    assert problems_of(tmp_path) == ["test.yaml:4: test.first: this id is already at test.yaml:4"]


def test_a_directory_without_rules_is_refused(tmp_path: Path) -> None:
    assert "there is no rule file" in problems_of(tmp_path)[0]


def locked(path: Path, text: str = FAMILY) -> Path:
    directory_of(path, text)
    (path / LOCK_NAME).write_text(json.dumps(updated_lock(read_rules(path)[0], {})), encoding="utf-8")
    return path


def test_changed_content_needs_a_new_version(tmp_path: Path) -> None:
    locked(tmp_path)
    changed = FAMILY.replace("severity: high", "severity: low")
    directory_of(tmp_path, changed)
    assert problems_of(tmp_path) == [
        "test.yaml:4: test.first: its content changed, and version 1 stands for the old one: make it 2"
    ]
    directory_of(tmp_path, changed.replace("version: 1", "version: 2"))
    assert load_ruleset(tmp_path).rules[0].version == 2


def test_a_version_does_not_go_back(tmp_path: Path) -> None:
    locked(tmp_path, FAMILY.replace("version: 1", "version: 3"))
    directory_of(tmp_path, FAMILY.replace("version: 1", "version: 2"))
    assert "version 2 is older than 3" in problems_of(tmp_path)[0]


def test_examples_and_references_may_change_without_a_version(tmp_path: Path) -> None:
    locked(tmp_path)
    directory_of(tmp_path, FAMILY.replace("match: ['rm x']", "match: ['rm x', 'rm y']"))
    assert len(load_ruleset(tmp_path).rules[0].examples.match) == 2
    directory_of(tmp_path, FAMILY.replace("match: ['rm x']", "match: ['ls']"))
    assert "should match and does not" in problems_of(tmp_path)[0]


def test_a_lock_that_is_no_lock_is_refused(tmp_path: Path) -> None:
    directory_of(tmp_path)
    for text in ("{", "[]"):
        (tmp_path / LOCK_NAME).write_text(text, encoding="utf-8")
        assert problems_of(tmp_path)[0].startswith(f"{LOCK_NAME}:1:")


def test_a_bad_edit_leaves_the_old_rules_in_place(tmp_path: Path) -> None:
    files = RulesetFiles(directory_of(tmp_path))
    before = files.state
    assert before.rules == 1 and before.problem is None and not files.refresh()
    directory_of(tmp_path, FAMILY + "  - [broken")
    assert not files.refresh() and not files.ruleset.check("rm x").passed
    assert files.state.version == before.version and "is no YAML" in (files.state.problem or "")
    directory_of(tmp_path, FAMILY.replace("severity: high", "severity: critical"))
    assert files.refresh() and files.state.problem is None and files.state.version != before.version
    shutil.rmtree(tmp_path)
    assert not files.refresh() and "there is no rule file" in (files.state.problem or "")


def test_the_version_of_a_ruleset_follows_its_content() -> None:
    rules = [loaded.rule for loaded in COMMITTED]
    whole = Ruleset(rules)
    assert Ruleset(reversed(rules)).version == whole.version
    assert Ruleset(rules[1:]).version != whole.version
    changed = rules[0].model_copy(update={"severity": Severity.LOW if rules[0].severity != "low" else Severity.HIGH})
    assert Ruleset([changed, *rules[1:]]).version != whole.version


def test_rule_files_are_plain_yaml() -> None:
    for path in RULES_DIRECTORY.glob("*.yaml"):
        assert set(yaml.safe_load(path.read_text(encoding="utf-8"))) == {"family", "description", "rules"}
