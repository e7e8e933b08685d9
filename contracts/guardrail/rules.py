"""The format of a rule file, as models. What a rule looks at is in `views`; how it is judged, in `engine`."""

from __future__ import annotations

import string
from enum import StrEnum
from functools import cache, lru_cache
from typing import Annotated, Any, Literal

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from contracts.guardrail.views import VIEW_DESCRIPTIONS

PATTERN_MEMORY_BYTES = 1 << 20
"""What one compiled pattern may take. It refuses counted repetitions that multiply, which RE2 would unroll."""


class Severity(StrEnum):
    """How bad it is when a rule is right; in a request, how bad the caller says that the action can be."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """1 for low to 4 for critical."""
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity, 1)}


class Stage(StrEnum):
    """The seven stages, in the order of the validator."""

    IMMUTABILITY = "immutability"
    TEMPORAL = "temporal"
    REFERENTIAL_INTEGRITY = "referential_integrity"
    AUTHORITY = "authority"
    DEDUPLICATION = "deduplication"
    PROVENANCE = "provenance"
    ALIGNMENT = "alignment"


class Status(StrEnum):
    """Draft rules are reported and never decide; retired rules are kept for the record and not looked at."""

    DRAFT = "draft"
    STABLE = "stable"
    RETIRED = "retired"


class Kind(StrEnum):
    """What an action is taken for. One action can be of several kinds."""

    SHELL = "shell"
    CALL = "call"
    TEXT = "text"
    MANIFEST = "manifest"
    SQL = "sql"


class Os(StrEnum):
    """The system that a command is for."""

    LINUX = "linux"
    WINDOWS = "windows"
    MACOS = "macos"


@cache
def pattern_options() -> Any:
    """RE2 as every pattern of a rule is compiled: case-sensitive, linear in the text, quiet about what it refuses."""
    options = re2.Options()
    options.max_mem = PATTERN_MEMORY_BYTES
    options.log_errors = False
    options.never_capture = True
    return options


def multi_line(pattern: str) -> str:
    """`^` and `$` are the ends of a line, since most views hold one thing a line."""
    return f"(?m){pattern}"


@lru_cache(maxsize=8_192)
def compiled(pattern: str) -> Any:
    """A rule's pattern, compiled once a process. Raises `re2.error`."""
    return re2.compile(multi_line(pattern), pattern_options())


def _linear_time(pattern: str) -> str:
    try:
        found = compiled(pattern).search("")
    except re2.error as problem:
        reason = problem.args[0]
        if isinstance(reason, bytes):
            reason = reason.decode("utf-8", "replace")
        raise ValueError(f"not a pattern that RE2 takes (no look-around, no back-references): {reason}") from None
    if found is not None:
        raise ValueError("this pattern also matches nothing at all, so it holds for every action")
    return pattern


def _known_view(name: str) -> str:
    if name not in VIEW_DESCRIPTIONS:
        raise ValueError(f"there is no view {name!r}; the views are {', '.join(VIEW_DESCRIPTIONS)}")
    return name


def _only_match(template: str) -> str:
    names = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
    if names - {"match"}:
        raise ValueError("a reason may hold {match} and no other name in braces; a brace itself is written twice")
    return template


Pattern = Annotated[str, Field(min_length=1, max_length=8_000), AfterValidator(_linear_time)]
ViewName = Annotated[str, AfterValidator(_known_view)]
FieldPath = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_*-]+)*$")]
Scalar = bool | int | float | str


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ViewPattern(_Closed):
    """A pattern and the view of the action that it is searched in."""

    view: ViewName = Field(description="A view of the action; `svc guardrail explain` shows what each holds")
    pattern: Pattern = Field(
        description="RE2, searched anywhere; ^ and $ are line ends; case-sensitive unless it starts with (?i)"
    )


