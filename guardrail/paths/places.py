"""Judges by a path where it is, and how much of that place it covers.

The tables contain the knowledge; each group is listed under the reason for its presence.
"""

# ruff: noqa: S108 (directories are named here, none is used)

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from guardrail.paths.rebuilding import has_compiled_name, is_rebuildable
from guardrail.paths.spelling import (
    from_home,
    has_pattern,
    is_inside,
    is_inside_one_of,
    is_remote,
    joined,
    located,
    spelled,
)
from guardrail.vocabulary import Place, Scope

if TYPE_CHECKING:
    from guardrail.facts import Facts

TEMPORARY_DIRECTORIES = (
    *("/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/dev/shm", "/var/folders", "/private/var/folders"),
    *("/run/user", "/run/lock", "c:/windows/temp", "c:/temp", "c:/tmp"),
)
CACHES = (
    # downloaded again by a package manager or tool; in home or system directories
    *("/var/lib/apt/lists", "/var/cache", "/var/lib/dnf", "/var/lib/yum", "/usr/share/doc", "/usr/share/man"),
    *(
        "/usr/share/locale",
        "/usr/share/info",
        "/var/log/apt",
        "/var/log/dpkg.log",
        "/var/log/yum.log",
        "/var/log/dnf.log",
    ),
    *("/var/log/alternatives.log", "/var/log/bootstrap.log", "/etc/apt/sources.list.d", "/usr/share/lintian"),
    # tools preinstalled on CI runners
    *("/usr/share/dotnet", "/usr/local/lib/android", "/opt/ghc", "/opt/hostedtoolcache", "/usr/local/.ghcup"),
    *("/usr/local/share/boost", "/usr/share/swift", "/usr/local/share/powershell", "/usr/local/share/chromium"),
    *("~/.cache", "~/.npm", "~/.yarn", "~/.pnpm-store", "~/.m2/repository", "~/.gradle/caches", "~/.ivy2/cache"),
    *(
        "~/.cargo/registry",
        "~/.cargo/git",
        "~/.rustup/downloads",
        "~/.rustup/tmp",
        "~/.nuget/packages",
        "~/.bun/install",
    ),
    *(
        "~/go/pkg/mod",
        "~/.composer/cache",
        "~/.gem/cache",
        "~/.conda/pkgs",
        "~/.cocoapods",
        "~/.pub-cache",
        "~/.node-gyp",
    ),
    *("~/library/caches", "~/library/developer/xcode/deriveddata", "~/appdata/local/npm-cache"),
    *("~/appdata/local/pip/cache", "~/.electron", "~/.electron-gyp", "~/.thumbnails", "~/.ccache", "~/.sccache"),
    # versions of languages and environments that their managers can reinstall
    *("~/.pyenv/versions", "~/.pyenv/cache", "~/.nvm/versions", "~/.nvm/.cache", "~/.rbenv/versions", "~/.fnm"),
    *("~/.rustup/toolchains", "~/.sdkman/candidates", "~/.asdf/installs", "~/.local/share/mise", "~/.volta/tools"),
    *("~/.virtualenvs", "~/.local/share/virtualenvs", "~/.local/share/uv", "~/.local/pipx", "~/.vscode-server/bin"),
    *(
        "~/.config/chromium/crash reports",
        "~/.local/share/pnpm/store",
        "~/.deno",
        "~/.triton",
        "~/.keras",
        "~/.wget-hsts",
        "/usr/local/share/.cache",
    ),
)
WORKSPACES = (
    # directories in which containers and CI runners put the sources
    *("/workspace", "/workspaces", "/github/workspace", "/home/runner/work", "/__w", "/builds", "/app", "/apps/src"),
    *("/src", "/code", "/build", "/repo", "/project", "/projects", "/usr/src", "/var/task", "/testbed", "/work", "/ws"),
    *("/home/circleci/project", "/home/vsts/work", "/drone/src", "/woodpecker/src", "/bitbucket/pipelines", "/go/src"),
)
HOMES = ("/home", "/users", "/root", "/var/root", "c:/users", "c:/documents and settings")
DATA_OF_PEOPLE = ("/mnt", "/media", "/volumes", "/net", "/nfs", "/backup", "/backups", "/data")
SYSTEM_DIRECTORIES = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/run", "/sbin", "/srv"),
    *("/sys", "/usr", "/var", "/nix", "/snap", "/efi", "/lost+found", "/applications", "/library", "/system", "/cores"),
    *("/private/etc", "/private/var", "/init", "/vmlinuz", "/initrd.img", "/swapfile", "/kernel"),
    *("c:/windows", "c:/program files", "c:/program files (x86)", "c:/programdata", "c:/boot", "c:/recovery"),
    *("c:/$recycle.bin", "c:/system volume information", "c:/pagefile.sys", "c:/bootmgr", "c:/efi"),
)
SYSTEM_PROGRAMS = (
    # programs and libraries that come with the system; what people install themselves is in /usr/local and /opt
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/libx32"),
)
SYSTEM_ROOTS = frozenset(("/", "/etc", "/usr", "/private/etc"))
"""Directories that matter as a whole, while most files in them belong to one program each."""
REGISTRY = ("hklm/", "hklm:", "hkcu/", "hkcu:", "hkcr/", "hkcr:", "hku/", "hku:", "hkey_", "registry::")


