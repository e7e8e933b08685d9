"""Named circumstances that a policy row may require: yes-or-no questions about an effect, one of its targets and the
facts. Each lists the facts that it reads, so that an answer can name those it relied on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from guardrail.facts import CommitState, Environment, Facts, Money, PathState, encodable, folded, is_allowed_host
from guardrail.language.data import names
from guardrail.language.recipients import MOST_ADDRESSES, is_stranger
from guardrail.model import Effect, Target
from guardrail.paths.places import is_of_the_system
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind, Origin, Place, Reversible, Scope, Sensitivity

Question = Callable[[Effect, Target, Facts], bool]


@record
class Circumstance:
    """A question, the facts that it reads, and its meaning in words."""

    holds: Question
    facts: tuple[str, ...]
    meaning: str


# --- the state of the work ---

_CHANGED = frozenset((PathState.DIRTY, PathState.STAGED))
_LOST_BY_DELETING = frozenset((*_CHANGED, PathState.UNTRACKED, PathState.IGNORED_WORK))
_LOST_BY_RESETTING = _CHANGED
_LOST_BY_INDEX = {"kept": frozenset((PathState.DIRTY,)), "lost": frozenset((PathState.STAGED,))}
"""States whose work a discard loses, by its treatment of the index: if the index is kept, its content survives; if it
is lost, only staged work is gone."""
_LOST_WHEN_STAGED = frozenset((*_CHANGED, PathState.UNTRACKED))
"""States whose work is lost if everything is staged first: a reset then removes new files too."""
_LOST_BY_CLEANING = frozenset((PathState.UNTRACKED,))
_LOST_BY_CLEANING_IGNORED = {
    "only": frozenset((PathState.IGNORED_WORK,)),
    "too": frozenset((PathState.UNTRACKED, PathState.IGNORED_WORK)),
}
_CLEANING = ("clean", "clean-tree", "cleanup", "purge")
"""Subcommands of version control that remove untracked files and keep tracked ones."""
_VERSION_CONTROL = ("git ", "hg ", "svn ", "jj ", "bzr ", "fossil ")


def _losing_states(effect: Effect) -> frozenset[PathState]:
    if effect.kind is EffectKind.DISCARD:
        if effect.detail.get("saved"):
            return frozenset()
        if effect.detail.get("staged"):
            return _LOST_WHEN_STAGED
        if effect.source.endswith(_CLEANING):
            return _LOST_BY_CLEANING_IGNORED.get(effect.detail.get("ignored", ""), _LOST_BY_CLEANING)
        return _LOST_BY_INDEX.get(effect.detail.get("index", ""), _LOST_BY_RESETTING)
    if effect.reversible is Reversible.YES and effect.source.startswith(_VERSION_CONTROL):
        # `git rm` refuses to delete a file with uncommitted changes; `git mv -f` overwrites it.
        return _LOST_BY_DELETING if effect.kind is EffectKind.OVERWRITE else frozenset()
    return _LOST_BY_DELETING


def _states(effect: Effect, target: Target, facts: Facts) -> frozenset[PathState]:
    """Returns the states of the paths that the effect reaches. Overwriting one path leaves the rest of its directory
    alone."""
    if effect.kind in (EffectKind.OVERWRITE, EffectKind.WRITE) and effect.scope is Scope.ONE:
        state = facts.path_state(target.located)
        return frozenset(() if state is None else (state,))
    return facts.path_states(target.located)


def _is_kept(effect: Effect, target: Target, facts: Facts) -> bool:
    states = _states(effect, target, facts)
    return bool(states) and states.isdisjoint(_losing_states(effect))


def _is_lost(effect: Effect, target: Target, facts: Facts) -> bool:
    return not _losing_states(effect).isdisjoint(_states(effect, target, facts))


def _is_dirty(effect: Effect, target: Target, facts: Facts) -> bool:
    return not (_CHANGED & _losing_states(effect)).isdisjoint(_states(effect, target, facts))


def _is_pushed(effect: Effect, target: Target, facts: Facts) -> bool:
    branch = facts.workspace.branch
    if effect.source.startswith("git stash"):
        return False  # a stash is pushed nowhere
    return branch.pushed is True and not branch.ahead and target.text in ("", "HEAD", branch.name or "", ".")


def _commit_state(effect: Effect, target: Target, facts: Facts) -> CommitState | None:
    return facts.workspace.commits.get(target.text)


def _is_kept_elsewhere(effect: Effect, target: Target, facts: Facts) -> bool:
    return _commit_state(effect, target, facts) in (CommitState.KEPT, CommitState.MISSING)


def _is_only_here(effect: Effect, target: Target, facts: Facts) -> bool:
    return _commit_state(effect, target, facts) is CommitState.ONLY_HERE


def _is_unpushed(effect: Effect, target: Target, facts: Facts) -> bool:
    branch = facts.workspace.branch
    return branch.pushed is False or bool(branch.ahead)


def _is_protected(effect: Effect, target: Target, facts: Facts) -> bool:
    branch = facts.workspace.branch
    name = target.text.removeprefix("+").rpartition(":")[2].removeprefix("refs/heads/")
    if name and branch.name and name not in (branch.name, "HEAD"):
        return name in MAIN_BRANCHES
    return bool(branch.protected or branch.default) or name in MAIN_BRANCHES


MAIN_BRANCHES = frozenset(("main", "master", "trunk", "production", "release"))


def _branch_of(target: Target) -> str:
    return target.text.removeprefix("+").rpartition(":")[2].removeprefix("refs/heads/")


def _is_generated_branch(effect: Effect, target: Target, facts: Facts) -> bool:
    return _branch_of(target) in _GENERATED_BRANCHES


_GENERATED_BRANCHES = frozenset(("gh-pages", "github-pages", "gitlab-pages", "pages"))


def _names_test(effect: Effect, target: Target, facts: Facts) -> bool:
    return _TEST.search(target.text) is not None


_TEST = re.compile(
    r"(?i)^[`\"\[]?(?:[a-z0-9]+[_-])*(?:test|tests|testing|testdb|ci)(?:[_-]?(?:db|database))?\d*[`\"\]]?$"
)


def _is_of_this_run(effect: Effect, target: Target, facts: Facts) -> bool:
    return not facts.gathered and _RUN.search(target.text) is not None


_RUN = re.compile(
    r"\$\{?\{?\s*(?:github\.(?:run_id|run_number|event\.(?:number|pull_request\.number))|GITHUB_RUN_(?:ID|NUMBER)|CI_PIPELINE_I?ID"
    r"|CI_JOB_ID|CI_MERGE_REQUEST_IID|BUILDKITE_BUILD_NUMBER|CIRCLE_BUILD_NUM|BUILD_NUMBER|PR_NUMBER|TRAVIS_BUILD_ID)\b"
)


def _holds_history(effect: Effect, target: Target, facts: Facts) -> bool:
    if not target.located:
        return False
    if effect.kind is EffectKind.DELETE and effect.scope is not Scope.ONE and facts.normal_path(target.located) == ".":
        return facts.workspace.is_repository is not False
    parts = target.located.replace("\\", "/").rstrip("/").split("/")
    return parts[-1] in (".git", ".hg", ".svn", ".jj") or (len(parts) > 1 and parts[-2:] == [".git", "objects"])


def _is_names_pattern(effect: Effect, target: Target, facts: Facts) -> bool:
    name = target.text.replace("\\", "/").rpartition("/")[2].removesuffix("[found]")
    return _PATTERN.search(name) is not None and len(_LETTERS.findall(name)) >= _FEWEST_LETTERS


_PATTERN = re.compile(r"[*?\[]")
_LETTERS = re.compile(r"[^\W_]")
_FEWEST_LETTERS = 2


def _names_data(effect: Effect, target: Target, facts: Facts) -> bool:
    return _DATA.search(target.located) is not None


_DATA = re.compile(
    r"(?i)\.(?:db|sqlite3?|mdb|accdb|csv|tsv|parquet|xlsx?|docx?|odt|ods|pptx?|pdf|md|txt|dat|img|qcow2|vmdk|bak|dump|sql"
    r"|kdbx|jpe?g|png|mp4|tar|t?gz|zip)$|^/var/log/(?:syslog|messages|secure|auth\.log|kern\.log|wtmp|btmp|lastlog|audit)"
)


_DATABASE = re.compile(r"(?i)\.(?:db|sqlite3?|db3|mdb|accdb|kdbx|rdb|duckdb|realm)$")


def _is_absolute(effect: Effect, target: Target, facts: Facts) -> bool:
    return _ABSOLUTE.match(target.located) is not None


_ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:[/\\]|\.\./")


def _is_recipient(effect: Effect, target: Target, facts: Facts) -> bool:
    stated = (effect.detail.get("recipient"), effect.detail.get("url"))
    addressed = target.text in stated or "@" in target.text or "://" in target.text
    return addressed or effect.object is ObjectKind.NETWORK


def _is_unnamed_recipient(effect: Effect, target: Target, facts: Facts) -> bool:
    return (
        facts.user_request is not None
        and "@" in target.text
        and 1 < len(effect.targets) <= MOST_ADDRESSES
        and is_stranger(target.text, [other.text for other in effect.targets], facts.user_request)
    )


def _is_of_one_program(effect: Effect, target: Target, facts: Facts) -> bool:
    match = _PROGRAM_DIRECTORY.match(target.located)
    return (
        match is not None
        and match.group(1).lower() not in _DIRECTORIES_OF_MANY
        and target.sensitivity is Sensitivity.NONE
        and ".." not in target.located
    )


_PROGRAM_DIRECTORY = re.compile(
    r"/(?:var/(?:lib|cache|log|spool|opt|www)|usr/(?:local/)?(?:lib|share|libexec|include|src)|usr/local|opt|etc|srv|run)"
    r"/((?=[\w@+.-]*?\w{2})[\w@+.-]++)(?=/|\*?$)"
)
_DIRECTORIES_OF_MANY = frozenset(
    (
        *("bin", "sbin", "lib", "lib64", "share", "include", "src", "man", "etc", "libexec", "local", "log", "mail"),
        *("ssh", "ssl", "pam.d", "security", "systemd", "init.d", "rc.d", "default", "network", "netplan", "sysconfig"),
        *("dpkg", "rpm", "pacman", "apt", "dnf", "yum", "docker", "containerd", "kubelet", "etcd", "rancher", "cni"),
        *("mysql", "mariadb", "postgresql", "pgsql", "mongodb", "mongo", "redis", "elasticsearch", "rabbitmq", "kafka"),
        *("cassandra", "clickhouse", "influxdb", "prometheus", "grafana", "ldap", "openldap", "vault", "consul"),
        *("libvirt", "lxc", "lxd", "snapd", "flatpak", "modules", "firmware", "x86_64-linux-gnu", "aarch64-linux-gnu"),
        *("python3", "perl5", "udev", "selinux", "apparmor", "audit", "sudo", "journal", "html", "nginx", "apache2"),
        *("httpd", "letsencrypt", "wireguard", "openvpn", "kubernetes", "postfix", "named", "bind", "data", "backup"),
    )
)
"""Names of directories that many programs share, that belong to the system, or that contain data instead of one
program's files."""


