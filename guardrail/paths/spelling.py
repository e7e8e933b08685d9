"""Reads the spelling of a path: normal form, variables, whether it is remote, which path is inside which. Pure text."""

# ruff: noqa: S108 (directories are named here, none is used)

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guardrail.facts import Facts

LONGEST_PATH = 4_096
VARIABLES: Mapping[str, str] = {
    # variables whose purpose determines their value; names in lower case
    **dict.fromkeys(("home", "userprofile", "env:userprofile", "env:home", "homepath", "env:homepath"), "~"),
    **dict.fromkeys(
        ("tmpdir", "tmp", "temp", "env:temp", "env:tmp", "env:tmpdir", "runner_temp", "xdg_runtime_dir"), "/tmp/~"
    ),
    **dict.fromkeys(
        ("env:runner_temp", "agent_tempdirectory", "bats_tmpdir", "bats_test_tmpdir", "psscriptroot/tmp"), "/tmp/~"
    ),
    **dict.fromkeys(("pwd", "pwd.path", "oldpwd", "github_workspace", "env:github_workspace", "ci_project_dir"), "."),
    **dict.fromkeys(
        ("build_sourcesdirectory", "workspace", "circle_working_directory", "psscriptroot", "srcroot"), "."
    ),
    **dict.fromkeys(
        ("script_dir", "scriptdir", "project_dir", "project_root", "repo_root", "root_dir", "rootdir"), "."
    ),
    **dict.fromkeys(("srcdir", "src_dir", "top_srcdir", "topdir", "basedir", "base_dir", "project_path", "here"), "."),
    **dict.fromkeys(("bats_test_dirname", "dirname", "scriptpath", "script_path", "thisdir", "this_dir"), "."),
    **dict.fromkeys(("curdir", "makefile_dir", "initcwd", "init_cwd", "git_root", "repo_dir", "repodir", "~dp0"), "."),
    **dict.fromkeys(("windir", "env:windir", "systemroot", "env:systemroot"), "c:/windows"),
    **dict.fromkeys(("systemdrive", "env:systemdrive", "homedrive", "env:homedrive"), "c:"),
    **dict.fromkeys(
        ("programfiles", "env:programfiles", "programfiles(x86)", "env:programfiles(x86)"), "c:/program files"
    ),
    **dict.fromkeys(("programdata", "env:programdata", "allusersprofile", "env:allusersprofile"), "c:/programdata"),
    **dict.fromkeys(("appdata", "env:appdata"), "~/appdata/roaming"),
    **dict.fromkeys(("localappdata", "env:localappdata"), "~/appdata/local"),
    "xdg_config_home": "~/.config",
    "xdg_cache_home": "~/.cache",
    "xdg_data_home": "~/.local/share",
    "cargo_home": "~/.cargo",
    "codex_home": "~/.codex",
    "gnupghome": "~/.gnupg",
    "kubeconfig": "~/.kube/config",
    "zdotdir": "~",
    "profile": "~/documents/powershell/profile.ps1",
    "ssh_auth_sock": "~/.ssh/agent",
}
SUBSTITUTIONS: Mapping[str, str] = {
    # command substitutions whose value is known from their command
    "mktemp": "/tmp/~",
    "pwd": ".",
    "git rev-parse": ".",
    "dirname": ".",
    "npm root": "node_modules",
    "npm config get cache": "~/.npm",
    "npm prefix": ".",
    "yarn cache dir": "~/.cache/yarn",
    "pip cache dir": "~/.cache/pip",
    "go env gocache": "~/.cache/go-build",
    "go env gomodcache": "~/go/pkg/mod",
    "brew --cache": "~/.cache/homebrew",
    "poetry env info": ".venv",
    "pipenv --venv": ".venv",
    "echo ~": "~",
    "echo $home": "~",
}
URL_SCHEMES = (
    *(
        "http://",
        "https://",
        "ftp://",
        "ftps://",
        "sftp://",
        "scp://",
        "ssh://",
        "git://",
        "git+ssh://",
        "s3://",
        "s3a://",
    ),
    *("gs://", "az://", "wasb://", "wasbs://", "abfs://", "abfss://", "r2://", "b2://", "oss://", "cos://", "hdfs://"),
    *("rsync://", "smb://", "nfs://", "ws://", "wss://", "docker://", "oci://", "swift://", "dbfs:/", "rclone:"),
)


def joined(directory: str, path: str) -> str:
    """Joins a normalised path with the directory that it is relative to."""
    return posixpath.normpath(f"{directory.rstrip('/')}/{path}")


def is_remote(text: str) -> bool:
    """Decides whether the text names a place on another machine: a URL, a bucket, `host:path`."""
    if "://" in text[:12] or text.startswith(("dbfs:/", "rclone:")):
        return text.lower().startswith(URL_SCHEMES)
    if text.startswith("\\\\") and not text.startswith(("\\\\.\\", "\\\\?\\")):
        return True
    host, colon, rest = text.partition(":")
    return (
        bool(colon)
        and len(host) > 1
        and all(char.isalnum() or char in "._-@" for char in host)
        and not host.startswith((".", "-", "hk", "env", "cert"))
        and (rest.startswith(("/", "~", "./")) or ("@" in host and not rest[:1].isdigit()))
    )


