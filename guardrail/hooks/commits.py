"""Determines which commits an action would lose: whether another reference still reaches the commits of a branch, tag
or stash, and whether git would refuse the action."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from guardrail.circumstances import MAIN_BRANCHES
from guardrail.facts import CommitState
from guardrail.hooks.git import git_command, outputs
from guardrail.hooks.names import Named

MOST_COMMITS = 8
"""Maximum number of names of branches and stashes that are looked up."""


def is_refused(root: Path, named: Sequence[Named], time_limit: float) -> bool:
    """Decides whether git would refuse the action because its only call moves to a commit that does not exist."""
    calls = {(name.words, name.directories) for name in named}
    words, directories = next(iter(calls)) if len(calls) == 1 else ((), ())
    operands = [word for word in words[1:] if not word.startswith("-")]
    if directories != ("",) or len(operands) != 1 or not _NAME.match(operands[0]) or words[0] not in _TO_A_COMMIT:
        return False
    common = git_command(root) if any(name.whole or name.commits for name in named) else None
    if common is None:
        return False
    verify = (*common, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{operands[0]}^{{commit}}")
    remotes = (*common, "for-each-ref", "--count=1", "--format=x", f"refs/remotes/*/{operands[0]}")
    found, remote = outputs([verify, remotes], time_limit)
    return found is None and remote == b""


_TO_A_COMMIT = frozenset(("reset", "checkout", "switch"))
_STASH = re.compile(r"stash(?:@\{\d{1,4}\})?\Z")
_NAME = re.compile(r"[\w./@{}+:^~-]{1,200}\Z")
_PUSHES = ("git push", "git http-push")


def commit_states(
    root: Path, branch: Mapping[str, Any], named: Sequence[Named], time_limit: float
) -> dict[str, CommitState]:
    """Returns for each name whether its commits would be lost with it. A name that can't be looked up is left out."""
    common = git_command(root)
    if common is None:
        return {}
    found: dict[str, CommitState] = {}
    deadline = time.monotonic() + time_limit
    for name in named[:MOST_COMMITS]:
        if name.text and not _NAME.match(name.text):
            continue
        ask = _remote_commits if name.source.startswith(_PUSHES) else _local_commits
        if name.after_stash and not _is_clean(common, deadline):
            continue
        state = ask(common, branch, name, deadline)
        if state is None:
            found.pop(name.text, None)
        else:
            found[name.text] = max(state, found.get(name.text, CommitState.MISSING), key=_GRAVITY.__getitem__)
    return found


