"""Measures the guardrail: its quality on labelled actions, and the cost of a check as rules grow, beside alternatives.

The labelled actions are in the folder `RECORDED_MATERIAL`, as for tests; without them only latency is measured.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.contest import NotRun, attempt
from contracts.guardrail.engine import Ruleset
from contracts.guardrail.loader import LOCK_NAME, as_action, load_ruleset, read_rules, updated_lock
from contracts.guardrail.rules import Rule, Severity

MATERIAL = Path(os.environ.get("RECORDED_MATERIAL") or Path(__file__).resolve().parents[2] / "shared")
LABELLED = MATERIAL / "eval" / "guardrail" / "open.jsonl.gz"
PAIRED = ("gtfobins:derived", "tldr:context")
"""Sources of pairs: the same command on another target, or approved and backed up instead of neither."""

SIZES = (100, 300, 1_000)
ACTIONS = 400
LONGEST_SHOWN = 140


@dataclass(frozen=True)
class Share:
    """`hits` of `total`, with the Wilson interval at 95 %."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """Returns the share, or None where `total` is 0."""
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Returns the lower and upper end."""
        if not self.total:
            return None
        z, share = 1.96, self.hits / self.total
        middle = share + z * z / (2 * self.total)
        spread = z * math.sqrt(share * (1 - share) / self.total + z * z / (4 * self.total**2))
        whole = 1 + z * z / self.total
        return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)

    def __str__(self) -> str:
        if self.interval is None:
            return ""
        low, high = self.interval
        return f"{self.hits}/{self.total} = {self.value:.3f} ({low:.3f} to {high:.3f})"


@dataclass(frozen=True)
class SourceQuality:
    """Verdicts on the unsafe and the safe actions of one source."""

    source: str
    recall: Share
    false_positives: Share


@dataclass(frozen=True)
class Quality:
    """Shares over all sources, over those of pairs, and for each source; and misjudged actions, one line each."""

    overall: SourceQuality
    pairs: SourceQuality
    sources: tuple[SourceQuality, ...]
    misses: tuple[str, ...]


@dataclass(frozen=True)
class Latency:
    """Microseconds of one check, by the clock and of CPU; `load_s` is for our rules from files with their lock."""

    engine: str
    rules: int
    p50_us: float
    p99_us: float
    cpu_p99_us: float
    load_s: float | None = None


def quality(ruleset: Ruleset, path: Path = LABELLED) -> Quality | None:
    """Judges every labelled action as an agent's request. Returns None where the file is not there."""
    if not path.exists():
        return None
    rows = _labelled(path)
    counts: dict[str, list[int]] = {}
    misses = []
    for row in rows:
        verdict = ruleset.check(row["action"], Severity(row["severity"]), row["context"])
        blocked = int(not verdict.passed)
        for source in ("all", row["source"], *(["pairs"] if row["source"] in PAIRED else [])):
            tally = counts.setdefault(source, [0, 0, 0, 0])
            place = 0 if row["unsafe"] else 2
            tally[place] += blocked
            tally[place + 1] += 1
        if row["unsafe"] == verdict.passed:
            kind = "missed" if row["unsafe"] else "false alarm"
            ids = f" ({', '.join(verdict.matched_guardrails)})" if verdict.matched_guardrails else ""
            misses.append(f"{kind}: {row['source']}: {row['action'][:LONGEST_SHOWN]!r}{ids}")
    judged = {source: SourceQuality(source, Share(*tally[:2]), Share(*tally[2:])) for source, tally in counts.items()}
    overall, pairs = judged.pop("all"), judged.pop("pairs")
    return Quality(overall, pairs, tuple(judged[source] for source in sorted(judged)), tuple(sorted(misses)))


