"""Judges a path by its spelling: its place, its scope within that place, and the reason to protect it.

The tables contain the knowledge; each group is listed under the reason for its presence.
"""

# ruff: noqa: S108 (directories are named here, none is used)

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Place, Scope, Sensitivity

if TYPE_CHECKING:
    from guardrail.facts import Facts

LONGEST_PATH = 4_096

# --- the place of a path ---

REBUILDABLE_ANYWHERE = frozenset(
    (
        # installed by a package manager from a lock file
        *("node_modules", "bower_components", "jspm_packages", ".pnpm-store", ".yarn", "site-packages", ".bundle"),
        *(".venv", "venv", "virtualenv", ".virtualenv", ".tox", ".nox", "__pypackages__", ".eggs"),
        *("pods", ".gradle", ".cargo-cache", "elm-stuff", ".stack-work", "dist-newstyle", ".dart_tool", ".pub-cache"),
        # caches of an interpreter, compiler or test runner
        *("__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints"),
        *(".parcel-cache", ".turbo", ".nx", ".eslintcache", ".stylelintcache", ".sass-cache", ".webpack", ".swc"),
        *(".next", ".nuxt", ".output", ".svelte-kit", ".angular", ".astro", ".docusaurus", ".vite", ".expo", ".cache"),
        *(".nyc_output", "htmlcov", ".coverage", "lcov.info", ".serverless", ".terragrunt-cache", ".aws-sam"),
        *("deriveddata", "cmakefiles", "cmakecache.txt", ".zig-cache", "zig-cache", "zig-out", ".ccache", ".bloop"),
        *(".metals", ".import_linter_cache", ".vercel", ".netlify", ".jekyll-cache", ".ds_store"),
    )
)
REBUILDABLE_IN_WORKSPACE = frozenset(
    (
        # built from the sources beside it
        *("build", "builds", "dist", "out", "output", "outputs", "target", "bin", "obj", "release", "debug", "_build"),
        *("lib-cov", "coverage", "reports", "test-results", "playwright-report", "storybook-static", "public/build"),
        *("cmake-build-debug", "cmake-build-release", "artifacts", "generated", "vendor", "deps", "_site", ".build"),
        *("cache", "caches", "logs", "log", "tmp", "temp", ".tmp", ".temp", "wheels", "sdist", "pkg", "bazel-bin"),
        *("bazel-out", "bazel-testlogs", "a.out", "allure-results", "allure-report", "junit.xml", "coverage.xml"),
        *("doc/build", "docs/_build", "docs/build", "site"),
    )
)
REBUILDABLE_SUFFIXES = (
    *(
        ".pyc",
        ".pyo",
        ".py[co]",
        ".py[cod]",
        ".o",
        ".obj",
        ".a",
        ".so",
        ".class",
        ".egg-info",
        ".dist-info",
        ".tsbuildinfo",
        ".gcda",
        ".gcno",
    ),
    *(".log", ".tmp", ".swp", ".whl", ".d", ".beam", ".elc", ".rlib", ".rmeta", ".pid"),
)
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
        cwd = _spelled(facts.cwd) if facts.cwd else root
        if cwd is None:
            return Place.UNKNOWN if path == ".." or path.startswith("../") else _place_in_workspace(path, text, facts)
        path = _joined(cwd, path)
    if path.startswith("~") and facts.home:
        path = _spelled(facts.home) + path[1:]
    if root is not None and _inside(path, root):
        states_of = text if directory is None else f"{directory}/{text}"
        return _place_in_workspace(posixpath.relpath(path, root), states_of, facts)
    if root is None:
        found = next((workspace for workspace in WORKSPACES if _inside(path, workspace)), None)
        if found is not None:
            return _place_in_workspace(posixpath.relpath(path, found), text, facts)
    return _place_elsewhere(path, facts)


def _root(facts: Facts) -> str | None:
    """Returns the workspace's root. Without one it is the current directory, unless that is a home or system
    directory."""
    if facts.workspace.root:
        root = _spelled(facts.workspace.root)
        return root if root not in ("/", "~") else None
    if not facts.cwd:
        return None
    cwd = _spelled(facts.cwd)
    return None if _is_no_workspace(cwd, facts) else cwd


def _joined(directory: str, path: str) -> str:
    return posixpath.normpath(f"{directory.rstrip('/')}/{path}")


