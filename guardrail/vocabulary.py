"""The closed lists of words that describe effects. A list grows by one line if a source needs it, never for one
case."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class Severity(StrEnum):
    """The severity of an effect. `rank` orders the members, from 1 for low to 4 for critical."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    rank: int


for _rank, _severity in enumerate(Severity, start=1):
    _severity.rank = _rank

SeverityOrNone = Severity | Literal["none"]
Decision = Literal["allow", "ask", "deny"]
Coverage = Literal["full", "partial", "none"]


class EffectKind(StrEnum):
    """The kind of an effect: the change that the action makes to the object."""

    READ = "read"
    WRITE = "write"
    OVERWRITE = "overwrite"
    DELETE = "delete"
    DISCARD = "discard"  # work that exists nowhere else, such as uncommitted changes
    CREATE = "create"
    ALTER = "alter"  # somebody's record, order or setting
    CANCEL = "cancel"
    SEND = "send"  # also post, invite, share
    DOWNLOAD = "download"
    EXECUTE = "execute"
    INSTALL = "install"
    PUBLISH = "publish"
    PAY = "pay"  # also order, book
    GRANT = "grant"
    REVOKE = "revoke"
    EXPOSE = "expose"
    DISABLE = "disable"  # a defence, a log, a backup
    ESCALATE = "escalate"
    PERSIST = "persist"
    INJECT = "inject"  # into a process
    STOP = "stop"
    DISRUPT = "disrupt"
    ROTATE = "rotate"
    ACTUATE = "actuate"  # a physical device
    CONFIGURE = "configure"  # also the guard itself


class ObjectKind(StrEnum):
    """The kind of object that an effect changes or reads."""

    PATH = "path"
    REPOSITORY = "repository"
    BRANCH = "branch"
    COMMIT = "commit"
    DATABASE = "database"
    TABLE = "table"
    ROWS = "rows"
    SCHEMA = "schema"
    QUEUE = "queue"
    INDEX = "index"
    SNAPSHOT_OR_BACKUP = "snapshot_or_backup"
    RESOURCE = "resource"
    CONTAINER = "container"
    VOLUME = "volume"
    REGISTRY_KEY = "registry_key"
    SERVICE = "service"
    SCHEDULED_TASK = "scheduled_task"
    KERNEL_MODULE = "kernel_module"
    PERMISSION = "permission"
    SECRET = "secret"  # noqa: S105 (a word)
    CREDENTIAL = "credential"
    PERSONAL_DATA = "personal_data"
    MESSAGE = "message"
    ISSUE = "issue"
    PROJECT = "project"
    ORDER = "order"
    EVENT = "event"
    PAYMENT = "payment"
    ACCOUNT = "account"
    PACKAGE = "package"
    PROCESS = "process"
    DEVICE = "device"
    THING = "thing"  # physical
    NETWORK = "network"
    GUARD = "guard"


class Scope(StrEnum):
    """The share of the objects that an effect reaches."""

    ONE = "one"
    MANY = "many"
    ALL = "all"
    UNKNOWN = "unknown"


class Place(StrEnum):
    """The place where the object of an effect is."""

    WORKSPACE = "workspace"
    REBUILDABLE = "rebuildable"  # a lock or build file in the workspace can recreate it
    IGNORED = "ignored"
    TEMPORARY = "temporary"
    HOME = "home"
    SYSTEM = "system"
    REMOTE = "remote"
    PRODUCTION = "production"
    UNKNOWN = "unknown"


class Reversible(StrEnum):
    """The ways in which an effect can or cannot be undone."""

    YES = "yes"
    WITH_BACKUP = "with_backup"
    NO = "no"


class Sensitivity(StrEnum):
    """The reason for which a target deserves care."""

    NONE = "none"
    PERSONAL = "personal"
    SECRET = "secret"  # noqa: S105 (a word)
    SYSTEM = "system"


class Origin(StrEnum):
    """The source of a value. For `execute`, the effect's `detail` contains named_file, inline, remote, piped,
    on_host or interactive_shell instead."""

    USER = "user"
    AGENT = "agent"
    UNTRUSTED_CONTENT = "untrusted_content"
    UNKNOWN = "unknown"


class Language(StrEnum):
    """The language that a text is written in."""

    BASH = "bash"
    POWERSHELL = "powershell"
    CMD = "cmd"
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    SQL = "sql"
    TOOL_CALL = "tool_call"  # name(key=value), name {json}, {"tool": ..., "arguments": ...}
    HTTP = "http"  # a request line with header fields and body
    DOCKERFILE = "dockerfile"
    CI = "ci"  # YAML of a workflow
    MANIFEST = "manifest"  # YAML for Kubernetes, Compose or Ansible, and access policies
    HCL = "hcl"  # resources of Terraform and OpenTofu
    CODE = "code"  # a program in a language without a reader
    PROSE = "prose"
