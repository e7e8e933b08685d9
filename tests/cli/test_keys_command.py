"""`svc keys` next to a running service; an issued key appears only in the one answer that shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import called
from installation import Installation
from keyed_service import CHECK

from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger


@pytest.fixture
def installation(ledger_settings):
    return Installation(ledger_settings)


def test_no_byte_of_an_issued_key_is_left_anywhere(installation, tmp_path):
    made = installation.keys("create", "--tier", "Basic", "--owner", "alice")
    issued = {"apiKey": made["apiKey"], "keyId": made["keyId"]}
    assert made == {
        "ok": True, **issued, "tier": "basic", "owner": "local:alice", "role": "caller", "maxClass": "document"
    }  # fmt: skip
    text = made["apiKey"]
    assert re.fullmatch(r"svc_basic_[0-9A-Za-z]{36}", text)
    log = tmp_path / "serve.log"
    said = [json.dumps(installation.keys("list"))]
    with installation.served(log):
        headers = {"X-Api-Key": text, "Content-Type": "application/json"}
        action = json.dumps({"action": f"curl -H 'X-Api-Key: {text}' https://x.example", "context": {"key": text}})
        assert installation.ask("POST", CHECK, headers, action) == 200
        assert installation.ask("POST", CHECK, headers, json.dumps({"action": 1, text: text})) == 400
        assert installation.ask("POST", CHECK, headers, text) == 400
        assert installation.ask("GET", f"/api/v2/world-model/{text}?key={text}", headers) == 404
        assert installation.ask("POST", CHECK, headers | {"X-Api-Key": text[:-1]}, action) == 401
        rotated = installation.keys("rotate", made["keyId"])
        assert (rotated["tier"], rotated["owner"]) == ("basic", "local:alice")
        assert installation.ask("POST", CHECK, headers, action) == 401
        assert installation.ask("POST", CHECK, headers | {"X-Api-Key": rotated["apiKey"]}, action) == 200
        assert installation.keys("revoke", rotated["keyId"])["changed"] is True
        assert installation.ask("POST", CHECK, headers | {"X-Api-Key": rotated["apiKey"]}, action) == 401
    said += [json.dumps(installation.keys("list")), installation.called("keys", "list").stdout]
    used = {each["keyId"]: each["requests"] for each in json.loads(said[1])["keys"]}
    # the successful check and the client's three faulty requests, then one with the successor
    assert used == {made["keyId"]: 4, rotated["keyId"]: 1}
    rows = installation.ledger_text()
    assert not rows or ("'api_keys'" in rows and "'guardrail_checks'" in rows)
    said += [rows, *(_content(file) for file in tmp_path.rglob("*") if file.is_file())]
    for key in (text, rotated["apiKey"]):
        for content in said:
            assert key not in content
            assert key[-36:-6] not in content
        assert key[-4:] in said[1]


def test_a_key_of_a_signed_system_has_its_signer_and_no_other_key_has_one(installation):
    signer = "A" * 43
    options = ("create", "--tier", "free", "--owner", "payroll", "--max-class")
    assert installation.keys(*options, "signed_system", "--signer", signer)["maxClass"] == "signed_system"
    assert installation.keys(*options, "hearsay")["maxClass"] == "hearsay"
    for refused in (("signed_system",), ("document", "--signer", signer), ("signed_system", "--signer", "AAAA")):
        assert "--signer" in installation.called("keys", *options, *refused, code=2).output


def _content(file: Path) -> str:
    return file.read_bytes().decode("latin-1")


def test_impossible_commands_on_keys_end_with_a_cure(tmp_path):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    installation = Installation(settings)
    open_ledger(settings, tmp_path).close()
    assert "svc keys list" in installation.called("keys", "revoke", "key_none", code=1).stderr
    unknown = json.loads(installation.called("keys", "rotate", "key_none", "--json", code=1).stdout)
    assert (unknown["ok"], unknown["code"]) == (False, "key_unknown")
    installation.called("keys", "create", "--tier", "gold", "--owner", "a", code=2)
    assert installation.keys("list") == {"ok": True, "keys": []}
    assert installation.keys("moved") == {"ok": True, "keys": []}
    for command, words in {
        ("keys", "list"): "no keys",
        ("keys", "moved"): "no keys were moved",
        ("claim", "unmatched"): "no unmatched money",
        ("generations", "list"): "no generations",
    }.items():
        assert installation.called(*command).stdout == f"{words}\n"


def test_an_operators_key_is_created_listed_and_rotated_as_one(tmp_path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    made = installation.keys("create", "--tier", "free", "--owner", "boss", "--role", "operator")
    assert made["role"] == "operator"
    assert installation.keys("rotate", made["keyId"])["role"] == "operator"
    installation.keys("create", "--tier", "free", "--owner", "alice")
    times = [key["createdAt"] for key in installation.keys("list")["keys"]]
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time) for time in times)
    roles = {(key["owner"], key["state"]): key["role"] for key in installation.keys("list")["keys"]}
    assert roles == {
        ("local:boss", "revoked"): "operator",
        ("local:boss", "active"): "operator",
        ("local:alice", "active"): "caller",
    }
    assert "operator local:boss" in installation.called("keys", "list").stdout
    installation.called("keys", "create", "--tier", "free", "--owner", "a", "--role", "admin", code=2)


@pytest.mark.parametrize(
    ("owner", "detail"),
    [
        ("0x" + "AB" * 20, "is an address"),
        ("0X" + "ab" * 20, "is an address"),
        ("0x12", "is not an owner"),
        ("profile:p", "is not a name of at most 100"),
        ("capsule:c", "is not a name of at most 100"),
        ("profil:p", "is not an owner"),
        ("a" * 101, "is not a name of at most 100"),
        ("a\nb", "is not an owner"),
        ("local:", "is not an owner"),
        (" ", "is not an owner"),
    ],
)
def test_a_key_created_by_the_operator_belongs_to_a_name_and_never_to_an_address(tmp_path, owner, detail):
    refused = called({"SVC_DATA_DIR": str(tmp_path)}, "keys", "create", "--tier", "free", "--owner", owner, "--json")
    said = json.loads(refused.stdout)
    assert (refused.exit_code, said["code"], detail in said["detail"]) == (2, "owner_invalid", True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("owner", ["alice", " alice "])
def test_a_name_is_the_same_owner_to_every_command(tmp_path, owner):
    here = {"SVC_DATA_DIR": str(tmp_path)}
    for arguments in (
        ("keys", "create", "--tier", "free", "--owner", owner),
        ("guardrail", "approve", "a" * 64, "--yes", "--owner", owner),
    ):
        assert json.loads(called(here, *arguments, "--json").stdout)["owner"] == "local:alice"
    words = tmp_path / "words.yaml"
    words.write_text("single_valued_predicates: [mood]\n")
    assert called(here, "world", "ontology", "set", owner, str(words)).exit_code == 0
    for named in (owner, "local:alice"):
        assert "mood" in called(here, "world", "ontology", "show", named).stdout
        assert "mood" in called(here, "world", "export", "-", "--owner", named).stdout


def test_serving_on_postgresql_without_secrets_is_refused_with_a_cure(tmp_path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    installation.environment["SVC_LEDGER_URL"] = "postgresql+psycopg://svc@127.0.0.1:1/svc"
    # `run` handles signals, which no test process should do
    for ran in (installation.called("serve", code=2), installation.svc("run", code=2)):
        assert "SVC_MASTER_SECRET" in ran.stderr and "openssl" in ran.stderr
    assert not list(tmp_path.iterdir())
