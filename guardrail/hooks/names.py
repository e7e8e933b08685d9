"""Resolves a name in an action to paths of the working copy: directories, patterns, links, searches, and the files that
a copy overwrites."""

from __future__ import annotations

import fnmatch
import glob
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from guardrail.facts import Facts
from guardrail.hooks.git import TIME_LIMIT, git_command, outputs
from guardrail.record import record

MOST_PATHS = 200
"""Maximum number of paths of an action that are looked up; an action with more is judged without their states."""
MOST_ENTRIES = 3_000
"""Maximum number of entries of a directory tree that are searched for a repository inside it."""
LONGEST_PATH = 1_024
_GLOB = frozenset("*?[")
_UNRESOLVED = frozenset("$`<>|")
"""Characters in a name that the shell has yet to expand, so that its path is unknown."""
PLAIN = re.compile(r"[\w./@%+=:,*?\[\] ~-]*\Z")
"""Names that mean the same in every shell. Only these are ever reported as missing."""
_ONLY_EMPTY = ("rmdir",)
"""Programs that delete a directory only if it is empty."""
_FOUND = "[found]"
"""Placeholder in a name for the paths that a search or a pipe delivers."""
_BRACES = re.compile(r"\{([^{}]{0,400},[^{}]{0,400})\}")


@record
class Named:
    """A path, branch or stash as an effect names it, with its circumstances in the action."""

    text: str
    source: str = ""
    """The program and subcommand of the effect."""
    changed: bool = True
    """True if the action changes it."""
    directories: tuple[str | None, ...] = ("",)
    """Directories that the action may have changed to beforehand, relative to its first; None for an unknown one."""
    copied: tuple[str, ...] = ()
    """Paths that the same call copies there."""
    words: tuple[str, ...] = ()
    """The words of the call."""
    whole: bool = False
    """True if the name stands for everything in the work tree."""
    commits: bool = False
    """True if the name stands for commits and not for a path."""
    gone: bool = False
    """True if the action deletes it."""
    searched: bool = False
    """True if a search names it, which also finds deeper paths."""
    listed: bool = False
    """True if all paths from a search or a pipe are certainly in the work tree."""
    listing: tuple[str, ...] = ()
    """The paths that `ls` lists, or the words of a call from `ls-files` on."""
    after_stash: bool = False
    """True if the action stashes existing changes first."""


@record
class Leaving:
    """A path that is in the workspace by its name and elsewhere through a link."""

    path: str
    real: str


def paths_by_name(root: Path, facts: Facts, named: Sequence[Named]) -> dict[str, list[str]]:
    """Maps each name, spelled as in the context, to the paths that it stands for. A name with an unknown meaning is
    left out: it gets no state, which is the careful answer."""
    meant: dict[str, list[str]] = {}
    unknown: set[str] = set()
    for name in named:
        for directory in _directories_of(root, name):
            keys = {facts.normal_path(name.text), facts.normal_path(located_in(name.text, directory or ""))}
            expanded = _stands_for(root, facts, name, directory)
            if expanded is None:
                unknown |= keys
            for key in keys:
                meant.setdefault(key, []).extend(expanded or [])
    return {key: paths for key, paths in meant.items() if key not in unknown}


def _directories_of(root: Path, name: Named) -> Sequence[str | None]:
    if SUBMODULES not in name.directories:
        return name.directories
    try:
        settings = (root / ".gitmodules").read_text("utf-8", "replace")
    except OSError:
        return (_NOWHERE,)
    return [match[1] for match in _SUBMODULE.finditer(settings)] or (_NOWHERE,)


SUBMODULES = "[submodules]"
"""Placeholder for the directories of all submodules."""
_SUBMODULE = re.compile(r"(?m)^\s*path\s*=\s*(.*\S)")
_NOWHERE = "[nowhere]"


def _stands_for(root: Path, facts: Facts, name: Named, directory: str | None) -> list[str] | None:
    """Returns the paths that a name stands for in a directory; None if they are unknown."""
    if directory is None:
        return None
    if name.source in _ONLY_EMPTY or (
        directory and not directory.startswith(("/", "~", "..")) and not _is_there(root, facts, directory)
    ):
        return []
    path = facts.normal_path(located_in(name.text, directory))
    if name.text.endswith(_FOUND):
        if name.listing[:1] == ("ls-files",):
            return _listed_by_git(root, facts, directory, name.listing)
        if name.listing:
            spelled = [_expanded(root, facts.normal_path(text)) for text in name.listing]
            return None if None in spelled else [found for paths in spelled for found in paths or ()]
        path = "."
    if name.whole:
        path = owner_of(root, path, is_itself=True) or "."
    if not (is_inside(path) or name.gone):
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
        # The end of a name decides whether a directory or its content is copied.
        copied = [(facts.normal_path(located_in(text, directory)), text.endswith(_CONTENT)) for text in name.copied]
        expanded = _replaced(root, expanded, copied, name.words)
    if expanded is None or means_link(name):
        return expanded
    return [_followed(root, path) for path in expanded]


_RECURSIVE = re.compile(r"-[a-zA-Z]*[rR]|--r")


