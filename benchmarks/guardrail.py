"""Measures the guardrail: how well it judges labelled actions, and what a check costs compared with alternatives.

The labelled actions are in the folder `RECORDED_MATERIAL`, as for tests. Without them, only latency is measured, on
everyday examples.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contest import NotRun, attempt
from benchmarks.labelled_actions import Case, Figures, Outcome, by_group, by_source, case_of, evaluate, figures_of
from contracts.guardrail import loaded_guardrail
from guardrail.engine import MAX_ACTION_BYTES, Guardrail

MATERIAL = Path(os.environ.get("RECORDED_MATERIAL") or Path(__file__).resolve().parents[2] / "shared")
LABELLED = tuple(MATERIAL / "eval" / "guardrail" / f"{name}.jsonl.gz" for name in ("open", "machines"))
PAIRS = "tldr:context"
"""Source of pairs: the same command, once approved and backed up and once neither. Every misjudged one is listed."""

CONTENDER_RULES = 1_000
LONGEST_SHOWN = 140
Check = Callable[[str, dict[str, Any]], object]


@dataclass(frozen=True)
class Quality:
    """Figures over all actions, by group of sources and by source, and the misjudged context pairs, one line each."""

    overall: Figures
    groups: dict[str, Figures]
    sources: dict[str, Figures]
    misjudged_pairs: tuple[str, ...]


@dataclass(frozen=True)
class Latency:
    """Wall and CPU microseconds of one check, and the CPU milliseconds of the costliest."""

    engine: str
    checks: int
    p50_us: float
    p99_us: float
    cpu_p50_us: float
    cpu_p99_us: float
    worst_ms: float


@dataclass(frozen=True)
class Cold:
    """CPU seconds until a new interpreter has imported and loaded everything, and until it has judged once."""

    loaded_s: float
    judged_s: float


@dataclass(frozen=True)
class Hook:
    """Wall and CPU milliseconds of a hook as a harness starts it, with a warm process, compared with the bare start of
    its interpreter; and the milliseconds of a question to the warm process over its socket."""

    hook_p50_ms: float
    bare_p50_ms: float
    hook_cpu_p50_ms: float
    bare_cpu_p50_ms: float
    question_p50_ms: float
    question_p99_ms: float


def quality(guardrail: Guardrail) -> Quality | None:
    """Judges every labelled action. Returns None if there are none."""
    cases = labelled_actions()
    if not cases:
        return None
    outcomes = evaluate(cases, lambda case: _outcome(guardrail, case))
    wrong = sorted(
        f"{'missed' if outcome.case.unsafe else 'false block'}: {outcome.case.action[:LONGEST_SHOWN]!r} "
        f"({', '.join(outcome.matched) or 'nothing matched'})"
        for outcome in outcomes
        if outcome.case.source == PAIRS and not outcome.right
    )
    return Quality(figures_of(outcomes), by_group(outcomes), by_source(outcomes), tuple(wrong))


def labelled_actions() -> list[Case]:
    """Returns the labelled actions that are available."""
    return [case for path in LABELLED if path.exists() for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (case_of(json.loads(line)) for line in lines)


def _outcome(guardrail: Guardrail, case: Case) -> Outcome:
    verdict = guardrail.check(case.action, case.severity, case.context)
    return Outcome(case, verdict.passed, verdict.matched_guardrails, verdict.coverage)


def latency(guardrail: Guardrail) -> list[Latency | NotRun]:
    """Measures one check by our guardrail, by Cedar and by regular expressions with a thousand rules, on the same
    actions; and by ours on hostile inputs of the maximum size."""
    actions = [(case.action, dict(case.context)) for case in labelled_actions()] or [
        (action, {}) for action in EVERYDAY
    ]

    def ours(action: str, context: dict[str, Any]) -> object:
        return guardrail.check(action, "medium", context)

    contenders: tuple[tuple[str, Callable[[], Check]], ...] = (
        (f"Cedar, {CONTENDER_RULES:,} policies (cedarpy)", _cedar),
        (f"{CONTENDER_RULES:,} regular expressions, one after another", _regular_expressions),
    )
    return [
        _measured("svc-guardrail", ours, actions),
        _measured("svc-guardrail, hostile 64 KiB", ours, [(text, {}) for text in hostile_inputs()]),
        *(attempt(name, _contender, name, make, actions) for name, make in contenders),
    ]


def cold_start() -> Cold:
    """Measures the guardrail in a new interpreter."""
    script = (
        "import time; from guardrail.loading import default_guardrail; guardrail = default_guardrail(); "
        "loaded = time.process_time(); guardrail.check('git push --force'); print(loaded, time.process_time())"
    )
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    loaded_s, judged_s = map(float, printed.split())
    return Cold(loaded_s, judged_s)


def hook() -> Hook:
    """Measures hooks and questions of a user with an empty home directory and a warm process."""
    with tempfile.TemporaryDirectory() as home:
        runtime = Path(home, "run")
        runtime.mkdir(mode=0o700)
        environment = {"HOME": home, "XDG_RUNTIME_DIR": str(runtime), "PATH": os.defpath}
        asked = {"hook_event_name": "PreToolUse", "cwd": home, "tool_name": "Bash"}
        given = json.dumps({**asked, "tool_input": {"command": "git status"}})
        client = "import sys; sys.path[:0] = [sys.argv.pop(1)]; from guardrail.hooks import client; client.run('codex')"
        commands = {"hook": [sys.executable, "-P", "-c", client, str(ROOT)], "bare": [sys.executable, "-P", "-c", ""]}
        _started(commands["hook"], given, environment)
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(HOOKS):
            for name, command in commands.items():
                spent[name].append(_started(command, given, environment))
        script = _QUESTIONS.format(given=given, times=QUESTIONS)
        command = [sys.executable, "-P", "-c", script, str(ROOT)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    question_p50_us, question_p99_us = (_percentile(json.loads(printed), share) for share in (0.5, 0.99))
    walls = {name: _percentile([wall for wall, _ in each], 0.5) / 1e3 for name, each in spent.items()}
    cpus = {name: _percentile([cpu for _, cpu in each], 0.5) / 1e3 for name, each in spent.items()}
    return Hook(walls["hook"], walls["bare"], cpus["hook"], cpus["bare"], question_p50_us / 1e3, question_p99_us / 1e3)


HOOKS = 40
QUESTIONS = 400
ROOT = Path(__file__).resolve().parents[1]
_QUESTIONS = """
import json, sys, time
sys.path[:0] = [sys.argv.pop(1)]
from guardrail.hooks import client
spent = []
for _ in range({times}):
    started = time.perf_counter()
    client.ask("codex", {given!r}, time.monotonic() + 10)
    spent.append(time.perf_counter() - started)