def _is_beside_products(effect: Effect, target: Target, facts: Facts) -> bool:
    name = target.located.replace("\\", "/").removeprefix("./").rstrip("/").lower()
    return (
        _PLAIN_NAME.fullmatch(name) is not None
        and name not in _NAMES_OF_SOURCES
        and any(other.place is Place.REBUILDABLE for other in effect.targets if other is not target)
    )


_PLAIN_NAME = re.compile(r"\.?[\w-]+(?:\.[\w-]+)*")
_NAMES_OF_SOURCES = frozenset(
    (
        *("src", "source", "sources", "lib", "libs", "app", "apps", "application", "core", "main", "internal", "cmd"),
        *("packages", "modules", "plugins", "components", "pages", "views", "models", "controllers", "services", "api"),
        *(
            "server",
            "client",
            "frontend",
            "backend",
            "web",
            "www",
            "public",
            "static",
            "assets",
            "images",
            "img",
            "css",
        ),
        *("docs", "doc", "documentation", "test", "tests", "spec", "specs", "e2e", "examples", "samples", "fixtures"),
        *("scripts", "tools", "config", "configs", "conf", "settings", "templates", "include", "headers", "types"),
        *(
            "data",
            "database",
            "db",
            "migrations",
            "schema",
            "backup",
            "backups",
            "uploads",
            "media",
            "content",
            "posts",
        ),
        *("notebooks", "notes", "private", "secrets", "keys", "certs", "infra", "terraform", "k8s", "helm", "charts"),
        *("deploy", "project", "projects", "work", "workspace", "code", "home", "users", "documents", "results"),
        *("js", "ts", "python", "java", "go", "rust", "kotlin", "swift", "sql", "proto", "locales", "i18n", "utils"),
        *(".git", ".github", ".gitlab", ".vscode", ".idea", ".husky", ".config", ".ssh", ".env", "ansible", "models"),
    )
)


