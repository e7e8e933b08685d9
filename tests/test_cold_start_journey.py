"""An agent that knows today's standards and the service's base address, and nothing else about it, finds everything.

This file contains no path of the service, except those that a standard prescribes.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import httpx
import jwt
import rfc8785
import yaml
from journey_setting import Setting, cold_start
from mcp import Client
from patience import HANG_S

from cli.demo.anvil import Anvil
from contracts.discovery.openapi import OPENAPI_FILE

AI_CATALOG = "/.well-known/ai-catalog.json"
SERVER_CARD = "application/mcp-server-card+json"


class Agent:
    """Reads addresses that it was given or has found, all of one service."""

    def __init__(self, base_url: str, client: httpx.Client) -> None:
        self.base_url = base_url
        self.client = client

    def read(self, url: str) -> Any:
        """Returns what is at an address: the value of JSON or YAML, otherwise the text."""
        assert url.startswith(self.base_url), url
        answer = self.client.get(url)
        assert answer.status_code == 200, (url, answer.text)
        return _content(answer)


class Api:
    """A described API: its operations by name, and the links that lead from one answer to the next request."""

    def __init__(self, agent: Agent, url: str) -> None:
        self.agent = agent
        self.description = agent.read(url)
        self.server = self.description["servers"][0]["url"]
        self.operations = {
            operation["operationId"]: (method, path, operation)
            for path, item in self.description["paths"].items()
            for method, operation in item.items()
        }

    def call(self, name: str, body: Any = None, key: str | None = None, **in_path: str) -> httpx.Response:
        method, path, operation = self.operations[name]
        headers = self.credentials(operation, key)
        url = self.server + path.format(**in_path)
        answer = self.agent.client.request(method, url, json=body, headers=headers)
        assert str(answer.status_code) in operation["responses"], (name, answer.status_code, answer.text)
        answer.extensions["operation"] = name
        return answer

    def follow(self, answer: httpx.Response, link: str, key: str | None = None, **more: Any) -> httpx.Response:
        """Sends the request that a link describes, with the values that it takes from the answer and with `more` in its
        body."""
        _, _, operation = self.operations[answer.extensions["operation"]]
        followed = operation["responses"][str(answer.status_code)]["links"][link]
        in_path = {name: _evaluated(each, answer) for name, each in followed.get("parameters", {}).items()}
        body = {name: _evaluated(each, answer) for name, each in followed.get("requestBody", {}).items()} | more
        return self.call(followed["operationId"], body or None, key, **in_path)

    def credentials(self, operation: dict[str, Any], key: str | None) -> dict[str, str]:
        """Returns the header of the first way to authenticate that the operation names."""
        if key is None:
            return {}
        (scheme,) = operation["security"][0]
        described = self.description["components"]["securitySchemes"][scheme]
        assert (described["type"], described["scheme"]) == ("http", "bearer")
        return {"Authorization": f"Bearer {key}"}


def test_an_agent_finds_pays_uses_and_pairs_from_the_base_address_alone(tmp_path: Path, anvil: Anvil):
    with cold_start(tmp_path, anvil) as setting, httpx.Client(timeout=HANG_S, trust_env=False) as client:
        agent = Agent(setting.base_url, client)
        api, api_v2, registry = finds_its_way(agent)
        key = buys_a_key(api, setting)
        uses_the_key(api_v2, key)
        checks_a_number(agent, registry)
        asyncio.run(pairs(agent, setting))


def test_this_file_contains_no_path_of_the_service():
    described = json.loads(OPENAPI_FILE.read_text())["paths"]
    source = Path(__file__).read_text()
    assert [path for path in described if len(path) > 1 and re.search(rf"[\"'}}]{re.escape(path)}", source)] == [
        AI_CATALOG
    ]


def finds_its_way(agent: Agent) -> tuple[Api, Api, dict[str, Any]]:
    """Follows the front door's Link header to a catalog of APIs, and from there to their descriptions and to what is
    live."""
    door = agent.client.get(agent.base_url + "/")
    links = {name: str(door.url.join(link["url"])) for name, link in door.links.items()}

    guide = agent.read(links["describedby"])
    assert guide.startswith("# ") and "> " in guide
    recommended = re.findall(r"\]\((\S+?)\)", guide)
    assert recommended
    for url in recommended:
        assert agent.client.head(url).status_code in (200, 405), url

    described = agent.read(links["api-catalog"])["linkset"]
    whole = next(each for each in described if each["service-desc"][0]["href"] == links["service-desc"])
    assert whole["anchor"].startswith(agent.base_url)
    yaml_only = next(each for each in described if each["service-desc"][0]["type"] == "application/yaml")
    about = [agent.read(each["href"]) for each in whole["service-meta"] if each["type"] == "application/json"]
    registry = next(each for each in about if isinstance(each.get("capabilities"), list))
    return Api(agent, links["service-desc"]), Api(agent, yaml_only["service-desc"][0]["href"]), registry


def buys_a_key(api: Api, setting: Setting) -> str:
    """Reads the plans, gets a quote and checks its hashes and signature, sends one transfer, claims, and reads the
    receipt."""
    plans = api.call("agent_access_plans")
    plan = min(plans.json()["plans"], key=lambda each: (each["tier"] == "free", float(each["price"]["amount"])))
    assert plan["claimable"]

    quote = api.follow(plans, "quote", planId=plan["id"], payerAddress=setting.wallet.address)
    offered = quote.json()
    assert sha256(offered["data"]["quote"]) == offered["quoteHash"]
    assert sha256(offered["data"]["paymentRequirement"]) == offered["paymentRequirementHash"]
    keys = jwt.PyJWKSet.from_dict(api.agent.read(plans.json()["signing"]["keysUrl"]))
    signature = offered["signature"]
    header, _, signed = signature["jws"].split(".")
    whole = f"{header}.{base64url(offered['quoteHash'].encode())}.{signed}"
    jwt.api_jws.decode(whole, keys[signature["kid"]].key, algorithms=[signature["alg"]])

    requirement = offered["data"]["paymentRequirement"]
    assert requirement["scheme"] == "exact"
    assert requirement["asset"].lower() == plan["payment"]["asset"].lower()
    paid = setting.wallet.send(requirement["asset"], transfer(requirement["payTo"], int(requirement["amount"])))

    claim = api.follow(quote, "claim", transactionHash=paid)
    assert claim.status_code == 201, claim.text
    receipt = api.follow(claim, "receipt").json()
    assert receipt["payment"]["transactionHash"] == paid
    key = str(claim.json()["data"]["activationPacket"]["apiKey"])
    assert key.startswith(f"svc_{plan['tier']}_")
    assert key not in str(receipt)
    return key


def uses_the_key(api: Api, key: str) -> None:
    """Asserts that API v2 accepts the key, and nobody without one."""
    assert api.call("world_model_live").status_code == 401
    signal = {"type": "Goal", "title": "Answer within the hour", "source": "a cold start"}
    written = api.call("world_model_signal", signal, key=key)
    assert written.status_code == 201, written.text
    asked = api.follow(written, "query", key).json()["data"]
    assert [node["title"] for node in asked["nodes"]] == [signal["title"]]
    live = api.call("world_model_live", key=key).json()["data"]
    assert asked["nodes"][0]["id"] in [node["id"] for node in live["nodes"]]

    dangerous = {"action": "rm -rf / --no-preserve-root", "severity": "high"}
    verdict = api.call("guardrail_check", dangerous, key=key).json()["data"]
    assert (verdict["passed"], bool(verdict["reason"])) == (False, True)
    assert api.call("guardrail_check", {"action": "ls -la"}, key=key).json()["data"]["passed"] is True


def checks_a_number(agent: Agent, registry: dict[str, Any]) -> None:
    """The count of holders has a proof, and the proof names the whole list, which the agent adds up itself."""
    capability = next(each for each in registry["capabilities"] if "proof" in each["title"].lower())
    holders = agent.read(capability["routes"][0]["url"])
    proof = holders["consistency"]["proof"]
    assert proof["verdict"] == "proven"

    packed = agent.client.get(agent.base_url + proof["holderList"]["path"], headers={"Accept-Encoding": "identity"})
    assert hashlib.sha256(packed.content).hexdigest() == proof["holderList"]["sha256"]
    header, *rows = gzip.decompress(packed.content).decode().splitlines()
    assert header == "address,balance_raw"
    balances = [int(row.split(",")[1]) for row in rows]
    assert len(balances) == holders["holderCount"]
    assert str(sum(balances)) == proof["sumOfBalances"] == holders["totalSupplyRaw"]


async def pairs(agent: Agent, setting: Setting) -> None:
    """Follows the catalog of AI services to the server's card, and the card to the endpoint, and carries out the whole
    plan."""
    entries = agent.read(agent.base_url + AI_CATALOG)["entries"]
    card = agent.read(next(entry["url"] for entry in entries if entry["type"] == SERVER_CARD))
    (remote,) = card["remotes"]
    async with Client(remote["url"]) as client:
        assert client.protocol_version in remote["supportedProtocolVersions"]
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        first = next(tool for tool in tools.values() if "session_token" not in tool.input_schema["properties"])

        refused = await client.call_tool(first.name, {"pairing_code": "not-a-code"})
        assert refused.is_error
        paired = await called(client, first.name, pairing_code=setting.code_from_the_person())
        session = {"session_token": paired["session_token"]}

        progress = (await called(client, paired["next_tool"], **session))["progress"]
        report = next(tool for tool in tools.values() if "step_id" in tool.input_schema["properties"])
        steps = 0
        while progress["next"] is not None:
            done = {"step_id": progress["next"]["step"]["id"], "outcome": "done"}
            progress = (await called(client, report.name, **session, **done))["progress"]
            steps += 1
        assert progress["finished"]
        assert steps == len(progress["steps"]) > 3


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Returns a tool's answer."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


def sha256(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def transfer(to: str, amount: int) -> str:
    """Returns the call data of ERC-20's `transfer(address,uint256)`."""
    return f"0xa9059cbb{to[2:].lower():0>64}{amount:064x}"


def _content(answer: httpx.Response) -> Any:
    media_type = answer.headers["content-type"].partition(";")[0]
    if media_type == "application/yaml":
        return yaml.safe_load(answer.text)
    return answer.json() if media_type.endswith("json") else answer.text


def _evaluated(expression: str, answer: httpx.Response) -> Any:
    """Evaluates a runtime expression of OpenAPI, which is a JSON pointer into the answer's body."""
    value = answer.json()
    for part in expression.removeprefix("$response.body#/").split("/"):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value
