"""`svc keys` beside a running service; and no byte of an issued key anywhere but in the one answer that shows it."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from keyed_service import CHECK
from ledger_process import MASTER_SECRET

from contracts.settings import Settings

SVC = Path(sys.executable).with_name("svc")


class Installation:
    """A data directory with its environment, whose ledger is on either engine."""

    def __init__(self, settings) -> None:
        self.data_dir = settings.data_dir
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")} | {
            "SVC_RPC_URLS": "http://127.0.0.1:1",
            "SVC_DATA_DIR": str(settings.data_dir),
            "SVC_PORT": str(self.port),
            "SVC_LOG_FORMAT": "json",
            "SVC_RATE_LIMIT_PER_MINUTE": "0",
        }
        if settings.ledger_url is not None:
            self.environment |= {
                "SVC_LEDGER_URL": settings.ledger_url,
                "SVC_MASTER_SECRET": MASTER_SECRET,
                "SVC_SIGNING_KEY_FILE": str(settings.data_dir / "signing.pem"),
            }

    def svc(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        ran = subprocess.run([SVC, *arguments], env=self.environment, capture_output=True, text=True, timeout=120)
        assert ran.returncode == code, ran.stderr
        return ran

    def keys(self, *arguments: str):
        return json.loads(self.svc("keys", *arguments, "--json").stdout)

    def ask(self, method: str, path: str, headers: dict[str, str], body: str | None = None) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer.status


@pytest.fixture
def installation(ledger_settings):
    return Installation(ledger_settings)


def test_no_byte_of_an_issued_key_is_left_anywhere(installation, tmp_path):
    made = installation.keys("create", "--tier", "basic", "--owner", "alice")
    assert made == {"apiKey": made["apiKey"], "keyId": made["keyId"], "tier": "basic", "owner": "local:alice"}
    text = made["apiKey"]
    assert re.fullmatch(r"svc_basic_[0-9A-Za-z]{36}", text)
    log = tmp_path / "serve.log"
    said = [json.dumps(installation.keys("list"))]
    with log.open("w") as file:
        server = subprocess.Popen([SVC, "serve"], env=installation.environment, stdout=file, stderr=file)
        try:
            _wait(installation.port, server)
            headers = {"X-Api-Key": text, "Content-Type": "application/json"}
            action = json.dumps({"action": f"curl -H 'X-Api-Key: {text}' https://x.example", "context": {"key": text}})
            assert installation.ask("POST", CHECK, headers, action) == 200
            assert installation.ask("POST", CHECK, headers, json.dumps({"action": 1, text: text})) == 400
            assert installation.ask("POST", CHECK, headers, text) == 400
            assert installation.ask("GET", f"/api/v2/{text}?key={text}", headers) == 404
            assert installation.ask("POST", CHECK, headers | {"X-Api-Key": text[:-1]}, action) == 401
            rotated = installation.keys("rotate", made["keyId"])
            assert (rotated["tier"], rotated["owner"]) == ("basic", "local:alice")
            assert installation.ask("POST", CHECK, headers, action) == 401
            assert installation.ask("POST", CHECK, headers | {"X-Api-Key": rotated["apiKey"]}, action) == 200
            assert installation.keys("revoke", rotated["keyId"])["changed"] is True
            assert installation.ask("POST", CHECK, headers | {"X-Api-Key": rotated["apiKey"]}, action) == 401
        finally:
            server.terminate()
            server.wait(60)
    said += [json.dumps(installation.keys("list")), installation.svc("keys", "list").stdout]
    used = {each["keyId"]: each["requests"] for each in json.loads(said[1])["keys"]}
    # the check that succeeded, three that the client got wrong; then one with the successor
    assert used == {made["keyId"]: 4, rotated["keyId"]: 1}
    said += [_dump(installation), *(_content(file) for file in tmp_path.rglob("*") if file.is_file())]
    for key in (text, rotated["apiKey"]):
        for content in said:
            assert key not in content
            assert key[-36:-6] not in content
        assert key[-4:] in said[1]


def _dump(installation) -> str:
    if "SVC_LEDGER_URL" not in installation.environment:
        return ""
    url = installation.environment["SVC_LEDGER_URL"].replace("postgresql+psycopg", "postgresql")
    import psycopg

    with psycopg.connect(url) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        assert ("api_keys",) in tables and ("guardrail_checks",) in tables
        return "".join(repr(connection.execute(f'select * from "{name}"').fetchall()) for (name,) in tables)


def _content(file: Path) -> str:
    return file.read_bytes().decode("latin-1")


def _wait(port: int, server: subprocess.Popen) -> None:
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server ended")


def test_what_can_not_be_done_is_said_with_a_cure(tmp_path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    assert "svc keys list" in installation.svc("keys", "revoke", "key_none", code=1).stderr
    unknown = json.loads(installation.svc("keys", "rotate", "key_none", "--json", code=1).stdout)
    assert (unknown["ok"], unknown["code"]) == (False, "key_unknown")
    assert "--owner" in installation.svc("keys", "create", "--tier", "free", "--owner", " ", code=2).stderr
    installation.svc("keys", "create", "--tier", "gold", "--owner", "a", code=2)
    assert installation.keys("list") == {"ok": True, "keys": []}


def test_serving_on_postgresql_without_secrets_is_refused_with_a_cure(tmp_path):
    installation = Installation(Settings(_env_file=None, data_dir=tmp_path))
    installation.environment["SVC_LEDGER_URL"] = "postgresql+psycopg://svc@127.0.0.1:1/svc"
    for command in ("serve", "run"):
        ran = installation.svc(command, code=2)
        assert "SVC_MASTER_SECRET" in ran.stderr and "openssl" in ran.stderr
    assert not list(tmp_path.iterdir())
