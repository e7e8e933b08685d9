"""`svc guardrail`: what an author of rules sees, for people and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.guardrail import SCHEMA_NAME
from cli.main import app
from contracts.guardrail.loader import LOCK_NAME

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


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "test.yaml").write_text(FAMILY, encoding="utf-8")
    return tmp_path


def run(*arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(app, ["guardrail", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.stdout


def as_json(*arguments: str, exit_code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", exit_code=exit_code))


def test_lint_writes_the_lock_and_the_schema_when_all_is_well(rules: Path) -> None:
    assert as_json("lint", "--rules", str(rules)) == {
        "ok": True,
        "rules": 1,
        "problems": [],
        "notes": [],
        "unpinned": ["test.first"],
    }
    assert as_json("lint", "--rules", str(rules), "--write")["unpinned"] == []
    assert as_json("lint", "--rules", str(rules))["unpinned"] == []
    assert {path.name for path in rules.iterdir()} == {"test.yaml", LOCK_NAME, SCHEMA_NAME}


def test_lint_places_every_problem_and_writes_nothing(rules: Path) -> None:
    (rules / "test.yaml").write_text(FAMILY.replace("severity: high", "severity: huge"), encoding="utf-8")
    (rules / "other.yaml").write_text("rules: [", encoding="utf-8")
    found = as_json("lint", "--rules", str(rules), "--write", exit_code=1)["problems"]
    assert [(each["file"], each["line"], each["rule"]) for each in found] == [
        ("other.yaml", 1, None),
        ("test.yaml", 8, "test.first"),
    ]
    assert not (rules / LOCK_NAME).exists()
    assert "2 problems" in run("lint", "--rules", str(rules), exit_code=1)


def test_lint_notes_rules_that_read_quotes_as_commands(rules: Path) -> None:
    text = FAMILY.replace("view: words", "view: text").replace("    when:", "    applies: {kinds: [shell]}\n    when:")
    (rules / "test.yaml").write_text(text, encoding="utf-8")
    (note,) = as_json("lint", "--rules", str(rules))["notes"]
    assert note.startswith("test.yaml:4: test.first: note: it is only for shell commands")


def test_test_runs_examples(rules: Path) -> None:
    assert as_json("test", "--rules", str(rules)) == {"ok": True, "rules": 1, "examples": 2, "failures": []}
    assert "1 rule, 2 examples, 0 failed" in run("test", "test.first", "--rules", str(rules))
    run("test", "test.unknown", "--rules", str(rules), exit_code=2)
    (rules / "test.yaml").write_text(FAMILY.replace("['ls']", "['rm y']"), encoding="utf-8")
    assert len(as_json("test", "--rules", str(rules), exit_code=1)["failures"]) == 1


def test_explain_shows_views_matches_and_verdict(rules: Path) -> None:
    found = as_json("explain", "sudo rm x", "--rules", str(rules), "--context", '{"tool": "shell"}')
    assert found["views"]["words"] == "sudo rm x\nrm x" and found["kinds"] == ["shell"]
    assert found["verdict"]["matches"][0]["evidence"] == [{"view": "words", "text": "rm", "start": 10, "end": 13}]
    shown = run("explain", "sudo rm x", "--rules", str(rules), "--severity", "low")
    assert "words[10:13]  rm" in shown and "passes: below what blocks" in shown
    assert not as_json("explain", "", "--rules", str(rules))["verdict"]["passed"]
    run("explain", "ls", "--context", "[]", "--rules", str(rules), exit_code=2)
    run("explain", "ls", "--context", "@/nowhere.json", "--rules", str(rules), exit_code=2)


def test_explain_with_rules_that_can_not_be_used_says_the_cure(rules: Path) -> None:
    (rules / "test.yaml").write_text("rules: [", encoding="utf-8")
    problem = as_json("explain", "ls", "--rules", str(rules), exit_code=2)
    assert problem["code"] == "ruleset_invalid" and "svc guardrail lint" in problem["cure"]


def test_diff_says_what_changed_and_whose_verdict(rules: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    newer = tmp_path_factory.mktemp("newer")
    changed = FAMILY.replace("severity: high", "severity: low")
    (newer / "test.yaml").write_text(
        changed + FAMILY.split("rules:\n")[1].replace("first", "second").replace("rm", "mv")
    )
    found = as_json("diff", str(rules), str(newer))
    assert (found["added"], found["removed"], found["changed"]) == (["test.second"], [], ["test.first"])
    assert [(each["action"], each["passedBefore"], each["passedAfter"]) for each in found["verdicts"]] == [
        ("rm x", False, True),
        ("mv x", True, False),
    ]
    assert "passes now: 'rm x'" in run("diff", str(rules), str(newer))
