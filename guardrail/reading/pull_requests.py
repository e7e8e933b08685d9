"""Finds workflows that run what strangers write with the rights of the repository: the code of a pull request, or a
text in a script. GitHub gives a workflow that starts on `pull_request_target`, `workflow_run`, an issue or a comment
secrets and a token, whoever wrote that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guardrail.reading.ci import Node

_TRUSTED_EVENTS = frozenset(("pull_request_target", "workflow_run"))
_TEXT_EVENTS = _TRUSTED_EVENTS | {"issues", "issue_comment", "discussion", "discussion_comment"}
_TEXT = re.compile(
    r"\$\{\{[^}]{0,200}(?:github\.event\.(?:issue|comment|discussion|review|pull_request|workflow_run)\.(?:title|body"
    r"|head\.(?:ref|label)|head_branch|display_title|head_commit\.message)|github\.head_ref)\b[^}]{0,200}\}\}"
)
_HEAD = re.compile(
    r"github\.event\.pull_request\.head\.|github\.event\.workflow_run\.head_|github\.head_ref|github\.event\.number"
    r"|github\.event\.pull_request\.(?:number|merge_commit_sha)|refs/pull/"
)
_FETCHES_HEAD = re.compile(r"\bgh pr checkout\b|\bgit (?:fetch|checkout|pull|clone|switch)\b[^\n]{0,200}")
_RUNS_CODE = re.compile(
    r"(?:^|[\n;&|(]|\b(?:time|exec|sudo|env))[ \t]{0,40}(?:\w{1,60}=\S{0,200}[ \t]{1,9}){0,8}"
    r"(?:(?:npm|yarn|pnpm|bun|npx|bunx|deno|node|pip3?|python3?|pytest|tox|nox|poetry|uv|pipenv|make|cmake|ninja|cargo|go"
    r"|mvn|mvnw|gradle|gradlew|bundle|rake|ruby|php|composer|dotnet|docker|podman|terraform|tofu|pre-commit|bash|sh|zsh"
    r"|source|just|task|nx|turbo|lerna|mix|sbt|swift|xcodebuild|bazel|helm|pulumi|ansible-playbook)\s|\.{1,2}/[\w./-])"
)
_ASKS_SOMEBODY = re.compile(
    r"label|author_association|head\.repo\.full_name\s*==|head\.repo\.fork\s*==\s*false|!\s*github\.event\.pull_request"
    r"\.head\.repo\.fork|head_repository\.full_name\s*==|github\.actor\s*==|workflow_run\.(?:head_branch|event)\s*==|user\.login\s*=="
)


def checkouts_that_run(workflow: Node) -> Iterator[tuple[Node, bool]]:
    """Yields the step of each job that checks out a pull request whose code a later step runs, and whether the job has
    more than the right to read."""
    events = workflow.get("on")
    if events is None or not _starts_for_strangers(events):
        return
    for job, steps in _unguarded_jobs(workflow):
        checkout: Node | None = None
        for step in steps:
            if checkout is not None and _runs_code(step):
                yield checkout, _may_write(workflow, job) or _mentions_secrets(job)
                break
            if checkout is None and _checks_out_head(step):
                checkout = step
                if _runs_code_after_fetch(step.text("run") or ""):
                    yield checkout, _may_write(workflow, job)
                    break


def scripts_with_texts(workflow: Node) -> Iterator[tuple[Node, bool]]:
    """Yields the steps whose script contains the title or body of an issue, comment or pull request, in which a shell
    finds commands, and whether the job has more than the right to read. A step that takes the text from a variable of
    its environment is safe."""
    events = workflow.get("on")
    if events is None or _TEXT_EVENTS.isdisjoint(_names(events)):
        return
    for job, steps in _unguarded_jobs(workflow):
        for step in steps:
            if _TEXT.search(step.text("run") or "") is not None:
                yield step, _may_write(workflow, job) or _mentions_secrets(job)


def _unguarded_jobs(workflow: Node) -> Iterator[tuple[Node, Sequence[Node]]]:
    """Yields jobs with their steps, except those that a person or a condition on the author releases."""
    jobs = workflow.get("jobs")
    for _, job in (jobs.pairs if jobs is not None else None) or ():
        steps = job.get("steps")
        if steps is not None and job.get("environment") is None and not _is_guarded(job):
            yield job, [step for step in steps.items or () if not _is_guarded(step)]


def _may_write(workflow: Node, job: Node) -> bool:
    own = _only_reads(job)
    return not (_only_reads(workflow) if own is None else own)


def _starts_for_strangers(events: Node) -> bool:
    """Decides whether a workflow starts on pull requests of strangers. One that follows another workflow and names
    branches usually follows pushes to them."""
    names = _names(events)
    after = events.get("workflow_run") if events.pairs is not None else None
    if after is not None and after.get("branches") is not None:
        names.discard("workflow_run")
    return not _TRUSTED_EVENTS.isdisjoint(names)


def _names(events: Node) -> set[str]:
    if events.items is not None:
        return {item.value for item in events.items}
    return {name for name, _ in events.pairs} if events.pairs is not None else {events.value}


def _only_reads(node: Node) -> bool | None:
    """Decides whether the permissions of a workflow or a job allow no more than to read; None if there are none."""
    permissions = node.get("permissions")
    if permissions is None:
        return None
    if permissions.pairs is not None:
        return all(value.value in ("read", "none") for _, value in permissions.pairs)
    return permissions.value == "read-all"


def _is_guarded(node: Node) -> bool:
    condition = node.text("if")
    return condition is not None and _ASKS_SOMEBODY.search(condition) is not None


def _checks_out_head(step: Node) -> bool:
    given = step.get("with")
    if (step.text("uses") or "").lower().startswith("actions/checkout@") and given is not None:
        return any(_HEAD.search(given.text(name) or "") is not None for name in ("ref", "repository"))
    return any(
        found[0].startswith("gh ") or _HEAD.search(found[0]) is not None or "pull/" in found[0]
        for found in _FETCHES_HEAD.finditer(step.text("run") or "")
    )


def _runs_code(step: Node) -> bool:
    uses = step.text("uses") or ""
    return uses.startswith("./") or _RUNS_CODE.search(step.text("run") or "") is not None


def _runs_code_after_fetch(script: str) -> bool:
    fetch = _FETCHES_HEAD.search(script)
    return fetch is not None and _RUNS_CODE.search(script, fetch.end()) is not None


def _mentions_secrets(node: Node) -> bool:
    """Decides whether a job hands over secrets other than the token that every job has."""
    waiting = [node]
    for _ in range(_MOST_NODES):
        if not waiting:
            return False
        found = waiting.pop()
        if "secrets." in found.value.replace("secrets.GITHUB_TOKEN", ""):
            return True
        waiting += found.items or ()
        waiting += [value for _, value in found.pairs or ()]
    return True


_MOST_NODES = 2_000
