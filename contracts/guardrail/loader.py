"""Rule files read, checked and compiled: the only way from `contracts/guardrails/*.yaml` to a ruleset.

Examples run when a rule is loaded, except where `versions.lock.json` pins the hash of the rule with its examples: those
ran when `svc guardrail lint` wrote the lock, and run again as tests.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from contracts.canonical import sha256_hex
from contracts.errors import ConfigurationProblem
from contracts.guardrail.engine import Ruleset, content_hash
from contracts.guardrail.limits import Refusal, action_refusal, plain_context
from contracts.guardrail.rules import ExampleAction, Family, Rule

RULES_DIRECTORY = Path(__file__).parents[1] / "guardrails"
LOCK_NAME = "versions.lock.json"

Lock = dict[str, dict[str, dict[str, str]]]
"""Rule id -> version -> `content` and `examples`, each a SHA-256."""


@dataclass(frozen=True)
class RuleProblem:
    """One fault of a rule file, for its author. `line` counts from 1; `rule` is None where the file is at fault."""

    file: str
    line: int
    rule: str | None
    what: str

    def __str__(self) -> str:
        rule = f" {self.rule}:" if self.rule else ""
        return f"{self.file}:{self.line}:{rule} {self.what}"


class RulesetInvalid(ConfigurationProblem):
    """A directory of rules that can't be used; `problems` has every fault of it."""

    code = "ruleset_invalid"

    def __init__(self, problems: Iterable[RuleProblem]) -> None:
        self.problems = tuple(problems)
        first, more = self.problems[0], len(self.problems) - 1
        super().__init__(
            f"The guardrail rules can't be used: {first}" + (f" ({more} more)" if more else ""),
            cure="`svc guardrail lint` lists every problem with its file and line.",
        )


@dataclass(frozen=True)
class LoadedRule:
    """A rule and where it stands."""

    rule: Rule
    file: str
    line: int

    @cached_property
    def content(self) -> str:
        """`content_hash` of the rule."""
        return content_hash(self.rule)


def load_ruleset(directory: Path = RULES_DIRECTORY) -> Ruleset:
    """The ruleset of a directory. Raises `RulesetInvalid` with every problem found."""
    with _collection_paused():
        return _load(directory)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """No search for cycles meanwhile: a YAML tree is many objects and no garbage; the searches took 40 % of a load."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _load(directory: Path) -> Ruleset:
    lock = read_lock(directory)
    loaded, problems = read_rules(directory)
    problems += version_problems(loaded, lock)
    if problems:
        raise RulesetInvalid(problems)
    try:
        ruleset = Ruleset(each.rule for each in loaded)
    except ValueError as fault:
        raise RulesetInvalid([RuleProblem(str(directory), 1, None, str(fault))]) from None
    unpinned = [each for each in loaded if not is_pinned(each, lock)]
    problems = [problem for each in unpinned for problem in example_problems(each)]
    if problems:
        raise RulesetInvalid(problems)
    return ruleset


def read_rules(directory: Path) -> tuple[list[LoadedRule], list[RuleProblem]]:
    """Every rule of every family that fits the format, and the problems of those that don't."""
    loaded: list[LoadedRule] = []
    problems: list[RuleProblem] = []
    files = sorted(directory.glob("*.yaml"))
    if not files:
        problems.append(RuleProblem(str(directory), 1, None, "there is no rule file (*.yaml) here"))
    for path in files:
        try:
            rules, faults = read_family(path.read_text(encoding="utf-8"), path.name)
        except (OSError, UnicodeDecodeError) as fault:
            rules, faults = [], [RuleProblem(path.name, 1, None, f"can't be read: {fault}")]
        loaded += rules
        problems += faults
    return loaded, problems + list(_duplicates(loaded))