def _starts_shell(effect: Effect, target: Target, facts: Facts) -> bool:
    return _SHELL_IN_CODE.search(target.text) is not None


_SHELL_IN_CODE = re.compile(
    r"(?:^|[\s\"'`(!=,])(?:/usr)?/bin/(?:ba|da|z|k|c|tc|a|fi)?sh(?:\s+-[a-z]{1,2})*(?:\s*[<>|&\d;)\]\"'`,]|\s*$)"
)
"""A shell without a script: the end of a string or statement follows its name and options."""


# --- approval, backup, surroundings ---


def _is_throwaway(effect: Effect, target: Target, facts: Facts) -> bool:
    return facts.environment in (Environment.DEVELOPMENT, Environment.TEST, Environment.CI)


def _is_ci(effect: Effect, target: Target, facts: Facts) -> bool:
    return facts.environment is Environment.CI or (facts.in_checkout and target.place in _IN_CHECKOUT)


_IN_CHECKOUT = frozenset((Place.WORKSPACE, Place.IGNORED, Place.REBUILDABLE))


def _is_production(effect: Effect, target: Target, facts: Facts) -> bool:
    return facts.environment is Environment.PRODUCTION


def _is_approved(effect: Effect, target: Target, facts: Facts) -> bool:
    """Decides whether a claimed approval counts. It does not for losing many things irreversibly in production."""
    if facts.approved is not True:
        return False
    in_production = facts.environment is Environment.PRODUCTION or target.place is Place.PRODUCTION
    whole = effect.object in _WHOLE or effect.scope in (Scope.MANY, Scope.ALL)
    return not (in_production and whole and effect.reversible is Reversible.NO and effect.kind in _LOSSES)


