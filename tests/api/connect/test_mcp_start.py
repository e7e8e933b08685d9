"""The MCP SDK is loaded with the first message or during the first answers, and never together with the front or the
rooms."""

import subprocess
import sys

FIRST_MESSAGE = """
import asyncio, pathlib, sys
import httpx
from api.app import build_rooms, create_app
from api.stores import Stores
from contracts.settings import Settings

def loaded():
    return any(name.partition(".")[0] in ("mcp", "mcp_types") for name in sys.modules)

settings = Settings(data_dir=pathlib.Path(sys.argv[1]), _env_file=None)
front = create_app(settings)
build_rooms(Stores(settings), lambda: None)
before = loaded()

async def ping():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(front), base_url="http://127.0.0.1:8000") as client:
        return await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})

print(before, asyncio.run(ping()).json(), loaded())
"""


def test_the_sdk_is_loaded_by_the_first_message(tmp_path):
    code = [sys.executable, "-c", FIRST_MESSAGE, str(tmp_path)]
    ran = subprocess.run(code, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False {'jsonrpc': '2.0', 'id': 1, 'result': {}} True"
