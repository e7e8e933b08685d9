"""An installation with a running API, what Ada does with her key there, and the files that contain her word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from keyed_service import KeyedService, bearer, with_secrets
from postgres_fixtures import TemporaryPostgres
from publishing import READ, commands_publish
from rounds import ROUNDS, SOAK_ROUNDS
from shared_state import copied
from text_search import files_with
from typer.testing import CliRunner

from cli.app import app
from contracts.settings import Settings
from pipelines.initial_publish import publish_initial

WORD = "quokkaburrow"
QUERY, SIGNAL = "/api/v2/world-model/query", "/api/v2/world-model/signal"


class Installation:
    """An installation with a running API and its ledger on either engine; commands run alongside the API."""

    def __init__(self, settings: Settings, tables: Path | None, patch: pytest.MonkeyPatch) -> None:
        self.settings = settings.model_copy(update={"rate_limit_per_minute": 0})
        self.data_dir = settings.data_dir
        self.tables = tables
        if ROUNDS < SOAK_ROUNDS:  # the pages that show documents, which a soak publishes too, contain nothing else
            commands_publish(patch, *READ)
        for name, value in {
            "SVC_DATA_DIR": str(settings.data_dir),
            "SVC_RPC_URLS": "http://127.0.0.1:9",
            "SVC_LEDGER_URL": settings.ledger_url,
            "SVC_MASTER_SECRET": settings.master_secret and settings.master_secret.get_secret_value(),
            "SVC_SIGNING_KEY_FILE": settings.signing_key_file and str(settings.signing_key_file),
        }.items():
            if value:
                patch.setenv(name, value)

    def begin(self) -> None:
        """Publishes for the first time. The result is the same for all tests on SQLite, and takes a second."""
        if self.settings.ledger_url is None:
            copied("an installation to erase from", self._publish_at, self.data_dir)
        else:
            self.publish()

    def publish(self) -> None:
        self._publish_at(self.data_dir)

    def _publish_at(self, data_dir: Path) -> None:
        publish_initial(self.settings.model_copy(update={"data_dir": data_dir}))

    def svc(self, *arguments: str, code: int = 0) -> tuple[dict[str, Any], str]:
        """Runs a command; returns the JSON that it prints and its other output."""
        result = CliRunner().invoke(app, [*arguments, "--json"])
        assert result.exit_code == code and isinstance(result.exception, SystemExit | None), (result.output, result)
        return json.loads(result.stdout), result.stderr

    def places(self) -> set[str]:
        """Returns every file that contains the word, and every table and index of PostgreSQL that does."""
        found = files_with(self.data_dir, WORD)
        if self.tables is not None:
            address = self.settings.ledger_url.replace("postgresql+psycopg", "postgresql")  # type: ignore[union-attr]
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute("checkpoint")
                ((database,),) = connection.execute(
                    "select oid from pg_database where datname = current_database()"
                ).fetchall()
                relations: dict[str, str] = dict(
                    connection.execute("select pg_relation_filenode(oid)::text, relname from pg_class").fetchall()
                )
            files = files_with(self.tables / str(database), WORD)
            found |= {f"postgresql {relations.get(file, file)}" for file in files}
        return found


def installed(
    request: pytest.FixtureRequest, ledger_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Installation:
    """Creates an installation on the engine of a test."""
    if ledger_settings.ledger_url is None:
        return Installation(with_secrets(ledger_settings), None, monkeypatch)
    server: TemporaryPostgres = request.getfixturevalue("postgres")
    unused = server.unused_ledger()
    request.addfinalizer(lambda: server.drop(unused))
    settings = ledger_settings.model_copy(update={"ledger_url": server.url(unused)})
    return Installation(with_secrets(settings), server.socket_dir / "data" / "base", monkeypatch)


class Ada:
    """What Ada does over HTTP with her key."""

    def __init__(self, service: KeyedService, owner: str = "local:ada", **options: Any) -> None:
        self._service = service
        self._headers = bearer(service.key(owner=owner, **options))

    def post(self, path: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
        return self.ask("POST", path, status, json=body)

    def ask(self, method: str, path: str, status: int = 200, **rest: Any) -> dict[str, Any]:
        (answer,) = self._service.ask((method, path, self._headers, rest))
        assert answer.status_code == status, answer.text
        body: dict[str, Any] = answer.json()
        return body

    def tell(self, title: str, source: str = "me", **fields: Any) -> str:
        """States a goal that contains the word; returns its id."""
        about = {"description": f"About a {WORD}"}
        body = {"type": "Goal", "title": title, "source": source, "payload": about, **fields}
        signal_id: str = self.post(SIGNAL, body, 201)["data"]["signalId"]
        return signal_id

    def found(self, **asked: object) -> int:
        """Returns how many of her nodes a search for the word finds."""
        matched: int = self.post(QUERY, {"search": WORD, **asked})["data"]["matched_nodes"]
        return matched