_LOSSES = frozenset((EffectKind.DELETE, EffectKind.OVERWRITE, EffectKind.DISCARD))
_WHOLE = frozenset(
    (
        *(ObjectKind.DEVICE, ObjectKind.VOLUME, ObjectKind.DATABASE, ObjectKind.SCHEMA, ObjectKind.TABLE),
        *(ObjectKind.INDEX, ObjectKind.QUEUE, ObjectKind.SNAPSHOT_OR_BACKUP, ObjectKind.REPOSITORY),
    )
)
"""Objects that contain many things: a claimed approval or backup is not enough to lose one."""

# --- the origin of a request ---


def _is_named_by_person(effect: Effect, target: Target, facts: Facts) -> bool:
    return target.origin is Origin.USER or facts.origin_of(target.text) is Origin.USER


def _is_named_by_untrusted(effect: Effect, target: Target, facts: Facts) -> bool:
    return effect.detail.get(UNREQUESTED) in ("target", "both")


def _is_asked_for(effect: Effect, target: Target, facts: Facts) -> bool:
    return effect.detail.get(REQUESTED) == "yes" and facts.instruction_origin is not Origin.UNTRUSTED_CONTENT


def _is_wanted_by_untrusted(effect: Effect, target: Target, facts: Facts) -> bool:
    return facts.instruction_origin is Origin.UNTRUSTED_CONTENT or effect.detail.get(UNREQUESTED) in ("kind", "both")


REQUESTED = "requested"
"""Key of an effect's detail: `yes` if the person's request asks for this kind of effect, `only information` if
it asks for nothing but that, else `no`."""

UNREQUESTED = "unrequested"
"""Key of an effect's detail: `kind`, `target` or `both` if untrusted content, and not the person, asks for the effect
or names its target; `drift` if the request mentions nothing like it."""


# --- money ---


def _amount(effect: Effect) -> Money | None:
    try:
        amount = Decimal(effect.detail["amount"].replace(",", "").replace("_", "").strip())
    except (KeyError, InvalidOperation):
        return None
    currency = effect.detail.get("currency", "").strip().upper()
    return Money(amount, _SYMBOLS.get(currency, currency) or None) if amount.is_finite() else None


