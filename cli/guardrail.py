"""Checks, tries and compares guardrail rules for their authors. The rules are YAML files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from cli.output import note, operator_problems, print_json, say
from contracts.guardrail.engine import BLOCKS_FROM, GuardrailVerdict, Match, Ruleset
from contracts.guardrail.limits import action_refusal, plain_context
from contracts.guardrail.loader import (
    LOCK_NAME,
    RULES_DIRECTORY,
    RulesetInvalid,
    as_action,
    example_problems,
    is_pinned,
    load_ruleset,
    read_lock,
    read_rules,
    updated_lock,
    version_problems,
)
from contracts.guardrail.rules import Family, Kind, Rule, Severity, Status
from contracts.guardrail.views import VIEW_DESCRIPTIONS, Action

SCHEMA_NAME = "rule.schema.json"


def lint(directory: Path | None, *, write: bool, as_json: bool) -> None:
    """Reports faults of the rule files: format, patterns, versions, examples. Exits with 1 if there are any."""
    directory = directory or RULES_DIRECTORY
    with operator_problems(as_json):
        lock = read_lock(directory)
    loaded, problems = read_rules(directory)
    problems += version_problems(loaded, lock)
    problems += [problem for entry in loaded for problem in example_problems(entry)]
    notes = [
        f"{entry.file}:{entry.line}: {entry.rule.id}: {_TEXT_OF_COMMANDS}"
        for entry in loaded
        if reads_quotes(entry.rule)
    ]
    unpinned = [entry.rule.id for entry in loaded if not is_pinned(entry, lock)]
    if write and not problems:
        _write_json(directory / LOCK_NAME, updated_lock(loaded, lock))
        _write_json(directory / SCHEMA_NAME, rule_schema())
        unpinned = []
    if as_json:
        print_json(
            {
                "ok": not problems,
                "rules": len(loaded),
                "problems": [asdict(problem) for problem in problems],
                "notes": notes,
                "unpinned": unpinned,
            }
        )
    else:
        for problem in problems:
            say(str(problem))
        for text in notes:
            note(text)
        say(f"{_count(len(loaded), 'rule')}, {_count(len(problems), 'problem')}")
        if unpinned and not problems:
            note(f"{_count(len(unpinned), 'rule')} not in {LOCK_NAME} yet; `svc guardrail lint --write` adds them")
    if problems:
        raise typer.Exit(1)


_TEXT_OF_COMMANDS = (
    "note: it is only for shell commands and searches `text`, which also holds what is only quoted, and disguised "
    "commands as they were written; search `commands` or `words`"
)


def reads_quotes(rule: Rule) -> bool:
    """Decides whether a rule only for shell commands searches a view in which quoted documentation looks like one."""
    looked_at = {pattern.view for pattern in (*(rule.when.any or ()), *(rule.when.all or ()))}
    return (
        rule.applies.kinds == (Kind.SHELL,) and bool(looked_at & {"text", "raw"}) and rule.status is not Status.RETIRED
    )


def test(rule: str | None, directory: Path | None, as_json: bool) -> None:
    """Runs the examples of the rules. Exits with 1 if one fails."""
    loaded, problems = read_rules(directory or RULES_DIRECTORY)
    chosen = [entry for entry in loaded if rule is None or entry.rule.id.startswith(rule)]
    if problems or not chosen:
        with operator_problems(as_json):
            if problems:
                raise RulesetInvalid(problems)
            raise typer.BadParameter(f"no rule starts with {rule!r}")
    failures = [problem for entry in chosen for problem in example_problems(entry)]
    examples = sum(len(entry.rule.examples.match) + len(entry.rule.examples.passing) for entry in chosen)
    if as_json:
        print_json(
            {
                "ok": not failures,
                "rules": len(chosen),
                "examples": examples,
                "failures": [asdict(failure) for failure in failures],
            }
        )
    else:
        for failure in failures:
            say(str(failure))
        say(f"{_count(len(chosen), 'rule')}, {_count(examples, 'example')}, {len(failures)} failed")
    if failures:
        raise typer.Exit(1)


def explain(action: str, claimed: str, context: str, directory: Path | None, as_json: bool) -> None:
    """Shows an action as the rules see it, which of them match where, and the verdict."""
    severity, conditions = Severity(claimed), _read_context(context)
    with operator_problems(as_json):
        ruleset = load_ruleset(directory or RULES_DIRECTORY)
    verdict = ruleset.check(action, severity, conditions)
    views: dict[str, str] = {}
    kinds: list[str] = []
    if verdict.problem is None:
        seen = Action(action, plain_context(conditions))
        kinds = sorted(seen.kinds)
        views = {name: text for name in VIEW_DESCRIPTIONS if (text := seen.view(name))}
    if as_json:
        print_json({"ok": True, "verdict": asdict(verdict), "kinds": kinds, "views": views})
        return
    for name, text in views.items():
        for number, line in enumerate(text.splitlines()):
            say(f"{'' if number else name:<20} {line}")
    say(f"{'taken for':<20} {', '.join(kinds)}\n")
    for match in (*verdict.matches, *verdict.drafts):
        _say_match(match)
    _say_verdict(verdict, severity)


def diff(before: Path, after: Path | None, as_json: bool) -> None:
    """Lists added, removed and changed rules, and the examples of either side with another verdict."""
    with operator_problems(as_json):
        older, newer = load_ruleset(before), load_ruleset(after or RULES_DIRECTORY)
    changes = rule_changes(older, newer)
    verdicts = verdict_changes(older, newer)
    if as_json:
        print_json({"ok": True, "before": older.version, "after": newer.version, **changes, "verdicts": verdicts})
        return
    say(f"{older.version} -> {newer.version}")
    for kind, ids in changes.items():
        for rule_id in ids:
            say(f"{kind:<8} {rule_id}")
    for change in verdicts:
        turn = "passes no longer" if change["passedBefore"] else "passes now"
        say(f"{turn}: {change['action']!r} ({', '.join(change['matchedAfter'] or change['matchedBefore'])})")


def rule_changes(older: Ruleset, newer: Ruleset) -> dict[str, list[str]]:
    """Returns ids of rules that were added, removed, or differ in anything."""
    before, after = ({rule.id: rule for rule in ruleset.rules} for ruleset in (older, newer))
    return {
        "added": sorted(after.keys() - before.keys()),
        "removed": sorted(before.keys() - after.keys()),
        "changed": sorted(rule_id for rule_id in before.keys() & after.keys() if before[rule_id] != after[rule_id]),
    }


def verdict_changes(older: Ruleset, newer: Ruleset) -> list[dict[str, Any]]:
    """Returns examples of either ruleset that only one of them lets pass, at medium severity."""
    changes = []
    for action, context in _examples((*older.rules, *newer.rules)):
        before, after = (ruleset.check(action, Severity.MEDIUM, context) for ruleset in (older, newer))
        if before.passed != after.passed:
            changes.append(
                {
                    "action": action,
                    "context": context,
                    "passedBefore": before.passed,
                    "passedAfter": after.passed,
                    "matchedBefore": before.matched_guardrails,
                    "matchedAfter": after.matched_guardrails,
                }
            )
    return changes


def _examples(rules: Iterable[Rule]) -> list[tuple[str, dict[str, Any]]]:
    examples: dict[str, tuple[str, dict[str, Any]]] = {}
    for rule in rules:
        if rule.status is not Status.RETIRED:
            for example in (*rule.examples.match, *rule.examples.passing):
                action, context = as_action(example)
                if action_refusal(action) is None:
                    examples.setdefault(json.dumps([action, context], sort_keys=True), (action, context))
    return list(examples.values())


def rule_schema() -> dict[str, Any]:
    """Returns the JSON Schema of a rule file, for editors, with a description of every view."""
    schema = Family.model_json_schema(by_alias=True)
    views = [{"const": name, "description": description} for name, description in VIEW_DESCRIPTIONS.items()]
    schema["$defs"]["ViewPattern"]["properties"]["view"] = {
        "oneOf": views,
        "description": "A view of the action",
        "title": "View",
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "Guardrail rules"}


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _read_context(argument: str) -> dict[str, Any]:
    try:
        parsed = json.loads(Path(argument[1:]).read_text(encoding="utf-8") if argument.startswith("@") else argument)
    except (OSError, ValueError) as fault:
        raise typer.BadParameter(f"--context is not JSON: {fault}") from None
    if not isinstance(parsed, dict):
        raise typer.BadParameter("--context has to be a JSON object")
    return parsed


def _say_match(match: Match) -> None:
    say(f"{match.id} v{match.version} ({match.severity}, {match.stage}, {match.status})")
    say(f"    {match.reason}")
    for piece in match.evidence:
        say(f"    {piece.view}[{piece.start}:{piece.end}]  {piece.text}")
    say(f"    instead: {match.remediation}\n")


def _say_verdict(verdict: GuardrailVerdict, severity: Severity) -> None:
    for stage in verdict.stages:
        say(f"{stage.stage:<24} {stage.result:<6} {', '.join(stage.matched)}")
    outcome = "passes" if verdict.passed else "does not pass"
    say(f"\n{outcome}: {verdict.reason}")
    say(f"severity {verdict.severity}; at {severity} whatever is {BLOCKS_FROM[severity]} or worse blocks")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
