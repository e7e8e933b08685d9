"""Here belongs what our own code finds out about the working copy before an action runs: its root, its branch, what
version control knows of the paths that the action names, and links that leave it."""

from __future__ import annotations

import glob
import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from guardrail.facts import PathState, parse_context

MOST_PATHS = 200
"""Paths of an action that are looked up; an action that names more is judged without their states."""
MOST_STATES = 3_000
MOST_OUTPUT = 8 * 1024 * 1024
MOST_ENTRIES = 3_000
"""Entries of a directory tree that are looked at for a repository inside of it."""
TIME_LIMIT = 2.0
LONGEST_PATH = 1_024

_SYSTEMS = {"darwin": "macos", "win32": "windows"}
_GLOB = frozenset("*?[")
_UNRESOLVED = frozenset("$`<>|")
"""What a shell still replaces: nobody knows here which path that will be."""
_PLAIN = re.compile(r"[\w./@%+=:,*?\[\] ~-]*\Z")
"""Names that mean the same to each shell. Of others it is not said that they are missing."""
_FOUND = "[found]"
"""Stands in a name for what a search or a pipe brings."""
_UNKNOWN = "\0"
_BRACES = re.compile(r"\{([^{}]{0,400},[^{}]{0,400})\}")
_WHOLE_TREE = ("git reset", "git checkout", "git switch", "git stash")
"""What these throw away lies anywhere in the work tree, whatever the directory that they run in."""
_OPTIONS = (
    *("--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false", "-c", "core.ignoreStat=false", "-c", "core.checkStat=default"),
    *("-c", "core.quotePath=false", "-c", "submodule.recurse=false", "-c", "status.renames=false"),
)
_FIRST = {PathState.DIRTY: 0, PathState.UNTRACKED: 1, PathState.MISSING: 2, PathState.IGNORED: 3, PathState.TRACKED: 4}


