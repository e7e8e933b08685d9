"""A local S3 for tests: moto's server, in its own environment.

It answers one request after another: with threads, several clients that create the same object would be told that they
did.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from data_tools import tools_python
from patience import HANG_S

MOTO = "moto[server]==5.2.5"
BUCKET = "generations"
SERVER = """
from moto.moto_server.werkzeug_app import create_backend_app
from moto.server import MotoRequestHandler
from werkzeug.serving import make_server

# Moto's dispatcher lists all of its services again for each request.
server = make_server("127.0.0.1", 0, create_backend_app("s3"), threaded=False, request_handler=MotoRequestHandler)
print(server.port, flush=True)
server.serve_forever()
"""


@contextmanager
def local_s3() -> Iterator[dict[str, str]]:
    """Starts it with one empty bucket, `BUCKET`. Yields the variables by which clients find it."""
    command: list[str | Path] = [tools_python(MOTO), "-c", SERVER]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    ) as server:
        try:
            assert server.stdout is not None
            address = f"http://127.0.0.1:{int(server.stdout.readline())}"
            assert httpx.put(f"{address}/{BUCKET}", timeout=HANG_S).status_code == 200
            yield {
                "AWS_ENDPOINT_URL": address,
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_REGION": "us-east-1",
            }
        finally:
            server.kill()