class Condition(_Closed):
    """One condition on the context: a field and exactly one operator.

    A field is a dotted path into the context (`limits.max_amount_usd`; `*` is any item of a list or object), or what
    the engine derives from the action where the context has no such field: `args.<name>`, `amount`, `amount_<unit>`,
    and `provenance.untrusted_values`, `.unrequested_values` (counts), `.untrusted_share`, `.requested_share` (0 to 1).
    A missing field fulfils `present: false`, `is: null` and the `not_` operators, and no other.
    """

    field: FieldPath
    present: bool | None = Field(default=None, description="Whether the field is there and not null")
    is_: Scalar | None = Field(default=None, alias="is", description="Equal; numbers by value, text in any case")
    is_not: Scalar | None = Field(default=None, description="Missing, or not equal")
    in_: tuple[Scalar, ...] | None = Field(default=None, alias="in", description="Equal to one of these")
    not_in: tuple[Scalar, ...] | None = Field(default=None, description="Missing, or equal to none of these")
    matches: Pattern | None = Field(default=None, description="RE2, searched in the field as text")
    not_matches: Pattern | None = Field(default=None, description="Missing, or the pattern is not found")
    above: float | None = Field(default=None, description="A number greater than this")
    below: float | None = Field(default=None, description="A number less than this")
    above_field: FieldPath | None = Field(default=None, description="A number greater than that of another field")
    below_field: FieldPath | None = Field(default=None, description="A number less than that of another field")
    in_field: FieldPath | None = Field(default=None, description="Equal to the other field, or to one item of it")
    not_in_field: FieldPath | None = Field(
        default=None, description="Both are there, and the field is neither the other nor one of its items"
    )
    longer_than: int | None = Field(default=None, ge=0, description="Text, list or object with more elements than this")

    @model_validator(mode="after")
    def _one_operator(self) -> Condition:
        given = sorted(self.model_fields_set - {"field"})
        if len(given) != 1:
            raise ValueError(f"a condition has a field and exactly one operator, this one has {given or 'none'}")
        return self

    @property
    def operator(self) -> str:
        """The one operator that was given, by its Python name."""
        return next(iter(self.model_fields_set - {"field"}))


class When(_Closed):
    """Every group that is given must hold."""

    any: tuple[ViewPattern, ...] | None = Field(default=None, min_length=1, description="At least one is found")
    all: tuple[ViewPattern, ...] | None = Field(default=None, min_length=1, description="Each is found")
    none: tuple[ViewPattern, ...] | None = Field(default=None, min_length=1, description="None is found")
    context: tuple[Condition, ...] | None = Field(default=None, min_length=1, description="Each holds")
    any_context: tuple[Condition, ...] | None = Field(default=None, min_length=1, description="At least one holds")

    @model_validator(mode="after")
    def _not_everything(self) -> When:
        if not (self.any or self.all or self.context or self.any_context):
            raise ValueError(
                "a rule needs `any`, `all`, `context` or `any_context`: with `none` alone it fits everything"
            )
        return self


class Applies(_Closed):
    """When a rule is looked at; what is left out doesn't restrict it."""

    kinds: tuple[Kind, ...] | None = Field(default=None, min_length=1)
    os: tuple[Os, ...] | None = Field(default=None, min_length=1, description="An action without a known os fits any")
    tools: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="Glob patterns on the tool's name, from the call or from the context"
    )


class ExampleAction(_Closed):
    """An example with its circumstances."""

    action: str
    context: dict[str, JsonValue] = Field(default_factory=dict)


class Examples(_Closed):
    """What the rule must and must not match; they run when the rule loads and as tests."""

    match: tuple[str | ExampleAction, ...] = Field(min_length=1)
    # `pass` is a Python keyword
    passing: tuple[str | ExampleAction, ...] = Field(alias="pass", min_length=1)


class Rule(_Closed):
    """One rule: where it looks, what it says, and examples that prove it."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*\.[a-z0-9]+(-[a-z0-9]+)*$", max_length=120)
    version: int = Field(ge=1, description="Raise it with every change of what the rule decides or says")
    status: Status
    stage: Stage
    severity: Severity
    title: str = Field(min_length=3, max_length=120)
    applies: Applies = Field(default_factory=Applies)
    when: When
    reason: Annotated[str, Field(min_length=10, max_length=400), AfterValidator(_only_match)]
    remediation: str = Field(min_length=10, max_length=400, description="What to do instead")
    references: tuple[str, ...] = Field(default=(), description="CWE-732, ATT&CK T1070, OWASP LLM06, ...")
    examples: Examples


class Family(_Closed):
    """One file: rules that belong together."""

    family: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    description: str = Field(min_length=10)
    rules: tuple[Rule, ...]


SeverityOrNone = Severity | Literal["none"]