print(json.dumps(spent[20:]))
"""


def _started(command: Sequence[str], given: str, environment: dict[str, str]) -> tuple[float, float]:
    """Runs a command and returns its wall and CPU seconds."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        process.stdin.write(given.encode())
        process.stdin.close()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return wall, used.ru_utime + used.ru_stime


EVERYDAY = (
    "ls -la",
    "git status && git diff --stat",
    "rm -rf node_modules && npm ci",
    "rm -rf ~",
    "curl -sSL https://example.org/install.sh | sudo bash",
    "psql -c 'delete from orders where id = 7'",
    "docker run --rm -v $PWD:/src -w /src node:22 npm test",
    'send_email(to="ada@example.org", subject="Agenda", body="See you at ten.")',
    "Delete all customer data in the production database",
)
"""Actions that the bench judges if there are no labelled ones."""


def hostile_inputs() -> list[str]:
    """Returns texts of the maximum size that are costly to parse."""
    pieces = (
        "[",
        "((",
        "$(",
        "{",
        "a|",
        "'",
        '"',
        "`",
        "\\",
        "a=$a;",
        "&& ",
        "x<<E\n",
        "rm -rf /;",
        "f(f(",
        "[[",
        "select (",
    )
    return [(piece * MAX_ACTION_BYTES)[:MAX_ACTION_BYTES] for piece in pieces]


def _contender(name: str, make: Callable[[], Check], actions: Sequence[tuple[str, dict[str, Any]]]) -> Latency:
    return _measured(name, make(), actions)


def _measured(engine: str, check: Check, actions: Sequence[tuple[str, dict[str, Any]]]) -> Latency:
    for action, context in actions[:20]:
        check(action, context)
    walls, cpus = [], []
    for action, context in actions:
        cpu_started = time.thread_time()  # outside the wall clock, since it costs some microseconds itself
        started = time.perf_counter()
        check(action, context)
        walls.append(time.perf_counter() - started)
        cpus.append(time.thread_time() - cpu_started)
    return Latency(
        engine,
        len(actions),
        _percentile(walls, 0.5),
        _percentile(walls, 0.99),
        _percentile(cpus, 0.5),
        _percentile(cpus, 0.99),
        max(cpus) * 1e3,
    )


def _percentile(seconds: Sequence[float], share: float) -> float:
    return sorted(seconds)[math.ceil(len(seconds) * share) - 1] * 1e6


_VERBS = ("purge", "wipe", "export", "rotate", "grant", "revoke", "attach", "detach", "publish", "drain", "resize")
_NOUNS = ("ledger", "bucket", "cluster", "volume", "secret", "policy", "tenant", "mirror", "replica", "gateway")


def _words(number: int) -> tuple[str, str, str]:
    """Returns the program, verb and noun for which the generated rule of this number looks."""
    return f"tool{number}ctl", _VERBS[number % len(_VERBS)], _NOUNS[number % len(_NOUNS)]


def _cedar() -> Check:
    import cedarpy  # from the `bench` extra

    policies = ["permit(principal, action, resource);"]
    for number in range(CONTENDER_RULES):
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


def _regular_expressions() -> Check:
    patterns = [
        re.compile(rf"\b{program}\s+(?:-\S+\s+)*{verb}\b.*\b{noun}")
        for program, verb, noun in map(_words, range(CONTENDER_RULES))
    ]

    def check(action: str, context: dict[str, Any]) -> object:
        return [pattern for pattern in patterns if pattern.search(action)]

    return check


def measure() -> dict[str, Any]:
    """Measures everything."""
    guardrail = loaded_guardrail()
    return {"quality": quality(guardrail), "latency": latency(guardrail), "cold": cold_start(), "hook": hook()}
