"""Here belongs what our own code finds out about the working copy before an action runs: its root, its branch, what
version control knows of the paths that the action names, and links that leave it."""

from __future__ import annotations

import fnmatch
import glob
import os
import posixpath
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from guardrail.circumstances import MAIN_BRANCHES
from guardrail.facts import CommitState, Facts, PathState, parse_context
from guardrail.paths import is_made_again

MOST_PATHS = 200
"""Paths of an action that are looked up; an action that names more is judged without their states."""
MOST_STATES = 3_000
MOST_OUTPUT = 8 * 1024 * 1024
MOST_REPOSITORIES = 4
"""Repositories that are asked, beside that of the workspace."""
MOST_COMMITS = 8
"""Names of branches and stashes that are looked up."""
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
_ONLY_EMPTY = ("rmdir",)
"""Programs that delete a directory only if nothing lies in it."""
_FOUND = "[found]"
"""Stands in a name for what a search or a pipe brings."""
_UNKNOWN = "\0"
_BRACES = re.compile(r"\{([^{}]{0,400},[^{}]{0,400})\}")
_OPTIONS = (
    *("--no-optional-locks", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=false", "-c", "core.ignoreStat=false", "-c", "core.checkStat=default"),
    *("-c", "core.quotePath=false", "-c", "submodule.recurse=false", "-c", "status.renames=false"),
)
_FIRST = {
    state: rank
    for rank, state in enumerate(
        (
            *(PathState.DIRTY, PathState.STAGED, PathState.UNTRACKED, PathState.IGNORED_WORK),
            *(PathState.MISSING, PathState.IGNORED, PathState.TRACKED),
        )
    )
}


@dataclass(frozen=True, slots=True)
class Named:
    """A path, branch or stash as an effect names it, what says so, and whether it would be changed. `directories` are
    those that the action may have changed to before, relative to its first one; None for one that nobody knows.
    `copied` are the paths that the same call puts there, `words` are the call's own, `whole` says that all that lies
    in the work tree is meant, `commits` that it is no path but what stands for commits, `gone` that what is named is
    deleted, `searched` that a search names it, which also finds what lies deeper, `listed` that what it
    finds surely lies in the work tree, `listing` are the paths that a listing is of, or its
    words from `ls-files` on, `after_stash` that the action stashes changes before, if there are any."""

    text: str
    source: str = ""
    changed: bool = True
    directories: tuple[str | None, ...] = ("",)
    copied: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    whole: bool = False
    commits: bool = False
    gone: bool = False
    searched: bool = False
    listed: bool = False
    listing: tuple[str, ...] = ()
    after_stash: bool = False


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
    """The context with the branch, the states of the named paths, and what becomes of named commits. What can't be
    found out in time stays unknown, which never makes an action safer."""
    workspace = dict(context["workspace"])
    if "root" not in workspace:
        return Gathered(context)
    root = Path(workspace["root"])
    facts, _ = parse_context(context)
    meant = _meant(root, facts, [name for name in named if not name.commits and _is_path(name)])
    if workspace["is_repository"] and _is_refused(root, named, time_limit):
        workspace["paths"] = dict.fromkeys(meant, str(PathState.MISSING))
        workspace["commits"] = {name.text: str(CommitState.MISSING) for name in named if name.commits}
        return Gathered({**context, "workspace": workspace})
    paths = list(dict.fromkeys(path for expanded in meant.values() for path in expanded))
    of_links = [name for name in named if _means_link(name)]
    links = {path for path in _reached(facts, meant, of_links) if (root / path).is_symlink()}
    # What deletes a link leaves alone what it leads to.
    inside = [path for path in paths if _is_inside(path)]
    leaving = tuple(leaves for path in inside if (leaves := _leaving(root, path, path in links)) is not None)
    if len(paths) > MOST_PATHS:
        meant, paths = {}, []
    states = {path: PathState.MISSING for path in paths if _PLAIN.match(path) and not os.path.lexists(root / path)}
    if any(name.changed for name in named):
        whole = _reached(facts, meant, [name for name in named if name.whole])
        deleted = _reached(facts, meant, [name for name in named if name.gone])
        # Git removes what it tracks, and leaves other repositories that lie there.
        emptied = _reached(facts, meant, [name for name in named if name.gone and name.source != "git rm"])
        # Git refuses paths beyond a link, and would then say nothing of the others.
        beyond = {leaves.path for leaves in leaving if not (root / leaves.path).is_symlink()}
        for owner, own in _by_repository(root, [path for path in paths if path not in beyond], deleted).items():
            answers = _ask_git(root / owner, own, time_limit) if _is_asked(root, owner, workspace) else _no_git(own)
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
            lost = [link for link in reached if _has_work(root / owner / link, time_limit)]
            states |= {_under(owner, link): PathState.DIRTY for link in lost}
        states |= {path: PathState.DIRTY for path in emptied if _loses_repository(root, path, time_limit)}
        if workspace["is_repository"]:
            commits = _commits(root, workspace.get("branch", {}), [name for name in named if name.commits], time_limit)
            if commits:
                workspace["commits"] = {name: str(state) for name, state in commits.items()}
    spelled: dict[str, PathState | None] = {}
    for key, spots in meant.items():
        # A name is as careful as the worst of what it stands for, and missing if it stands for nothing.
        if spots != [key] and (spots or _PLAIN.match(key)):
            spelled[key] = _worst(spots, states)
    for key, worst in spelled.items():
        if worst is None:
            states.pop(key, None)
        else:
            states[key] = worst
    ordered = sorted(states.items(), key=lambda item: _FIRST[item[1]])[:MOST_STATES]
    workspace["paths"] = {path: str(state) for path, state in ordered}
    return Gathered({**context, "workspace": workspace}, leaving)


def _meant(root: Path, facts: Facts, named: Sequence[Named]) -> dict[str, list[str]]:
    """The paths that each name stands for, by the name as the context spells it. A name of which one meaning is unknown
    is left out: it gets no state, which is the careful answer."""
    meant: dict[str, list[str]] = {}
    unknown: set[str] = set()
    for name in named:
        for directory in _directories_of(root, name):
            keys = {facts.normal_path(name.text), facts.normal_path(_located(name.text, directory or ""))}
            expanded = _stands_for(root, facts, name, directory)
            if expanded is None:
                unknown |= keys
            for key in keys:
                meant.setdefault(key, []).extend(expanded or [])
    return {key: paths for key, paths in meant.items() if key not in unknown}


def _is_refused(root: Path, named: Sequence[Named], time_limit: float) -> bool:
    """Whether the action is one call of git that goes to a commit, and the work tree has none of that name."""
    calls = {(name.words, name.directories) for name in named}
    words, directories = next(iter(calls)) if len(calls) == 1 else ((), ())
    operands = [word for word in words[1:] if not word.startswith("-")]
    if directories != ("",) or len(operands) != 1 or not _NAME.match(operands[0]) or words[0] not in _TO_A_COMMIT:
        return False
    common = _common(root) if any(name.whole or name.commits for name in named) else None
    if common is None:
        return False
    verify = (*common, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{operands[0]}^{{commit}}")
    remotes = (*common, "for-each-ref", "--count=1", "--format=x", f"refs/remotes/*/{operands[0]}")
    found, remote = _outputs([verify, remotes], time_limit)
    return found is None and remote == b""


_TO_A_COMMIT = frozenset(("reset", "checkout", "switch"))


def _directories_of(root: Path, name: Named) -> Sequence[str | None]:
    if SUBMODULES not in name.directories:
        return name.directories
    try:
        settings = (root / ".gitmodules").read_text("utf-8", "replace")
    except OSError:
        return (_NOWHERE,)
    return [match[1] for match in _SUBMODULE.finditer(settings)] or (_NOWHERE,)


SUBMODULES = "[submodules]"
"""Stands for the directories of all submodules."""
_SUBMODULE = re.compile(r"(?m)^\s*path\s*=\s*(.*\S)")
_NOWHERE = "[nowhere]"


def _stands_for(root: Path, facts: Facts, name: Named, directory: str | None) -> list[str] | None:
    """The paths that a name stands for in a directory; None if nobody knows."""
    if directory is None:
        return None
    if name.source in _ONLY_EMPTY or (
        directory and not directory.startswith(("/", "~", "..")) and not _is_there(root, facts, directory)
    ):
        return []
    path = facts.normal_path(_located(name.text, directory))
    if name.text.endswith(_FOUND):
        if name.listing[:1] == ("ls-files",):
            return _listed_by_git(root, facts, directory, name.listing)
        if name.listing:
            spelled = [_expanded(root, facts.normal_path(text)) for text in name.listing]
            return None if None in spelled else [found for paths in spelled for found in paths or ()]
        path = "."
    if name.whole:
        path = _owner(root, path, is_itself=True) or "."
    if not (_is_inside(path) or name.gone):
        return None
    expanded = _expanded(root, path, name.searched)
    if (
        expanded is not None
        and name.source == "rm"
        and not name.searched
        and not any(_RECURSIVE.match(word) for word in name.words)
    ):
        expanded = [path for path in expanded if (root / path).is_symlink() or not (root / path).is_dir()]
    if expanded is not None and name.copied:
        # The end of a name says whether a directory or what lies in it is copied.
        copied = [(facts.normal_path(_located(text, directory)), text.endswith(_CONTENT)) for text in name.copied]
        expanded = _replaced(root, expanded, copied, name.words)
    if expanded is None or _means_link(name):
        return expanded
    return [_followed(root, path) for path in expanded]


_RECURSIVE = re.compile(r"-[a-zA-Z]*[rR]|--r")


def _listed_by_git(root: Path, facts: Facts, directory: str, words: Sequence[str]) -> list[str] | None:
    """The paths that `git ls-files` brings to a pipe; None if it is asked in a way that isn't known here."""
    common = _common(root)
    place = facts.normal_path(directory or ".")
    is_known = all(_LISTING_FLAG.match(word) for word in words[1:] if word.startswith("-"))
    if common is None or not is_known or not _is_inside(place) or not (root / place).is_dir():
        return None
    (listed,) = _outputs([(*common, "-C", place, *words[:1], "-z", *words[1:])], TIME_LIMIT)
    if listed is None:
        return None
    found = [
        posixpath.normpath(posixpath.join(place, path))
        for path in listed.decode("utf-8", "replace").split("\0")
        if path
    ]
    return found if len(found) <= MOST_PATHS else None


_LISTING_FLAG = re.compile(r"-[cdmoz]+\Z|--(?:cached|deleted|modified|others|exclude-standard)\Z")


def _followed(root: Path, path: str) -> str:
    """What is written through a link that leads to another place in the work tree."""
    if not (root / path).is_symlink() or _leaving(root, path, False) is not None:
        return path
    return os.path.relpath(os.path.realpath(root / path), os.path.realpath(root))


def _is_there(root: Path, facts: Facts, directory: str) -> bool:
    return (root / facts.normal_path(directory)).is_dir()


def _means_link(name: Named) -> bool:
    """Whether the link itself is meant where a name is that of a link, and not what it leads to."""
    return name.source.startswith("git ") or (name.gone and not name.text.endswith("/"))


def _reached(facts: Facts, meant: Mapping[str, Sequence[str]], named: Sequence[Named]) -> set[str]:
    return {path for name in named for path in meant.get(facts.normal_path(name.text), ())}


def _replaced(
    root: Path, destinations: Sequence[str], copied: Sequence[tuple[str, bool]], words: Sequence[str]
) -> list[str] | None:
    """The files that are written over when paths are copied or moved to a destination; None if they can't be told."""
    found: list[str] = []
    for destination in destinations:
        if not (root / destination).is_dir():
            found += [destination] if destination not in (text for text, _ in copied) else []
            continue
        for text, is_content in copied:
            if not _is_path(text) or (sources := _expanded(root, text)) is None:
                return None
            for source in sources:
                base = (
                    destination
                    if is_content or not _TO_A_NAME.isdisjoint(words)
                    else posixpath.join(destination, posixpath.basename(source.rstrip("/")))
                )
                files = _files_below(root / source)
                if files is None:
                    return None
                placed = [posixpath.normpath(posixpath.join(base, file)) for file in files]
                found += [path for path in placed if path != source]
    return list(dict.fromkeys(path for path in found if os.path.lexists(root / path)))


_CONTENT = ("/.", "/")
"""How a directory ends of which the content is copied: `cp -r src/. to`, `rsync src/ to`."""
_TO_A_NAME = frozenset(("-T", "--no-target-directory", "-rT", "-aT", "-fT", "-rfT"))


def _files_below(start: Path) -> list[str] | None:
    """The files of a directory by their path in it, the empty path for what is a file itself; None if they are many."""
    if start.is_symlink() or not start.is_dir():
        return [""]
    found: list[str] = []
    for directory, _, files in os.walk(start):
        found += [os.path.relpath(Path(directory, file), start) for file in files]
        if len(found) > MOST_PATHS:
            return None
    return found


def _by_repository(root: Path, paths: Sequence[str], deleted: set[str]) -> dict[str, list[str]]:
    """Paths by the directory of the repository that holds them, both relative to the root where they lie in it. A
    deleted directory belongs to what holds it, all else to the repository that it is itself."""
    found: dict[str, list[str]] = {"": []}
    for path in paths:
        owner = _owner(root, path, is_itself=path not in deleted)
        if owner is None:
            continue
        own = path if not owner else posixpath.relpath(path, owner)
        found.setdefault(owner, []).append(own)
    return found if len(found) <= MOST_REPOSITORIES else {"": found[""]}


def _owner(root: Path, path: str, *, is_itself: bool) -> str | None:
    """The nearest directory above a path that is a repository; empty for the root, None outside of any."""
    outermost = "" if _is_inside(path) else None
    directory = path if is_itself else posixpath.dirname(path)
    while directory not in ("", ".", "/"):
        if os.path.lexists(root / directory / ".git"):
            return directory
        directory = posixpath.dirname(directory)
    return outermost if outermost is not None else _OUTSIDE


_OUTSIDE = "/"
"""Stands for what lies in no repository at all."""


def _is_asked(root: Path, owner: str, workspace: Mapping[str, Any]) -> bool:
    return owner != _OUTSIDE and (owner != "" or bool(workspace["is_repository"]))


def _no_git(paths: Sequence[str]) -> _Answers:
    """The states of paths that no version control knows: what is there stands nowhere else."""
    outside = {f"/{path}" for path in paths if not path.startswith("/") and os.path.lexists(f"/{path}")}
    return _Answers({}, dict.fromkeys(outside, PathState.UNTRACKED))


def _under(owner: str, path: str) -> str:
    if owner in ("", _OUTSIDE):
        return path
    return owner if path == "." else posixpath.join(owner, path)


def _is_reached(owner: str, link: str, deleted: set[str]) -> bool:
    """Whether a submodule goes with what is deleted; resets leave alone what lies in it."""
    located = _under(owner, link)
    return any(path == "." or located == path or located.startswith(f"{path}/") for path in deleted)


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(f"{directory}/") or (directory == "." and path != "." and _is_inside(path))


def _is_inside(path: str) -> bool:
    return not path.startswith(("/", "../", "~")) and path != ".."


def _located(text: str, directory: str) -> str:
    """A name in a directory that the action changed to. One that begins with the directory is located already."""
    if not directory or text.startswith(("/", "~")) or f"{text}/".startswith(f"{directory.rstrip('/')}/"):
        return text
    return f"{directory.rstrip('/')}/{text}"


def _is_path(name: Named | str) -> bool:
    """Decides whether a name can be a path of which it is known which one it is."""
    text = name if isinstance(name, str) else name.text
    if isinstance(name, Named) and name.listed:
        text = text.replace(_FOUND, "")
    return (
        bool(text)
        and len(text) <= LONGEST_PATH
        and "\0" not in text
        and "://" not in text
        and _UNRESOLVED.isdisjoint(text)
        and _FOUND not in text
    )


def _expanded(root: Path, path: str, searched: bool = False) -> list[str] | None:
    """The paths that a name with braces or a pattern stands for; None if they are too many to tell."""
    directory, _, name = path.rpartition("/")
    if searched and name == "*" and not _has_glob(directory):
        return [directory or "."]
    if searched and _has_glob(name) and not _has_glob(directory):
        return _found_below(root, directory, name)
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


def _found_below(root: Path, directory: str, pattern: str) -> list[str]:
    """The paths below a directory that a search finds, or the directory itself if those are many."""
    fits = re.compile(fnmatch.translate(pattern)).match
    found: list[str] = []
    seen = 0
    for place, names, files in os.walk(root / directory):
        names[:] = [name for name in names if name != ".git"]
        seen += len(names) + len(files)
        here = posixpath.normpath(posixpath.join(directory, os.path.relpath(place, root / directory)))
        found += [posixpath.normpath(posixpath.join(here, name)) for name in (*names, *files) if fits(name)]
        if len(found) > MOST_PATHS // 2 or seen > MOST_ENTRIES:
            return [directory or "."]
    return found


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
        start = "" if path == "." else f"{path}/"
        within = [state for known, state in states.items() if known == path or known.startswith(start)]
        if not within:
            return None
        found += within
    return min(found, key=_FIRST.__getitem__) if found else PathState.MISSING


def _has_glob(path: str) -> bool:
    return not _GLOB.isdisjoint(path)


def _leaving(root: Path, path: str, is_link_itself: bool) -> Leaving | None:
    """Where a path leads that leaves the workspace through a link: a directory on its way, or what it names itself."""
    named = Path(os.path.realpath((root / path).parent), posixpath.basename(path)) if is_link_itself else None
    real, real_root = str(named or os.path.realpath(root / path)), os.path.realpath(root)
    is_inside = real == real_root or real.startswith(real_root.rstrip("/") + "/")
    return None if is_inside else Leaving(path, real)


def _loses_repository(root: Path, path: str, time_limit: float) -> bool:
    """Whether another repository lies at or below a path and holds what exists nowhere else: it has no remote, or
    commits or changes that are on none. Directories that tools make again are not searched."""
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
    return len(found) > MOST_REPOSITORIES or any(_has_work(repository, time_limit) for repository in found)


def _has_work(repository: Path, time_limit: float) -> bool:
    if not (repository / ".git").exists():
        return False
    common = _common(repository)
    if common is None:
        return True
    status = (*common, "status", "--porcelain", "-z", "--untracked-files=normal", "--ignored=matching")
    commits = (*common, "rev-list", "--max-count=1", "--all", "--not", "--remotes")
    # The commits of a linked work tree stay in the repository that it belongs to.
    is_linked = (repository / ".git").is_file()
    shown, unpushed = _outputs([status, commits], time_limit)
    if shown is None or unpushed is None or (unpushed.strip() and not is_linked):
        return True
    entries = [entry for entry in shown.decode("utf-8", "replace").split("\0") if entry]
    if not is_linked and not entries and not unpushed.strip():
        (remotes,) = _outputs([(*common, "remote")], time_limit)
        return not (remotes or b"").strip()
    return any(not entry.startswith("!!") or _is_work(entry[3:].rstrip("/")) for entry in entries)


_MADE_AGAIN = frozenset(("node_modules", "__pycache__", ".venv", "venv", "target", "dist", "build", ".tox"))


# --- git ---


@dataclass(frozen=True, slots=True)
class _Answers:
    """What git says of a repository. `changed` are tracked files that are not as they were committed, `links` are its
    submodules."""

    branch: Mapping[str, Any]
    states: Mapping[str, PathState]
    changed: Mapping[str, PathState] = field(default_factory=dict)
    links: frozenset[str] = frozenset()


def _ask_git(root: Path, paths: Sequence[str], time_limit: float) -> _Answers:
    common = _common(root)
    if common is None:
        return _Answers({}, {})
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
        path: PathState.IGNORED_WORK for path, state in states.items() if state is PathState.IGNORED and _is_work(path)
    }
    return _Answers(branch, states, changed, frozenset(links))


def _is_work(path: str) -> bool:
    """Whether nothing makes again what version control ignores, by its name."""
    return not is_made_again(path)


def _cleaned(
    root: Path, facts: Facts, meant: Mapping[str, Sequence[str]], named: Sequence[Named], time_limit: float
) -> Iterator[tuple[str, PathState]]:
    """What git says that it would clean, for each name of which nothing that is lost would go."""
    common = _common(root)
    for name in named:
        directory = name.directories[0] if len(name.directories) == 1 else None
        flags = [word for word in name.words[1:] if word.startswith("-")]
        if common is None or directory is None or not all(_CLEANING_FLAG.match(flag) for flag in flags):
            continue
        place = facts.normal_path(directory or ".")
        paths = meant.get(facts.normal_path(_located(name.text, directory)), ())
        specs = [posixpath.relpath(path, place) for path in paths]
        if not specs or not (root / place).is_dir():
            continue
        (shown,) = _outputs([(*common, "-C", place, "clean", "-n", *flags, "--", *specs)], time_limit)
        if shown is None:
            continue
        takes_ignored = any("x" in flag.lower() for flag in flags)
        lines = shown.decode("utf-8", "replace").splitlines()
        shown_paths = [line.removeprefix(_REMOVES).rstrip("/") for line in lines if line.startswith(_REMOVES)]
        located = [posixpath.normpath(posixpath.join(place, path)) for path in shown_paths]
        goes = [path for path in located if _files_below(root / path) != []]
        lost = [path for path in goes if _loses_repository(root, path, time_limit)]
        yield from ((path, PathState.IGNORED_WORK if takes_ignored else PathState.UNTRACKED) for path in lost)
        if not lost and not any(not takes_ignored or not is_made_again(path) for path in goes):
            yield from ((path, PathState.MISSING) for path in paths)


_REMOVES = "Would remove "
_CLEANING_FLAG = re.compile(r"-[dfxXq]+\Z|--force\Z|--quiet\Z")


def _common(root: Path) -> tuple[str, ...] | None:
    git = _git()
    return None if git is None else (git, *_OPTIONS, *_without_filters(root, git), "-C", str(root))


def _spec(path: str) -> str:
    return ":(top)" if path == "." else f":(top,literal){path}"


def _of_changes(kind: str, changes: str) -> PathState:
    """The state that two letters tell, of the index and of the file. What a deleted file held is in the last commit."""
    if kind == "1" and changes in (".D", "D."):
        return PathState.MISSING
    return PathState.STAGED if kind == "1" and changes[1] in ".D" else PathState.DIRTY


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
            states[rest.split(" ", 7 if kind == "1" else 9)[-1]] = _of_changes(kind, rest[:2])
        elif kind == "2":
            states[rest.split(" ", 8)[-1]] = PathState.DIRTY
            states[next(records, "")] = PathState.DIRTY
        elif kind == "?":
            states[rest.rstrip("/")] = PathState.UNTRACKED
        elif kind == "!":
            states[rest.rstrip("/")] = PathState.IGNORED
    return branch, states


def _listed(output: bytes, paths: Sequence[str], links: set[str]) -> Iterable[tuple[str, PathState]]:
    """Tracked files as states of the named paths that hold them. What git was told not to look at may have changes that
    no status shows. Submodules are added to `links`."""
    named = set(paths)
    for record in output.decode("utf-8", "replace").split("\0"):
        meta, tab, path = record.partition("\t")
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


# --- commits ---

_STASH = re.compile(r"stash(?:@\{\d{1,4}\})?\Z")
_NAME = re.compile(r"[\w./@{}+:^~-]{1,200}\Z")
_PUSHES = ("git push", "git http-push")


def _commits(
    root: Path, branch: Mapping[str, Any], named: Sequence[Named], time_limit: float
) -> dict[str, CommitState]:
    """What becomes of the commits of each name if it goes. A name that can't be looked up is left out."""
    common = _common(root)
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
    """Whether a stash would find nothing to put away."""
    status = (*common, "status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none")
    (shown,) = _outputs([status], deadline - time.monotonic())
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
        return CommitState.KEPT  # git refuses to delete or move the branch that is checked out, or leaves it as it is
    if name.source == "git reset" and "--keep" in name.words and _is_keeping_refused(common, operands, deadline):
        return CommitState.KEPT
    if name.text in ("HEAD", "@", current) or not current:
        goes_to = [operands[-1]] if name.source == "git reset" and operands and _NAME.match(operands[-1]) else []
        tip, keepers = "HEAD", (*goes_to, f"--exclude=refs/heads/{current}", "--glob=refs/")
    else:
        full = name.text.removeprefix("refs/heads/")
        # What is left out by a rebase may be named in any way, and then goes from the branch that is checked out.
        is_rebase = name.source == "git rebase"
        moved = current if is_rebase else full
        kept = f"--exclude=refs/heads/{moved}", f"--exclude=refs/tags/{moved}", "--glob=refs/"
        tip, keepers = full, (*kept, *(_bases(name.words) if is_rebase else ("HEAD",)))
        if name.source == "git tag":
            tip = f"refs/tags/{full}"
    return _gone_with(common, (tip,), keepers, deadline)


def _bases(words: Sequence[str]) -> tuple[str, ...]:
    """The commits on which a rebase builds, which the branch reaches after it."""
    return tuple(base for option, base in pairwise(words) if option == "--onto" and _NAME.match(base))


def _is_keeping_refused(common: tuple[str, ...], operands: Sequence[str], deadline: float) -> bool:
    """Whether `git reset --keep` refuses, because a file that differs between the commits has changes of its own."""
    if len(operands) != 1 or not _NAME.match(operands[0]):
        return False
    goes_to = f"{operands[0]}^{{commit}}"
    differing = (*common, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", goes_to, "--")
    staged = (*common, "diff-index", "--cached", "-z", "--name-only", "--no-renames", goes_to, "--")
    status = (*common, "status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all")
    answers = _outputs([differing, staged, status], deadline - time.monotonic())
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
    """What becomes of the commits of a remote branch. A remote on this disk is asked itself; of others it is known what
    they held when they were last asked, which only a push with a lease makes sure of."""
    remote = next((word for word in name.words[1:] if not word.startswith("-")), None) or "origin"
    (url,) = _outputs([(*common, "config", "--get", f"remote.{remote}.url")], deadline - time.monotonic())
    if url is None:
        return CommitState.MISSING if remote == "origin" else None
    place = Path(url.decode("utf-8", "replace").strip().removeprefix("file://"))
    whole = name.text in ("", remote) and not _WHOLE_REMOTE.isdisjoint(name.words)
    tracked = f"refs/remotes/{remote}/"
    pushed = name.text.removeprefix("+").rpartition(":")[2] or str(branch.get("name", ""))
    pushed = str(branch.get("name", "")) if pushed == "HEAD" else pushed.removeprefix("refs/heads/")
    if place.is_absolute() and place.is_dir():
        bare = _common(place)
        pattern = "refs/heads/" if whole else f"refs/heads/{pushed}"
        listing = (*(bare or ()), "for-each-ref", "--format=%(objectname) %(refname)", pattern)
        own = (*common, "for-each-ref", "--format=%(refname)", "refs/heads/")
        tips, here = _outputs([listing, own], deadline - time.monotonic()) if bare else (None, None)
        if tips is not None and "--force-with-lease" in name.words and _FORCING.isdisjoint(name.words) and not whole:
            seen = (*common, "for-each-ref", "--format=%(objectname)", f"{tracked}{pushed}")
            (expected,) = _outputs([seen], deadline - time.monotonic())
            if expected and expected.split() != tips.split()[:1]:
                return CommitState.MISSING  # others have pushed since, so that git refuses
        if tips is not None and here is not None:
            # A push that prunes without force takes away only what is not here.
            spared = set(here.split()) if _FORCING.isdisjoint(name.words) and "--prune" in name.words else set()
            kept = [line.split() for line in tips.splitlines()]
            tips = b"\n".join(tip for tip, reference in kept if reference not in spared)
    elif any(word.startswith("--force-with-lease") for word in name.words) and not whole:
        listing = (*common, "for-each-ref", "--format=%(objectname)", f"{tracked}{pushed}")
        (tips,) = _outputs([listing], deadline - time.monotonic())
    else:
        return None
    if tips is None:
        return None
    if not tips.split():
        return CommitState.MISSING
    keepers: tuple[str, ...] = (f"--exclude={tracked}*", "--glob=refs/")
    if pushed in MAIN_BRANCHES and not whole:
        # Others build on a main branch, so that all that stood there has to be in what comes.
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
    """Whether commits of the tips are reached by none of the keepers."""
    verify = [(*common, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{tip}^{{commit}}") for tip in tips]
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    known = _outputs(verify, left)
    if any(answer is None for answer in known):
        return CommitState.ONLY_HERE if unknown_is_lost else CommitState.MISSING
    commits = [answer.decode().strip() for answer in known if answer]
    listing = (*common, "rev-list", "--max-count=1", *commits, "--not", *keepers)
    (listed,) = _outputs([listing], deadline - time.monotonic())
    if listed is None:
        return None
    return CommitState.ONLY_HERE if listed.strip() else CommitState.KEPT


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