def place_of(text: str, facts: Facts, directory: str | None = None) -> Place:
    """Returns the place of a path. `directory` is the one that an earlier `cd` of the action changed to."""
    if is_remote(text):
        return Place.REMOTE
    path = located(text, facts, directory)
    if path.startswith("\0"):  # begins with an unknown variable
        return _place_by_names(path)
    if path.startswith("/tmp/~"):
        return Place.TEMPORARY
    if path.startswith(REGISTRY):
        return Place.SYSTEM
    root = _root(facts)
    if not path.startswith(("/", "~")) and path[1:2] != ":":
        cwd = spelled(facts.cwd) if facts.cwd else root
        if cwd is None:
            return Place.UNKNOWN if path == ".." or path.startswith("../") else _place_in_workspace(path, text, facts)
        path = joined(cwd, path)
    if path.startswith("~") and facts.home:
        path = spelled(facts.home) + path[1:]
    if root is not None and is_inside(path, root):
        states_of = text if directory is None else f"{directory}/{text}"
        return _place_in_workspace(posixpath.relpath(path, root), states_of, facts)
    if root is None:
        found = next((workspace for workspace in WORKSPACES if is_inside(path, workspace)), None)
        if found is not None:
            return _place_in_workspace(posixpath.relpath(path, found), text, facts)
    return _place_elsewhere(path, facts)


def _root(facts: Facts) -> str | None:
    """Returns the workspace's root. Without one it is the current directory, unless that is a home or system
    directory."""
    if facts.workspace.root:
        root = spelled(facts.workspace.root)
        return root if root not in ("/", "~") else None
    if not facts.cwd:
        return None
    cwd = spelled(facts.cwd)
    return None if _is_no_workspace(cwd, facts) else cwd


def scope_of(text: str, facts: Facts, directory: str | None = None) -> Scope:
    """Returns how much a path covers: all of a place (`/`, `~`, `/tmp/*`, `.`), many files by a pattern, or one."""
    path = located(text, facts, directory).rstrip("/")
    pattern = has_pattern(path.rpartition("/")[2])
    whole = path
    while whole.rpartition("/")[2] in ("*", "**", "*.*", "?*", ".*", ".[!.]*", ".??*", "{*,.*}", "{,.}*"):
        whole = whole.rpartition("/")[0]
    if whole in _WHOLE or (whole.startswith("c:") and len(whole) <= 2) or _is_whole_home(whole):
        return Scope.ALL
    if facts.workspace.root and whole == spelled(facts.workspace.root):
        return Scope.ALL
    if whole == "" and (path.startswith("/") or text.strip() in ("/", "/*")):
        return Scope.ALL
    return Scope.MANY if pattern or whole != path else Scope.ONE


_WHOLE = frozenset((".", "~", "", *TEMPORARY_DIRECTORIES, *HOMES, *DATA_OF_PEOPLE, *SYSTEM_DIRECTORIES))