def read_family(text: str, file: str) -> tuple[list[LoadedRule], list[RuleProblem]]:
    """One file's rules and problems."""
    try:
        held = yaml.load(text, _FamilyLoader)  # noqa: S506 - it derives from the safe one
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        said = getattr(fault, "problem", None) or str(fault)
        line = min(mark.line + 1, max(text.count("\n"), 1)) if mark else 1
        return [], [RuleProblem(file, line, None, f"is no YAML: {said}")]
    try:
        family = Family.model_validate(held)
    except ValidationError as fault:
        lines = _Lines(text)
        return [], [_format_problem(error, held, file, lines) for error in fault.errors()]
    lines = _Lines(text)
    loaded = [LoadedRule(rule, file, lines.of_id(rule.id)) for rule in family.rules]
    problems = []
    if file != f"{family.family}.yaml":
        problems.append(
            RuleProblem(file, 1, None, f"holds the family {family.family!r}, so its name is {family.family}.yaml")
        )
    for each in loaded:
        if not each.rule.id.startswith(f"{family.family}."):
            problems.append(RuleProblem(file, each.line, each.rule.id, f"its id has to start with {family.family}."))
    return loaded, problems


class _FamilyLoader(yaml.CSafeLoader):
    """PyYAML's safe loader; text, lists and objects with text keys, nearly all of a file, are built without its
    generators, which halves the time of building. Whatever else stands there is left to it.
    """

    def construct_document(self, node: yaml.Node) -> Any:
        """The document's value."""
        self._built: dict[yaml.Node, Any] = {}
        return self._plain(node)

    def _plain(self, node: yaml.Node) -> Any:
        if type(node) is yaml.ScalarNode and node.tag == _TEXT:
            return node.value
        # an anchor's value is built once, however many aliases name it, and may hold itself
        if node in self._built:
            return self._built[node]
        if type(node) is yaml.SequenceNode and node.tag == _LIST:
            items: list[Any] = []
            self._built[node] = items
            items.extend(map(self._plain, node.value))
            return items
        if type(node) is yaml.MappingNode and node.tag == _OBJECT and all(key.tag == _TEXT for key, _ in node.value):
            fields: dict[str, Any] = {}
            self._built[node] = fields
            fields.update((self._plain(key), self._plain(value)) for key, value in node.value)
            return fields
        built = self._built[node] = self.construct_object(node, deep=True)
        return built


_TEXT, _LIST, _OBJECT = "tag:yaml.org,2002:str", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"


