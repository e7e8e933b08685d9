"""Queries git: starts its process, keeps it from running programs of the repository, and interprets its answers about
paths. Nothing here depends on actions."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from guardrail.facts import PathState
from guardrail.paths.rebuilding import is_made_again
from guardrail.record import record

MOST_OUTPUT = 8 * 1024 * 1024
TIME_LIMIT = 2.0
_OPTIONS = (
    *("--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false", "-c", "core.ignoreStat=false", "-c", "core.checkStat=default"),
    *("-c", "core.quotePath=false", "-c", "submodule.recurse=false", "-c", "status.renames=false"),
)


def has_work(repository: Path, time_limit: float) -> bool:
    if not (repository / ".git").exists():
        return False
    common = git_command(repository)
    if common is None:
        return True
    status = (*common, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignored=matching")
    commits = (*common, "rev-list", "--max-count=1", "--all", "--not", "--remotes")
    # The commits of a linked work tree are in its main repository.
    is_linked = (repository / ".git").is_file()
    shown, unpushed = outputs([status, commits], time_limit)
    if shown is None or unpushed is None or (unpushed.strip() and not is_linked):
        return True
    entries = [entry for entry in shown.decode("utf-8", "replace").split("\0") if entry]
    if not is_linked and not entries and not unpushed.strip():
        (remotes,) = outputs([(*common, "remote")], time_limit)
        return not (remotes or b"").strip()
    return any(not entry.startswith("!!") or is_work(entry[3:].rstrip("/")) for entry in entries)


@record
class Answers:
    """Git's answers about a repository. `changed` are tracked files that differ from their committed state, `links` are
    its submodules."""

    branch: Mapping[str, Any]
    states: Mapping[str, PathState]
    changed: Mapping[str, PathState] = field(default_factory=dict)
    links: frozenset[str] = frozenset()


def answers_of(root: Path, paths: Sequence[str], time_limit: float) -> Answers:
    common = git_command(root)
    if common is None:
        return Answers({}, {})
    specs = [_spec(path) for path in paths]
    status = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all")
    commands = [
        (*common, *status, "--ignored=matching" if paths else "--ignored=no", "--", *(specs or [":(top,literal).git"])),
        (*common, "rev-list", "--count", "--max-count=1000", "HEAD", "--not", "--remotes"),
    ]
    if paths:
        commands.append((*common, "ls-files", "-z", "-v", "--stage", "--", *specs))
    shown, ahead, *listed = outputs(commands, time_limit)
    if shown is None:
        return Answers({}, {})
    branch, states = _status(shown)
    if ahead is not None and ahead.strip().isdigit():
        branch["ahead"] = int(ahead)
        branch["pushed"] = int(ahead) == 0
    default = _default_branch(root)
    if default is not None and "name" in branch:
        branch["default"] = branch["name"] == default
    links: set[str] = set()
    if listed and listed[0] is not None:
        for path, state in _listed(listed[0], paths, links):
            states.setdefault(path, state)
        for path in paths:
            if _is_empty(root, path, states):
                states[path] = PathState.TRACKED
    changed = {path: state for path, state in states.items() if state in (PathState.DIRTY, PathState.STAGED)}
    without_content = [
        path for path, state in states.items() if state is PathState.UNTRACKED and (root / path).is_symlink()
    ]
    states |= dict.fromkeys(without_content, PathState.TRACKED)
    states |= {
        path: PathState.IGNORED_WORK for path, state in states.items() if state is PathState.IGNORED and is_work(path)
    }
    return Answers(branch, states, changed, frozenset(links))


def is_work(path: str) -> bool:
    """Decides by the name of an ignored path whether no tool can rebuild it."""
    return not is_made_again(path)


def git_command(root: Path) -> tuple[str, ...] | None:
    git = _git()
    return None if git is None else (git, *_OPTIONS, *_without_filters(root, git), "-C", str(root))


def _spec(path: str) -> str:
    return ":(top)" if path == "." else f":(top,literal){path}"


def _of_changes(kind: str, changes: str) -> PathState:
    """Returns the state for git's two letters on the index and the file. The content of a deleted file is in the last
    commit."""
    if kind == "1" and changes in (".D", "D."):
        return PathState.MISSING
    return PathState.STAGED if kind == "1" and changes[1] in ".D" else PathState.DIRTY


def _status(output: bytes) -> tuple[dict[str, Any], dict[str, PathState]]:
    branch: dict[str, Any] = {}
    states: dict[str, PathState] = {}
    entries = iter(output.decode("utf-8", "replace").split("\0"))
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            if name == "branch.head" and value != "(detached)":
                branch["name"] = value
        elif kind in ("1", "u"):
            states[rest.split(" ", 7 if kind == "1" else 9)[-1]] = _of_changes(kind, rest[:2])
        elif kind == "2":
            states[rest.split(" ", 8)[-1]] = PathState.DIRTY
            states[next(entries, "")] = PathState.DIRTY
        elif kind == "?":
            states[rest.rstrip("/")] = PathState.UNTRACKED
        elif kind == "!":
            states[rest.rstrip("/")] = PathState.IGNORED
    return branch, states


def _listed(output: bytes, paths: Sequence[str], links: set[str]) -> Iterable[tuple[str, PathState]]:
    """Yields the named paths that contain tracked files, with their state. Files that git is configured to ignore in
    its status may have changes that it does not show. Adds submodules to `links`."""
    named = set(paths)
    for entry in output.decode("utf-8", "replace").split("\0"):
        meta, tab, path = entry.partition("\t")
        if not tab:
            continue
        tag, mode = meta[:1], meta[2:8]
        if mode == "160000":
            links.add(path)
        elif tag != "H":
            yield path, PathState.DIRTY
            continue
        for holder in _with_parents(path):
            if holder in named:
                yield holder, PathState.TRACKED


def _is_empty(root: Path, path: str, states: Mapping[str, PathState]) -> bool:
    """Decides whether git does not report a directory because it contains no file."""
    if ".git" in path.split("/") or any(parent in states for parent in _with_parents(path)):
        return False
    start = root / path
    if start.is_symlink() or not start.is_dir():
        return False
    for directory, names, files in os.walk(start):
        if Path(directory) == root and ".git" in names:
            names.remove(".git")
        if files:
            return False
    return True


def _with_parents(path: str) -> Iterable[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield "."


def _default_branch(root: Path) -> str | None:
    try:
        head = (root / ".git" / "refs" / "remotes" / "origin" / "HEAD").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    prefix = "ref: refs/remotes/origin/"
    return head[len(prefix) :].strip() if head.startswith(prefix) else None


@cache
def _git() -> str | None:
    """Returns the absolute path of git. A relative entry of PATH could find a program of the work tree."""
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if directory.startswith("/") and os.access(Path(directory, "git"), os.X_OK):
            return str(Path(directory, "git"))
    return None


def _environment() -> dict[str, str]:
    """Returns an environment in which git reads only the repository's settings, and neither asks nor fetches."""
    return {
        "PATH": os.defpath,
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "none",
    }


