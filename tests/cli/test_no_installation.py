"""Commands where no service has run: one sentence with a cure, and nothing is created that a later command would
use."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import called
from installation import Installation

from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger

IN_A_LEDGER = [
    "world audit",
    "world restored",
    "world pending",
    "world approve 1",
    "world reject 1 --reason no",
    "world ontology show local:me",
    "world export -",
    "world forget local:me",
    "keys list",
    "keys moved",
    "keys rotate key_1",
    "keys revoke key_1",
    "claim show claim_1",
    "claim unmatched",
    "claim resolve claim_1 --refund",
    "intake list",
    "intake review intake_1 --approve",
    "intake export intake_1",
    "intake forget intake_1",
]


@pytest.mark.parametrize("command", IN_A_LEDGER)
def test_a_command_on_ledger_content_refuses_a_directory_without_a_ledger(command: str, tmp_path: Path) -> None:
    data_dir = tmp_path / "mistyped"
    environment = {"SVC_DATA_DIR": str(data_dir), "SVC_RPC_URLS": "http://127.0.0.1:9"}
    said = called(environment, *command.split())
    assert (said.exit_code, said.stdout) == (1, "")
    first, cure = said.stderr.splitlines()
    assert first == f"svc: There is no ledger in {data_dir}, so nothing has run there."
    assert "SVC_DATA_DIR" in cure
    assert not data_dir.exists()


@pytest.mark.parametrize(("file", "fault"), [("none/graph.jsonl", "No such file or directory"), ("", "Is a directory")])
def test_an_export_to_an_unwritable_place_names_that_place_and_not_a_draft(
    file: str, fault: str, tmp_path: Path
) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "var")
    open_ledger(settings, settings.data_dir).close()
    environment = {"SVC_DATA_DIR": str(settings.data_dir), "SVC_RPC_URLS": "http://127.0.0.1:9"}
    said = called(environment, "world", "export", str(tmp_path / file))
    assert (said.exit_code, said.stderr.splitlines()[0]) == (1, f"svc: {tmp_path / file} can't be written: {fault}.")


def test_words_from_a_file_that_is_not_there_are_a_wrong_argument(tmp_path: Path) -> None:
    said = called({"SVC_DATA_DIR": str(tmp_path)}, "world", "ontology", "set", "local:me", str(tmp_path / "none.yaml"))
    assert (said.exit_code, "does not exist" in said.stderr, "Errno" in said.output) == (2, True, False)


def test_a_server_of_a_directory_where_nothing_is_published_says_so(tmp_path: Path) -> None:
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path / "var"))
    log = tmp_path / "serve.log"
    with installation.served(log):
        assert installation.ask("GET", "/health", {}) == 503
    assert f"Nothing is published in {tmp_path / 'var'} yet, so /health is 503." in log.read_text()