def scope_of(text: str, facts: Facts, directory: str | None = None) -> Scope:
    """Returns how much a path covers: all of a place (`/`, `~`, `/tmp/*`, `.`), many files by a pattern, or one."""
    path = located(text, facts, directory).rstrip("/")
    pattern = _has_pattern(path.rpartition("/")[2])
    whole = path
    while whole.rpartition("/")[2] in ("*", "**", "*.*", "?*", ".*", ".[!.]*", ".??*", "{*,.*}", "{,.}*"):
        whole = whole.rpartition("/")[0]
    if whole in _WHOLE or (whole.startswith("c:") and len(whole) <= 2) or _is_whole_home(whole):
        return Scope.ALL
    if facts.workspace.root and whole == _spelled(facts.workspace.root):
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
def _spelled(text: str) -> str:
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
                    known = _spelled(fallback)
                    return ("", rest) if known.startswith("\0") else (head, rest)
                return head, rest
        return name, rest
    end = 1
    while end < len(path) and (path[end].isalnum() or path[end] in "_:"):
        end += 1
    return path[1:end], path[end:]


def located(text: str, facts: Facts, directory: str | None = None) -> str:
    """Returns the normalised path, relative to the directory in which the action began."""
    path = _spelled(text)
    if path.startswith(("/", "~", "\0")) or path[1:2] == ":":
        return path
    if directory is not None:
        base = _spelled(directory)
        return f"{base}/{path}" if base.startswith("\0") else _joined(base, path)
    return path


def seen_from(directory: str, text: str) -> str:
    """Joins a relative path with its base directory, both in their original spelling; returns "" for any other path."""
    if not text or text.startswith(("/", "~", "$", "`", "%", "\\", "-")) or text[1:2] == ":" or "://" in text[:12]:
        return ""
    return posixpath.normpath(posixpath.join(directory, text))


def _is_no_workspace(directory: str, facts: Facts) -> bool:
    """Decides whether the directory is itself a home or system directory, so that relative paths are in that place."""
    home = _spelled(facts.home) if facts.home else None
    return (
        directory in ("/", "~", home, *HOMES)
        or _is_whole_home(directory)
        or (
            any(_inside(directory, system) for system in SYSTEM_DIRECTORIES)
            and not any(_inside(directory, workspace) for workspace in WORKSPACES)
        )
    )


def _place_in_workspace(relative: str, text: str, facts: Facts) -> Place:
    states = facts.path_states(text)
    if not states.isdisjoint(_IN_VERSION_CONTROL):
        return Place.WORKSPACE
    # A possible product of a build is the person's own file if version control neither tracks nor ignores it.
    if _is_rebuildable(relative, _NOTHING if "untracked" in states else REBUILDABLE_IN_WORKSPACE):
        return Place.REBUILDABLE
    return Place.IGNORED if states == {"ignored"} else Place.WORKSPACE


_IN_VERSION_CONTROL = frozenset(("tracked", "dirty", "staged"))


def is_made_again(path: str) -> bool:
    """Decides by the names in a path inside a workspace whether tools can make it again."""
    return _is_rebuildable(path.lower(), REBUILDABLE_IN_WORKSPACE)


def _is_rebuildable(path: str, weak: frozenset[str]) -> bool:
    parts = [part.strip("*") for part in path.split("/")]
    if ".git" in parts[:-1] and path.endswith(".lock"):
        return True  # left behind by a killed git
    if any(part in REBUILDABLE_ANYWHERE or part in weak for part in parts):
        return ".git" not in parts
    if weak is REBUILDABLE_IN_WORKSPACE and any(_is_product_name(part) for part in parts):
        return ".git" not in parts
    last = path.rpartition("/")[2]
    return last.endswith(REBUILDABLE_SUFFIXES) and weak is REBUILDABLE_IN_WORKSPACE


def _is_product_name(name: str) -> bool:
    """Decides whether a compound name says that the file is built or temporary: `dist-cjs`, `tmp_check`, `my.build`."""
    words = _JOINTS.split(name.strip("._-"))
    if len(words) < 2:
        return False
    if not _TEMPORARY_WORDS.isdisjoint(words):
        return True
    return any(
        word in _PRODUCT_WORDS and (not after or after in _PRODUCT_KINDS or not after.isalpha())
        for word, after in zip(words, [*words[1:], ""], strict=True)
    )


_JOINTS = re.compile(r"[._-]")
_TEMPORARY_WORDS = frozenset(("tmp", "temp", "cache", "caches", "autom4te"))
_PRODUCT_WORDS = frozenset(("build", "builds", "dist", "out", "output", "coverage"))
_PRODUCT_KINDS = frozenset(
    (
        *("cjs", "esm", "es", "umd", "types", "typings", "debug", "release", "test", "tests", "web", "node", "browser"),
        *("prod", "dev", "docs", "wasm", "linux", "macos", "darwin", "windows", "win", "arm", "ios", "android", "gcc"),
        *(
            "clang",
            "asan",
            "tsan",
            "ubsan",
            "static",
            "shared",
            "min",
            "electron",
            "ssr",
            "client",
            "server",
            "storybook",
        ),
    )
)


