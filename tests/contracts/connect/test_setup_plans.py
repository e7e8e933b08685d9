"""Every possible plan is complete, safe to paste into a shell, and cites what it takes from vendors."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from itertools import product
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.connect.server import SERVER_NAME
from contracts.connect.setup_plan import OPERATING_SYSTEMS, Choice, CommandCheck, ConnectPlan, plan_for
from contracts.connect.setup_plan_rows import INPUT, PLANS_FILE, read_plan_file, texts_of
from contracts.connect.tool_problems import ToolProblem
from contracts.intake.answers import ServiceUrls
from contracts.intake.profiles import load_profiles
from contracts.intake.requests import ASSISTANTS

URLS = ServiceUrls("http://127.0.0.1:8000", None)
PREFIXED = ServiceUrls("https://agents.example/svc", "https://app.example")
CHOICES = [
    Choice(assistant=assistant, os=system, runtime_profile=profile)
    for assistant, system, profile in product(ASSISTANTS, OPERATING_SYSTEMS, load_profiles())
]

DOCUMENTED_AT = {
    "codex": "https://developers.openai.com/codex/",
    "claude-code": "https://code.claude.com/docs/",
    "gemini": "https://github.com/google-gemini/gemini-cli/",
    "grok": "https://docs.x.ai/",
    "custom": "https://modelcontextprotocol.io/",
}


def commands_of(plan: ConnectPlan) -> set[str]:
    checks = {check.run for step in plan.steps for check in step.checks if isinstance(check, CommandCheck)}
    return checks | {each.run for step in plan.steps for each in (*step.commands, *step.rollback.commands)}


@pytest.mark.parametrize("urls", [URLS, PREFIXED], ids=["local", "prefixed"])
def test_every_choice_gives_a_whole_plan_of_its_own(urls: ServiceUrls):
    versions = set()
    for choice in CHOICES:
        plan = plan_for(choice, urls)
        said = plan.model_dump(mode="json")
        assert not [text for text in texts_of(said) if "{{" in text or "}}" in text], choice
        assert ConnectPlan.model_validate_json(plan.model_dump_json()) == plan
        shells = {each.shell for step in plan.steps for each in (*step.commands, *step.rollback.commands)}
        assert shells == {"powershell" if choice.os == "windows" else "sh"}
        for step in plan.steps:
            assert step.checks, (choice, step.id)
            asked = {name for file in step.files for name in INPUT.findall(file.content)}
            assert asked == {each.name for each in step.inputs}
            assert all(re.fullmatch(each.pattern, each.example) for each in step.inputs)
            assert step.consent or not any(each.personal for each in step.inputs), (choice, step.id)
        versions.add(plan.version)
    assert len(versions) == len(CHOICES)


def test_plans_of_both_unix_systems_have_the_same_commands():
    for choice in CHOICES:
        if choice.os == "macos":
            other = plan_for(choice.model_copy(update={"os": "linux"}), URLS)
            assert plan_for(choice, URLS).steps == other.steps


@pytest.mark.parametrize("urls", [URLS, PREFIXED], ids=["local", "prefixed"])
def test_every_command_of_sh_is_well_formed(urls: ServiceUrls):
    commands = {each for choice in CHOICES if choice.os == "linux" for each in commands_of(plan_for(choice, urls))}
    for command in commands:
        done = subprocess.run(["/bin/sh", "-n", "-c", command], capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)


def test_every_command_of_powershell_closes_what_it_opens_and_stops_at_the_first_error():
    commands = {each for choice in CHOICES if choice.os == "windows" for each in commands_of(plan_for(choice, URLS))}
    for command in commands:
        bare = re.sub(r"'[^']*'", "''", command)
        bare = re.sub(r'"[^"]*"', '""', bare)
        assert "'" not in bare.replace("''", ""), command
        assert '"' not in bare.replace('""', ""), command
        for opening, closing in ("()", "{}", "[]"):
            assert bare.count(opening) == bare.count(closing), command
        if "svc-127" in command and len(command) > 200:
            assert "$ErrorActionPreference = 'Stop'" in command or "exit 1" in command, command


def test_steps_that_write_say_so_and_say_what_is_not_undone():
    for choice in CHOICES:
        for step in plan_for(choice, URLS).steps:
            if step.files:
                assert step.side_effects, step.id
                assert step.rollback.commands, step.id
            assert step.rollback.note
    plan = plan_for(Choice(), URLS)
    assert [step.id for step in plan.steps if not step.rollback.complete] == ["register", "pay", "claim"]
    assert [step.id for step in plan.steps if step.optional] == ["register", "quote", "pay", "claim"]
    assert [step.id for step in plan.steps if step.consent] == ["register", "quote", "pay", "claim"]


def test_only_files_below_the_workspace_are_written_and_secret_ones_are_private_to_the_user():
    for choice in CHOICES:
        plan = plan_for(choice, URLS)
        files = [file for step in plan.steps for file in step.files]
        assert not [file.path for file in files if file.path.startswith(("/", "~", "$")) or ".." in file.path]
        private = {"svc.env", "intake-request.json"}
        modes = {file.path: file.mode for file in files if file.path in private}
        assert modes == dict.fromkeys(private, None if choice.os == "windows" else "0600")


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_the_configuration_is_what_the_vendor_documents(assistant: Any):
    plan = plan_for(Choice(assistant=assistant), URLS)
    step = plan.step("connect_assistant")
    (file,) = step.files
    read = tomllib.loads(file.content) if file.path.endswith(".toml") else json.loads(file.content)
    url = "http://127.0.0.1:8000/mcp"
    expected: dict[str, Any] = {
        "codex": {"mcp_servers": {SERVER_NAME: {"url": url}}},
        "grok": {"mcp_servers": {SERVER_NAME: {"url": url}}},
        "gemini": {"mcpServers": {SERVER_NAME: {"httpUrl": url}}},
    }
    assert read == expected.get(assistant, {"mcpServers": {SERVER_NAME: {"type": "http", "url": url}}})
    assert step.source is not None
    assert step.source.startswith(DOCUMENTED_AT[assistant])
    assert [alternative.source.startswith(DOCUMENTED_AT[assistant]) for alternative in step.alternatives] == [True] * (
        assistant != "custom"
    )
    assert all(url in alternative.run and SERVER_NAME in alternative.undo for alternative in step.alternatives)
    assert not [other.id for other in plan.steps if other.alternatives and other.id != step.id]


def test_an_unknown_profile_and_an_address_that_a_shell_would_read_are_refused():
    with pytest.raises(ToolProblem) as refused:
        plan_for(Choice(runtime_profile="nobody's"), URLS)
    assert refused.value.code == "profile_unknown"
    assert "guided_local" in refused.value.fix


@given(st.text(alphabet="ab/'\"`$;&|<>(){}\\ \n!*?#~=%@", min_size=1, max_size=8))
def test_no_address_brings_more_than_letters_into_a_command(tail: str):
    address = "http://h" + tail
    if re.fullmatch(r"[ab/~]+", tail):
        plan_for(Choice(), ServiceUrls(address, None))
    else:
        with pytest.raises(ToolProblem, match="address_unsafe"):
            plan_for(Choice(), ServiceUrls(address, None))


def changed(edit: Any) -> str:
    data = yaml.safe_load(PLANS_FILE.read_text())
    edit(data)
    return yaml.safe_dump(data)


@pytest.mark.parametrize(
    ("edit", "fault"),
    [
        (lambda d: d["steps"][0].update(what="Read {{nothing_known}}."), "unknown variables: nothing_known"),
        (lambda d: d["steps"][0].update(whta="x"), "whta"),
        (lambda d: d["steps"].append(d["steps"][0]), "prerequisites is there twice"),
        (lambda d: d["steps"][1].update(needs=["notes"]), "workspace needs notes, which does not come before it"),
        (lambda d: d["steps"][-1].update(needs=["register"]), "notes can't be skipped and needs register, which can"),
        (lambda d: d["steps"][0].update(checks=[]), "prerequisites has no check"),
        (lambda d: d["steps"][2]["commands"].pop("powershell"), "commands for some shells"),
        (lambda d: d["steps"][2]["rollback"]["commands"].pop("sh"), "rolled back in some shells"),
        (lambda d: d["steps"][2]["rollback"].update(commands={}), "no command that removes them"),
        (lambda d: d["steps"][2]["commands"].update(sh=["echo <<name>>"]), "stands outside of a file"),
        (lambda d: d["steps"][2]["files"][0].update(content="<<nobody>>"), "nobody"),
        (lambda d: d["inputs"].pop("handle"), "handle"),
        (lambda d: d["inputs"]["handle"].update(example="x"), "does not fit"),
        (lambda d: d["assistants"].update(other=d["assistants"]["grok"]), "assistants.other"),
        (lambda d: d["steps"][2]["files"][0].update(mode="0777"), "0600"),
    ],
)
def test_a_file_in_which_something_does_not_hold_is_not_loaded(edit: Any, fault: str):
    with pytest.raises(ValidationError, match=re.escape(fault)):
        read_plan_file(changed(edit))


def test_a_plan_changes_its_version_with_anything_in_it():
    plan = plan_for(Choice(), URLS)
    assert plan.version == plan_for(Choice(), ServiceUrls(URLS.base_url, "https://app.example")).version
    assert plan.version != plan_for(Choice(), PREFIXED).version
    assert re.fullmatch(r"1\.\d+\.\d+\+[0-9a-f]{12}", plan.version)
