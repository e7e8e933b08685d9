"""Dagster's web server as `svc run` starts it: A5, tried against the real process over HTTP and WebSocket."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from nginx import free_port
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from pipelines.instance import prepare_home

LAUNCH = """mutation { launchRun(executionParams: {
  selector: {repositoryLocationName: "pipelines.definitions", repositoryName: "__repository__", jobName: "claims"}
}) { __typename } }"""
CLAIMS = """
import dagster as dg

@dg.job
def claims():
    pass

defs = dg.Definitions(jobs=[claims])
"""
WORKSPACE = "load_from: [python_file: {relative_path: claims.py, location_name: pipelines.definitions}]"
"""A workspace of one job: refusals do not depend on the jobs, and ours take seconds to import."""
RUNS = "{ runsOrError { ... on Runs { results { runId } } } }"
JSON = {"Content-Type": "application/json"}


@dataclass
class DagsterWeb:
    """The server's port, and requests as programs and browsers send them."""

    port: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(self, method: str, path: str, headers: dict[str, str], body: str | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def graphql(self, query: str, **headers: str) -> tuple[int, bytes]:
        return self.send("POST", "/graphql", JSON | headers, json.dumps({"query": query}))

    def runs(self) -> int:
        status, content = self.graphql(RUNS)
        assert status == 200, content
        return len(json.loads(content)["data"]["runsOrError"]["results"])

    def handshake(self, origin: Origin | None, host: str | None = None) -> None:
        """Opens and closes a WebSocket as the pages do. Raises `InvalidStatus` if it is refused."""
        headers = {} if host is None else {"Host": host}
        uri = f"ws://127.0.0.1:{self.port}/graphql"
        spoken = [Subprotocol("graphql-ws")]
        with connect(uri, origin=origin, subprotocols=spoken, additional_headers=headers, proxy=None) as socket:
            socket.send(json.dumps({"type": "connection_init"}))
            assert json.loads(socket.recv(timeout=60)) == {"type": "connection_ack"}


@contextmanager
def dagster_web(directory: Path, *arguments: str) -> Iterator[DagsterWeb]:
    """Runs the server in its own home until the context ends."""
    data_dir, log = directory / "var", directory / "log"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SVC_", "DAGSTER_"))} | {
        "SVC_DATA_DIR": str(data_dir),
        "SVC_RPC_URLS": "http://127.0.0.1:9",
        "DAGSTER_HOME": str(prepare_home(data_dir)),
    }
    (directory / "claims.py").write_text(CLAIMS)
    workspace = directory / "workspace.yaml"
    workspace.write_text(WORKSPACE)
    port = free_port()
    command = [sys.executable, "-P", "-m", "cli.dagster_web", "--workspace", str(workspace), "--port", str(port)]
    command += arguments
    with log.open("w") as output:
        server = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=directory)
    try:
        web = DagsterWeb(port)
        while True:
            assert server.poll() is None, log.read_text()
            try:
                web.send("GET", "/server_info", {})
                break
            except OSError:
                time.sleep(0.1)
        yield web
    finally:
        server.terminate()
        server.wait(120)


@pytest.fixture(scope="module")
def writable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DagsterWeb]:
    with dagster_web(tmp_path_factory.mktemp("writable"), "--may-launch") as web:
        yield web


@pytest.mark.timeout(600)
def test_by_default_no_run_can_be_launched_even_by_its_own_pages(tmp_path: Path):
    with dagster_web(tmp_path) as web:
        status, content = web.graphql(LAUNCH, Origin=web.origin)
        assert (status, json.loads(content)["data"]) == (200, {"launchRun": {"__typename": "UnauthorizedError"}})
        assert web.send("POST", "/report_asset_materialization/a", JSON, "{}")[0] == 401
        assert web.send("GET", f"/graphql?query={quote(LAUNCH)}", {})[0] == 405
        assert web.runs() == 0
        assert web.send("GET", "/", {"Host": "rebound.example"})[0] == 421


@pytest.mark.timeout(600)
def test_with_launching_its_own_pages_launch_runs(writable: DagsterWeb):
    before = writable.runs()
    status, content = writable.graphql(
        LAUNCH, Origin=writable.origin, **{"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}
    )
    assert (status, json.loads(content)["data"]) == (200, {"launchRun": {"__typename": "LaunchRunSuccess"}})
    assert writable.runs() == before + 1
    status, page = writable.send("GET", "/", {"Accept": "text/html", "Sec-Fetch-Site": "none"})
    assert (status, b"<html" in page) == (200, True)
    writable.handshake(writable.origin)
    writable.handshake(None)


@pytest.mark.timeout(600)
def test_no_page_of_another_origin_launches_runs(writable: DagsterWeb):
    before, mutation = writable.runs(), quote(LAUNCH)
    query = json.dumps({"query": LAUNCH})
    foreign = {"Origin": "https://evil.example"}
    form = {"Content-Type": "text/plain"}
    rebound = {"Host": f"rebound.example:{writable.port}", "Origin": f"http://rebound.example:{writable.port}"}
    attacks = {
        "an image": writable.send("GET", f"/graphql?query={mutation}", {"Sec-Fetch-Site": "cross-site"}),
        "an image of an old browser": writable.send("GET", f"/graphql?query={mutation}", {}),
        "a link": writable.send(
            "GET",
            f"/graphql?query={mutation}",
            {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        ),
        "a form": writable.send("POST", f"/graphql?query={mutation}", form | foreign),
        "a form of an old browser": writable.send("POST", f"/graphql?query={mutation}", form),
        "a text that is JSON": writable.send(
            "POST", "/graphql", {"Content-Type": "text/plain; application/json"}, query
        ),
        "a fetch": writable.send("POST", "/graphql", JSON | foreign, query),
        "a sandboxed frame": writable.send("POST", "/graphql", JSON | {"Origin": "null"}, query),
        "another port of this machine": writable.send(
            "POST", "/graphql", JSON | {"Origin": "http://127.0.0.1:1"}, query
        ),
        "a rebound name": writable.send("POST", "/graphql", JSON | rebound, query),
        "a report": writable.send("POST", "/report_asset_materialization/a", form | foreign, "{}"),
    }
    assert {name: status for name, (status, _) in attacks.items() if status not in (403, 405, 415, 421)} == {}
    assert writable.runs() == before


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", None),
        ("null", None),
        ("http://127.0.0.1:1", None),
        ("http://rebound.example", "rebound.example"),
        (None, "rebound.example"),
    ],
)
def test_no_page_of_another_origin_opens_a_websocket(writable: DagsterWeb, origin: str | None, host: str | None):
    with pytest.raises(InvalidStatus) as refused:
        writable.handshake(origin, host)
    assert refused.value.response.status_code == 403