def _has_compiled_name(path: str) -> bool:
    """Decides whether an interpreter compiled the file from its neighbour, in any place."""
    return "/__pycache__" in path or path.endswith((".pyc", ".pyo", ".py[co]", ".py[cod]"))


_NOTHING: frozenset[str] = frozenset()


def _place_elsewhere(path: str, facts: Facts) -> Place:
    home = _spelled(facts.home) if facts.home else None
    at_home = home is not None and home != "/" and _inside(path, home)
    if at_home and home is not None:
        path = "~" + path[len(home) :]
    elif not path.startswith("~"):
        path = _from_home(path)
    if _inside_one_of(path, CACHES):
        return Place.REBUILDABLE
    if _inside_one_of(path, TEMPORARY_DIRECTORIES) or _inside(path, "~/appdata/local/temp"):
        return Place.TEMPORARY
    if path.startswith("~"):
        return Place.REBUILDABLE if _is_rebuildable(path, _NOTHING) and path.count("/") > 1 else Place.HOME
    if _has_compiled_name(path):
        return Place.REBUILDABLE
    if path in ("/", "c:", "c:/", "/*", "c:/*") or _inside_one_of(path, SYSTEM_DIRECTORIES):
        return Place.SYSTEM
    if _inside_one_of(path, HOMES) or _inside_one_of(path, DATA_OF_PEOPLE):
        return Place.HOME
    if _is_rebuildable(path, _NOTHING):
        return Place.REBUILDABLE
    if path[1:2] == ":" and len(path) <= 4:
        return Place.SYSTEM
    if path.startswith("/") and path.count("/") == 1 and _has_pattern(path):
        return Place.SYSTEM
    return Place.UNKNOWN


def _from_home(path: str) -> str:
    """Returns a path below somebody's home directory with `~` for that directory."""
    for home in ("/home/", "/users/", "c:/users/"):
        if path.startswith(home):
            name, slash, rest = path[len(home) :].partition("/")
            return f"~/{rest}" if slash and name else path
    if path.startswith("/root/"):
        return f"~/{path[6:]}"
    return path


def _place_by_names(path: str) -> Place:
    """Returns the place that the names in a path imply if it begins with an unknown variable."""
    name, _, rest = path[1:].partition("/")
    if _is_rebuildable(rest, REBUILDABLE_IN_WORKSPACE):
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


def _inside(path: str, directory: str) -> bool:
    return path.startswith(directory) and (len(path) == len(directory) or path[len(directory)] == "/")


def _inside_one_of(path: str, directories: tuple[str, ...]) -> bool:
    return path.startswith(directories) and any(_inside(path, directory) for directory in directories)


def _has_pattern(text: str) -> bool:
    return any(char in text for char in "*?[{")


# --- the reason to protect a path ---


@record
class Care:
    """The reason for which a path deserves care."""

    sensitivity: Sensitivity
    reason: str


def _secret(reason: str) -> Care:
    return Care(Sensitivity.SECRET, reason)


_NO_CARE = Care(Sensitivity.NONE, "")