def _is_clean(common: tuple[str, ...], deadline: float) -> bool:
    """Decides whether the work tree has nothing to stash."""
    status = (*common, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none")
    (shown,) = outputs([status], deadline - time.monotonic())
    return shown == b""


_GRAVITY = {CommitState.MISSING: 0, CommitState.KEPT: 1, CommitState.ONLY_HERE: 2}


def _local_commits(
    common: tuple[str, ...], branch: Mapping[str, Any], name: Named, deadline: float
) -> CommitState | None:
    current = branch.get("name")
    if name.source.startswith("git stash") or _STASH.match(name.text) or name.text == "refs/stash":
        reference = name.text if name.text.startswith(("stash", "refs/")) else "refs/stash"
        return _gone_with(common, (reference,), ("--exclude=refs/stash", "--glob=refs/"), deadline)
    if not name.text:
        return None
    operands = [word for word in name.words[1:] if not word.startswith("-")]
    if name.text == current and (name.source == "git branch" or operands == [current]):
        return CommitState.KEPT  # git refuses to delete or move the checked-out branch, or leaves it unchanged
    if name.source == "git reset" and "--keep" in name.words and _is_keeping_refused(common, operands, deadline):
        return CommitState.KEPT
    if name.text in ("HEAD", "@", current) or not current:
        goes_to = [operands[-1]] if name.source == "git reset" and operands and _NAME.match(operands[-1]) else []
        tip, keepers = "HEAD", (*goes_to, f"--exclude=refs/heads/{current}", "--glob=refs/")
    else:
        full = name.text.removeprefix("refs/heads/")
        # A rebase may name the commits that it drops in any way; it drops them from the checked-out branch.
        is_rebase = name.source == "git rebase"
        moved = current if is_rebase else full
        kept = f"--exclude=refs/heads/{moved}", f"--exclude=refs/tags/{moved}", "--glob=refs/"
        tip, keepers = full, (*kept, *(_bases(name.words) if is_rebase else ("HEAD",)))
        if name.source == "git tag":
            tip = f"refs/tags/{full}"
    return _gone_with(common, (tip,), keepers, deadline)


def _bases(words: Sequence[str]) -> tuple[str, ...]:
    """Returns the commits that a rebase builds on, which the branch reaches afterwards."""
    return tuple(base for option, base in pairwise(words) if option == "--onto" and _NAME.match(base))


def _is_keeping_refused(common: tuple[str, ...], operands: Sequence[str], deadline: float) -> bool:
    """Decides whether `git reset --keep` refuses because a file that differs between the commits has local changes."""
    if len(operands) != 1 or not _NAME.match(operands[0]):
        return False
    goes_to = f"{operands[0]}^{{commit}}"
    differing = (*common, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", goes_to, "--")
    staged = (*common, "diff-index", "--cached", "-z", "--name-only", "--no-renames", goes_to, "--")
    status = (*common, "status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all")
    answers = outputs([differing, staged, status], deadline - time.monotonic())
    between, from_index, shown = ((answer or b"").decode("utf-8", "replace").split("\0") for answer in answers)
    refusing = set(between)
    for record in shown:
        kind, _, rest = record.partition(" ")
        path = rest.split(" ", 7)[-1]
        if kind == "1" and path in refusing:
            is_changed_twice = rest[0] != "." and path in from_index
            if is_changed_twice or rest[:2] == ".M":
                return True
    return False


def _remote_commits(
    common: tuple[str, ...], branch: Mapping[str, Any], name: Named, deadline: float
) -> CommitState | None:
    """Decides whether commits of a remote branch would be lost. A remote on this disk is queried directly. Of other
    remotes, git knows the state at the last fetch, and only a push with a lease ensures that it is still valid."""
    remote = next((word for word in name.words[1:] if not word.startswith("-")), None) or "origin"
    (url,) = outputs([(*common, "config", "--get", f"remote.{remote}.url")], deadline - time.monotonic())
    if url is None:
        return CommitState.MISSING if remote == "origin" else None
    place = Path(url.decode("utf-8", "replace").strip().removeprefix("file://"))
    whole = name.text in ("", remote) and not _WHOLE_REMOTE.isdisjoint(name.words)
    tracked = f"refs/remotes/{remote}/"
    pushed = name.text.removeprefix("+").rpartition(":")[2] or str(branch.get("name", ""))
    pushed = str(branch.get("name", "")) if pushed == "HEAD" else pushed.removeprefix("refs/heads/")
    if place.is_absolute() and place.is_dir():
        bare = git_command(place)
        pattern = "refs/heads/" if whole else f"refs/heads/{pushed}"
        listing = (*(bare or ()), "for-each-ref", "--format=%(objectname) %(refname)", pattern)
        own = (*common, "for-each-ref", "--format=%(refname)", "refs/heads/")
        tips, here = outputs([listing, own], deadline - time.monotonic()) if bare else (None, None)
        if tips is not None and "--force-with-lease" in name.words and _FORCING.isdisjoint(name.words) and not whole:
            seen = (*common, "for-each-ref", "--format=%(objectname)", f"{tracked}{pushed}")
            (expected,) = outputs([seen], deadline - time.monotonic())
            if expected and expected.split() != tips.split()[:1]:
                return CommitState.MISSING  # others have pushed since, so git refuses
        if tips is not None and here is not None:
            # A push that prunes without force deletes only branches that do not exist here.
            spared = set(here.split()) if _FORCING.isdisjoint(name.words) and "--prune" in name.words else set()
            kept = [line.split() for line in tips.splitlines()]
            tips = b"\n".join(tip for tip, reference in kept if reference not in spared)
    elif any(word.startswith("--force-with-lease") for word in name.words) and not whole:
        listing = (*common, "for-each-ref", "--format=%(objectname)", f"{tracked}{pushed}")
        (tips,) = outputs([listing], deadline - time.monotonic())
    else:
        return None
    if tips is None:
        return None
    if not tips.split():
        return CommitState.MISSING
    keepers: tuple[str, ...] = (f"--exclude={tracked}*", "--glob=refs/")
    if pushed in MAIN_BRANCHES and not whole:
        # Others build on a main branch, so the pushed commits must contain all of its commits.
        if _deletes(name):
            return None
        source = name.text.removeprefix("+").rpartition(":")[0] or pushed
        keepers = (source,)
    return _gone_with(common, tuple(tip.decode() for tip in tips.split()), keepers, deadline, unknown_is_lost=True)


def _deletes(name: Named) -> bool:
    return name.text.startswith(":") or not {"-d", "--delete"}.isdisjoint(name.words)


_FORCING = frozenset(("-f", "--force", "--mirror"))
_WHOLE_REMOTE = frozenset(("--mirror", "--all", "--branches", "--prune"))


def _gone_with(
    common: tuple[str, ...],
    tips: tuple[str, ...],
    keepers: tuple[str, ...],
    deadline: float,
    *,
    unknown_is_lost: bool = False,
) -> CommitState | None:
    """Decides whether the tips have commits that none of the keepers reaches."""
    verify = [(*common, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{tip}^{{commit}}") for tip in tips]
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    known = outputs(verify, left)
    if any(answer is None for answer in known):
        return CommitState.ONLY_HERE if unknown_is_lost else CommitState.MISSING
    commits = [answer.decode().strip() for answer in known if answer]
    listing = (*common, "rev-list", "--max-count=1", *commits, "--not", *keepers)
    (listed,) = outputs([listing], deadline - time.monotonic())
    if listed is None:
        return None
    return CommitState.ONLY_HERE if listed.strip() else CommitState.KEPT
