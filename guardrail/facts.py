"""The typed context of a check: the known circumstances of an action, and the format in which a caller sends them."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

from guardrail.record import record
from guardrail.vocabulary import Origin

MAX_CONTEXT_DEPTH = 32
MAX_CONTEXT_VALUES = 4_096
MAX_CONTEXT_CHARS = 256 * 1024

MAX_PATTERNS = 100
"""Number of patterns that are compared with the paths of the workspace; each is compared with all of them."""

SHORTEST_QUOTE = 4
"""Minimum length of a value for a text that contains it to count as its source; shorter values occur in any text."""


class Environment(StrEnum):
    """The environment that the action runs against."""

    PRODUCTION = "production"
    STAGING = "staging"
    DEVELOPMENT = "development"
    TEST = "test"
    CI = "ci"


class System(StrEnum):
    """The operating system that the action is for."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"


class PathState(StrEnum):
    """The state of a path in version control. `tracked`: committed and unchanged. `ignored_work`: ignored, and no tool
    can rebuild it. `staged`: the index contains its present content and no commit does."""

    TRACKED = "tracked"
    STAGED = "staged"
    IGNORED = "ignored"
    IGNORED_WORK = "ignored_work"
    DIRTY = "dirty"
    UNTRACKED = "untracked"
    MISSING = "missing"


class CommitState(StrEnum):
    """The fate of the commits of a branch, tag or stash when it is deleted: kept if something else reaches them."""

    KEPT = "kept"
    ONLY_HERE = "only_here"
    MISSING = "missing"


ENVIRONMENT_SPELLINGS: Mapping[str, Environment] = MappingProxyType(
    {
        **dict.fromkeys(("production", "prod", "prd", "live", "canary"), Environment.PRODUCTION),
        **dict.fromkeys(
            ("staging", "stage", "stg", "preprod", "preproduction", "uat", "preview", "demo", "nonprod"),
            Environment.STAGING,
        ),
        **dict.fromkeys(("development", "develop", "dev", "local", "sandbox", "playground"), Environment.DEVELOPMENT),
        **dict.fromkeys(("test", "testing", "tests", "qa"), Environment.TEST),
        **dict.fromkeys(("ci", "build", "pipeline"), Environment.CI),
    }
)
"""Words that name an environment. A name that starts or ends with one counts too: `prod-eu-1`, `eu-dev`, `qa2`."""

SYSTEM_SPELLINGS: Mapping[str, System] = MappingProxyType(
    {
        **dict.fromkeys(("linux", "ubuntu", "debian", "fedora", "alpine", "rhel", "wsl"), System.LINUX),
        **dict.fromkeys(("macos", "mac", "darwin", "osx"), System.MACOS),
        **dict.fromkeys(("windows", "win", "win32", "win64"), System.WINDOWS),
    }
)


class ContextInvalid(ValueError):
    """A context can't be used. `pointer` is a JSON pointer into the body of the request."""

    def __init__(
        self,
        pointer: str,
        message: str,
        code: Literal["context_invalid", "context_too_large"] = "context_invalid",
    ) -> None:
        super().__init__(message)
        self.pointer = pointer
        self.message = message
        self.code = code


@record
class Money:
    """An amount; `currency` is upper case, and None if it is not stated."""

    amount: Decimal
    currency: str | None = None


@record
class Limits:
    """Limits on payments. None means that there is no limit of this kind; an empty list permits nobody."""

    max_amount: Money | None = None
    max_per_action: Money | None = None
    max_amount_usd: Money | None = None
    recipients: tuple[str, ...] | None = None
    networks: tuple[str, ...] | None = None
    spenders: tuple[str, ...] | None = None

    @property
    def amounts(self) -> tuple[Money, ...]:
        """Lists all limits on the amount of one action."""
        return tuple(
            limit for limit in (self.max_amount, self.max_per_action, self.max_amount_usd) if limit is not None
        )


@record
class Branch:
    """The checked-out branch. `pushed` is true if a remote has all its commits; `ahead` counts those that no remote
    has."""

    name: str | None = None
    protected: bool | None = None
    pushed: bool | None = None
    default: bool | None = None
    ahead: int | None = None