NAMES: Mapping[str, Care] = {
    **dict.fromkeys(
        (".env", ".envrc", ".flaskenv", "secrets.env", "production.env", ".env.vault", ".env.keys"),
        _secret("environment with secrets"),
    ),
    **dict.fromkeys(
        ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "identity.asc"),
        _secret("private key of SSH"),
    ),
    **dict.fromkeys(
        (".netrc", "_netrc", ".git-credentials", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf"),
        _secret("stored passwords"),
    ),
    **dict.fromkeys(
        (".htpasswd", "passwd.master", "master.passwd", "unattend.xml", "sysprep.inf", ".s3cfg", ".boto"),
        _secret("stored passwords"),
    ),
    **dict.fromkeys(
        ("sitemanager.xml", "recentservers.xml", "winscp.ini", "ultravnc.ini", "vnc.ini", "ws_ftp.ini", "confcons.xml"),
        _secret("stored passwords"),
    ),
    **dict.fromkeys(
        (".npmrc", ".pypirc", ".yarnrc.yml", ".gem/credentials", ".terraformrc", ".vault-token", ".dockercfg"),
        _secret("token of a registry or service"),
    ),
    **dict.fromkeys(
        (".dockerconfigjson", "credentials.tfrc.json", "hosts.yml", ".cargo/credentials", ".rediscli_auth"),
        _secret("token of a registry or service"),
    ),
    **dict.fromkeys(
        ("credentials", "credentials.json", "credentials.xml", "credentials.yml", "credentials.yaml"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("credentials.db", "access_tokens.db", "application_default_credentials.json", "credentials.toml"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("credentials.csv", "rootkey.csv", "accesskeys.csv", "client_secret.json", "client_secrets.json"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("service-account.json", "service_account.json", "serviceaccount.json", "gcp-key.json", "sa-key.json"),
        _secret("credentials"),
    ),
    **dict.fromkeys(
        ("secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "secrets.ini", "secret.yaml", "secrets.txt"),
        _secret("secrets"),
    ),
    **dict.fromkeys(
        ("secret.json", "secrets", ".secrets", "master.key", "secret_key", "secret.key", "passwords.txt"),
        _secret("secrets"),
    ),
    **dict.fromkeys(
        ("passwords", "password.txt", "passwords.csv", "tokens.json", "token.json", "api_keys.txt", "auth.json"),
        _secret("secrets"),
    ),
    **dict.fromkeys(
        ("terraform.tfstate", "terraform.tfstate.backup", "terraform.tfvars", "vault.json", "vault_pass"),
        _secret("secrets of an infrastructure"),
    ),
    **dict.fromkeys(
        (".vault_pass", ".vault_pass.txt", "kubeconfig", "admin.conf", ".kubeconfig", "adminsdk.json"),
        _secret("secrets of an infrastructure"),
    ),
    **dict.fromkeys(
        ("wallet.dat", "keystore.json", "mnemonic.txt", "seed.txt", "seed-phrase.txt", "wallet.json", "id.json"),
        _secret("keys of a wallet"),
    ),
    **dict.fromkeys(
        ("default_wallet", "keypair.json", "validator-keypair.json", ".mnemonic", "priv_validator_key.json"),
        _secret("keys of a wallet"),
    ),
    **dict.fromkeys(
        ("login data", "cookies", "cookies.sqlite", "logins.json", "key4.db", "key3.db", "web data"),
        _secret("passwords and sessions of a browser"),
    ),
    **dict.fromkeys(
        ("login.keychain", "login.keychain-db", "system.keychain", "ntds.dit", "krb5.keytab", "cookies.binarycookies"),
        _secret("passwords of the system"),
    ),
    **dict.fromkeys(
        (".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history"),
        _secret("commands that were typed, often with secrets"),
    ),
    **dict.fromkeys(
        (".rediscli_history", ".irb_history", "consolehost_history.txt", "fish_history"),
        _secret("commands that were typed, often with secrets"),
    ),
}
SUFFIXES: Mapping[str, Care] = {
    **dict.fromkeys(
        (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".p8", ".pkcs12", ".keytab"),
        _secret("private key"),
    ),
    **dict.fromkeys((".kdbx", ".kdb", ".agilekeychain", ".opvault", ".1pux", ".psafe3"), _secret("vault of passwords")),
    **dict.fromkeys((".tfstate", ".tfvars", ".ovpn", ".mobileprovision"), _secret("secrets of an infrastructure")),
    **dict.fromkeys((".mbox", ".pst", ".ost", ".eml", ".vcf"), Care(Sensitivity.PERSONAL, "mail and contacts")),
}
NOT_SECRET_SUFFIXES = (
    *(".example", ".sample", ".template", ".dist", ".tmpl", ".tpl", ".pub", ".md", ".schema", ".enc", ".gpg", ".age"),
    *(".sops", ".d.ts", ".py", ".ts", ".js", ".go", ".rb", ".rs", ".java", ".html", ".css", ".j2", ".erb", ".defaults"),
    *(
        ".pem.pub",
        ".cert.pem",
        ".crt.pem",
        "ca.pem",
        "cacert.pem",
        "cert.pem",
        "chain.pem",
        "fullchain.pem",
        "public.pem",
    ),
    *("public.key", "pubkey.pem", "pub.pem", "ca-bundle.pem", "public_key.pem", "dhparam.pem", "public-key.pem"),
)
ENV_WITHOUT_SECRETS = frozenset(("example", "sample", "template", "dist", "defaults", "schema", "tmpl", "ci", "test"))
DIRECTORIES: Mapping[str, Care] = {
    ".ssh": _secret("keys of SSH"),
    ".gnupg": _secret("keys of GnuPG"),
    ".aws": _secret("credentials of a cloud"),
    ".azure": _secret("credentials of a cloud"),
    ".oci": _secret("credentials of a cloud"),
    ".bluemix": _secret("credentials of a cloud"),
    ".kube": _secret("credentials of clusters"),
    ".password-store": _secret("vault of passwords"),
    "keychains": _secret("passwords of the system"),
    "keyrings": _secret("passwords of the system"),
    ".electrum": _secret("keys of a wallet"),
    ".bitcoin": _secret("keys of a wallet"),
    ".ethereum": _secret("keys of a wallet"),
    ".solana": _secret("keys of a wallet"),
    ".monero": _secret("keys of a wallet"),
    ".bitmonero": _secret("keys of a wallet"),
    ".exodus": _secret("keys of a wallet"),
    "exodus.wallet": _secret("keys of a wallet"),
    ".thunderbird": Care(Sensitivity.PERSONAL, "mail"),
    "maildir": Care(Sensitivity.PERSONAL, "mail"),
}
FRAGMENTS: tuple[tuple[str, Care], ...] = (
    ("/etc/shadow", _secret("passwords of the system")),
    ("/etc/gshadow", _secret("passwords of the system")),
    ("/etc/master.passwd", _secret("passwords of the system")),
    ("/etc/security/opasswd", _secret("passwords of the system")),
    ("/etc/ssl/private", _secret("private key")),
    ("/etc/letsencrypt/live", _secret("private key")),
    ("/etc/letsencrypt/archive", _secret("private key")),
    ("/etc/kubernetes/pki", _secret("credentials of clusters")),
    ("/etc/kubernetes/admin.conf", _secret("credentials of clusters")),
    ("/etc/rancher/k3s/k3s.yaml", _secret("credentials of clusters")),
    ("/var/run/secrets", _secret("credentials of a pod")),
    ("/run/secrets", _secret("credentials of a container")),
    ("/etc/openvpn", _secret("keys of a network")),
    ("/etc/wireguard", _secret("keys of a network")),
    ("networkmanager/system-connections", _secret("keys of a network")),
    ("/etc/ipsec.secrets", _secret("keys of a network")),
    ("/etc/ppp/chap-secrets", _secret("keys of a network")),
    ("/environ", _secret("environment of a process")),
    ("/mem", _secret("memory of a process")),
    ("windows/system32/config/sam", _secret("passwords of the system")),
    ("windows/system32/config/security", _secret("passwords of the system")),
    ("windows/system32/config/system", _secret("passwords of the system")),
    ("var/db/dslocal/nodes/default/users", _secret("passwords of the system")),
    ("application support/com.apple.tcc/tcc.db", Care(Sensitivity.SYSTEM, "what programs may see and steer")),
    ("windows/repair/sam", _secret("passwords of the system")),
    ("hklm/sam", _secret("passwords of the system")),
    ("hklm/security", _secret("passwords of the system")),
    ("microsoft/credentials", _secret("passwords of the system")),
    ("microsoft/protect", _secret("passwords of the system")),
    ("microsoft/vault", _secret("passwords of the system")),
    ("library/keychains", _secret("passwords of the system")),
    ("/proc/kcore", _secret("memory of the system")),
    ("/etc/mysql/debian.cnf", _secret("stored passwords")),
    ("/etc/samba/smbpasswd", _secret("stored passwords")),
    (".config/gcloud", _secret("credentials of a cloud")),
    (".config/gh", _secret("token of a registry or service")),
    (".config/glab", _secret("token of a registry or service")),
    (".config/hub", _secret("token of a registry or service")),
    (".config/doctl", _secret("credentials of a cloud")),
    (".config/op", _secret("vault of passwords")),
    (".config/solana", _secret("keys of a wallet")),
    (".config/rclone", _secret("credentials of a cloud")),
    (".config/sops/age", _secret("private key")),
    (".config/google-chrome", _secret("passwords and sessions of a browser")),
    (".config/chromium", _secret("passwords and sessions of a browser")),
    (".config/bravesoftware", _secret("passwords and sessions of a browser")),
    (".config/microsoft-edge", _secret("passwords and sessions of a browser")),
    (".mozilla/firefox", _secret("passwords and sessions of a browser")),
    ("firefox/profiles", _secret("passwords and sessions of a browser")),
    ("google/chrome", _secret("passwords and sessions of a browser")),
    ("chrome/user data", _secret("passwords and sessions of a browser")),
    ("edge/user data", _secret("passwords and sessions of a browser")),
    (".docker/config.json", _secret("token of a registry or service")),
    (".gem/credentials", _secret("token of a registry or service")),
    (".cargo/credentials", _secret("token of a registry or service")),
    (".m2/settings.xml", _secret("token of a registry or service")),
    (".gradle/gradle.properties", _secret("token of a registry or service")),
    (".composer/auth.json", _secret("token of a registry or service")),
    (".codex/auth.json", _secret("token of an agent")),
    (".claude/.credentials.json", _secret("token of an agent")),
    (".gemini/oauth_creds.json", _secret("token of an agent")),
    ("signal/sql", Care(Sensitivity.PERSONAL, "messages")),
    ("library/messages", Care(Sensitivity.PERSONAL, "messages")),
    ("library/mail", Care(Sensitivity.PERSONAL, "mail")),
    ("/var/mail", Care(Sensitivity.PERSONAL, "mail")),
    ("/var/spool/mail", Care(Sensitivity.PERSONAL, "mail")),
    ("application support/addressbook", Care(Sensitivity.PERSONAL, "contacts")),
    ("library/calendars", Care(Sensitivity.PERSONAL, "calendar")),
)
METADATA_HOSTS = (
    *("169.254.169.254", "169.254.170.2", "metadata.google.internal", "100.100.100.200", "[fd00:ec2::254]"),
    *("metadata.azure.com", "metadata.azure.internal", "192.0.0.192", "metadata.packet.net", "metadata.tencentyun.com"),
)
PUBLIC_CERTIFICATES = (
    "/etc/ssl/certs",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/etc/pki/ca-trust",
)
NOT_SECRET_IN: Mapping[str, frozenset[str]] = {
    ".ssh": frozenset(("known_hosts", "known_hosts.old", "config", "config.d")),
    ".aws": frozenset(("config", "cli")),
    ".gnupg": frozenset(("pubring.kbx", "gpg.conf", "gpg-agent.conf", "dirmngr.conf")),
    ".kube": frozenset(("cache", "http-cache")),
}


@record
class Consequence:
    """The further effect of writing to a path."""

    kind: EffectKind
    object: ObjectKind
    reason: str


STARTS_WITH_SHELL = Consequence(EffectKind.PERSIST, ObjectKind.PATH, "a file that runs when a shell starts")
_TIMED = Consequence(EffectKind.PERSIST, ObjectKind.SCHEDULED_TASK, "a task that runs by the clock")
_SERVICE = Consequence(EffectKind.PERSIST, ObjectKind.SERVICE, "a service that starts with the system or the user")
_RIGHTS = Consequence(EffectKind.GRANT, ObjectKind.PERMISSION, "who may do what on this machine")
_LOGIN = Consequence(EffectKind.GRANT, ObjectKind.CREDENTIAL, "who may log in")
_LOADED = Consequence(EffectKind.INJECT, ObjectKind.PROCESS, "code that every process loads")
_GUARD = Consequence(EffectKind.CONFIGURE, ObjectKind.GUARD, "what checks or steers the agent")
_HOOK = Consequence(EffectKind.PERSIST, ObjectKind.REPOSITORY, "code that git runs by itself")
_NETWORK = Consequence(EffectKind.CONFIGURE, ObjectKind.NETWORK, "how this machine finds and reaches others")
_BOOT = Consequence(EffectKind.CONFIGURE, ObjectKind.DEVICE, "how the system boots or what it mounts")
_CRASH = Consequence(EffectKind.DISRUPT, ObjectKind.DEVICE, "whether the machine runs on")
_DEVICE = Consequence(EffectKind.OVERWRITE, ObjectKind.DEVICE, "a disk or the memory itself")

WRITE_NAMES: Mapping[str, Consequence] = {
    **dict.fromkeys(
        (".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile"),
        STARTS_WITH_SHELL,
    ),
    **dict.fromkeys(
        (".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".xprofile", ".xinitrc", ".xsession"),
        STARTS_WITH_SHELL,
    ),
    **dict.fromkeys(
        ("config.fish", "profile.ps1", "microsoft.powershell_profile.ps1", "bash.bashrc", ".inputrc"), STARTS_WITH_SHELL
    ),
    **dict.fromkeys(("authorized_keys", "authorized_keys2", ".rhosts", "hosts.equiv", ".shosts"), _LOGIN),
    "sitecustomize.py": _LOADED,
    "usercustomize.py": _LOADED,
}
WRITE_PLACES: tuple[tuple[str, Consequence], ...] = (
    ("/etc/profile", STARTS_WITH_SHELL),
    ("/etc/zsh", STARTS_WITH_SHELL),
    ("/etc/environment", STARTS_WITH_SHELL),
    ("/etc/cron", _TIMED),
    ("/var/spool/cron", _TIMED),
    ("/etc/anacrontab", _TIMED),
    ("/var/spool/at", _TIMED),
    ("windows/system32/tasks", _TIMED),
    ("/etc/systemd/", _SERVICE),
    ("/lib/systemd/", _SERVICE),
    (".config/systemd/user", _SERVICE),
    ("/etc/init.d", _SERVICE),
    ("/etc/rc.local", _TIMED),
    ("/etc/rc.d", _SERVICE),
    ("library/launchagents", _SERVICE),
    ("library/launchdaemons", _SERVICE),
    ("library/startupitems", _SERVICE),
    (".config/autostart", _SERVICE),
    ("/etc/xdg/autostart", _SERVICE),
    ("start menu/programs/startup", _SERVICE),
    ("currentversion/run", _SERVICE),
    ("winlogon", _SERVICE),
    ("image file execution options", _LOADED),
    ("/etc/sudoers", _RIGHTS),
    ("/etc/doas.conf", _RIGHTS),
    ("/etc/polkit", _RIGHTS),
    ("/etc/passwd", _LOGIN),
    ("/etc/shadow", _LOGIN),
    ("/etc/group", _RIGHTS),
    ("/etc/gshadow", _LOGIN),
    ("/etc/pam.d", _LOGIN),
    ("/etc/pam.conf", _LOGIN),
    ("/etc/security/", _RIGHTS),
    ("/etc/ssh/", _LOGIN),
    ("/etc/ld.so", _LOADED),
    ("/etc/selinux", _RIGHTS),
    ("/etc/apparmor", _RIGHTS),
    ("/etc/hosts", _NETWORK),
    ("/etc/resolv.conf", _NETWORK),
    ("drivers/etc/hosts", _NETWORK),
    ("/etc/iptables", _NETWORK),
    ("/etc/nftables", _NETWORK),
    ("/etc/fstab", _BOOT),
    ("/etc/crypttab", _BOOT),
    ("/etc/default/grub", _BOOT),
    ("/boot/", _BOOT),
    ("/efi/", _BOOT),
    ("/proc/sysrq-trigger", _CRASH),
    ("/proc/sys", _BOOT),
    ("/sys/", _BOOT),
    (".git/hooks", _HOOK),
    (".git/config", _HOOK),
    (".husky/", _HOOK),
    (".gitconfig", _HOOK),
    (".claude/settings", _GUARD),
    (".claude/hooks", _GUARD),
    (".claude.json", _GUARD),
    (".codex/config", _GUARD),
    (".codex/hooks", _GUARD),
    (".codex/rules", _GUARD),
    (".cursor/hooks", _GUARD),
    (".cursor/mcp.json", _GUARD),
    (".cursor/permissions", _GUARD),
    (".cursor/cli", _GUARD),
    (".gemini/settings", _GUARD),
    (".gemini/hooks", _GUARD),
    (".github/hooks", _GUARD),
    (".copilot/", _GUARD),
    (".config/github-copilot", _GUARD),
    (".mcp.json", _GUARD),
    ("svc-guardrail", _GUARD),
    ("claude-code/managed-settings", _GUARD),
)
GUARD_DIRECTORIES = frozenset((".claude", ".codex", ".cursor", ".gemini", ".copilot"))
DISKS = (
    *(
        "/dev/sd",
        "/dev/hd",
        "/dev/vd",
        "/dev/xvd",
        "/dev/nvme",
        "/dev/mmcblk",
        "/dev/disk",
        "/dev/rdisk",
        "/dev/mapper/",
    ),
    *("/dev/md", "/dev/loop", "/dev/dm-", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/zd", "/dev/sr", "physicaldrive"),
)
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


def is_record(text: str) -> bool:
    """Decides whether the path is a log of events on the machine, which reveals a break-in."""
    return _RECORD.search(_spelled(text)) is not None


_RECORD = re.compile(
    r"windows/system32/winevt/|/var/log/(?:auth\.log|secure|syslog|messages|system\.log|wtmp|btmp|lastlog|audit(?:/|$))"
    r"|/var/audit/|/(?:\.(?:bash|zsh|sh)_history|consolehost_history\.txt)$|windows/prefetch(?:/|$)|/run/utmp$"
)


def is_of_the_system(text: str) -> bool:
    """Decides whether the path is a program or library of the system, or a directory that contains all its settings."""
    path = _spelled(text)
    return path in SYSTEM_ROOTS or _inside_one_of(path, SYSTEM_PROGRAMS)


def is_nowhere(text: str) -> bool:
    """Decides whether a write to the path stores nothing: `/dev/null`, a file descriptor, a terminal."""
    lowered = text.strip().lower()
    return lowered in HARMLESS_DEVICES or lowered.isdecimal() or lowered.startswith(("&", "/dev/fd/", "/dev/pts/"))


def sensitivity_of(text: str, os: str | None = None) -> Sensitivity:
    """Returns the reason for which the path deserves care, as one word."""
    return care_of(text, os).sensitivity


def care_of(text: str, os: str | None = None) -> Care:
    r"""Returns the reason for which the path deserves care, also in words. `os` only determines whether `\`
    separates."""
    return _care_of(text.replace("\\", "/") if os == "windows" else text)


@lru_cache(maxsize=2_048)
def _care_of(text: str) -> Care:
    if any(host in text for host in METADATA_HOSTS):
        return _secret("credentials that a cloud gives to its machines")
    if "://" in text[:12] and not text.startswith("file://"):
        return _NO_CARE
    path = _spelled(text)
    name = path.rpartition("/")[2]
    on_a_device = path.startswith("/dev/") and not path.startswith("/dev/shm/")
    if not on_a_device and (secret := _secret_of(path, name)) is not None:
        return secret
    if consequence_of_write(text) is not None:
        return Care(Sensitivity.SYSTEM, consequence_of_write(text).reason)  # type: ignore[union-attr]
    return _NO_CARE


_OF_PROCESS = re.compile(r"/proc/[^/]+/(?:environ|mem)$")


def _secret_of(path: str, name: str) -> Care | None:
    if name.endswith(NOT_SECRET_SUFFIXES) and name not in NAMES:
        return None
    if any(_inside(path, certificates) for certificates in PUBLIC_CERTIFICATES) or path.startswith("/etc/skel/"):
        return None
    found = NAMES.get(name)
    if found is not None:
        return found if name != "hosts.yml" or ".config/" in path else None
    if name.startswith(".env.") or name in (".env*", ".env.*", ".env?*"):
        kind = name[5:].partition(".")[0]
        return NAMES[".env"] if kind not in ENV_WITHOUT_SECRETS else None
    if name.startswith("id_") and (name.startswith(("id_rsa", "id_ed25519", "id_ecdsa", "id_dsa")) or name == "id_*"):
        return NAMES["id_rsa"]
    dot = name.rfind(".")
    if dot >= 0 and (found := SUFFIXES.get(name[dot:])) is not None:
        return found
    parts = path.split("/")
    for at, part in enumerate(parts):
        found = DIRECTORIES.get(part)
        if found is not None:
            inside = parts[at + 1] if at + 1 < len(parts) else ""
            harmless = inside in NOT_SECRET_IN.get(part, ()) or inside.startswith("authorized_keys")
            return None if harmless else found
    slashed = path if path.startswith(("/", "~")) else f"/{path}"
    for fragment, care in FRAGMENTS:
        if fragment in slashed:
            if fragment in ("/environ", "/mem") and not _OF_PROCESS.match(slashed):
                continue
            return care
    return None


@lru_cache(maxsize=2_048)
def consequence_of_write(text: str) -> Consequence | None:
    """Returns the further effect of writing to the path, such as running at each login, or None."""
    path = _spelled(text)
    if path.startswith("/dev/") or "physicaldrive" in path:
        return _DEVICE if path.startswith(DISKS) or "physicaldrive" in path else None
    name = path.rpartition("/")[2]
    found = WRITE_NAMES.get(name)
    if found is not None:
        return found
    slashed = path if path.startswith(("/", "~")) else f"/{path}"
    return next((consequence for fragment, consequence in WRITE_PLACES if fragment in slashed), None)


def is_of_guard(text: str) -> bool:
    """Decides whether the path is a file of the guard or its hooks, or a directory that contains nothing more
    important."""
    path = _spelled(text).rstrip("/")
    name = path.rpartition("/")[2]
    if name in GUARD_DIRECTORIES:
        return True
    if "svc-guardrail" in path and not name.startswith(".svc-guardrail"):
        # Elsewhere the name belongs to a package under development.
        parts = path.split("/")
        at = next(at for at, part in enumerate(parts) if "svc-guardrail" in part)
        before = parts[at - 1] if at else ""
        return "$xdg_" in text.lower() or before.isdigit() or before in (".config", ".cache", "state", "run", "etc")
    return consequence_of_write(text) is _GUARD
