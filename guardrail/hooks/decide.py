"""Decides on one action of an agent, from the facts of the working copy, the workspace's policy, a person's one-time
permissions, and the engine's verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from guardrail.approval import Outcome
from guardrail.catalogue.loader import default_catalogue
from guardrail.engine import Guardrail, Options
from guardrail.explain import read_calls
from guardrail.hooks.facts import Gathered, gather, surroundings
from guardrail.hooks.harness import Asked
from guardrail.hooks.names import SUBMODULES, Leaving, Named
from guardrail.hooks.once import Once
from guardrail.hooks.scripts import MOST_NESTED, Script, runs_script, scripts_run, with_scripts
from guardrail.hooks.trust import WorkspacePolicy, workspace_policy
from guardrail.model import Call, Effect
from guardrail.paths.care import sensitivity_of
from guardrail.record import record
from guardrail.verdict import Verdict
from guardrail.vocabulary import Decision, EffectKind, ObjectKind, Scope, Sensitivity, Severity

SEVERITY = Severity.MEDIUM.value
OPTIONS = Options(may_ask=True, gathered=True)
MOST_SAID = 1_200
_DIRECTORY_OPTIONS = ("-C", "--directory", "--chdir")


@record
class Judged:
    """A decision with its reason in words, its verdict, and the context that it was judged in."""

    decision: Decision
    reason: str
    verdict: Verdict
    context: Mapping[str, Any]


def decide(asked: Asked, guardrail: Guardrail, once: Once, now: int, home: str | None = None) -> Judged:
    """Decides on a harness's question. `home` is the home directory of the agent's session, which may differ from that
    of this process."""
    context = surroundings(asked.cwd, home or os.environ.get("HOME"), asked.root)
    context["tool"] = asked.tool
    found = workspace_policy(_root(context))
    verdict, gathered = _judged(asked.action, context, guardrail, found)
    context = dict(gathered.context)
    scripts: list[Script] = []
    objections = [
        *_objections(verdict, gathered.leaving, found),
        *_objections_to_scripts(asked.action, verdict, context, guardrail, found, scripts),
    ]
    verdict = replace(verdict, digest=with_scripts(verdict.digest, scripts))
    decision: Decision = "ask" if objections and verdict.decision == "allow" else verdict.decision
    if decision != "allow" and verdict.problem is None and (token := once.token(verdict.digest)) is not None:
        outcome = once.approvals(now).accept(token, verdict.digest)
        if outcome is Outcome.ACCEPTED:
            return Judged("allow", "A person allowed this very action once, in a terminal.", verdict, context)
    reason = _reason(verdict, objections, decision)
    if decision == "ask" and not asked.can_ask:
        reason += " A person must look at it; this harness can't ask one."
    return Judged(decision, reason, verdict, context)


def _judged(
    action: str, context: Mapping[str, Any], guardrail: Guardrail, found: WorkspacePolicy
) -> tuple[Verdict, Gathered]:
    """Returns the verdict on an action with the states of what it names, and these states."""
    verdict = guardrail.check(action, SEVERITY, context, policy=found.policy, options=OPTIONS)
    if verdict.problem is not None or not verdict.effects:
        return verdict, Gathered(context)
    gathered = gather(context, named_by(action, context, verdict))
    return guardrail.check(action, SEVERITY, gathered.context, policy=found.policy, options=OPTIONS), gathered


def _objections_to_scripts(
    action: str,
    verdict: Verdict,
    context: Mapping[str, Any],
    guardrail: Guardrail,
    found: WorkspacePolicy,
    scripts: list[Script],
    depth: int = 0,
) -> Iterator[str]:
    """Yields a question for each script that the action runs, if the script isn't committed and would be denied as an
    action of its own. Adds the scripts that were read to `scripts`."""
    runs = tuple(effect for effect in verdict.effects if runs_script(effect))
    if not runs or depth >= MOST_NESTED:
        return
    for script in scripts_run(named_by(action, context, replace(verdict, effects=runs)), context):
        scripts.append(script)
        if script.text is None:
            yield f"{script.path}, which nobody has committed, is too long to be judged."
            continue
        own = {**surroundings(context["cwd"], context.get("home"), context["workspace"].get("root"))}
        own |= {"tool": script.tool} if script.tool else {}
        inner, gathered = _judged(script.text, own, guardrail, found)
        if inner.decision == "deny" and inner.problem is None:
            yield f"{script.path}, which nobody has committed, would be denied as an action: {inner.reason}"
        yield from _objections_to_scripts(script.text, inner, gathered.context, guardrail, found, scripts, depth + 1)


def _root(context: Mapping[str, Any]) -> Path | None:
    root = context["workspace"].get("root")
    return Path(root) if root else None


def named_by(action: str, context: Mapping[str, Any] | None, verdict: Verdict) -> list[Named]:
    """Lists the names of everything that the effects reach. An action that only reads needs no states, but its links
    are checked."""
    _, calls = read_calls(action, context, default_catalogue())
    searched = any(call.program in _SEARCHES for call in calls)
    named = []
    for effect in verdict.effects:
        around = _around(effect, calls)
        known = Named(
            text="",
            source=effect.source,
            changed=effect.kind is not EffectKind.READ,
            directories=(SUBMODULES,) if _is_of_submodules(effect, calls) else _directories(around),
            copied=_copied(effect, verdict.effects),
            words=tuple(word.text for word in around[0].words) if around else (),
            commits=effect.object in (ObjectKind.COMMIT, ObjectKind.BRANCH) and effect.kind in _MOVES_COMMITS,
            gone=_is_gone(effect),
            searched=searched,
            listing=_listing(effect, calls),
            listed=effect.source.startswith("git ") or _lists_work_tree(effect, calls),
        )
        if known.commits and (making := _making_commits_before(effect, calls)):
            if not all(_is_plain_stash(call) for call in making):
                continue
            known = replace(known, after_stash=True)
        for target in effect.targets:
            whole = target.text == "." and effect.source.startswith("git ") and effect.scope is Scope.ALL
            whole = whole or (target.text == "." and known.directories == (SUBMODULES,))
            named.append(replace(known, text=target.text, whole=whole))
        if not effect.targets and known.changed:
            named.append(known)
    return named


def _is_of_submodules(effect: Effect, calls: Sequence[Call]) -> bool:
    """Decides whether an effect is on the work trees of submodules: `git submodule foreach`,
    `git submodule update --force`."""
    return effect.source == "git submodule update" or any(
        call.program == "git"
        and call.span.start <= effect.span.start
        and effect.span.end <= call.span.end
        and [word.text for word in call.words[:2]] == ["submodule", "foreach"]
        for call in calls
    )


def _lists_work_tree(effect: Effect, calls: Sequence[Call]) -> bool:
    """Decides whether all calls before an effect only list paths of the work tree, so that a pipe passes on
    nothing else."""
    before = [call for call in calls if call.span.start < effect.span.start and call.program != "xargs"]
    return bool(before) and all(_is_listing(call) for call in before)


def _listing(effect: Effect, calls: Sequence[Call]) -> tuple[str, ...]:
    """Returns the paths that a single `ls` before an effect lists, or the words of a `git ls-files`."""
    before = [call for call in calls if call.span.start < effect.span.start]
    if len(before) != 1 or not all(word.known for word in before[0].words):
        return ()
    words = tuple(word.text for word in before[0].words)
    if before[0].program == "ls":
        return tuple(word for word in words if not word.startswith("-"))
    return words if before[0].program == "git" and words[:1] == ("ls-files",) else ()


def _is_listing(call: Call) -> bool:
    words = [word.text for word in call.words]
    if call.program == "git":
        return words[:1] == ["ls-files"] or (words[:1] == ["diff"] and "--name-only" in words)
    return call.program == "ls" and all(
        word.known and not word.text.startswith(("/", "~", "..")) for word in call.words
    )


def _making_commits_before(effect: Effect, calls: Sequence[Call]) -> list[Call]:
    """Returns the earlier calls of the action that create commits or stashes, which don't exist yet."""
    return [
        call
        for call in calls
        if call.program == "git"
        and call.span.end <= effect.span.start
        and any(word.text in _MAKING_COMMITS for word in call.words[:3])
        and not any(word.text in ("list", "show", "drop", "clear") for word in call.words)
    ]