@record
class Workspace:
    """The working copy. `paths` are normalised: relative to `root` if they are inside it, else absolute, with `/`.
    `commits` uses the names in the action as keys, "" if it names none."""

    root: str | None = None
    is_repository: bool | None = None
    branch: Branch = Branch()
    paths: Mapping[str, PathState] = field(default_factory=dict)
    commits: Mapping[str, CommitState] = field(default_factory=dict)
    sorted_paths: tuple[str, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sorted_paths", tuple(sorted(self.paths)))

    def within(self, directory: str) -> Iterator[PathState]:
        """Yields the states of the paths below a directory, which are neighbours in the order of names."""
        start = "" if directory == "." else directory.rstrip("/") + "/"
        for path in self.sorted_paths[bisect_left(self.sorted_paths, start) :]:
            if not path.startswith(start):
                break
            yield self.paths[path]


@record
class Facts:
    """The context of one check. A fact that nobody stated is None or empty, which never makes an action safer.

    `present` has the keys that the caller sent. `gathered` is true if our own code collected the facts of the
    workspace, and not the caller. `in_checkout` is true if the action is a workflow or a Dockerfile, whose workspace is
    a copy; `in_image` if all of it runs while an image is built; `in_job` if its commands use expressions that only a
    CI runner fills in.
    """

    environment: Environment | None = None
    approved: bool | None = None
    backup_available: bool | None = None
    untrusted_content: tuple[str, ...] = ()
    user_request: str | None = None
    instruction_origin: Origin = Origin.UNKNOWN
    destination: str | None = None
    run_as: str | None = None
    tool: str | None = None
    limits: Limits = Limits()
    expected_recipient: tuple[str, ...] | None = None
    allowed_hosts: tuple[str, ...] | None = None
    planned_steps: tuple[str, ...] = ()
    os: System | None = None
    cwd: str | None = None
    home: str | None = None
    manifest: tuple[Mapping[str, Any], ...] = ()
    agent_role: str | None = None
    scene: str | None = None
    workspace: Workspace = Workspace()
    already_done: bool | None = None
    paid_references: tuple[str, ...] = ()
    approval_token: str | None = None
    present: frozenset[str] = frozenset()
    gathered: bool = False
    in_checkout: bool = False
    in_image: bool = False
    in_job: bool = False
    folded_request: str = field(init=False, repr=False, compare=False)
    folded_untrusted: str = field(init=False, repr=False, compare=False)
    known_states: dict[str, frozenset[PathState]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "folded_request", folded(self.user_request or ""))
        object.__setattr__(self, "folded_untrusted", "\n".join(folded(text) for text in self.untrusted_content))

    def origin_of(self, value: str) -> Origin:
        """Decides whether the person named this value, only untrusted content did, or neither."""
        wanted = folded(value)
        if len(wanted) < SHORTEST_QUOTE:
            return Origin.UNKNOWN
        if wanted in self.folded_request:
            return Origin.USER
        return Origin.UNTRUSTED_CONTENT if wanted in self.folded_untrusted else Origin.UNKNOWN

    def path_state(self, path: str) -> PathState | None:
        """Returns the state of exactly this path in version control, or None if the caller did not state it."""
        if not self.workspace.paths:
            return None
        wanted = self.normal_path(path)
        return self.workspace.paths.get(wanted) or self._state_of_parent(wanted)

    def path_states(self, path: str) -> frozenset[PathState]:
        """Returns the states of a path and of everything inside it; empty if the caller stated none.

        A path inside an ignored, untracked or missing directory has that directory's state. A pattern has the states of
        all paths that it matches and of their content; beyond `MAX_PATTERNS` patterns, each further one has every
        state, which is the careful answer.
        """
        if not self.workspace.paths:
            return frozenset()
        found = self.known_states.get(path)
        if found is None:
            found = self.known_states[path] = self._path_states(self.normal_path(path))
        return found

    def _path_states(self, wanted: str) -> frozenset[PathState]:
        workspace = self.workspace
        if _GLOB.search(wanted):
            if len(self.known_states) > MAX_PATTERNS:
                return frozenset(PathState)
            fits = re.compile(fnmatch.translate(wanted)).match
            found = frozenset(state for known, state in workspace.paths.items() if known == wanted or fits(known))
        else:
            found = frozenset(workspace.within(wanted))
            if wanted in workspace.paths:
                found |= {workspace.paths[wanted]}
        if not found and (state := self._state_of_parent(wanted)) is not None:
            return frozenset((state,))
        return found

    def _state_of_parent(self, path: str) -> PathState | None:
        """Returns the state of the nearest known directory above a path, if that state applies to everything inside."""
        parent = posixpath.dirname(path)
        while parent not in ("", "/"):
            state = self.workspace.paths.get(parent)
            if state is not None:
                return state if state in _STATES_OF_ALL_INSIDE else None
            parent = posixpath.dirname(parent)
        return None

    def normal_path(self, path: str) -> str:
        """Spells a path like `workspace.paths`: relative to the root if it is inside, without `.`, `..` and `~`."""
        text, cwd = self._with_slashes(path), self._with_slashes(self.cwd or "")
        root = self._with_slashes(self.workspace.root or "")
        if self.home and (text == "~" or text.startswith("~/")):
            text = self._with_slashes(self.home) + text[1:]
        if cwd and root and _is_inside(cwd, root) and not _ABSOLUTE.match(text):
            text = posixpath.join(cwd, text)
        return _relative_to(root, text)

    def _with_slashes(self, path: str) -> str:
        return path.replace("\\", "/") if self.os is System.WINDOWS else path


def _relative_to(root: str, path: str) -> str:
    path = posixpath.normpath(path) if path else "."
    return posixpath.relpath(path, posixpath.normpath(root)) if root and _is_inside(path, root) else path


_MAPPING = (dict, Mapping)
"""The concrete type comes first: testing an abstract class takes ten times as long."""

_STATES_OF_ALL_INSIDE = frozenset((PathState.IGNORED, PathState.IGNORED_WORK, PathState.UNTRACKED, PathState.MISSING))
_GLOB = re.compile(r"[*?\[]")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:/")


def parse_context(context: Mapping[str, Any] | None) -> tuple[Facts, tuple[str, ...]]:
    """Returns the facts of a context, and its unknown keys. Raises `ContextInvalid`.

    An unknown key at the top level may be meant for another reader, so it is listed and not refused. Inside our own
    objects and closed lists, an unknown word is a mistake that would make the check weaker than its caller believes.
    """
    if context is None:
        return _NO_FACTS, ()
    if not isinstance(context, _MAPPING):
        raise ContextInvalid("/context", "the context must be an object")
    if not context:
        return _NO_FACTS, ()
    _check_size(context)
    known: dict[str, Any] = {}
    ignored: list[str] = []
    for name, value in context.items():
        member = _CONTEXT.get(name)
        if member is None:
            ignored.append(encodable(name[:_LONGEST_NAME]))
        elif value is not None:
            known[name] = member.parse(value, f"/context/{name}")
    facts = Facts(**known, present=frozenset(known))
    return _with_normal_paths(facts), tuple(sorted(ignored))


def _with_normal_paths(facts: Facts) -> Facts:
    workspace = facts.workspace
    if not workspace.paths:
        return facts
    root = workspace.root or ""
    normal = {_relative_to(root, path.replace("\\", "/")): state for path, state in workspace.paths.items()}
    return replace(facts, workspace=replace(workspace, paths=MappingProxyType(normal)))


def context_schema() -> dict[str, Any]:
    """Returns the JSON Schema of the context. It is as strict as the parser, except for the limits on size."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Context of a guardrail check",
        "description": "Circumstances of the action. Unlisted keys are ignored and named in the answer.",
        **_object_schema(_CONTEXT, closed=False),
    }


def is_allowed_host(host: str, allowed: Iterable[str]) -> bool:
    """Decides whether a list allows a host: by the same name, or for an entry `*.example.com` by a name below it."""
    name = host.lower().rstrip(".").partition(":")[0]
    for entry in allowed:
        pattern = entry.lower().rstrip(".")
        if name == pattern.partition(":")[0] or (pattern.startswith("*.") and name.endswith(pattern[1:])):
            return True
    return False


# --- the parts of a context ---


@record
class _Member:
    parse: Callable[[Any, str], Any]
    schema: Mapping[str, Any]
    description: str


_LONGEST_NAME = 64
_NULL: Mapping[str, Any] = {"type": "null"}


def _object_schema(members: Mapping[str, _Member], *, closed: bool) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"description": member.description, "anyOf": [dict(member.schema), dict(_NULL)]}
            for name, member in members.items()
        },
        "additionalProperties": not closed,
    }


def _object(members: Mapping[str, _Member], make: Callable[..., Any], what: str) -> Callable[[Any, str], Any]:
    def parse(value: Any, pointer: str) -> Any:
        if not isinstance(value, _MAPPING):
            raise ContextInvalid(pointer, f"{what} must be an object with the keys {_listed(members)}")
        known = {}
        for name, member_value in value.items():
            member = members.get(name)
            if member is None:
                raise ContextInvalid(
                    f"{pointer}/{_escaped(name)}", f"{what} has no key {_quoted(name)}{_nearest(name, members)}"
                )
            if member_value is not None:
                known[name] = member.parse(member_value, f"{pointer}/{name}")
        return make(**known)

    return parse


def _text(value: Any, pointer: str) -> str:
    if not isinstance(value, str):
        raise ContextInvalid(pointer, "this must be text")
    return encodable(value)


def _texts(value: Any, pointer: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (encodable(value),)
    if not _is_list(value) or not all(isinstance(item, str) for item in value):
        raise ContextInvalid(pointer, "this must be a text or a list of texts")
    return tuple(encodable(item) for item in value)


def _joined_texts(value: Any, pointer: str) -> str:
    return "\n".join(_texts(value, pointer))


def _flag(value: Any, pointer: str) -> bool:
    if not isinstance(value, bool):
        raise ContextInvalid(pointer, "this must be true or false")
    return value


def _count(value: Any, pointer: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ContextInvalid(pointer, "this must be a whole number of at least 0")
    return value


def _amount(value: Any, pointer: str) -> Decimal:
    problem = ContextInvalid(pointer, "an amount must be a number of at least 0, or such a number as text")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise problem
    if (isinstance(value, int) and value.bit_length() > 256) or (isinstance(value, str) and len(value) > _LONGEST_NAME):
        raise problem
    try:
        amount = Decimal(str(value).strip())
    except InvalidOperation:
        raise problem from None
    if not amount.is_finite() or amount < 0 or amount.adjusted() > _MOST_DIGITS:
        raise problem
    return amount


def _money(value: Any, pointer: str) -> Money:
    if isinstance(value, _MAPPING):
        money = _object(_MONEY, lambda **known: known, "an amount")(value, pointer)
        if "amount" not in money:
            raise ContextInvalid(f"{pointer}/amount", "the amount is missing")
        return Money(**money)
    return Money(_amount(value, pointer))


def _dollars(value: Any, pointer: str) -> Money:
    return Money(_amount(value, pointer), "USD")


def _currency(value: Any, pointer: str) -> str:
    text = _text(value, pointer).strip().upper()
    if not _CURRENCY.match(text):
        raise ContextInvalid(pointer, "a currency must be a code of 2 to 10 letters or digits, such as EUR or USDC")
    return text


_MOST_DIGITS = 80
"""A few more digits than the largest 256-bit number has; more are a trap for a program that writes the number out."""
_CURRENCY = re.compile(r"[A-Z0-9]{2,10}\Z")


def _limits(
    amount: Money | None = None, max_amount: Money | None = None, currency: str | None = None, **known: Any
) -> Limits:
    def in_currency(money: Money | None) -> Money | None:
        return Money(money.amount, money.currency or currency) if money is not None else None

    if amount is not None and max_amount is not None:
        raise ContextInvalid("/context/limits/amount", "amount and max_amount mean the same; send one of them")
    known["max_per_action"] = in_currency(known.get("max_per_action"))
    return Limits(max_amount=in_currency(max_amount or amount), **known)


def _environment(value: Any, pointer: str) -> Environment:
    text = _text(value, pointer)
    found = environment_of(text)
    if found is None:
        raise ContextInvalid(
            pointer,
            f"{_quoted(text)} is not a known environment{_nearest(text, ENVIRONMENT_SPELLINGS, Environment)}",
        )
    return found


def environment_of(name: str) -> Environment | None:
    """Returns the environment that the first or last word of a name stands for; the more careful one if both name
    one."""
    lowered = name.strip().lower()
    if _NOT_PRODUCTION.search(lowered):
        return Environment.STAGING
    words = [word for word in _WORD_ENDS.split(lowered) if word and not word.isdigit()]
    if not words:
        return None
    found = {ENVIRONMENT_SPELLINGS.get(word.rstrip("0123456789")) for word in (words[0], words[-1])}
    return next((environment for environment in Environment if environment in found), None)


_NOT_PRODUCTION = re.compile(r"(?<![a-z])(?:non|not|pre|no)[-_. ]?(?:prod|production|prd|live)(?![a-z])")
_WORD_ENDS = re.compile(r"[^a-z0-9]+")


def _system(value: Any, pointer: str) -> System:
    text = _text(value, pointer)
    words = _WORD_ENDS.split(text.strip().lower())
    for word in words:
        found = SYSTEM_SPELLINGS.get(word) or SYSTEM_SPELLINGS.get(word.rstrip("0123456789"))
        if found is not None:
            return found
    raise ContextInvalid(
        pointer, f"{_quoted(text)} is not a known operating system{_nearest(text, SYSTEM_SPELLINGS, System)}"
    )


def _one_of(values: type[StrEnum]) -> Callable[[Any, str], Any]:
    def parse(value: Any, pointer: str) -> Any:
        text = _text(value, pointer)
        try:
            return values(text)
        except ValueError:
            raise ContextInvalid(pointer, f"{_quoted(text)} is not one of the values{_nearest(text, values)}") from None

    return parse


def _states_of(values: type[StrEnum], what: str) -> Callable[[Any, str], Mapping[str, Any]]:
    parse_state = _one_of(values)

    def parse(value: Any, pointer: str) -> Mapping[str, Any]:
        if not isinstance(value, _MAPPING):
            raise ContextInvalid(pointer, f"this must be an object that maps {what} to their states")
        return MappingProxyType(
            {name: parse_state(state, f"{pointer}/{_escaped(name)}") for name, state in value.items()}
        )

    return parse


def _manifest(value: Any, pointer: str) -> tuple[Mapping[str, Any], ...]:
    documents = value if _is_list(value) else [value]
    if not all(isinstance(document, Mapping) for document in documents):
        raise ContextInvalid(pointer, "a manifest must be an object as Kubernetes reads it, or a list of them")
    return tuple(documents)


_TEXT_SCHEMA: Mapping[str, Any] = {"type": "string"}
_FLAG_SCHEMA: Mapping[str, Any] = {"type": "boolean"}
_TEXTS_SCHEMA: Mapping[str, Any] = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_AMOUNT_SCHEMA: Mapping[str, Any] = {
    "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\s*[0-9.]+\s*$"}]
}


def _enum_schema(values: type[StrEnum]) -> dict[str, Any]:
    return {"enum": [value.value for value in values]}


_MONEY: Mapping[str, _Member] = {
    "amount": _Member(_amount, _AMOUNT_SCHEMA, "The amount"),
    "currency": _Member(_currency, _TEXT_SCHEMA, "Code of the currency or token, such as EUR or USDC"),
}
_MONEY_SCHEMA: Mapping[str, Any] = {"anyOf": [*_AMOUNT_SCHEMA["anyOf"], _object_schema(_MONEY, closed=True)]}

_LIMITS: Mapping[str, _Member] = {
    "max_amount": _Member(_money, _MONEY_SCHEMA, "Maximum payment: a number or {amount, currency}"),
    "amount": _Member(_money, _MONEY_SCHEMA, "Alias of max_amount"),
    "max_per_action": _Member(_money, _MONEY_SCHEMA, "Maximum payment per action"),
    "max_amount_usd": _Member(_dollars, _AMOUNT_SCHEMA, "Maximum payment in US dollars"),
    "currency": _Member(_currency, _TEXT_SCHEMA, "Currency of the limits that do not state one"),
    "recipients": _Member(_texts, _TEXTS_SCHEMA, "Permitted recipients"),
    "networks": _Member(_texts, _TEXTS_SCHEMA, "Networks on which payments are permitted"),
    "spenders": _Member(_texts, _TEXTS_SCHEMA, "Permitted spenders"),
}

_BRANCH: Mapping[str, _Member] = {
    "name": _Member(_text, _TEXT_SCHEMA, "Its name"),
    "protected": _Member(_flag, _FLAG_SCHEMA, "Whether its host protects it"),
    "pushed": _Member(_flag, _FLAG_SCHEMA, "Whether all its commits are on a remote"),
    "default": _Member(_flag, _FLAG_SCHEMA, "Whether it is the default branch"),
    "ahead": _Member(_count, {"type": "integer", "minimum": 0}, "Commits that are on no remote"),
}

_WORKSPACE: Mapping[str, _Member] = {
    "root": _Member(_text, _TEXT_SCHEMA, "Its directory, absolute"),
    "is_repository": _Member(_flag, _FLAG_SCHEMA, "Whether it is under version control"),
    "branch": _Member(
        _object(_BRANCH, Branch, "a branch"), _object_schema(_BRANCH, closed=True), "The branch that is checked out"
    ),
    "paths": _Member(
        _states_of(PathState, "paths"),
        {"type": "object", "additionalProperties": _enum_schema(PathState)},
        "State in version control of the paths that the action names; tracked means committed and unchanged",
    ),
    "commits": _Member(
        _states_of(CommitState, "branches and stashes"),
        {"type": "object", "additionalProperties": _enum_schema(CommitState)},
        "Whether anything else reaches the commits of branches, tags and stashes that the action would delete or move",
    ),
}

_CONTEXT: Mapping[str, _Member] = {
    "environment": _Member(
        _environment,
        _TEXT_SCHEMA,
        "production, staging, development, test or ci, or a name that starts or ends with one of "
        + ", ".join(ENVIRONMENT_SPELLINGS),
    ),
    "approved": _Member(_flag, _FLAG_SCHEMA, "A claim that somebody approved the action; most effects need a token"),
    "backup_available": _Member(_flag, _FLAG_SCHEMA, "A claim that what the action removes can be restored"),
    "untrusted_content": _Member(
        _texts, _TEXTS_SCHEMA, "Texts that the agent read and that anybody could have written"
    ),
    "user_request": _Member(_joined_texts, _TEXTS_SCHEMA, "What the person asked for, in their words"),
    "instruction_origin": _Member(_one_of(Origin), _enum_schema(Origin), "Who wants this action"),
    "destination": _Member(_text, _TEXT_SCHEMA, "Where the result goes: public, external, internal, or a host"),
    "run_as": _Member(_text, _TEXT_SCHEMA, "The account that runs the action"),
    "tool": _Member(_text, _TEXT_SCHEMA, "Tool that performs the action, such as shell or http_post"),
    "limits": _Member(
        _object(_LIMITS, _limits, "limits"),
        _object_schema(_LIMITS, closed=True),
        "Limits that a person set on payments",
    ),
    "expected_recipient": _Member(_texts, _TEXTS_SCHEMA, "Recipients that the person expects to be contacted or paid"),
    "allowed_hosts": _Member(_texts, _TEXTS_SCHEMA, "Hosts that data may be sent to; *.example.com for all subdomains"),
    "planned_steps": _Member(_texts, _TEXTS_SCHEMA, "The steps that the agent plans"),
    "os": _Member(_system, _TEXT_SCHEMA, "linux, macos or windows"),
    "cwd": _Member(_text, _TEXT_SCHEMA, "The directory in which the action runs"),
    "home": _Member(_text, _TEXT_SCHEMA, "The home directory of the account"),
    "manifest": _Member(
        _manifest,
        {"anyOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]},
        "Kubernetes objects that the action applies",
    ),
    "agent_role": _Member(_text, _TEXT_SCHEMA, "Purpose of the agent"),
    "scene": _Member(_text, _TEXT_SCHEMA, "Place in which a robot acts"),
    "workspace": _Member(
        _object(_WORKSPACE, Workspace, "a workspace"),
        _object_schema(_WORKSPACE, closed=True),
        "Facts about the working copy",
    ),
    "already_done": _Member(_flag, _FLAG_SCHEMA, "Whether this action was already carried out once"),
    "paid_references": _Member(_texts, _TEXTS_SCHEMA, "References of invoices and payments that are already paid"),
    "approval_token": _Member(_text, _TEXT_SCHEMA, "Token that a person with the right to approve has created"),
}


# --- helpers ---


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, Sequence)) and not isinstance(value, str | bytes)


def _is_inside(path: str, root: str) -> bool:
    path, root = posixpath.normpath(path), posixpath.normpath(root)
    return path == root or path.startswith(root.rstrip("/") + "/")


def folded(text: str) -> str:
    """Returns a text without white space and capitals, as names of hosts, accounts and references are compared."""
    return "".join(text.split()).casefold()


def encodable(text: str) -> str:
    """Replaces lone surrogates, which UTF-8 can't encode. The length stays the same, so that spans stay valid."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def readable(action: str) -> str:
    """Replaces lone surrogates, and escapes that spell one, such as half of an emoji that was cut. The length stays the
    same."""
    return _LONE_ESCAPE.sub(_REPLACEMENT, encodable(action)) if "\\u" in action else encodable(action)


_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_LONE_ESCAPE = re.compile(rf"{_HIGH}(?!{_LOW})|(?<!{_HIGH}){_LOW}")
_REPLACEMENT = r"\\ufffd"


def _escaped(name: str) -> str:
    return encodable(name)[:_LONGEST_NAME].replace("~", "~0").replace("/", "~1")


def _quoted(value: Any) -> str:
    text = encodable(str(value))
    return repr(text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…")


def _listed(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _nearest(name: Any, known: Iterable[str], canonical: Iterable[str] = ()) -> str:
    """Returns the end of a message: the nearest valid word, or all valid words if none is near."""
    import difflib  # imported only for a mistake

    words = list(known)
    close = difflib.get_close_matches(str(name)[:_LONGEST_NAME].strip().lower(), words, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; we know {_listed(list(canonical) or words)}"


def _check_size(context: Mapping[Any, Any]) -> None:
    values, chars = 0, 0
    waiting: list[tuple[Any, int]] = [(context, 1)]
    while waiting:
        value, depth = waiting.pop()
        values += 1
        if isinstance(value, str):
            chars += len(value)
        elif isinstance(value, _MAPPING) or _is_list(value):
            if depth > MAX_CONTEXT_DEPTH:
                raise _too_large(f"is nested deeper than {MAX_CONTEXT_DEPTH} levels")
            if len(value) > MAX_CONTEXT_VALUES:
                raise _too_large(f"has more than {MAX_CONTEXT_VALUES:,} values")
            inner: Iterable[Any] = value
            if isinstance(value, _MAPPING):
                inner = value.values()
                for name in value:
                    if not isinstance(name, str):
                        raise ContextInvalid("/context", "the keys of an object must be text")
                    chars += len(name)
            for item in inner:
                if type(item) is str:  # most values are scalars, which need no place in the queue
                    values += 1
                    chars += len(item)
                else:
                    waiting.append((item, depth + 1))
        elif value is not None and not isinstance(value, bool | int | float):
            raise ContextInvalid(
                "/context", f"the context contains a {type(value).__name__}, which is not a JSON value"
            )
        if values > MAX_CONTEXT_VALUES:
            raise _too_large(f"has more than {MAX_CONTEXT_VALUES:,} values")
        if chars > MAX_CONTEXT_CHARS:
            raise _too_large(f"has more than {MAX_CONTEXT_CHARS:,} characters")


def _too_large(how: str) -> ContextInvalid:
    return ContextInvalid("/context", f"the context {how}", "context_too_large")


_NO_FACTS = Facts()