_SYMBOLS: Mapping[str, str] = MappingProxyType({"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "US$": "USD"})
_DOLLARS = frozenset(("USD", "USDC", "USDT", "DAI"))


def _is_comparable(amount: Money, limit: Money) -> bool:
    currencies = {"USD" if currency in _DOLLARS else currency for currency in (amount.currency, limit.currency)}
    return None in currencies or len(currencies) == 1


def _is_above_limit(effect: Effect, target: Target, facts: Facts) -> bool:
    limits = facts.limits.amounts
    if limits and _is_unlimited(effect, target, facts):
        return True
    amount = _amount(effect)
    return amount is not None and any(
        _is_comparable(amount, limit) and amount.amount > limit.amount for limit in limits
    )


def _is_in_another_currency(effect: Effect, target: Target, facts: Facts) -> bool:
    amount, limits = _amount(effect), facts.limits.amounts
    return amount is not None and bool(limits) and not any(_is_comparable(amount, limit) for limit in limits)


def _is_unlimited(effect: Effect, target: Target, facts: Facts) -> bool:
    text = effect.detail.get("amount", "").strip().lower()
    if text in _UNLIMITED:
        return True
    amount = _amount(effect)
    return amount is not None and amount.amount >= _HUGE


_UNLIMITED = frozenset(
    ("unlimited", "infinite", "max", "all", "maxuint256", "max_uint256", "type(uint256).max", f"0x{'f' * 64}")
)
_HUGE = Decimal(2) ** 255


def _recipients(effect: Effect, target: Target) -> tuple[str, ...]:
    recipient = effect.detail.get("recipient")
    return (recipient,) if recipient else (target.text,) if target.text else ()


def _is_none_of(values: tuple[str, ...], allowed: tuple[str, ...] | None) -> bool:
    if allowed is None or not values:
        return False
    known = {folded(value) for value in allowed}
    return any(folded(value) not in known for value in values)


def _is_paid_before(effect: Effect, target: Target, facts: Facts) -> bool:
    references = {folded(reference) for reference in facts.paid_references}
    named = (effect.detail.get(name, "") for name in ("reference", "invoice", "idempotency_key", "subject"))
    return bool(facts.already_done) or any(folded(value) in references for value in named if value)


# --- the destination of data ---


def _hosts(effect: Effect, target: Target) -> tuple[str, ...]:
    named = (effect.detail.get("url", ""), effect.detail.get("host", ""), effect.detail.get("recipient", ""))
    hosts = tuple(host for host in map(host_of, named) if host)
    if hosts or not ("://" in target.text or "@" in target.text):
        return hosts  # the name of a file may look like a host
    return tuple(host for host in (host_of(target.text),) if host)


def host_of(text: str) -> str:
    """Returns the host in a URL, `user@host:path`, `host:path` or mail address, or "" if the text names none."""
    if "://" in text:
        try:
            return urlsplit(text).hostname or ""
        except ValueError:
            return ""
    match = _HOST.match(text)
    return (match.group(1) or match.group(2)).lower() if match else ""


_HOST = re.compile(r"(?:[\w.+-]+@([\w-]+(?:\.[\w-]+)*)|([\w-]+(?:\.[\w-]+)+|localhost))(?::\S*|/\S*)?\Z")
_LOCAL = re.compile(
    r"localhost\Z|127(?:\.\d{1,3}){1,3}\Z|0\.0\.0\.0\Z|::1\Z|host\.docker\.internal\Z|.*\.(?:local|localhost|internal|test|svc)\Z"
)
_PRIVATE = re.compile(r"(?:10(?:\.\d{1,3})?|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3}){1,2}\Z")


def _is_local(effect: Effect, target: Target, facts: Facts) -> bool:
    hosts = _hosts(effect, target)
    return bool(hosts) and all(map(is_local_host, hosts))


def is_local_host(host: str) -> bool:
    """Decides whether a host is this machine or in its network."""
    return (_LOCAL.match(host) or _PRIVATE.match(host)) is not None


def _is_allowed(effect: Effect, target: Target, facts: Facts) -> bool:
    hosts = _hosts(effect, target)
    return bool(hosts and facts.allowed_hosts) and all(
        is_allowed_host(host, facts.allowed_hosts or ()) for host in hosts
    )


def _is_not_allowed(effect: Effect, target: Target, facts: Facts) -> bool:
    allowed = facts.allowed_hosts
    hosts = _hosts(effect, target)
    return allowed is not None and any(not is_allowed_host(host, allowed) and not _LOCAL.match(host) for host in hosts)


def _is_odd_source(effect: Effect, target: Target, facts: Facts) -> bool:
    """Decides whether a source is an address without TLS or without a name, or a site where anyone can upload files."""
    proves_itself = effect.source.partition(" ")[0] in _WITH_HOST_KEYS
    for text in (effect.detail.get("url", ""), target.text):
        host = host_of(text)
        if not host or _LOCAL.match(host) or _PRIVATE.match(host):
            continue
        if _DROP_PLACES.search(host) or _DROP_PATHS.search(text):
            return True
        if not proves_itself and (_ADDRESS.match(host) or text.lower().startswith(("http://", "ftp://"))):
            return True
    return False


_WITH_HOST_KEYS = frozenset(("ssh", "scp", "sftp", "rsync", "mosh", "autossh", "sshfs", "ssh-copy-id", "ansible"))
"""Clients to which a machine proves its identity with a key, whatever its address."""
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z|[\da-f]*:[\da-f:]+\Z")
_DROP_PLACES = re.compile(
    r"(?:^|\.)(?:pastebin\.com|paste\.ee|transfer\.sh|file\.io|0x0\.st|ix\.io|termbin\.com|anonfiles\.com|bashupload\.com"
    r"|gofile\.io|catbox\.moe|ngrok\.io|ngrok-free\.app|trycloudflare\.com|webhook\.site|requestbin\.\w+|pipedream\.net"
    r"|oast\.\w+|burpcollaborator\.net|interact\.sh|onion|temp\.sh|dpaste\.\w+|hastebin\.com|sprunge\.us)\Z"
)
_HOSTS_OF_REPOSITORIES = re.compile(
    r"(?:^|[@/.])(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|gitea\.com|gitee\.com|dev\.azure\.com"
    r"|visualstudio\.com|scm\.azurewebsites\.net|git-codecommit\.[\w.-]+\.amazonaws\.com|source\.developers\.google\.com"
    r"|git\.heroku\.com|huggingface\.co|hf\.co|git\.overleaf\.com|pagure\.io|salsa\.debian\.org|opendev\.org"
    r"|launchpad\.net|savannah\.(?:non)?gnu\.org|gitlab\.[\w-]+\.org)(?=[:/]|\Z)|\Adokku@"
    r"|\A(?:ssh://)?git@(?:git|gitlab|gitea|forgejo|bitbucket|gerrit|scm|stash)\.[\w.-]+[:/]"  # with an account's key
)
_DROP_PATHS = re.compile(r"//(?:[\w.]+\.)?(?:discord(?:app)?\.com/api/webhooks/|api\.telegram\.org/bot)")


def _names_program(effect: Effect, target: Target, facts: Facts) -> bool:
    return any(_PROGRAM.search(text) for text in (target.text, effect.detail.get("url", "")))


_PROGRAM = re.compile(r"(?i)/[^/?#]*\.(?:exe|dll|scr|hta|sct|bat|cmd|ps1|vbs|js|wsf|msi|cpl|com)(?:$|[?#\s])")


def _is_in_hidden_stream(effect: Effect, target: Target, facts: Facts) -> bool:
    if effect.detail.get("stream", "").lower() not in ("", "zone.identifier"):
        return True
    return is_hidden_stream(target.text)


def is_hidden_stream(text: str) -> bool:
    r"""Decides whether a Windows path names an alternate data stream of a file: `C:\a\notes.txt:x.exe`."""
    return ":" in text[2:] and _STREAM.fullmatch(text) is not None


_STREAM = re.compile(
    r"(?i)(?:[/-][a-z]+:)?(?:(?:[a-z]:[\\/]|\.{1,2}[\\/]|%\w+%[\\/])(?:[^:*?<>|\s\"]+(?: [^:*?<>|\s\"]+)*[\\/])?)?"
    r"[^:*?<>|\\/\s\"]+\.[a-z0-9]{1,5}:(?!zone\.identifier)[^:*?<>|\\/\s\"]*[a-z][^:*?<>|\\/\s\"]*(?::\$data)?"
    r"|(?:[a-z]:[\\/])[^:*?<>|\s\"]+:(?!zone\.identifier)[^:*?<>|\\/\s\"]+(?::\$data)?"
)


def _is_in_shared_place(effect: Effect, target: Target, facts: Facts) -> bool:
    return _SHARED_PLACE.match(target.located) is not None


_SHARED_PLACE = re.compile(
    r"(?i)(?:(?:[a-z]:|%systemdrive%|\$env:systemdrive)?[\\/]+(?:users[\\/]+public|perflogs|\$recycle\.bin"
    r"|windows[\\/]+(?:temp|tasks|tracing|system32[\\/]+(?:tasks|spool[\\/]+drivers[\\/]+color)))[\\/]"
    r"|%public%[\\/]|\$env:public[\\/]|(?:[a-z]:[\\/]+programdata|%programdata%|\$env:programdata)[\\/]+[^\\/]+\.\w+$"
    r"|(?:/mnt)?/c/users/public/|/dev/shm/)"
)
"""Directories that every account may write to and where no installer puts programs."""


def _is_named_as_system_program(effect: Effect, target: Target, facts: Facts) -> bool:
    path = target.located.replace("\\", "/").lower()
    directory, _, name = path.rpartition("/")
    if "/windows /" in path:
        return True  # a directory named like the system's, with a blank appended
    return (
        name in _SYSTEM_PROGRAMS
        and bool(directory)
        and not directory.endswith(("windows", "system32", "syswow64", "%windir%", "%systemroot%"))
    )


_SYSTEM_PROGRAMS = frozenset(
    (
        *("lsass.exe", "svchost.exe", "csrss.exe", "smss.exe", "winlogon.exe", "wininit.exe", "services.exe"),
        *("spoolsv.exe", "taskhostw.exe", "explorer.exe", "lsm.exe", "dllhost.exe", "sihost.exe", "runtimebroker.exe"),
    )
)
"""Windows programs that run on every machine and lie in one known directory."""


def _is_script_in_memory(effect: Effect, target: Target, facts: Facts) -> bool:
    if not effect.source.startswith(("ps:", "powershell", "pwsh")):
        return False
    named = _SCRIPT_URL.search(" ".join((effect.detail.get("url", ""), target.text)))
    return named is not None and _INSTALLER.search(named[1]) is None


_SCRIPT_URL = re.compile(r"(?i)https?://[^/\s'\"]+(/[^\s'\"?#)]+\.(?:ps1|psm1|txt|png|jpe?g|gif|bin|dat))")
_INSTALLER = re.compile(r"(?i)install|setup|bootstrap|/(?:get|init|update|upgrade)\.ps1$")


def _is_break_in_tool(effect: Effect, target: Target, facts: Facts) -> bool:
    return any(is_break_in(text) for text in (target.text, effect.detail.get("url", "")))


def is_break_in(text: str) -> bool:
    """Decides whether a text names a program, function or internal that only attackers use."""
    return _break_in_names().search(encodable(text.lower())) is not None


@cache
def _break_in_names() -> Any:
    import re2  # finds any number of names in one pass

    return re2.compile("|".join(map(re2.escape, names("break_in"))))


def _is_public(effect: Effect, target: Target, facts: Facts) -> bool:
    return facts.destination is not None and _OUTSIDE.search(facts.destination) is not None


_OUTSIDE = re.compile(r"(?i)\b(?:public|external|internet|third[-_ ]?party|outside|partner)|^public|_public|world")


def _is_in_words(effect: Effect, target: Target, facts: Facts) -> bool:
    return effect.source.startswith("sentence")


def _is_by_tool(effect: Effect, target: Target, facts: Facts) -> bool:
    return effect.source.startswith("tool")


CIRCUMSTANCES: Mapping[str, Circumstance] = MappingProxyType(
    {
        "kept": Circumstance(_is_kept, ("workspace",), "version control has its current content, or ignores it"),
        "lost": Circumstance(_is_lost, ("workspace",), "it contains work that version control doesn't have"),
        "dirty": Circumstance(_is_dirty, ("workspace",), "it contains changes that are not committed"),
        "pushed": Circumstance(_is_pushed, ("workspace",), "all commits of the branch are on a remote"),
        "names_device": Circumstance(lambda e, t, f: t.located.startswith("/dev/"), (), "the path is that of a device"),
        "commits_kept": Circumstance(
            _is_kept_elsewhere, ("workspace",), "something else reaches all its commits, or it does not exist"
        ),
        "commits_only_here": Circumstance(_is_only_here, ("workspace",), "nothing else reaches some of its commits"),
        "generated_branch": Circumstance(
            _is_generated_branch, (), "a build makes the pages that are published from it"
        ),
        "of_this_run": Circumstance(_is_of_this_run, (), "its name contains the number of the run or pull request"),
        "names_test": Circumstance(_names_test, (), "its name marks it as meant for tests"),
        "unpushed": Circumstance(_is_unpushed, ("workspace",), "the branch has commits that are on no remote"),
        "protected": Circumstance(_is_protected, ("workspace",), "the branch is protected or a main branch"),
        "history": Circumstance(_holds_history, (), "it is the store of version control itself"),
        "names_pattern": Circumstance(_is_names_pattern, (), "the pattern matches names that share some letters"),
        "beside_products": Circumstance(
            _is_beside_products, (), "it is listed together with build products, and its name is not typical of sources"
        ),
        "of_one_program": Circumstance(_is_of_one_program, (), "the directory belongs to one named program"),
        "of_the_system": Circumstance(
            lambda e, t, f: is_of_the_system(t.located), (), "the system keeps its programs or all its settings there"
        ),
        "recipient": Circumstance(_is_recipient, (), "the target is a person, channel or address"),
        "names_data": Circumstance(_names_data, (), "the name is that of a document, database, picture or archive"),
        "names_rights": Circumstance(
            lambda e, t, f: "/etc/sudoers" in t.text or "/etc/security" in t.text, (), "it lists the rights of accounts"
        ),
        "hidden_stream": Circumstance(_is_in_hidden_stream, (), "the name is that of a hidden stream of a file"),
        "shared_place": Circumstance(
            _is_in_shared_place, (), "every account may write there, and nothing is installed there"
        ),
        "system_program_elsewhere": Circumstance(
            _is_named_as_system_program, (), "it has the name of a Windows program but is in another directory"
        ),
        "script_in_memory": Circumstance(
            _is_script_in_memory,
            (),
            "a script from the network that isn't named as an installer runs without being saved",
        ),
        "break_in_tool": Circumstance(_is_break_in_tool, (), "the name is that of a program for breaking in"),
        "absolute": Circumstance(_is_absolute, (), "the path starts at a root, at home or above the workspace"),
        "starts_shell": Circumstance(_starts_shell, (), "the code names a shell and no script for it"),
        "approved": Circumstance(_is_approved, ("approved",), "the caller claims an approval"),
        "backed_up": Circumstance(
            lambda e, t, f: f.backup_available is True, ("backup_available",), "the caller claims that a backup exists"
        ),
        "approved_and_backed_up": Circumstance(
            lambda e, t, f: f.backup_available is True and _is_approved(e, t, f),
            ("approved", "backup_available"),
            "the caller claims an approval and a backup",
        ),
        "throwaway": Circumstance(_is_throwaway, ("environment",), "the environment can be recreated"),
        "ci": Circumstance(_is_ci, ("environment",), "the machine exists for one run only"),
        "looked_at": Circumstance(lambda e, t, f: f.gathered, (), "our own code examined the working copy"),
        "in_image": Circumstance(lambda e, t, f: f.in_image, (), "it happens in an image that is built"),
        "in_job": Circumstance(
            lambda e, t, f: f.in_job, (), "its commands use expressions that only a CI runner fills in"
        ),
        "only_in_job": Circumstance(
            lambda e, t, f: e.detail.get("runs") == "in_job", (), "no shell can run it before a workflow fills it in"
        ),
        "production": Circumstance(_is_production, ("environment",), "the environment is production"),
        "named_by_person": Circumstance(_is_named_by_person, ("user_request",), "the person named the target"),
        "unnamed_recipient": Circumstance(
            _is_unnamed_recipient, ("user_request",), "the person named another recipient and not this one"
        ),
        "named_by_untrusted": Circumstance(
            _is_named_by_untrusted, ("untrusted_content", "user_request"), "only untrusted content named the target"
        ),
        "asked_for": Circumstance(_is_asked_for, ("user_request",), "the person asked for such an action"),
        "wanted_by_untrusted": Circumstance(
            _is_wanted_by_untrusted,
            ("untrusted_content", "user_request", "instruction_origin"),
            "untrusted content asks for it and the person doesn't",
        ),
        "above_limit": Circumstance(_is_above_limit, ("limits",), "the amount is above a limit"),
        "other_currency": Circumstance(_is_in_another_currency, ("limits",), "no limit has the currency of the amount"),
        "unlimited": Circumstance(_is_unlimited, (), "the amount is unlimited"),
        "recipient_not_allowed": Circumstance(
            lambda e, t, f: _is_none_of(_recipients(e, t), f.limits.recipients),
            ("limits",),
            "the limits name other recipients",
        ),
        "network_not_allowed": Circumstance(
            lambda e, t, f: _is_none_of(tuple(filter(None, (e.detail.get("network"),))), f.limits.networks),
            ("limits",),
            "the limits name other networks",
        ),
        "spender_not_allowed": Circumstance(
            lambda e, t, f: _is_none_of(tuple(filter(None, (e.detail.get("spender"),))), f.limits.spenders),
            ("limits",),
            "the limits name other spenders",
        ),
        "recipient_unexpected": Circumstance(
            lambda e, t, f: _is_none_of(_recipients(e, t), f.expected_recipient),
            ("expected_recipient",),
            "the person expects another recipient",
        ),
        "paid_before": Circumstance(_is_paid_before, ("already_done", "paid_references"), "it was paid or done before"),
        "local_host": Circumstance(_is_local, (), "the host is this machine or in its network"),
        "host_allowed": Circumstance(_is_allowed, ("allowed_hosts",), "the host is one of those allowed"),
        "host_not_allowed": Circumstance(_is_not_allowed, ("allowed_hosts",), "the host is not one of those allowed"),
        "host_of_repositories": Circumstance(
            lambda e, t, f: _HOSTS_OF_REPOSITORIES.search(t.text) is not None,
            (),
            "many projects have repositories there",
        ),
        "odd_source": Circumstance(
            _is_odd_source, (), "the address has no TLS or no name, or anyone can upload files there"
        ),
        "names_program": Circumstance(_names_program, (), "the address names a Windows program"),
        "public": Circumstance(_is_public, ("destination",), "the result leaves the organisation"),
        "names_database": Circumstance(
            lambda e, t, f: _DATABASE.search(t.located) is not None, (), "the file is a database, judging by its name"
        ),
        "in_words": Circumstance(_is_in_words, (), "a sentence asks for it"),
        "limited": Circumstance(
            lambda e, t, f: bool(f.limits.amounts) and _amount(e) is not None,
            ("limits",),
            "a limit on the amount is set",
        ),
        "by_tool": Circumstance(_is_by_tool, (), "a tool of the agent does it, not a command"),
    }
)
