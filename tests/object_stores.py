"""A local S3 for tests: moto's server, in an environment of its own.

It answers one request after another: with threads, two of several that create the same object are told that they did.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from data_tools import tools_python
from patience import HANG_S

MOTO = "moto[server]==5.2.5"
BUCKET = "generations"
SERVER = """
import sys
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.server import MotoRequestHandler
from werkzeug.serving import run_simple

application = DomainDispatcherApplication(create_backend_app)
application.debug = True
run_simple("127.0.0.1", int(sys.argv[1]), application, threaded=False, request_handler=MotoRequestHandler)
"""


@contextmanager
def local_s3() -> Iterator[dict[str, str]]:
    """Starts it with one empty bucket, `BUCKET`. Provides the variables by which clients find it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [tools_python(MOTO), "-c", SERVER, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + HANG_S
        while True:
            try:
                assert httpx.put(f"{address}/{BUCKET}", timeout=HANG_S).status_code == 200
                break
            except httpx.ConnectError:
                assert server.poll() is None and time.monotonic() < deadline
                time.sleep(0.1)
        yield {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
        }
    finally:
        server.kill()
        server.wait()