def _is_plain_stash(call: Call) -> bool:
    """Decides whether a call creates a stash only if there are changes or new files, without ignored files."""
    words = [word.text for word in call.words]
    return words[:1] == ["stash"] and all(word in _STASHING for word in words[1:])


_STASHING = frozenset(("push", "-u", "--include-untracked", "-q", "--quiet", "-k", "--keep-index"))


_MAKING_COMMITS = frozenset(
    ("commit", "stash", "merge", "rebase", "cherry-pick", "revert", "am", "pull", "reset", "filter-branch")
)
_SEARCHES = frozenset(("find", "gfind", "fd", "fdfind"))
_MOVES_COMMITS = (EffectKind.DELETE, EffectKind.DISCARD, EffectKind.OVERWRITE)
_REMOVING = ("git rm", "git worktree remove", "git submodule deinit", "git submodule update")


def _is_gone(effect: Effect) -> bool:
    """Decides whether a named path is deleted with everything inside it, including other repositories."""
    if effect.kind is EffectKind.DISCARD and effect.source.startswith("git "):
        return effect.source in _REMOVING
    return effect.kind in (EffectKind.DELETE, EffectKind.DISCARD)


def _copied(effect: Effect, effects: Sequence[Effect]) -> tuple[str, ...]:
    """Returns the paths that the call of an effect copies or moves to where the effect writes."""
    if effect.kind not in (EffectKind.WRITE, EffectKind.OVERWRITE) or effect.object is not ObjectKind.PATH:
        return ()
    beside = (
        other
        for other in effects
        if other.span == effect.span
        and other.source == effect.source
        and other.object is ObjectKind.PATH
        and other.kind in (EffectKind.READ, EffectKind.ALTER)
    )
    return tuple(target.text for other in beside for target in other.targets)


