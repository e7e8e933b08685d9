"""The curl lines of the documentation, run unchanged by a shell against a running service.

A line that names an object of the service at which its example was recorded finds nothing at another service. Every
other line that needs no payment gets the answer that its page describes.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from patience import HANG_S
from whole_service import WholeService, listening, whole_service

from contracts.access.tiers import Role, Tier
from contracts.discovery.installation import Installation
from contracts.discovery.openapi import description_for
from contracts.idempotency import IDEMPOTENCY_HEADER
from contracts.site.api_description import ApiDescription, Operation

OPERATIONS = ApiDescription(**description_for(Installation("https://svc.example"), [])).operations
REFUSED = {
    "agent_access_case": "case_not_found",
    "agent_access_case_challenge": "case_not_found",
    "agent_access_case_supplement": "case_not_found",
    "agent_access_claim": "quote_mismatch",
    "agent_access_operator": "claim_not_found",
    "agent_access_operator_challenge": "claim_not_found",
    "agent_access_payment": "payment_not_found",
    "agent_access_quote_code": "quote_not_found",
    "agent_access_receipt": "claim_not_found",
    "agent_access_recovery": "claim_not_found",
    "agent_access_recovery_challenge": "claim_not_found",
    "agent_access_trial": "trial_refused",
    "intake_capsule": "intake_not_found",
    "intake_status": "intake_not_found",
    "world_model_capsule_claim": "claim_token_unknown",
    "world_model_import_apply": "import_unknown",
    "world_model_import_chunk": "import_unknown",
    "world_model_import_delete": "import_unknown",
    "world_model_import_state": "import_unknown",
    "world_model_node": "node_unknown",
    "world_model_node_erase": "node_unknown",
    "world_model_pending": "pending_unknown",
    "world_model_pending_confirm": "pending_unknown",
}
"""Lines with an id, token or signature of another service, and the code with which this one refuses them."""

SHOW_THE_STATUS = "curl() { command curl --silent --show-error --output answer --write-out '%{http_code}' \"$@\"; }\n"


class Ran(NamedTuple):
    """The answer to a line: status and body."""

    status: int
    body: bytes


@pytest.fixture(scope="module")
def service(tmp_path_factory) -> Iterator[tuple[WholeService, str]]:
    with whole_service(tmp_path_factory.mktemp("whole")) as service, listening(service) as url:
        yield service, url


def run(operation: Operation, service: tuple[WholeService, str], directory: Path) -> Ran:
    """Runs an operation's line in bash; if it sends a key, with a new key that has its own owner."""
    whole, url = service
    if operation.body_examples:
        (directory / "body.json").write_text(operation.body_examples[0].text or "")
    key = whole.key(Tier.PRO, owner=f"local:{operation.id}", role=Role.OPERATOR) if operation.needs_key else ""
    ran = subprocess.run(
        ["bash", "-euc", SHOW_THE_STATUS + operation.command(url + operation.path)],
        cwd=directory,
        env={"PATH": os.environ["PATH"], "KEY": key},
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), operation.id
    answer = directory / "answer"
    return Ran(int(ran.stdout), answer.read_bytes() if answer.exists() else b"")


@pytest.mark.parametrize("operation_id", [name for name, row in OPERATIONS.items() if not row.path.endswith("/{file}")])
def test_a_documented_line_is_answered_as_its_page_describes(service, tmp_path, operation_id: str):
    operation = OPERATIONS[operation_id]
    ran = run(operation, service, tmp_path)
    assert ran.status in operation.responses, ran.body
    if operation_id in REFUSED:
        assert json.loads(ran.body)["code"] == REFUSED[operation_id]
    else:
        assert ran.status < 400, ran.body


def test_two_users_who_copy_the_registration_line_register_two_agents(service, tmp_path):
    first, second = (json.loads(run(OPERATIONS["intake_register"], service, tmp_path).body) for _ in range(2))
    assert first["ok"] and first["intakeId"] != second["intakeId"]


def test_the_line_of_a_signal_writes_the_node_and_names_the_request_in_the_header_only(service, tmp_path):
    signal = OPERATIONS["world_model_signal"]
    line = signal.command("https://svc.example/signal")
    assert f'-H "{IDEMPOTENCY_HEADER}: $IDEMPOTENCY_KEY"' in line and "idempotencyKey" not in line
    assert run(signal, service, tmp_path).status == 201