def _labelled(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def latency(committed: Ruleset) -> list[Latency | NotRun]:
    """Measures a check by us with N rules, and by Cedar, CEL and a loop over `re` with N rules for the same words.

    Ours are the committed rules, filled up with generated ones; all judge the same actions, the committed examples. RE2
    builds its automata as it reads, so ours is measured twice: in a ruleset that has judged the labelled actions
    before, without the measured ones, and in one that has judged nothing (`ours, new`).
    """
    actions = _actions(committed)
    measured_ones = {action for action, _ in actions}
    labelled = _labelled(LABELLED) if LABELLED.exists() else []
    earlier = [(row["action"], row["context"]) for row in labelled if row["action"] not in measured_ones]
    measured: list[Latency | NotRun] = []
    for size in SIZES:
        generated = [_generated(number) for number in range(size)]
        rules = [*committed.rules[:size], *generated][:size]
        (ours, load_s), (new, _) = _loaded(rules), _loaded(rules)
        for action, context in earlier:
            ours.check(action, Severity.MEDIUM, context)
        measured += [
            _latency("ours", size, _ours(ours), actions, load_s),
            _latency("ours, new", size, _ours(new), actions),
        ]
        measured += [
            attempt(name, _contender_latency, name, size, checks_of, actions)
            for name, checks_of in (("cedarpy", _cedar), ("CEL", _cel), ("re loop", _re_loop))
        ]
    return measured


def _contender_latency(
    engine: str,
    rules: int,
    checks_of: Callable[[int], Callable[[str, dict[str, Any]], object]],
    actions: Sequence[tuple[str, dict[str, Any]]],
) -> Latency:
    return _latency(engine, rules, checks_of(rules), actions)


def _ours(ruleset: Ruleset) -> Callable[[str, dict[str, Any]], object]:
    return lambda action, context: ruleset.check(action, Severity.MEDIUM, context)


def _latency(
    engine: str,
    rules: int,
    check: Callable[[str, dict[str, Any]], object],
    actions: Sequence[tuple[str, dict[str, Any]]],
    load_s: float | None = None,
) -> Latency:
    walls, cpus = _timed(check, actions)
    return Latency(engine, rules, _percentile(walls, 0.5), _percentile(walls, 0.99), _percentile(cpus, 0.99), load_s)


def _actions(ruleset: Ruleset) -> list[tuple[str, dict[str, Any]]]:
    examples = [
        as_action(example) for rule in ruleset.rules for example in (*rule.examples.match, *rule.examples.passing)
    ]
    return random.Random(7).sample(examples, min(ACTIONS, len(examples)))


def _timed(
    check: Callable[[str, dict[str, Any]], object], actions: Sequence[tuple[str, dict[str, Any]]]
) -> tuple[list[float], list[float]]:
    for action, context in actions[:20]:
        check(action, context)
    walls, cpus = [], []
    for action, context in actions:
        started, cpu_started = time.perf_counter(), time.thread_time()
        check(action, context)
        cpus.append(time.thread_time() - cpu_started)
        walls.append(time.perf_counter() - started)
    return walls, cpus


def _percentile(seconds: Sequence[float], share: float) -> float:
    return sorted(seconds)[math.ceil(len(seconds) * share) - 1] * 1e6


_VERBS = (
    "purge",
    "wipe",
    "export",
    "rotate",
    "grant",
    "revoke",
    "attach",
    "detach",
    "publish",
    "drain",
    "resize",
    "fork",
)
_NOUNS = (
    "ledger",
    "bucket",
    "cluster",
    "volume",
    "secret",
    "policy",
    "tenant",
    "mirror",
    "replica",
    "gateway",
    "index",
)


def _words(number: int) -> tuple[str, str, str]:
    """Returns the program, verb and noun that the generated rule of this number looks for."""
    return f"tool{number}ctl", _VERBS[number % len(_VERBS)], _NOUNS[number % len(_NOUNS)]


def _generated(number: int) -> Rule:
    program, verb, noun = _words(number)
    return Rule.model_validate(
        {
            "id": f"generated.rule-{number}",
            "version": 1,
            "status": "stable",
            "stage": "immutability",
            "severity": "high",
            "title": "a generated rule",
            "when": {
                "any": [
                    {"view": "words", "pattern": f"^{program} (?:-\\S+ )*{verb}\\b.*\\b{noun}"},
                    {"view": "text", "pattern": f"(?i)\\b{verb}\\s+(?:the\\s+)?{noun}{number}\\b"},
                ],
                "context": [{"field": "environment", "matches": "^prod"}],
            },
            "reason": "A generated rule matched {match}.",
            "remediation": "None; it is generated.",
            "examples": {
                "match": [{"action": f"{program} {verb} {noun}", "context": {"environment": "production"}}],
                "pass": ["ls"],
            },
        }
    )


def _loaded(rules: Sequence[Rule]) -> tuple[Ruleset, float]:
    """Writes the rules to files and locks them, then loads them as a service does.

    Also returns the seconds of loading.
    """
    with tempfile.TemporaryDirectory() as path:
        directory = Path(path)
        families: dict[str, list[Any]] = {}
        for rule in rules:
            plain = rule.model_dump(mode="json", by_alias=True, exclude_unset=True)
            families.setdefault(rule.id.partition(".")[0], []).append(plain)
        for family, members in families.items():
            whole = {"family": family, "description": "rules of the bench", "rules": members}
            (directory / f"{family}.yaml").write_text(yaml.dump(whole, Dumper=yaml.CSafeDumper), encoding="utf-8")
        loaded, _ = read_rules(directory)
        (directory / LOCK_NAME).write_text(json.dumps(updated_lock(loaded, {})), encoding="utf-8")
        started = time.perf_counter()
        ruleset = load_ruleset(directory)
        return ruleset, time.perf_counter() - started


def _cedar(size: int) -> Callable[[str, dict[str, Any]], object]:
    import cedarpy  # of the bench extra

    policies = ["permit(principal, action, resource);"]
    for number in range(size):
        program, verb, noun = _words(number)
        policies.append(
            "forbid(principal, action, resource) when "
            f'{{ context.action like "*{program}*{verb}*{noun}*" && context.environment like "prod*" }};'
        )
    parsed = cedarpy.PolicySet.from_str("\n".join(policies))
    entities = cedarpy.Entities.from_json_str("[]")

    def check(action: str, context: dict[str, Any]) -> object:
        request = {
            "principal": 'Agent::"a"',
            "action": 'Action::"act"',
            "resource": 'World::"w"',
            "context": {"action": action, "environment": str(context.get("environment", ""))},
        }
        return cedarpy.is_authorized(request, parsed, entities).allowed

    return check


def _cel(size: int) -> Callable[[str, dict[str, Any]], object]:
    import cel  # of the bench extra

    programs = []
    for number in range(size):
        program, verb, noun = _words(number)
        pattern = f"{program} .*{verb}.*{noun}"
        programs.append(cel.compile(f"action.matches('{pattern}') && environment.startsWith('prod')"))

    def check(action: str, context: dict[str, Any]) -> object:
        held = cel.Context({"action": action, "environment": str(context.get("environment", ""))})
        return [program.execute(held) for program in programs]

    return check


def _re_loop(size: int) -> Callable[[str, dict[str, Any]], object]:
    patterns = [re.compile(f"{program} .*{verb}.*{noun}") for program, verb, noun in map(_words, range(size))]

    def check(action: str, context: dict[str, Any]) -> object:
        in_production = str(context.get("environment", "")).startswith("prod")
        return [pattern for pattern in patterns if pattern.search(action) and in_production]

    return check
