"""Compiles the Solidity sources under `contracts/chain/` into the committed artifacts: `python -m cli.demo.compile`."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

CHAIN_DIR: Final = Path(__file__).resolve().parents[2] / "contracts" / "chain"
ARTIFACTS_DIR: Final = CHAIN_DIR / "artifacts"

# Without the metadata hash the bytecode depends only on the code, not on comments or paths.
SETTINGS: Final[dict[str, Any]] = {
    "evmVersion": "cancun",
    "optimizer": {"enabled": True, "runs": 200},
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
}

Artifact = dict[str, Any]
"""`{contractName, abi, bytecode, solc, settings}`; `bytecode` is creation code as 0x-hex."""


def compiler_input(sources: dict[str, str]) -> dict[str, Any]:
    """Returns the standard JSON that requests ABI and creation code of every contract in `sources` from solc.

    `sources` maps file names to text.
    """
    return {
        "language": "Solidity",
        "sources": {name: {"content": text} for name, text in sorted(sources.items())},
        "settings": {**SETTINGS, "outputSelection": {"*": {"*": ["abi", "evm.bytecode.object"]}}},
    }


def artifacts_of(output: dict[str, Any], solc_version: str) -> dict[str, Artifact]:
    """Returns one artifact per contract from solc's standard JSON; an interface has no code and gets none.

    Raises `ValueError` with the compiler's messages on an error or warning.
    """
    complaints = [entry["formattedMessage"] for entry in output.get("errors", [])]
    if complaints:
        raise ValueError("\n".join(complaints))
    return {
        name: {
            "contractName": name,
            "solc": solc_version,
            "settings": SETTINGS,
            "abi": compiled["abi"],
            "bytecode": "0x" + compiled["evm"]["bytecode"]["object"],
        }
        for contracts in output["contracts"].values()
        for name, compiled in contracts.items()
        if compiled["evm"]["bytecode"]["object"]
    }


def compile_contracts(chain_dir: Path = CHAIN_DIR) -> dict[str, Artifact]:
    """Compiles every source in the directory. Raises `ValueError` on a warning or an error."""
    return compile_sources({path.name: path.read_text() for path in chain_dir.glob("*.sol")}, chain_dir)


def compile_sources(sources: dict[str, str], chain_dir: Path = CHAIN_DIR) -> dict[str, Artifact]:
    """Compiles `sources` (file name to text) with the solc of `node_modules`. Raises `ValueError` as above."""
    solc = chain_dir / "node_modules" / "solc"
    # Into a file, because solcjs exits before a pipe has accepted all of its output.
    with tempfile.TemporaryFile("w+") as written:
        command = ["node", str(solc / "solc.js"), "--standard-json"]
        subprocess.run(command, input=json.dumps(compiler_input(sources)), stdout=written, text=True, check=True)
        written.seek(0)
        report = written.read()
    # solcjs writes a line about SMT solvers before the JSON.
    output = json.loads(report[report.index("{") :])
    return artifacts_of(output, json.loads((solc / "package.json").read_text())["version"])


def load_artifact(name: str) -> Artifact:
    """Returns a committed artifact by contract name."""
    artifact: Artifact = json.loads((ARTIFACTS_DIR / f"{name}.json").read_text())
    return artifact


def main() -> None:
    ARTIFACTS_DIR.mkdir(exist_ok=True)
    for name, artifact in compile_contracts().items():
        (ARTIFACTS_DIR / f"{name}.json").write_text(json.dumps(artifact, indent=1, sort_keys=True) + "\n")
        print(f"{name}: {len(artifact['bytecode']) // 2 - 1} bytes of creation code")


if __name__ == "__main__":
    main()
