"""Parses `setup_plans.yaml` and checks its consistency. `setup_plan.py` fills it in for one user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from contracts.intake.requests import Assistant, Lane

PLANS_FILE = Path(__file__).with_name("setup_plans.yaml")

OperatingSystem = Literal["macos", "linux", "windows"]
Shell = Literal["sh", "powershell"]

VARIABLE = re.compile(r"\{\{([a-z_]+)\}\}")
INPUT = re.compile(r"<<([a-z_]+)>>")

VARIABLES = frozenset(
    {
        *("base_url", "mcp_url", "intake_url", "plans_url", "quote_url", "claim_url", "guardrail_url", "slug"),
        *("logged_characters", "logged_days"),
        *("server", "first_tool", "consent_version", "workspace", "here", "registration"),
        *("assistant", "assistant_label", "config_path", "config_content", "notes_path"),
        *("runtime_profile", "profile_label", "experience_path", "launch_path", "first_mission", "first_delivery"),
        *("first_delivery_note", "workspace_boundary", "workspace_boundary_note"),
        *("governance_boundary", "governance_boundary_note"),
    }
)
"""Variables that a text of the file may use."""


class Row(BaseModel):
    """A part of the file: closed and frozen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SystemRow(Row):
    shell: Shell


class ShellRow(Row):
    workspace: str
    here: str


class AssistantFileRow(Row):
    path: str
    content: str
    source: str


class VendorRow(Row):
    run: str
    undo: str
    note: str
    source: str


class AssistantRow(Row):
    label: str
    notes: str
    file: AssistantFileRow
    vendor: VendorRow | None


class InputRow(Row):
    label: str
    example: str
    pattern: str
    personal: bool

    @model_validator(mode="after")
    def _matches_example(self) -> InputRow:
        if not re.fullmatch(self.pattern, self.example):
            raise ValueError(f"the example {self.example!r} does not fit {self.pattern}")
        return self


class FileRow(Row):
    path: str
    content: str
    mode: Literal["0600"] | None = None


class CommandCheckRow(Row):
    kind: Literal["command"]
    run: dict[Shell, str]
    gives: str


class HttpCheckRow(Row):
    kind: Literal["http"]
    method: Literal["GET", "POST"] = "GET"
    url: str
    headers: dict[str, str] = {}
    body: str | None = None
    status: int
    contains: str
    gives: str


class ToolCheckRow(Row):
    kind: Literal["tool"]
    tool: str
    arguments: dict[str, Any]
    field: str
    equals: bool | str
    gives: str


class RollbackRow(Row):
    complete: bool
    note: str
    commands: dict[Shell, tuple[str, ...]] = {}


class StepRow(Row):
    id: str
    title: str
    what: str
    why: str
    optional: bool = False
    consent: str | None = None
    needs: tuple[str, ...] = ()
    by_user: str | None = None
    files: tuple[FileRow, ...] = ()
    commands: dict[Shell, tuple[str, ...]]
    vendor: bool = False
    checks: tuple[CommandCheckRow | HttpCheckRow | ToolCheckRow, ...]
    rollback: RollbackRow
    side_effects: tuple[str, ...]
    evidence: dict[str, str] = {}


class PlanFile(Row):
    """The whole file, with all of its references resolved."""

    version: str
    title: str
    systems: dict[OperatingSystem, SystemRow]
    shells: dict[Shell, ShellRow]
    assistants: dict[Assistant, AssistantRow]
    registrations: dict[Lane, str]
    inputs: dict[str, InputRow]
    sent: tuple[str, ...]
    steps: tuple[StepRow, ...]

    @model_validator(mode="after")
    def _is_consistent(self) -> PlanFile:
        faults = list(_faults(self))
        if faults:
            raise ValueError("; ".join(faults))
        return self


@cache
def load_plan_file() -> PlanFile:
    """Returns the checked file. Raises `pydantic.ValidationError` if it is inconsistent."""
    return read_plan_file(PLANS_FILE.read_text())


def read_plan_file(text: str) -> PlanFile:
    """Parses `text`, which is YAML. Raises `pydantic.ValidationError`."""
    return PlanFile.model_validate(yaml.load(text, yaml.CSafeLoader))


def texts_of(value: Any) -> Iterator[str]:
    """Yields every text in a value of dicts and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_of(inner)


def _faults(file: PlanFile) -> Iterator[str]:
    unknown = {name for text in texts_of(file.model_dump()) for name in VARIABLE.findall(text)} - VARIABLES
    if unknown:
        yield f"unknown variables: {', '.join(sorted(unknown))}"
    yield from _input_faults(file)
    seen: dict[str, StepRow] = {}
    for step in file.steps:
        if step.id in seen:
            yield f"{step.id} is there twice"
        for need in step.needs:
            if need not in seen:
                yield f"{step.id} needs {need}, which does not come before it"
            elif seen[need].optional and not step.optional:
                yield f"{step.id} can't be skipped and needs {need}, which can"
        if not step.checks:
            yield f"{step.id} has no check"
        if set(step.commands) != set(file.shells):
            yield f"{step.id} has commands for some shells but not for others"
        if step.rollback.commands and set(step.rollback.commands) != set(file.shells):
            yield f"{step.id} can be rolled back in some shells but not in others"
        if step.side_effects and step.rollback.complete and not (step.rollback.commands or not step.files):
            yield f"{step.id} writes files but has no command that removes them"
        seen[step.id] = step


def _input_faults(file: PlanFile) -> Iterator[str]:
    written = [file_row.content for step in file.steps for file_row in step.files] + list(file.registrations.values())
    needed = {name for text in written for name in INPUT.findall(text)}
    if needed != set(file.inputs):
        yield f"the inputs that are used and those that are described differ: {sorted(needed ^ set(file.inputs))}"
    bare = file.model_dump(exclude={"registrations": True, "steps": {"__all__": {"files"}}})
    if any(INPUT.search(text) for text in texts_of(bare)):
        yield "a placeholder for user input stands outside of a file"