def _around(effect: Effect, calls: Sequence[Call]) -> list[Call]:
    """Returns the calls that an effect may belong to: those with the smallest span around it."""
    around = [call for call in calls if call.span.start <= effect.span.start and effect.span.end <= call.span.end]
    least = min((call.span.end - call.span.start for call in around), default=0)
    return [call for call in around if call.span.end - call.span.start == least]


def _directories(around: Sequence[Call]) -> tuple[str | None, ...]:
    """Returns the directories that calls run in: that of an earlier `cd`, or of their option `-C`."""
    found = [_directory(call) for call in around]
    moved = [directory for directory in found if directory != ""]
    return tuple(dict.fromkeys(moved or found or [""]))


def _directory(call: Call) -> str | None:
    word = call.directory
    for option, value in zip(call.words, call.words[1:], strict=False):
        if option.text in _DIRECTORY_OPTIONS:
            word = value
    if word is None:
        return ""
    return word.text if word.known and not word.glob else None


def _objections(verdict: Verdict, leaving: tuple[Leaving, ...], found: WorkspacePolicy) -> Iterator[str]:
    """Yields further questions for a person, in addition to the verdict."""
    if found.problem is not None:
        yield found.problem
    changed = {
        target.text for effect in verdict.effects if effect.kind is not EffectKind.READ for target in effect.targets
    }
    for link in leaving:
        changes = any(text.rstrip("/").endswith(link.path) for text in changed)
        if changes or sensitivity_of(link.real) is Sensitivity.SECRET:
            yield f"{link.path} leaves the workspace through a link, to {link.real}."


def _reason(verdict: Verdict, objections: list[str], decision: Decision) -> str:
    if decision == "allow":
        return verdict.reason
    parts = [] if verdict.decision == "allow" else [verdict.reason]
    parts += objections
    if verdict.decision != "allow":
        parts += verdict.remediation
    rules = f" [{', '.join(verdict.matched_guardrails[:4])}]" if verdict.matched_guardrails else ""
    return f"svc-guardrail: {' '.join(parts)}"[:MOST_SAID] + rules
