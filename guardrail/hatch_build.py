"""The wheel's build hook: checks and compiles the YAML data, so that an installed package parses no YAML."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Compiles catalogue, requests, words and policy. A mistake in the YAML ends the build with file and line."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files."""
        root = Path(self.root)
        # This directory is the package, whatever its name and wherever the source distribution was unpacked.
        spec = importlib.util.spec_from_file_location(
            "guardrail", root / "__init__.py", submodule_search_locations=[str(root)]
        )
        if spec is None or spec.loader is None:
            raise ImportError("the package guardrail can't be loaded from its own directory")
        package = importlib.util.module_from_spec(spec)
        sys.modules["guardrail"] = package
        spec.loader.exec_module(package)
        from guardrail.compile import compile_all

        self.before = set(root.rglob("*.json"))
        compile_all()

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling after it writes the wheel. Deletes the compiled files, since they would become outdated
        in a work tree."""
        for path in set(Path(self.root).rglob("*.json")) - self.before:
            path.unlink()