def _listed_by_git(root: Path, facts: Facts, directory: str, words: Sequence[str]) -> list[str] | None:
    """Returns the paths that `git ls-files` passes to a pipe; None for options that are not understood here."""
    common = git_command(root)
    place = facts.normal_path(directory or ".")
    is_known = all(_LISTING_FLAG.match(word) for word in words[1:] if word.startswith("-"))
    if common is None or not is_known or not is_inside(place) or not (root / place).is_dir():
        return None
    (listed,) = outputs([(*common, "-C", place, *words[:1], "-z", *words[1:])], TIME_LIMIT)
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
    """Follows a link that leads to another place in the work tree."""
    if not (root / path).is_symlink() or leaving_of(root, path, False) is not None:
        return path
    return os.path.relpath(os.path.realpath(root / path), os.path.realpath(root))


def _is_there(root: Path, facts: Facts, directory: str) -> bool:
    return (root / facts.normal_path(directory)).is_dir()


def means_link(name: Named) -> bool:
    """Decides whether the name of a link stands for the link itself and not for its target."""
    return name.source.startswith("git ") or (name.gone and not name.text.endswith("/"))


def paths_reached(facts: Facts, meant: Mapping[str, Sequence[str]], named: Sequence[Named]) -> set[str]:
    return {path for name in named for path in meant.get(facts.normal_path(name.text), ())}


def _replaced(
    root: Path, destinations: Sequence[str], copied: Sequence[tuple[str, bool]], words: Sequence[str]
) -> list[str] | None:
    """Returns the files that a copy or move overwrites; None if they can't be determined."""
    found: list[str] = []
    for destination in destinations:
        if not (root / destination).is_dir():
            found += [destination] if destination not in (text for text, _ in copied) else []
            continue
        for text, is_content in copied:
            if not is_path(text) or (sources := _expanded(root, text)) is None:
                return None
            for source in sources:
                base = (
                    destination
                    if is_content or not _TO_A_NAME.isdisjoint(words)
                    else posixpath.join(destination, posixpath.basename(source.rstrip("/")))
                )
                files = files_below(root / source)
                if files is None:
                    return None
                placed = [posixpath.normpath(posixpath.join(base, file)) for file in files]
                found += [path for path in placed if path != source]
    return list(dict.fromkeys(path for path in found if os.path.lexists(root / path)))


_CONTENT = ("/.", "/")
"""Endings that copy the content of a directory: `cp -r src/. to`, `rsync src/ to`."""
_TO_A_NAME = frozenset(("-T", "--no-target-directory", "-rT", "-aT", "-fT", "-rfT"))


def files_below(start: Path) -> list[str] | None:
    """Returns the files below a directory, relative to it, or the empty path if it is itself a file; None if they are
    too many."""
    if start.is_symlink() or not start.is_dir():
        return [""]
    found: list[str] = []
    for directory, _, files in os.walk(start):
        found += [os.path.relpath(Path(directory, file), start) for file in files]
        if len(found) > MOST_PATHS:
            return None
    return found


def owner_of(root: Path, path: str, *, is_itself: bool) -> str | None:
    """Returns the nearest directory above a path that is a repository: "" for the root, `OUTSIDE` if there is none."""
    outermost = "" if is_inside(path) else None
    directory = path if is_itself else posixpath.dirname(path)
    while directory not in ("", ".", "/"):
        if os.path.lexists(root / directory / ".git"):
            return directory
        directory = posixpath.dirname(directory)
    return outermost if outermost is not None else OUTSIDE


OUTSIDE = "/"
"""Placeholder for paths outside any repository."""


def is_inside(path: str) -> bool:
    return not path.startswith(("/", "../", "~")) and path != ".."


def located_in(text: str, directory: str) -> str:
    """Joins a name with a directory that the action changed to, unless it already begins with the directory."""
    if not directory or text.startswith(("/", "~")) or f"{text}/".startswith(f"{directory.rstrip('/')}/"):
        return text
    return f"{directory.rstrip('/')}/{text}"


def is_path(name: Named | str) -> bool:
    """Decides whether a name can be a path whose meaning is known."""
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
    """Returns the paths that a name with braces or a pattern stands for; None if they are too many."""
    directory, _, name = path.rpartition("/")
    if searched and name == "*" and not _has_glob(directory):
        return [directory or "."]
    if searched and _has_glob(name) and not _has_glob(directory):
        return _found_below(root, directory, name)
    spelled = list(islice(_without_braces(path), MOST_PATHS + 1))
    found: list[str] = []
    for one in spelled:
        if _has_glob(one) and not os.path.lexists(root / one):
            # As in a shell, * leaves out hidden files; pathlib's does not.
            found += islice(glob.iglob(one, root_dir=root), MOST_PATHS + 1)  # noqa: PTH207
        else:
            found.append(one)
        if len(found) > MOST_PATHS:
            return None
    return [path.rstrip("/") for path in found]


def _found_below(root: Path, directory: str, pattern: str) -> list[str]:
    """Returns the paths below a directory that a search finds, or the directory itself if they are too many."""
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


def _has_glob(path: str) -> bool:
    return not _GLOB.isdisjoint(path)


def leaving_of(root: Path, path: str, is_link_itself: bool) -> Leaving | None:
    """Returns the path and its target if a link leads out of the workspace: one of the path's directories, or the path
    itself."""
    named = Path(os.path.realpath((root / path).parent), posixpath.basename(path)) if is_link_itself else None
    real, real_root = str(named or os.path.realpath(root / path)), os.path.realpath(root)
    is_inside = real == real_root or real.startswith(real_root.rstrip("/") + "/")
    return None if is_inside else Leaving(path, real)
