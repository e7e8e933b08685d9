"""Gathers facts about the working copy before an action runs: its root and branch, the states of the paths and commits
that the action names, and links that lead out of it."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from guardrail.facts import CommitState, Facts, PathState, parse_context
from guardrail.hooks.commits import commit_states, is_refused
from guardrail.hooks.git import TIME_LIMIT, Answers, answers_of, git_command, has_work, outputs
from guardrail.hooks.names import (
    MOST_ENTRIES,
    MOST_PATHS,
    OUTSIDE,
    PLAIN,
    Leaving,
    Named,
    files_below,
    is_inside,
    is_path,
    leaving_of,
    located_in,
    means_link,
    owner_of,
    paths_by_name,
    paths_reached,
)
from guardrail.paths.rebuilding import is_made_again
from guardrail.record import record

MOST_STATES = 3_000
MOST_REPOSITORIES = 4
"""Maximum number of repositories that are queried, in addition to that of the workspace."""
_SYSTEMS = {"darwin": "macos", "win32": "windows"}
_FIRST = {
    state: rank
    for rank, state in enumerate(
        (
            *(PathState.DIRTY, PathState.STAGED, PathState.UNTRACKED, PathState.IGNORED_WORK),
            *(PathState.MISSING, PathState.IGNORED, PathState.TRACKED),
        )
    )
}


@record
class Gathered:
    """A context with facts of the working copy, and the named paths that lead out of it."""

    context: Mapping[str, Any]
    leaving: tuple[Leaving, ...] = ()


def surroundings(cwd: str, home: str | None, root: str | None = None) -> dict[str, Any]:
    """Returns the facts that need no version control: directory, home, system, and the root of the workspace."""
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
            # A home directory under version control is not a workspace: it contains more than the work.
            return directory if _is_workspace(directory, home) else None
    return None


def _is_workspace(directory: Path, home: str | None) -> bool:
    return directory != Path(directory.anchor) and (home is None or not Path(home).is_relative_to(directory))


def gather(context: Mapping[str, Any], named: Sequence[Named], time_limit: float = TIME_LIMIT) -> Gathered:
    """Adds to the context the branch and the states of the named paths and commits. A state that can't be found in time
    stays unknown, which never makes an action safer."""
    workspace = dict(context["workspace"])
    if "root" not in workspace:
        return Gathered(context)
    root = Path(workspace["root"])
    facts, _ = parse_context(context)
    meant = paths_by_name(root, facts, [name for name in named if not name.commits and is_path(name)])
    if workspace["is_repository"] and is_refused(root, named, time_limit):
        workspace["paths"] = dict.fromkeys(meant, str(PathState.MISSING))
        workspace["commits"] = {name.text: str(CommitState.MISSING) for name in named if name.commits}
        return Gathered({**context, "workspace": workspace})
    paths = list(dict.fromkeys(path for expanded in meant.values() for path in expanded))
    of_links = [name for name in named if means_link(name)]
    links = {path for path in paths_reached(facts, meant, of_links) if (root / path).is_symlink()}
    # Deleting a link leaves its target alone.
    inside = [path for path in paths if is_inside(path)]
    leaving = tuple(leaves for path in inside if (leaves := leaving_of(root, path, path in links)) is not None)
    if len(paths) > MOST_PATHS:
        meant, paths = {}, []
    states = {path: PathState.MISSING for path in paths if PLAIN.match(path) and not os.path.lexists(root / path)}
    if any(name.changed for name in named):
        whole = paths_reached(facts, meant, [name for name in named if name.whole])
        deleted = paths_reached(facts, meant, [name for name in named if name.gone])
        # Git removes tracked files and leaves other repositories in the directory.
        emptied = paths_reached(facts, meant, [name for name in named if name.gone and name.source != "git rm"])
        # Git refuses paths beyond a link, and would then report no other path either.
        beyond = {leaves.path for leaves in leaving if not (root / leaves.path).is_symlink()}
        for owner, own in _by_repository(root, [path for path in paths if path not in beyond], deleted).items():
            answers = answers_of(root / owner, own, time_limit) if _is_asked(root, owner, workspace) else _no_git(own)
            if owner == "" and answers.branch:
                workspace["branch"] = answers.branch
            for path, state in answers.states.items():
                located = _under(owner, path)
                if located not in states or state is not PathState.TRACKED:
                    states[located] = state
            cleaned = [name for name in named if name.source == "git clean" and owner == ""]
            for path, state in _cleaned(root, facts, meant, cleaned, time_limit):
                states[path] = state
                if state is PathState.MISSING and len({name.words for name in named if name.changed}) == 1:
                    for known in [known for known in states if _is_below(known, path)]:
                        del states[known]
            for path in whole.intersection(_under(owner, path) for path in own):
                if answers.changed:
                    states[path] = PathState.DIRTY
            reached = [link for link in answers.links if _is_reached(owner, link, deleted)]
            lost = [link for link in reached if has_work(root / owner / link, time_limit)]
            states |= {_under(owner, link): PathState.DIRTY for link in lost}
        states |= {path: PathState.DIRTY for path in emptied if _loses_repository(root, path, time_limit)}
        if workspace["is_repository"]:
            commits = commit_states(
                root, workspace.get("branch", {}), [name for name in named if name.commits], time_limit
            )
            if commits:
                workspace["commits"] = {name: str(state) for name, state in commits.items()}
    spelled: dict[str, PathState | None] = {}
    for key, spots in meant.items():
        # A name has the worst state of the paths that it stands for, and is missing if it stands for none.
        if spots != [key] and (spots or PLAIN.match(key)):
            spelled[key] = _worst(spots, states)
    for key, worst in spelled.items():
        if worst is None:
            states.pop(key, None)
        else:
            states[key] = worst
    ordered = sorted(states.items(), key=lambda item: _FIRST[item[1]])[:MOST_STATES]
    workspace["paths"] = {path: str(state) for path, state in ordered}
    return Gathered({**context, "workspace": workspace}, leaving)


def _by_repository(root: Path, paths: Sequence[str], deleted: set[str]) -> dict[str, list[str]]:
    """Groups paths by the directory of their repository, relative to the root if it is inside. A deleted repository
    belongs to the repository around it."""
    found: dict[str, list[str]] = {"": []}
    for path in paths:
        owner = owner_of(root, path, is_itself=path not in deleted)
        if owner is None:
            continue
        own = path if not owner else posixpath.relpath(path, owner)
        found.setdefault(owner, []).append(own)
    return found if len(found) <= MOST_REPOSITORIES else {"": found[""]}


def _is_asked(root: Path, owner: str, workspace: Mapping[str, Any]) -> bool:
    return owner != OUTSIDE and (owner != "" or bool(workspace["is_repository"]))


def _no_git(paths: Sequence[str]) -> Answers:
    """Returns the states of paths outside any repository. A file there exists nowhere else."""
    outside = {f"/{path}" for path in paths if not path.startswith("/") and os.path.lexists(f"/{path}")}
    return Answers({}, dict.fromkeys(outside, PathState.UNTRACKED))


def _under(owner: str, path: str) -> str:
    if owner in ("", OUTSIDE):
        return path
    return owner if path == "." else posixpath.join(owner, path)


def _is_reached(owner: str, link: str, deleted: set[str]) -> bool:
    """Decides whether deleting these paths deletes a submodule. A reset leaves the files of submodules alone."""
    located = _under(owner, link)
    return any(path == "." or located == path or located.startswith(f"{path}/") for path in deleted)


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(f"{directory}/") or (directory == "." and path != "." and is_inside(path))


def _worst(paths: Sequence[str], states: Mapping[str, PathState]) -> PathState | None:
    """Returns the state with the greatest loss; None if the state of one path is unknown. No path at all counts as
    missing."""
    found: list[PathState] = []
    for path in paths:
        start = "" if path == "." else f"{path}/"
        within = [state for known, state in states.items() if known == path or known.startswith(start)]
        if not within:
            return None
        found += within
    return min(found, key=_FIRST.__getitem__) if found else PathState.MISSING


def _loses_repository(root: Path, path: str, time_limit: float) -> bool:
    """Decides whether a path contains another repository with work that exists nowhere else: one without a remote, or
    with commits or changes that no remote has. Directories that tools can rebuild are not searched."""
    if path == ".":
        return False
    start, seen = root / path, 0
    if start.is_symlink() or not start.is_dir():
        return False
    found: list[Path] = []
    for directory, names, files in os.walk(start):
        if ".git" in names or ".git" in files:
            found.append(Path(directory))
            names[:] = [name for name in names if name != ".git"]
        seen += len(names) + len(files)
        if seen > MOST_ENTRIES:
            break
        names[:] = [name for name in names if name not in _MADE_AGAIN]
    return len(found) > MOST_REPOSITORIES or any(has_work(repository, time_limit) for repository in found)


_MADE_AGAIN = frozenset(("node_modules", "__pycache__", ".venv", "venv", "target", "dist", "build", ".tox"))


def _cleaned(
    root: Path, facts: Facts, meant: Mapping[str, Sequence[str]], named: Sequence[Named], time_limit: float
) -> Iterator[tuple[str, PathState]]:
    """Asks git what it would clean. A name is missing if nothing would be lost; a repository whose work would be lost
    counts as work."""
    common = git_command(root)
    for name in named:
        directory = name.directories[0] if len(name.directories) == 1 else None
        flags = [word for word in name.words[1:] if word.startswith("-")]
        if common is None or directory is None or not all(_CLEANING_FLAG.match(flag) for flag in flags):
            continue
        place = facts.normal_path(directory or ".")
        paths = meant.get(facts.normal_path(located_in(name.text, directory)), ())
        specs = [posixpath.relpath(path, place) for path in paths]
        if not specs or not (root / place).is_dir():
            continue
        (shown,) = outputs([(*common, "-C", place, "clean", "-n", *flags, "--", *specs)], time_limit)
        if shown is None:
            continue
        takes_ignored = any("x" in flag.lower() for flag in flags)
        lines = shown.decode("utf-8", "replace").splitlines()
        shown_paths = [line.removeprefix(_REMOVES).rstrip("/") for line in lines if line.startswith(_REMOVES)]
        located = [posixpath.normpath(posixpath.join(place, path)) for path in shown_paths]
        goes = [path for path in located if files_below(root / path) != []]
        lost = [path for path in goes if _loses_repository(root, path, time_limit)]
        yield from ((path, PathState.IGNORED_WORK if takes_ignored else PathState.UNTRACKED) for path in lost)
        if not lost and not any(not takes_ignored or not is_made_again(path) for path in goes):
            yield from ((path, PathState.MISSING) for path in paths)


_REMOVES = "Would remove "
_CLEANING_FLAG = re.compile(r"-[dfxXq]+\Z|--force\Z|--quiet\Z")