class _Lines:
    """Lines of a YAML text by path, computed when there is a problem to place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ids: dict[str, int] | None = None

    def of_id(self, rule_id: str) -> int:
        """The line of `id: <rule_id>`."""
        if self._ids is None:
            self._ids = {}
            for number, line in enumerate(self._text.splitlines(), 1):
                _, found, value = line.partition("id:")
                if found:
                    self._ids.setdefault(value.split("#")[0].strip().strip("'\""), number)
        return self._ids.get(rule_id, 1)

    def of_path(self, path: Iterable[Any]) -> int:
        """The line where the value at a path starts, or where the nearest thing around it does."""
        node = yaml.compose(self._text, yaml.CSafeLoader)
        line = 1
        for step in path:
            inner: Any = None
            if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                inner = node.value[step]
            elif isinstance(node, yaml.MappingNode):
                inner = next((value for key, value in node.value if key.value == str(step)), None)
            if inner is None:
                continue
            node = inner
            line = node.start_mark.line + 1
        return line


def _format_problem(error: Any, held: Any, file: str, lines: _Lines) -> RuleProblem:
    location = error["loc"]
    rule_id = None
    if len(location) > 1 and location[0] == "rules" and isinstance(location[1], int):
        rule = held["rules"][location[1]]
        rule_id = rule.get("id") if isinstance(rule, Mapping) else None
        rule_id = str(rule_id) if rule_id is not None else f"rule {location[1] + 1}"
    inside = ".".join(str(step) for step in (location[2:] if rule_id else location))
    said = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        said = "there is no such key in the format"
    return RuleProblem(file, lines.of_path(location), rule_id, f"{inside}: {said}" if inside else said)


def _duplicates(loaded: Iterable[LoadedRule]) -> Iterator[RuleProblem]:
    first: dict[str, LoadedRule] = {}
    for each in loaded:
        other = first.setdefault(each.rule.id, each)
        if other is not each:
            yield RuleProblem(each.file, each.line, each.rule.id, f"this id is already at {other.file}:{other.line}")


def example_problems(each: LoadedRule) -> list[RuleProblem]:
    """Examples that the rule gets wrong, or that can't be judged; or why the rule can't be tried at all."""
    try:
        alone = Ruleset([each.rule.model_copy(update={"status": "stable"})])
    except ValueError as refused:
        return [RuleProblem(each.file, each.line, each.rule.id, str(refused))]
    problems = []
    for wanted, examples in ((True, each.rule.examples.match), (False, each.rule.examples.passing)):
        for example in examples:
            action, context = as_action(example)
            try:
                refusal = action_refusal(action)
                if refusal is not None:
                    raise refusal
                matched = bool(alone.matches(action, plain_context(context)))
            except Refusal as refused:
                problems.append(
                    RuleProblem(each.file, each.line, each.rule.id, f"an example is no request: {refused.detail}")
                )
                continue
            except ValueError as unjudged:
                problems.append(
                    RuleProblem(
                        each.file, each.line, each.rule.id, f"an example can't be judged: {unjudged}: {action[:80]!r}"
                    )
                )
                continue
            if matched != wanted:
                fault = "should match and does not" if wanted else "should pass and matches"
                problems.append(RuleProblem(each.file, each.line, each.rule.id, f"example {fault}: {action!r}"))
    return problems


def as_action(example: str | ExampleAction) -> tuple[str, dict[str, Any]]:
    """An example as action and context."""
    return (example, {}) if isinstance(example, str) else (example.action, example.context)


def read_lock(directory: Path) -> Lock:
    """The lock of a directory; empty where there is none. Raises `RulesetInvalid` where it is no JSON."""
    path = directory / LOCK_NAME
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as fault:
        raise RulesetInvalid([RuleProblem(LOCK_NAME, 1, None, f"can't be read: {fault}")]) from None
    if not isinstance(held, dict):
        raise RulesetInvalid([RuleProblem(LOCK_NAME, 1, None, "is no JSON object")])
    return held


def lock_entry(each: LoadedRule) -> dict[str, str]:
    """What the lock says of one version of a rule."""
    examples = each.rule.examples.model_dump(mode="json", by_alias=True)
    return {"content": each.content, "examples": sha256_hex(json.dumps(examples, sort_keys=True).encode())}


def is_pinned(each: LoadedRule, lock: Lock) -> bool:
    """Whether this very rule, with these examples, is in the lock."""
    return lock.get(each.rule.id, {}).get(str(each.rule.version)) == lock_entry(each)


def version_problems(loaded: Iterable[LoadedRule], lock: Lock) -> list[RuleProblem]:
    """Rules whose content differs from what the lock holds for the same version, or whose version went back."""
    problems = []
    for each in loaded:
        versions = lock.get(each.rule.id, {})
        held = versions.get(str(each.rule.version))
        newest = max((int(version) for version in versions), default=0)
        if held is not None and held.get("content") != each.content:
            what = f"its content changed, and version {each.rule.version} stands for the old one: make it {newest + 1}"
            problems.append(RuleProblem(each.file, each.line, each.rule.id, what))
        elif each.rule.version < newest:
            what = f"version {each.rule.version} is older than {newest}, which was there already"
            problems.append(RuleProblem(each.file, each.line, each.rule.id, what))
    return problems


def updated_lock(loaded: Iterable[LoadedRule], lock: Lock) -> Lock:
    """The lock with every rule's version in it; older versions and rules that are gone stay."""
    updated = {rule_id: dict(versions) for rule_id, versions in lock.items()}
    for each in loaded:
        updated.setdefault(each.rule.id, {})[str(each.rule.version)] = lock_entry(each)
    return {rule_id: updated[rule_id] for rule_id in sorted(updated)}
