"""A scratch home in which a set-up plan is followed: files are written, commands run, checks made, steps undone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
from patience import HANG_S

from contracts.connect.setup_plan import Check, CommandCheck, ConnectPlan, HttpCheck, PlanStep, ToolCheck
from contracts.connect.setup_plan_rows import INPUT

PATH = os.environ["PATH"]

ToolCall = Callable[[str, dict[str, Any]], dict[str, Any]]


class Machine:
    """`answers` are the user's answers; `call` calls a tool of the session."""

    def __init__(self, home: Path, answers: Mapping[str, str], call: ToolCall | None = None) -> None:
        self.home = home
        self.answers = answers
        self.call = call
        self.path = PATH
        self.shell = "/bin/sh"

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Runs the command in a fresh shell that knows only home and path."""
        environment = {"HOME": str(self.home), "PATH": self.path}
        return subprocess.run(
            [self.shell, "-c", command], env=environment, cwd="/", capture_output=True, text=True, timeout=HANG_S
        )

    def workspace(self, plan: ConnectPlan) -> Path:
        return Path(plan.workspace.replace("$HOME", str(self.home)))

    def write(self, plan: ConnectPlan, step: PlanStep) -> None:
        """Writes the step's files as an assistant's own tool would."""
        for each in step.files:
            target = self.workspace(plan) / each.path
            target.parent.mkdir(exist_ok=True)
            target.write_text(INPUT.sub(lambda found: self.answers[found[1]], each.content))

    def do(self, plan: ConnectPlan, step: PlanStep) -> list[str]:
        """Writes the files, then runs the commands; returns the output of those that failed."""
        self.write(plan, step)
        return self._failed(each.run for each in step.commands)

    def roll_back(self, step: PlanStep) -> list[str]:
        return self._failed(each.run for each in step.rollback.commands)

    def passes(self, step: PlanStep) -> bool:
        return all(map(self.holds, step.checks))

    def holds(self, check: Check) -> bool:
        match check:
            case CommandCheck():
                return self.run(check.run).returncode == 0
            case HttpCheck():
                try:
                    answer = httpx.request(
                        check.method, check.url, headers=check.headers, content=check.body, timeout=HANG_S
                    )
                except httpx.TransportError:
                    return False
                return answer.status_code == check.status and check.contains in answer.text
            case ToolCheck():
                assert self.call is not None
                return self.call(check.tool, check.arguments).get(check.field) == check.equals

    def tree(self) -> dict[str, bytes]:
        """Returns every path below home, with the contents of files."""
        found = sorted(self.home.rglob("*"))
        return {str(each.relative_to(self.home)): each.read_bytes() if each.is_file() else b"/" for each in found}

    def _failed(self, commands: Any) -> list[str]:
        said = []
        for command in commands:
            done = self.run(command)
            if done.returncode != 0:
                said.append(f"{command}\n{done.stdout}{done.stderr}")
        return said
