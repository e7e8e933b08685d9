"""An installation whose commands and service run as separate processes, with its ledger on either engine."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commands import called
from forked import ForkedCommand
from ledger_process import MASTER_SECRET
from nginx import free_port
from patience import HANG_S
from typer.testing import Result

from contracts.access.signing import key_text, new_private_key
from contracts.settings import Settings

SVC = Path(sys.executable).with_name("svc")


class Installation:
    """A data directory with its environment; the ledger is on either engine."""

    def __init__(self, settings: Settings) -> None:
        self.data_dir = settings.data_dir
        self.port = free_port()
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
            settings.data_dir.mkdir(parents=True, exist_ok=True)
            (settings.data_dir / "signing.pem").write_text(key_text(new_private_key()))

    def svc(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Runs a command in its own process."""
        ran = subprocess.run([SVC, *arguments], env=self.environment, capture_output=True, text=True, timeout=HANG_S)
        assert ran.returncode == code, ran.stderr
        return ran

    def called(self, *arguments: str, code: int = 0) -> Result:
        """Runs a command in this process."""
        result = called(self.environment, *arguments)
        assert result.exit_code == code, result.output
        return result

    @contextmanager
    def served(self, log: Path) -> Iterator[None]:
        """Serves the API while the context is open; its output is appended to `log`."""
        server = self.serve(log)
        try:
            self._wait(server)
            yield
        finally:
            server.terminate()
            server.wait(60)

    def serve(self, log: Path) -> ForkedCommand | subprocess.Popen[bytes]:
        return ForkedCommand(self.environment, log, "serve")

    def keys(self, *arguments: str) -> Any:
        return json.loads(self.called("keys", *arguments, "--json").stdout)

    def ask(self, method: str, path: str, headers: dict[str, str], body: str | None = None) -> int:
        return self.answer(method, path, headers, body)[0]

    def answer(self, method: str, path: str, headers: dict[str, str], body: str | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def ledger_text(self) -> str:
        """Returns every row of a PostgreSQL ledger; nothing on SQLite, whose files are in the data directory."""
        if "SVC_LEDGER_URL" not in self.environment:
            return ""
        url = self.environment["SVC_LEDGER_URL"].replace("postgresql+psycopg", "postgresql")
        import psycopg

        with psycopg.connect(url) as connection:
            tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
            rows = {name: connection.execute(f'select * from "{name}"').fetchall() for (name,) in tables}
            return repr(rows)

    def _wait(self, server: ForkedCommand | subprocess.Popen[bytes]) -> None:
        while server.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server ended")
