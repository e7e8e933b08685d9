"""Checks files that run automatically (CI files, Dockerfiles and scripts) and reports findings by line."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

from guardrail.engine import BLOCKS_FROM, MAX_ACTION_BYTES, Guardrail
from guardrail.record import record
from guardrail.verdict import Match
from guardrail.vocabulary import Severity

SCRIPT_SUFFIXES = frozenset((".sh", ".bash", ".zsh", ".ksh", ".ps1", ".psm1", ".bat", ".cmd", ".sql", ".dockerfile"))
CI_NAMES = frozenset(
    (
        *(".gitlab-ci.yml", ".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "action.yml"),
        *("action.yaml", ".drone.yml", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", "buildspec.yml"),
    )
)
CI_DIRECTORIES = (".github/workflows", ".gitea/workflows", ".forgejo/workflows", ".circleci", ".buildkite")
SKIPPED = frozenset((".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", "vendor"))
SARIF_LEVELS: Mapping[str, str] = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}


@record
class Finding:
    """A rule that matches a part of a file. `blocks` is true if it blocks at the severity of the scan."""

    path: str
    line: int
    rule: str
    severity: str
    reason: str
    remediation: str
    evidence: str
    blocks: bool


def scannable(paths: Iterable[Path]) -> Iterator[Path]:
    """Yields the files to scan: the named files, and in named directories those that are known to run automatically."""
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        for directory, names, files in os.walk(path):
            names[:] = sorted(name for name in names if name not in SKIPPED)
            for name in sorted(files):
                file = Path(directory, name)
                if not file.is_symlink() and file.is_file() and runs_by_itself(file):
                    yield file


def runs_by_itself(file: Path) -> bool:
    """Decides whether a file is a CI file, a Dockerfile or a script, by its name or its first line."""
    name = file.name.lower()
    if name in CI_NAMES or file.suffix.lower() in SCRIPT_SUFFIXES:
        return True
    if name.startswith(("dockerfile", "containerfile")):
        return True
    if file.suffix in (".yml", ".yaml"):
        parent = f"/{PurePosixPath(file.absolute().parent.as_posix())}/"
        return any(f"/{directory}/" in parent for directory in CI_DIRECTORIES)
    return not file.suffix and _starts_script(file)


def _starts_script(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            first = opened.readline(128)
    except OSError:
        return False
    return first.startswith(b"#!") and any(shell in first for shell in (b"sh", b"python", b"node"))


def scan(path: Path, guardrail: Guardrail, severity: Severity = Severity.MEDIUM) -> tuple[Finding, ...]:
    """Returns the findings of all rules in a file. A file that can't be read or judged is a finding that blocks."""
    name = path.as_posix()
    try:
        with path.open("rb") as file:
            content = file.read(MAX_ACTION_BYTES + 1)
        text = content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return (_unread(name, f"The file can't be read ({type(error).__name__})."),)
    if not text.strip():
        return ()
    verdict = guardrail.check(text, severity.value)
    if verdict.problem is not None:
        return (_unread(name, verdict.reason),)
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    return tuple(
        finding
        for match in verdict.matches
        for finding in _findings(name, match, starts, match.severity.rank >= BLOCKS_FROM[severity].rank)
    )


def _unread(path: str, reason: str) -> Finding:
    return Finding(path, 1, "not-judged", "high", reason, "Have a person look at the file.", "", True)


def _findings(path: str, match: Match, starts: list[int], blocks: bool) -> Iterator[Finding]:
    lines: dict[int, str] = {}
    for part in match.evidence:
        lines.setdefault(bisect_right(starts, part.start), part.text)
    for line, evidence in (lines or {1: ""}).items():
        yield Finding(path, line, match.id, str(match.severity), match.reason, match.remediation, evidence, blocks)


def plain_finding(finding: Finding) -> dict[str, Any]:
    """Returns a finding as plain JSON data."""
    return asdict(finding)


def sarif(findings: Iterable[Finding], version: str) -> dict[str, Any]:
    """Returns the findings as a SARIF 2.1.0 log."""
    found = list(findings)
    rules = list(dict.fromkeys(finding.rule for finding in found))
    first = {finding.rule: finding for finding in reversed(found)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "svc-guardrail",
                        "version": version,
                        "rules": [
                            {
                                "id": rule,
                                "shortDescription": {"text": rule.replace("-", " ").replace(".", ": ")},
                                "help": {"text": first[rule].remediation},
                            }
                            for rule in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(finding, rules) for finding in found],
            }
        ],
    }


def _sarif_result(finding: Finding, rules: list[str]) -> dict[str, Any]:
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules.index(finding.rule),
        "level": SARIF_LEVELS[finding.severity],
        "message": {"text": finding.reason},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": finding.path},
                    "region": {"startLine": finding.line},
                }
            }
        ],
    }
