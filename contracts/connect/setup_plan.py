"""Builds the plan by which an assistant sets up a local runtime with its user, from `setup_plans.yaml`.

`progress.py` tracks its progress. Nothing here runs a command.
"""

import re
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from contracts.access.plans import CLAIM_PATH, PLANS_PATH, QUOTE_PATH
from contracts.canonical import canonical_sha256
from contracts.connect.server import FIRST_TOOL, MCP_PATH, SERVER_NAME
from contracts.connect.setup_plan_rows import (
    INPUT,
    VARIABLE,
    CommandCheckRow,
    HttpCheckRow,
    PlanFile,
    Row,
    Shell,
    StepRow,
    ToolCheckRow,
    load_plan_file,
)
from contracts.connect.setup_plan_rows import (
    OperatingSystem as OperatingSystem,
)
from contracts.connect.tool_problems import AddressUnsafe, ProfileUnknown, StepUnknown
from contracts.guardrail import LOGGED_CHARACTERS, LOGGED_FOR
from contracts.intake.answers import INTAKE_PATH, ServiceUrls
from contracts.intake.profiles import Profile, load_profiles
from contracts.intake.requests import CONSENT_VERSION, Assistant

OPERATING_SYSTEMS: tuple[OperatingSystem, ...] = get_args(OperatingSystem)
DEFAULT_PROFILE = "guided_local"
GUARDRAIL_PATH = "/api/v2/guardrail/check"

_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9\[][A-Za-z0-9\[\]._~:/-]*")


class ToolModel(Row):
    """Base of the arguments and results of tools: closed, frozen, snake_case on the wire."""


class Choice(ToolModel):
    """The choices that determine a plan."""

    assistant: Assistant = "custom"
    os: OperatingSystem = "linux"
    runtime_profile: str = DEFAULT_PROFILE


class Command(ToolModel):
    """One self-contained command. It runs in a fresh shell and can be repeated safely."""

    shell: Shell
    run: str


class VendorCommand(ToolModel):
    """The assistant's own command for the same purpose. It may write to other places, which `note` names."""

    run: str
    undo: str
    note: str
    source: str = Field(description="The vendor's documentation of the command")


class FileToWrite(ToolModel):
    """A file below the workspace, with its whole content. `<<name>>` is a placeholder for the user's input."""

    path: str
    mode: Literal["0600"] | None = Field(description="Permissions; null: the user's own default")
    content: str


class UserInput(ToolModel):
    """A value that the user must provide. It is written only to files, never into a command."""

    name: str
    label: str
    example: str
    pattern: str = Field(description="Regular expression that it must match")
    personal: bool


class CommandCheck(ToolModel):
    """The step is done if this command exits with 0."""

    kind: Literal["command"] = "command"
    shell: Shell
    run: str
    gives: str


class HttpCheck(ToolModel):
    """The step is done if the response to this request has the status and contains the text."""

    kind: Literal["http"] = "http"
    method: Literal["GET", "POST"]
    url: str
    headers: dict[str, str]
    body: str | None
    status: int
    contains: str
    gives: str


class ToolCheck(ToolModel):
    """The step is done if the answer of this tool of the session has this value in the field."""

    kind: Literal["tool"] = "tool"
    tool: str
    arguments: dict[str, Any]
    field: str
    equals: bool | str
    gives: str


Check = Annotated[CommandCheck | HttpCheck | ToolCheck, Field(discriminator="kind")]


class Rollback(ToolModel):
    """How to undo a step. `complete` is false if something remains; `note` names it."""

    complete: bool
    note: str
    commands: tuple[Command, ...]


class PlanStep(ToolModel):
    """One step. It is already done if its checks pass.

    Otherwise the assistant writes the files, then runs the commands in order, and then every check must pass.
    """

    id: str
    title: str
    what: str
    why: str
    optional: bool
    consent: str | None = Field(description="What the user must agree to first; null: nothing beyond the plan")
    needs: tuple[str, ...] = Field(description="Steps that must be done before this one")
    by_user: str | None = Field(description="What the user does, because the assistant can't or must not")
    inputs: tuple[UserInput, ...]
    files: tuple[FileToWrite, ...]
    commands: tuple[Command, ...]
    alternatives: tuple[VendorCommand, ...]
    checks: tuple[Check, ...]
    rollback: Rollback
    side_effects: tuple[str, ...]
    evidence: dict[str, str] = Field(description="Values that a report of the step may contain: name and pattern")
    source: str | None = Field(description="Documentation on which the step relies")

    @property
    def digest(self) -> str:
        """Returns a hash that is equal for equal steps."""
        return canonical_sha256(self.model_dump(mode="json"))[:16]


