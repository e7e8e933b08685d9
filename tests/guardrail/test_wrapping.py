"""Commands of the catalogue keep their effects however they are wrapped, and have none where they are quoted:
properties over all examples of the catalogue."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from shlex import quote

import pytest
from rounds import ROUNDS

from guardrail.catalogue.checking import check_source
from guardrail.catalogue.loader import PROGRAMS, default_catalogue, source_files
from guardrail.facts import Facts, parse_context
from guardrail.interpret import interpret
from guardrail.loading import default_guardrail
from guardrail.reading import shell
from guardrail.verdict import Verdict
from guardrail.vocabulary import EffectKind, ObjectKind, Severity

Kinds = frozenset[tuple[EffectKind, ObjectKind]]

WRAPPED: Mapping[str, Callable[[str], str]] = {
    "a shell's option": lambda action: f"bash -c {quote(action)}",
    "a function that is called": lambda action: f"f() {{ {action}; }}; f",
    "another directory": lambda action: f"cd /tmp && {action}",
    "a row of commands": lambda action: f"{action}; true",
    "a substitution": lambda action: f"echo $({action})",
    "a name in quotes": lambda action: f'{action[0]}"{action[1]}"{action[2:]}' if action[:2].isalnum() else action,
    "base64": lambda action: f"echo {base64.b64encode(action.encode()).decode()} | base64 -d | sh",
    "a branch": lambda action: f"if true; then {action}; fi",
    "a here-document": lambda action: f"bash <<'EOF'\n{action}\nEOF",
    "an evaluation": lambda action: f"eval {quote(action)}",
    "a pipe": lambda action: f"echo {quote(action)} | bash",
    "a file": lambda action: f"echo {quote(action)} > /tmp/a.sh; sh /tmp/a.sh",
    "another host": lambda action: f"ssh web1 {quote(action)}",
    "a container": lambda action: f"docker exec web sh -c {quote(action)}",
    "parallel": lambda action: f"true | parallel {quote(action)}",
    "a trap": lambda action: f"trap {quote(action)} EXIT",
}

PREFIXED: Mapping[str, Callable[[str], str]] = {
    "sudo": lambda action: f"sudo {action}",
    "a variable for it": lambda action: f"env X=1 {action}",
    "xargs": lambda action: f"true | xargs {action}",
    "a limit of time": lambda action: f"timeout 5 {action}",
    "find": lambda action: f"find . -maxdepth 0 -exec {action} \\;",
    "the background": lambda action: f"nohup {action} &",
    "a path": lambda action: f"/usr/bin/{action}",
}

QUOTED: Mapping[str, Callable[[str], str]] = {
    "an output": lambda action: f"echo {quote(action)}",
    "a commit's message": lambda action: f"git commit -m {quote(action)}",
    "a search": lambda action: f"grep {quote(action)} notes.txt",
    "a comment": lambda action: f"# {action}",
    "a text that is written": lambda action: f"cat <<'EOF' > notes.md\n{action}\nEOF",
    "a line that is added": lambda action: f"printf '%s\\n' {quote(action)} >> notes.md",
    "an issue": lambda action: f"gh issue create --title t --body {quote(action)}",
    "a variable": lambda action: f"x={quote(action)}",
}

MARKS: Mapping[str, Callable[[str], str]] = {
    "an expression before it": lambda action: f"echo ${{{{ github.ref }}}}\n{action}",
    "an expression behind it": lambda action: f"{action}; echo ${{{{ secrets.TOKEN }}}}",
    "a variable of a runner": lambda action: f"cd $GITHUB_WORKSPACE; {action}",
    "a file of a runner": lambda action: f"{action}\necho done >> $GITHUB_OUTPUT",
}


def kinds(action: str, facts: Facts) -> Kinds:
    effects = interpret(shell.read(action), default_catalogue(), facts).effects
    return frozenset((effect.kind, effect.object) for effect in effects)


@cache
def examples() -> tuple[tuple[str, Facts, Kinds], ...]:
    """Returns the single-line examples that a shell runs, with the effects that they must have."""
    found = []
    for name, content in source_files(PROGRAMS).items():
        for entry in check_source(name, content)[0]:
            for example in entry.get("examples", ()):
                action = example["action"]
                if not example["effects"] or example.get("language", "bash") != "bash" or "\n" in action:
                    continue
                facts = parse_context(example.get("context"))[0]
                expected = frozenset(
                    (EffectKind(kind), ObjectKind(thing))
                    for kind, thing in (spelled.split()[:2] for spelled in example["effects"])
                )
                if expected <= kinds(action, facts):
                    found.append((action, facts, expected))
    return tuple(found)


def examples_for(case: str, cases: Mapping[str, Callable[[str], str]]) -> tuple[tuple[str, Facts, Kinds], ...]:
    """Returns a third of the examples, a different one for three successive cases; all in a soak."""
    return examples() if ROUNDS > 1 else examples()[list(cases).index(case) % 3 :: 3]


def is_one_command(action: str) -> bool:
    return not set(action) & set("|;&<>$`(") and "=" not in action.split()[0] and "/" not in action.split()[0]


@pytest.mark.parametrize("wrapping", WRAPPED)
def test_a_wrapped_command_keeps_its_effects(wrapping: str) -> None:
    wrap = WRAPPED[wrapping]
    lost = [
        wrap(action)
        for action, facts, expected in examples_for(wrapping, WRAPPED)
        if not expected <= kinds(wrap(action), facts)
    ]
    assert lost == []


@pytest.mark.parametrize("prefix", PREFIXED)
def test_a_command_after_a_prefix_keeps_its_effects(prefix: str) -> None:
    wrap = PREFIXED[prefix]
    lost = [
        wrap(action)
        for action, facts, expected in examples_for(prefix, PREFIXED)
        if is_one_command(action) and not expected <= kinds(wrap(action), facts)
    ]
    assert lost == []


@pytest.mark.parametrize("quoting", QUOTED)
def test_a_quoted_command_has_no_effects(quoting: str) -> None:
    say = QUOTED[quoting]
    had = [
        say(action)
        for action, facts, expected in examples_for(quoting, QUOTED)
        if expected & (kinds(say(action), facts) - kinds(say("hello there"), facts)) - {_READ}
    ]
    assert had == []


_READ = (EffectKind.READ, ObjectKind.PATH)


def blocking(verdict: Verdict) -> frozenset[str]:
    """Returns the rows that block at severity medium."""
    return frozenset(match.id for match in verdict.matches if match.severity.rank >= Severity.HIGH.rank)


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_of_a_runner_lets_nothing_pass(mark: str) -> None:
    judge = default_guardrail()
    passed = [
        MARKS[mark](action)
        for action, facts, _ in examples_for(mark, MARKS)
        if not facts.present and blocking(judge.check(action)) and judge.check(MARKS[mark](action)).passed
    ]
    assert passed == []