def _is_whole_home(path: str) -> bool:
    return any(
        path.startswith(f"{home}/") and path.count("/") == home.count("/") + 1
        for home in ("/home", "/users", "c:/users")
    )


def _is_no_workspace(directory: str, facts: Facts) -> bool:
    """Decides whether the directory is itself a home or system directory, so that relative paths are in that place."""
    home = spelled(facts.home) if facts.home else None
    return (
        directory in ("/", "~", home, *HOMES)
        or _is_whole_home(directory)
        or (
            any(is_inside(directory, system) for system in SYSTEM_DIRECTORIES)
            and not any(is_inside(directory, workspace) for workspace in WORKSPACES)
            and not any(directory.startswith(f"{place}/") for place in _PLACES_OF_APPLICATIONS)
        )
    )


_PLACES_OF_APPLICATIONS = ("/srv", "/opt", "/var/www", "/usr/src")
"""Directories whose children are checkouts or installations of one application each, and thus workspaces."""


def _place_in_workspace(relative: str, text: str, facts: Facts) -> Place:
    states = facts.path_states(text)
    if not states.isdisjoint(_IN_VERSION_CONTROL):
        return Place.WORKSPACE
    # A possible product of a build is the person's own file if version control neither tracks nor ignores it.
    if is_rebuildable(relative, beside_sources="untracked" not in states):
        return Place.REBUILDABLE
    return Place.IGNORED if states == {"ignored"} else Place.WORKSPACE


_IN_VERSION_CONTROL = frozenset(("tracked", "dirty", "staged"))


def _place_elsewhere(path: str, facts: Facts) -> Place:
    home = spelled(facts.home) if facts.home else None
    at_home = home is not None and home != "/" and is_inside(path, home)
    if at_home and home is not None:
        path = "~" + path[len(home) :]
    elif not path.startswith("~"):
        path = from_home(path)
    if is_inside_one_of(path, CACHES):
        return Place.REBUILDABLE
    if is_inside_one_of(path, TEMPORARY_DIRECTORIES) or is_inside(path, "~/appdata/local/temp"):
        return Place.TEMPORARY
    if path.startswith("~"):
        return Place.REBUILDABLE if is_rebuildable(path, beside_sources=False) and path.count("/") > 1 else Place.HOME
    if has_compiled_name(path):
        return Place.REBUILDABLE
    if path in ("/", "c:", "c:/", "/*", "c:/*") or is_inside_one_of(path, SYSTEM_DIRECTORIES):
        return Place.SYSTEM
    if is_inside_one_of(path, HOMES) or is_inside_one_of(path, DATA_OF_PEOPLE):
        return Place.HOME
    if is_rebuildable(path, beside_sources=False):
        return Place.REBUILDABLE
    if path[1:2] == ":" and len(path) <= 4:
        return Place.SYSTEM
    if path.startswith("/") and path.count("/") == 1 and has_pattern(path):
        return Place.SYSTEM
    return Place.UNKNOWN


def _place_by_names(path: str) -> Place:
    """Returns the place that the names in a path imply if it begins with an unknown variable."""
    name, _, rest = path[1:].partition("/")
    if is_rebuildable(rest, beside_sources=True):
        return Place.REBUILDABLE
    words = {word for word in name.replace("-", "_").split("_") if word}
    if words & {"tmp", "temp", "tempdir", "tmpdir", "tmpfile", "tempfile", "scratch", "tmpd", "tmpdirname", "tempname"}:
        return Place.TEMPORARY
    if words & {
        "build",
        "dist",
        "builddir",
        "distdir",
        "outdir",
        "cache",
        "cachedir",
        "objdir",
        "artifacts",
        "venv",
        "buildroot",
    }:
        return Place.REBUILDABLE
    return Place.UNKNOWN


def is_of_the_system(text: str) -> bool:
    """Decides whether the path is a program or library of the system, or a directory that contains all its settings."""
    path = spelled(text)
    return path in SYSTEM_ROOTS or is_inside_one_of(path, SYSTEM_PROGRAMS)