class ConnectPlan(ToolModel):
    """A whole plan. `version` changes with any part of it."""

    version: str
    choice: Choice
    title: str
    profile_label: str
    workspace: str = Field(description="The folder that the plan creates; nothing is written outside of it")
    boundary: str
    first_mission: str
    sent: tuple[str, ...] = Field(description="What leaves the machine, and when")
    steps: tuple[PlanStep, ...]

    def step(self, step_id: str) -> PlanStep:
        """Returns the step with an id. Raises `StepUnknown`."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise StepUnknown(
            f"The plan has no step {step_id[:60]!r}.",
            fix=f"Name one of {', '.join(step.id for step in self.steps)}.",
        )


def plan_for(choice: Choice, urls: ServiceUrls) -> ConnectPlan:
    """Returns the plan for a choice at a service.

    Raises `ProfileUnknown`, and `AddressUnsafe` if the service's URL has characters that a shell would interpret.
    """
    profile = load_profiles().get(choice.runtime_profile)
    if profile is None:
        raise ProfileUnknown(
            f"There is no runtime profile {choice.runtime_profile[:60]!r}.",
            fix=f"Choose one of {', '.join(load_profiles())}.",
        )
    if not _PLAIN_URL.fullmatch(urls.base_url):
        raise AddressUnsafe
    return _complete_plan(choice, urls.base_url)


@cache
def _complete_plan(choice: Choice, base_url: str) -> ConnectPlan:
    file = load_plan_file()
    profile = load_profiles()[choice.runtime_profile]
    template = _Template(file, choice, profile, base_url)
    steps = tuple(template.step(row) for row in file.steps)
    fields: dict[str, Any] = {
        "title": template.text(file.title),
        "profile_label": profile.label,
        "workspace": template.text("{{workspace}}"),
        "boundary": f"{profile.workspace_boundary}. {profile.workspace_boundary_note}",
        "first_mission": profile.first_mission,
        "sent": tuple(map(template.text, file.sent)),
    }
    plan = ConnectPlan(version=file.version, choice=choice, steps=steps, **fields)
    digest = canonical_sha256(plan.model_dump(mode="json"))[:12]
    return plan.model_copy(update={"version": f"{file.version}+{digest}"})


class _Template:
    """Fills in the texts of the file for one choice."""

    def __init__(self, file: PlanFile, choice: Choice, profile: Profile, base_url: str) -> None:
        assistant = file.assistants[choice.assistant]
        self.shell: Shell = file.systems[choice.os].shell
        self.assistant = assistant
        self.inputs = file.inputs
        self.variables = {
            "base_url": base_url,
            "mcp_url": base_url + MCP_PATH,
            "intake_url": base_url + INTAKE_PATH,
            "plans_url": base_url + PLANS_PATH,
            "quote_url": base_url + QUOTE_PATH,
            "claim_url": base_url + CLAIM_PATH,
            "guardrail_url": base_url + GUARDRAIL_PATH,
            "logged_characters": f"{LOGGED_CHARACTERS:,}",
            "logged_days": str(LOGGED_FOR.days),
            "slug": re.sub(r"[^A-Za-z0-9]+", "-", base_url.partition("://")[2]).strip("-").lower()[:60],
            "server": SERVER_NAME,
            "first_tool": FIRST_TOOL,
            "consent_version": CONSENT_VERSION,
            "workspace": file.shells[self.shell].workspace,
            "here": file.shells[self.shell].here,
            "registration": file.registrations[profile.lane],
            "assistant": choice.assistant,
            "assistant_label": assistant.label,
            "config_path": assistant.file.path,
            "config_content": assistant.file.content,
            "notes_path": assistant.notes,
            "runtime_profile": profile.id,
            "profile_label": profile.label,
            "experience_path": profile.defaults.get("experiencePath", ""),
            "launch_path": profile.defaults.get("launchPath", ""),
            "first_mission": profile.first_mission,
            "first_delivery": profile.first_delivery,
            "first_delivery_note": profile.first_delivery_note,
            "workspace_boundary": profile.workspace_boundary,
            "workspace_boundary_note": profile.workspace_boundary_note,
            "governance_boundary": profile.governance_boundary,
            "governance_boundary_note": profile.governance_boundary_note,
        }

    def text(self, template: str) -> str:
        """Replaces every variable in a text, including the variables in their values."""
        return VARIABLE.sub(lambda variable: self.text(self.variables[variable[1]]), template)

    def step(self, row: StepRow) -> PlanStep:
        files = tuple(
            FileToWrite(
                path=self.text(file.path),
                mode=file.mode if self.shell == "sh" else None,
                content=self.text(file.content),
            )
            for file in row.files
        )
        vendor = self.assistant.vendor if row.vendor else None
        return PlanStep(
            id=row.id,
            title=self.text(row.title),
            what=self.text(row.what),
            why=self.text(row.why),
            optional=row.optional,
            consent=None if row.consent is None else self.text(row.consent),
            needs=row.needs,
            by_user=row.by_user,
            inputs=self._inputs(files),
            files=files,
            commands=self._commands(row.commands[self.shell]),
            alternatives=()
            if vendor is None
            else (
                VendorCommand(
                    run=self.text(vendor.run), undo=self.text(vendor.undo), note=vendor.note, source=vendor.source
                ),
            ),
            checks=tuple(map(self._check, row.checks)),
            rollback=Rollback(
                complete=row.rollback.complete,
                note=row.rollback.note,
                commands=self._commands(row.rollback.commands.get(self.shell, ())),
            ),
            side_effects=tuple(map(self.text, row.side_effects)),
            evidence=row.evidence,
            source=self.assistant.file.source if row.vendor else None,
        )

    def _commands(self, templates: tuple[str, ...]) -> tuple[Command, ...]:
        return tuple(Command(shell=self.shell, run=self.text(template)) for template in templates)

    def _inputs(self, files: tuple[FileToWrite, ...]) -> tuple[UserInput, ...]:
        names = dict.fromkeys(name for file in files for name in INPUT.findall(file.content))
        return tuple(UserInput(name=name, **self.inputs[name].model_dump()) for name in names)

    def _check(self, row: CommandCheckRow | HttpCheckRow | ToolCheckRow) -> CommandCheck | HttpCheck | ToolCheck:
        match row:
            case CommandCheckRow():
                return CommandCheck(shell=self.shell, run=self.text(row.run[self.shell]), gives=row.gives)
            case HttpCheckRow():
                filled = {"url": self.text(row.url), "contains": self.text(row.contains)}
                return HttpCheck(**(row.model_dump() | filled))
            case ToolCheckRow():
                return ToolCheck(**row.model_dump())