def _without_filters(root: Path, git: str) -> tuple[str, ...]:
    """Returns options that empty the filters in the repository's settings, which are programs that `git status` would
    run."""
    config = root / ".git" / "config"
    try:
        content = config.read_text("utf-8", "replace").lower() if config.is_file() else "filter"
    except OSError:
        content = "filter"
    if "filter" not in content and "include" not in content:
        return ()
    listing = (
        git,
        *_OPTIONS,
        "-C",
        str(root),
        "config",
        "--includes",
        "--name-only",
        "-z",
        "--get-regexp",
        "^filter\\.",
    )
    (names,) = outputs([listing], TIME_LIMIT)
    options: list[str] = []
    for name in dict.fromkeys((names or b"").decode("utf-8", "replace").split("\0")):
        if name:
            options += ["-c", f"{name}={'false' if name.endswith('.required') else ''}"]
    return tuple(options)


def outputs(commands: Sequence[Sequence[str]], time_limit: float) -> list[bytes | None]:
    """Runs commands in parallel and returns their output; None for one that fails, takes too long or prints too
    much."""
    deadline = time.monotonic() + time_limit
    processes = [
        subprocess.Popen(  # noqa: S603 (git by an absolute path, with our own options)
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,
        )
        for command in commands
    ]
    collected = [bytearray() for _ in processes]
    with selectors.DefaultSelector() as selector:
        for number, process in enumerate(processes):
            selector.register(process.stdout, selectors.EVENT_READ, number)  # type: ignore[arg-type]
        while selector.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, 1 << 16)
                collected[key.data] += chunk
                if not chunk or len(collected[key.data]) > MOST_OUTPUT:
                    selector.unregister(key.fileobj)
        unfinished = {key.data for key in selector.get_map().values()}
    outputs: list[bytes | None] = []
    for number, process in enumerate(processes):
        if number in unfinished or len(collected[number]) > MOST_OUTPUT:
            process.kill()
        process.stdout.close()  # type: ignore[union-attr]
        try:
            code = process.wait(max(0.05, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        outputs.append(bytes(collected[number]) if code == 0 else None)
    return outputs
