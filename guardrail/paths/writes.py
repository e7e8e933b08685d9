"""Judges by a path the further effects of a change to it: starting with the system, a login, a lost disk."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from guardrail.paths.spelling import spelled
from guardrail.record import record
from guardrail.vocabulary import EffectKind, ObjectKind


@record
class Consequence:
    """The further effect of writing to a path."""

    kind: EffectKind
    object: ObjectKind
    reason: str


STARTS_WITH_SHELL = Consequence(EffectKind.PERSIST, ObjectKind.PATH, "a file that runs when a shell starts")
_TIMED = Consequence(EffectKind.PERSIST, ObjectKind.SCHEDULED_TASK, "a task that runs on a schedule")
_SERVICE = Consequence(EffectKind.PERSIST, ObjectKind.SERVICE, "a service that starts with the system or the user")
_RIGHTS = Consequence(EffectKind.GRANT, ObjectKind.PERMISSION, "who may do what on this machine")
_LOGIN = Consequence(EffectKind.GRANT, ObjectKind.CREDENTIAL, "who may log in")
_LOADED = Consequence(EffectKind.INJECT, ObjectKind.PROCESS, "code that every process loads")
_GUARD = Consequence(EffectKind.CONFIGURE, ObjectKind.GUARD, "what checks or steers the agent")
_HOOK = Consequence(EffectKind.PERSIST, ObjectKind.REPOSITORY, "code that git runs automatically")
_NETWORK = Consequence(EffectKind.CONFIGURE, ObjectKind.NETWORK, "how this machine finds and reaches others")
_BOOT = Consequence(EffectKind.CONFIGURE, ObjectKind.DEVICE, "how the system boots or what it mounts")
_CRASH = Consequence(EffectKind.DISRUPT, ObjectKind.DEVICE, "whether the machine keeps running")
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


def is_record(text: str) -> bool:
    """Decides whether the path is a log of events on the machine, which reveals a break-in."""
    return _RECORD.search(spelled(text)) is not None


_RECORD = re.compile(
    r"windows/system32/winevt/|/var/log/(?:auth\.log|secure|syslog|messages|system\.log|wtmp|btmp|lastlog|audit(?:/|$))"
    r"|/var/audit/|/(?:\.(?:bash|zsh|sh)_history|consolehost_history\.txt)$|windows/prefetch(?:/|$)|/run/utmp$"
)


@lru_cache(maxsize=2_048)
def consequence_of_write(text: str) -> Consequence | None:
    """Returns the further effect of writing to the path, such as running at each login, or None."""
    path = spelled(text)
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
    path = spelled(text).rstrip("/")
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