@dataclass(frozen=True, slots=True)
class Named:
    """A path as an effect names it, what says so, and whether it would be changed. `directories` are those that the
    action may have changed to before, relative to its first one; None for one that nobody knows."""

    text: str
    source: str = ""
    changed: bool = True
    directories: tuple[str | None, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Leaving:
    """A path that is in the workspace by its name and elsewhere by a link."""

    path: str
    real: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """A context with facts of the working copy, and the named paths that leave it."""

    context: Mapping[str, Any]
    leaving: tuple[Leaving, ...] = ()


def surroundings(cwd: str, home: str | None, root: str | None = None) -> dict[str, Any]:
    """Returns what is known without asking version control: directory, home, system, and the root of the workspace."""
    repository = _repository(Path(cwd), home)
    found = repository or (Path(root) if root and _is_workspace(Path(root), home) else None)
    workspace: dict[str, Any] = {"is_repository": repository is not None}
    if found is None and _is_workspace(Path(cwd), home):
        found = Path(cwd)
    if found is not None:
        workspace["root"] = str(found)
    context: dict[str, Any] = {"cwd": cwd, "os": _SYSTEMS.get(sys.platform, "linux"), "workspace": workspace}
    return context | ({"home": home} if home else {})


def _repository(cwd: Path, home: str | None) -> Path | None:
    for directory in (cwd, *cwd.parents):
        if (directory / ".git").exists():
            # A home directory under version control is no workspace: what lies in it is more than the work.
            return directory if _is_workspace(directory, home) else None
    return None


def _is_workspace(directory: Path, home: str | None) -> bool:
    return directory != Path(directory.anchor) and (home is None or not Path(home).is_relative_to(directory))


def gather(context: Mapping[str, Any], named: Sequence[Named], time_limit: float = TIME_LIMIT) -> Gathered:
    """The context with the branch and the states of the named paths. What can't be found out in time stays unknown,
    which never makes an action safer."""
    workspace = dict(context["workspace"])
    if "root" not in workspace:
        return Gathered(context)
    root = Path(workspace["root"])
    facts, _ = parse_context(context)
    wanted = [name for name in named if _is_path(name.text)]
    meant: dict[str, list[str]] = {}
    for name in wanted:
        key = facts.normal_path(name.text)
        for directory in name.directories:
            path = facts.normal_path(_located(name.text, directory)) if directory is not None else ".."
            expanded = _expanded(root, path) if _is_inside(path) else None
            # A name of which one meaning is unknown gets no state, which is the careful answer.
            meant.setdefault(key, []).extend([_UNKNOWN] if expanded is None else expanded)
    meant = {key: paths for key, paths in meant.items() if _UNKNOWN not in paths}
    inside = list(dict.fromkeys(path for expanded in meant.values() for path in expanded))
    leaving = tuple(leaves for path in inside if (leaves := _leaving(root, path)) is not None)
    if len(inside) > MOST_PATHS:
        meant, inside = {}, []
    states = {path: PathState.MISSING for path in inside if _PLAIN.match(path) and not os.path.lexists(root / path)}
    if workspace["is_repository"] and any(name.changed for name in named):
        resets = any(name.text == "." and name.source.startswith(_WHOLE_TREE) for name in wanted)
        whole = [key for key in meant if key == facts.normal_path(".")] if resets else []
        # Git refuses paths beyond a link, and would then say nothing of the others.
        beyond = {leaves.path for leaves in leaving}
        known = [path for path in inside if path not in beyond]
        answers = _ask_git(root, [*known, "."] if whole else known, time_limit)
        if answers.branch:
            workspace["branch"] = answers.branch
        for path, state in answers.states.items():
            if path not in states or state is not PathState.TRACKED:
                states[path] = state
        if PathState.DIRTY in answers.states.values():
            states |= dict.fromkeys(whole, PathState.DIRTY)
        states |= {path: PathState.DIRTY for path in inside if _holds_repository(root, path)}
    spelled: dict[str, PathState | None] = {}
    for key, paths in meant.items():
        # A name is as careful as the worst of what it stands for, and missing if it stands for nothing.
        if paths != [key] and (paths or _PLAIN.match(key)):
            spelled[key] = _worst(paths, states)
    for key, worst in spelled.items():
        if worst is None:
            states.pop(key, None)
        else:
            states[key] = worst
    ordered = sorted(states.items(), key=lambda item: _FIRST[item[1]])[:MOST_STATES]
    workspace["paths"] = {path: str(state) for path, state in ordered}
    return Gathered({**context, "workspace": workspace}, leaving)


def _is_inside(path: str) -> bool:
    return not path.startswith(("/", "../", "~")) and path != ".."


def _located(text: str, directory: str) -> str:
    """A name in a directory that the action changed to. One that begins with the directory is located already."""
    if not directory or text.startswith(("/", "~")) or f"{text}/".startswith(f"{directory.rstrip('/')}/"):
        return text
    return f"{directory.rstrip('/')}/{text}"


def _is_path(text: str) -> bool:
    """Decides whether a name can be a path of which it is known which one it is."""
    return (
        bool(text)
        and len(text) <= LONGEST_PATH
        and "\0" not in text
        and "://" not in text
        and _UNRESOLVED.isdisjoint(text)
        and _FOUND not in text
    )


def _expanded(root: Path, path: str) -> list[str] | None:
    """The paths that a name with braces or a pattern stands for; None if they are too many to tell."""
    spelled = list(islice(_without_braces(path), MOST_PATHS + 1))
    found: list[str] = []
    for one in spelled:
        if _has_glob(one) and not os.path.lexists(root / one):
            # As in a shell, * leaves out hidden files, which that of pathlib does not.
            found += islice(glob.iglob(one, root_dir=root), MOST_PATHS + 1)  # noqa: PTH207
        else:
            found.append(one)
        if len(found) > MOST_PATHS:
            return None
    return [path.rstrip("/") for path in found]


def _without_braces(path: str) -> Iterator[str]:
    match = _BRACES.search(path)
    if match is None:
        yield path
        return
    for part in match[1].split(","):
        yield from _without_braces(path[: match.start()] + part + path[match.end() :])


def _worst(paths: Sequence[str], states: Mapping[str, PathState]) -> PathState | None:
    """The state that most is lost of; None for paths of which one is unknown. Nothing at all is missing."""
    found: list[PathState] = []
    for path in paths:
        within = [state for known, state in states.items() if known == path or known.startswith(f"{path}/")]
        if not within:
            return None
        found += within
    return min(found, key=_FIRST.__getitem__) if found else PathState.MISSING


def _has_glob(path: str) -> bool:
    return not _GLOB.isdisjoint(path)


def _leaving(root: Path, path: str) -> Leaving | None:
    """Where a path leads that leaves the workspace through a link: a directory on its way, or what it names itself."""
    real, real_root = os.path.realpath(root / path), os.path.realpath(root)
    is_inside = real == real_root or real.startswith(real_root.rstrip("/") + "/")
    return None if is_inside else Leaving(path, real)


def _holds_repository(root: Path, path: str) -> bool:
    """Whether another repository lies at or below a path: its commits may exist nowhere else. Directories that tools
    make again are not searched."""
    if path == ".":
        return False
    start, seen = root / path, 0
    if start.is_symlink() or not start.is_dir():
        return False
    for _, names, files in os.walk(start):
        if ".git" in names or ".git" in files:
            return True
        seen += len(names) + len(files)
        if seen > MOST_ENTRIES:
            return False
        names[:] = [name for name in names if name not in _MADE_AGAIN]
    return False


_MADE_AGAIN = frozenset(("node_modules", "__pycache__", ".venv", "venv", "target", "dist", "build", ".tox"))


# --- git ---


@dataclass(frozen=True, slots=True)
class _Answers:
    branch: Mapping[str, Any]
    states: Mapping[str, PathState]


def _ask_git(root: Path, paths: Sequence[str], time_limit: float) -> _Answers:
    git = _git()
    if git is None:
        return _Answers({}, {})
    common = (git, *_OPTIONS, *_without_filters(root, git), "-C", str(root))
    specs = [_spec(path) for path in paths]
    status = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=all")
    commands = [
        (*common, *status, "--ignored=matching" if paths else "--ignored=no", "--", *(specs or [":(top,literal).git"])),
        (*common, "rev-list", "--count", "--max-count=1000", "HEAD", "--not", "--remotes"),
    ]
    if paths:
        commands.append((*common, "ls-files", "-z", "-v", "--stage", "--", *specs))
    shown, ahead, *listed = _outputs(commands, time_limit)
    if shown is None:
        return _Answers({}, {})
    branch, states = _status(shown)
    if ahead is not None and ahead.strip().isdigit():
        branch["ahead"] = int(ahead)
        branch["pushed"] = int(ahead) == 0
    default = _default_branch(root)
    if default is not None and "name" in branch:
        branch["default"] = branch["name"] == default
    if listed and listed[0] is not None:
        for path, state in _listed(listed[0], paths):
            states.setdefault(path, state)
        for path in paths:
            if _is_empty(root, path, states):
                states[path] = PathState.TRACKED
    return _Answers(branch, states)


def _spec(path: str) -> str:
    return ":(top)" if path == "." else f":(top,literal){path}"


def _status(output: bytes) -> tuple[dict[str, Any], dict[str, PathState]]:
    branch: dict[str, Any] = {}
    states: dict[str, PathState] = {}
    records = iter(output.decode("utf-8", "replace").split("\0"))
    for record in records:
        kind, _, rest = record.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            if name == "branch.head" and value != "(detached)":
                branch["name"] = value
        elif kind in ("1", "u"):
            states[rest.split(" ", 7 if kind == "1" else 9)[-1]] = PathState.DIRTY
        elif kind == "2":
            states[rest.split(" ", 8)[-1]] = PathState.DIRTY
            states[next(records, "")] = PathState.DIRTY
        elif kind == "?":
            states[rest.rstrip("/")] = PathState.UNTRACKED
        elif kind == "!":
            states[rest.rstrip("/")] = PathState.IGNORED
    return branch, states


def _listed(output: bytes, paths: Sequence[str]) -> Iterable[tuple[str, PathState]]:
    """Tracked files as states of the named paths that hold them. What git was told not to look at, and other
    repositories inside of this one, may have changes that no status shows."""
    named = set(paths)
    for record in output.decode("utf-8", "replace").split("\0"):
        meta, tab, path = record.partition("\t")
        if not tab:
            continue
        tag, mode = meta[:1], meta[2:8]
        if tag != "H" or mode == "160000":
            yield path, PathState.DIRTY
            continue
        for holder in _with_parents(path):
            if holder in named:
                yield holder, PathState.TRACKED


def _is_empty(root: Path, path: str, states: Mapping[str, PathState]) -> bool:
    """Decides whether git has nothing to say of a directory because it holds no file."""
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
    """Git by an absolute path. Relative entries of PATH would find what the work tree brings."""
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if directory.startswith("/") and os.access(Path(directory, "git"), os.X_OK):
            return str(Path(directory, "git"))
    return None


def _environment() -> dict[str, str]:
    """An environment in which git takes its settings from the repository alone, and asks and fetches nothing."""
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
    """Options that empty the filters of the repository's settings, which are programs that `git status` would run."""
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
    (names,) = _outputs([listing], TIME_LIMIT)
    options: list[str] = []
    for name in dict.fromkeys((names or b"").decode("utf-8", "replace").split("\0")):
        if name:
            options += ["-c", f"{name}={'false' if name.endswith('.required') else ''}"]
    return tuple(options)


def _outputs(commands: Sequence[Sequence[str]], time_limit: float) -> list[bytes | None]:
    """Returns what commands print that run side by side; None for one that fails, takes too long or prints too much."""
    deadline = time.monotonic() + time_limit
    processes = [
        subprocess.Popen(  # noqa: S603 (git by an absolute path, with options of ours)
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
