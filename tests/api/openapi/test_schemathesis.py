"""Schemathesis against the whole running service, in all its phases: examples, coverage, fuzzing and followed links."""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from hypothesis.configuration import storage_directory
from intakes import AGENT
from patience import HANG_S
from rounds import ROUNDS, chosen
from whole_service import PAYER, WholeService, listening, whole_service

from contracts.access.plans import CLAIM_PATH, QUOTE_PATH
from contracts.intake.answers import INTAKE_PATH

CONFIG = Path(__file__).with_name("schemathesis.toml")
LONGEST_LINE, MOST_LINES = 400, 300
OPERATOR = "0x" + "0b" * 20
EVERYTHING = "examples,coverage,fuzzing,stateful"
UNCOVERED = "[[operations]]\ninclude-operation-id = {}\nphases.coverage.enabled = false\n"
KNOWN = '[[operations]]\ninclude-operation-id = "{}"\nparameters = {{ "path.{}" = "{}" }}\n'


def known_ids(service: WholeService, client: httpx.Client) -> dict[str, tuple[str, str]]:
    """Returns, by operation, a path parameter and a value that exists, which a guess would never hit."""
    quote = client.post(QUOTE_PATH, json={"payerAddress": PAYER, "operatorAddress": OPERATOR}).json()
    claim = {name: quote[name] for name in ("quoteId", "quoteHash", "paymentRequirementHash")}
    bought = client.post(CLAIM_PATH, json={**claim, "transactionHash": service.pay(quote)})
    assert bought.status_code == 201, bought.text
    claim_id = bought.json()["data"]["claim"]["claimId"]
    intake_id = client.post(INTAKE_PATH, json=AGENT).json()["intakeId"]
    holders = client.get("/api/token/holders").json()
    file = holders["consistency"]["proof"]["holderList"]["path"].rpartition("/")[2]
    return {
        "agent_access_receipt": ("claimId", claim_id),
        "agent_access_operator_challenge": ("claimId", claim_id),
        "agent_access_recovery_challenge": ("claimId", claim_id),
        "intake_status": ("intakeId", intake_id),
        "intake_capsule": ("intakeId", intake_id),
        "data_file": ("file", file),
    }


def uncovered_operations(client: httpx.Client) -> list[str]:
    paths = client.get("/openapi.json").json()["paths"].values()
    operations = sorted(operation["operationId"] for path in paths for operation in path.values())
    return sorted(set(operations) - set(chosen(operations, others=10)))


def run(tmp_path: Path, phases: str, examples: int) -> None:
    """Lets Schemathesis send `examples` random requests of each kind to each operation, the same in every run.

    For every tenth operation, or all in a soak, it covers each value that the description bounds or lists.
    """
    with whole_service(tmp_path) as service, listening(service) as url:
        with httpx.Client(base_url=url, timeout=HANG_S) as client:
            known, uncovered = known_ids(service, client), uncovered_operations(client)
        config = tmp_path / "schemathesis.toml"
        settled = [KNOWN.format(operation, *named) for operation, named in known.items()]
        settled += [UNCOVERED.format(json.dumps(uncovered))] if uncovered else []
        config.write_text("\n".join([CONFIG.read_text(), *settled]))
        command = [
            *(str(Path(sys.executable).with_name("schemathesis")), "--config-file", str(config)),
            *("run", f"{url}/openapi.json", "--url", url, "--header", f"Authorization: Bearer {service.key()}"),
            *("--phases", phases, "--max-examples", str(examples), "--generation-deterministic"),
            *("--continue-on-failure", "--no-color", "--no-shrink"),
        ]
        # Hypothesis stores its Unicode tables there, which take seconds to build. Examples are not stored.
        kept = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(storage_directory())}
        done = subprocess.run(command, cwd=tmp_path, env=kept, capture_output=True, text=True)
    lines = [line[:LONGEST_LINE] for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    assert done.returncode == 0, "\n".join(lines[-MOST_LINES:])


def test_every_request_of_schemathesis_is_answered_as_described(tmp_path):
    run(tmp_path, EVERYTHING, examples=(3 * ROUNDS + 4) // 5)


@pytest.mark.soak
def test_no_answer_deviates_in_a_longer_run_either(tmp_path):
    run(tmp_path, "fuzzing,stateful", examples=40)