@lru_cache(maxsize=2_048)
def spelled(text: str) -> str:
    r"""Normalises a path: `/` for the `\` of Windows, lower case, known variables by their value, no `.` and `..`.

    A path that begins with an unknown variable or substitution gets a zero byte as its first character.
    """
    path = text.strip().strip("'\"")[:LONGEST_PATH]
    if path.startswith("file://"):
        path = path[7:]
    if "\\" in path and (
        path[1:3] == ":\\" or path.startswith(("\\", ".\\", "..\\", "~\\", "$", "%", "HK", "hk")) or "/" not in path
    ):
        path = path.replace("\\", "/")
    path = path.lower()
    for device in ("//?/", "//./"):
        path = path.removeprefix(device)
    if path.startswith("`") and (end := path.find("`", 1)) > 0:
        path = f"$({path[1:end]}){path[end + 1 :]}"
    if path.startswith(("$", "%")):
        path = _without_variable(path)
    elif path.startswith(("join-path ", "(join-path ")):
        path = _without_variable("$" + path)
    elif path.startswith("~") and path[1:2] not in ("", "/"):
        path = f"/home/{path[1:]}"
    elif path[1:2] == ":" and path[:1].isalpha() and path[2:3] not in ("/", ""):
        path = f"{path[:2]}/{path[2:]}"
    elif path.startswith("/c/") or path.startswith("/mnt/c/"):
        path = f"c:/{path.partition('/c/')[2]}"
    if not path:
        return "."
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal


def _without_variable(path: str) -> str:
    name, rest = _variable(path)
    value = VARIABLES.get(name)
    if value is None and name.startswith("("):
        inner = name.strip("()` \"'")
        value = next(
            (known for begin, known in SUBSTITUTIONS.items() if inner.startswith(begin) or f"&& {begin}" in inner), None
        )
    if value is None:
        return f"\0{name}{rest}"
    return value + rest


def _variable(path: str) -> tuple[str, str]:
    """Returns the name of the variable that a path begins with (a substitution keeps its bracket), and the rest."""
    if path.startswith("%"):
        name, percent, rest = path[1:].partition("%")
        return (name, rest) if percent else (name.rpartition("/")[0] or name, "")
    if path.startswith("$("):
        depth = 0
        for at, char in enumerate(path):
            depth += (char == "(") - (char == ")")
            if depth == 0 and at > 1:
                return path[1 : at + 1], path[at + 1 :]
        return path[1:], ""
    if path.startswith("${"):
        name, _, rest = path[2:].partition("}")
        for operator in (":-", ":=", ":?", "-", "=", "?", "%", "#", "/", ":"):
            head, found, fallback = name.partition(operator)
            if found and head not in ("env",):
                if head not in VARIABLES and operator in (":-", ":=", "-", "="):
                    known = spelled(fallback)
                    return ("", rest) if known.startswith("\0") else (head, rest)
                return head, rest
        return name, rest
    end = 1
    while end < len(path) and (path[end].isalnum() or path[end] in "_:"):
        end += 1
    return path[1:end], path[end:]


def located(text: str, facts: Facts, directory: str | None = None) -> str:
    """Returns the normalised path, relative to the directory in which the action began."""
    path = spelled(text)
    if path.startswith(("/", "~", "\0")) or path[1:2] == ":":
        return path
    if directory is not None:
        base = spelled(directory)
        return f"{base}/{path}" if base.startswith("\0") else joined(base, path)
    return path


def seen_from(directory: str, text: str) -> str:
    """Joins a relative path with its base directory, both in their original spelling; returns "" for any other path."""
    if not text or text.startswith(("/", "~", "$", "`", "%", "\\", "-")) or text[1:2] == ":" or "://" in text[:12]:
        return ""
    return posixpath.normpath(posixpath.join(directory, text))


def from_home(path: str) -> str:
    """Returns a path below somebody's home directory with `~` for that directory."""
    for home in ("/home/", "/users/", "c:/users/"):
        if path.startswith(home):
            name, slash, rest = path[len(home) :].partition("/")
            return f"~/{rest}" if slash and name else path
    if path.startswith("/root/"):
        return f"~/{path[6:]}"
    return path


def is_inside(path: str, directory: str) -> bool:
    """Decides whether a normalised path is this directory or something in it."""
    return path.startswith(directory) and (len(path) == len(directory) or path[len(directory)] == "/")


def is_inside_one_of(path: str, directories: tuple[str, ...]) -> bool:
    """Decides whether a normalised path is one of these directories or something in one."""
    return path.startswith(directories) and any(is_inside(path, directory) for directory in directories)


def has_pattern(text: str) -> bool:
    """Decides whether a name stands for several paths, as `*.log` does."""
    return any(char in text for char in "*?[{")


HARMLESS_DEVICES = frozenset(
    (
        *(
            "/dev/null",
            "/dev/stdout",
            "/dev/stderr",
            "/dev/stdin",
            "/dev/tty",
            "/dev/zero",
            "/dev/random",
            "/dev/urandom",
        ),
        *(
            "/dev/full",
            "nul",
            "nul:",
            "$null",
            "-",
            "con",
            "con:",
            "/dev/console",
            "/dev/fd/1",
            "/dev/fd/2",
            "/dev/fd/0",
        ),
    )
)


def is_nowhere(text: str) -> bool:
    """Decides whether a write to the path stores nothing: `/dev/null`, a file descriptor, a terminal."""
    lowered = text.strip().lower()
    return lowered in HARMLESS_DEVICES or lowered.isdecimal() or lowered.startswith(("&", "/dev/fd/", "/dev/pts/"))
