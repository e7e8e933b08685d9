"""The JavaScript client: its rules, its types, and a listening service on a chain, which it pays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journey_setting import Setting, cold_start

import svc_client
from cli.demo.anvil import Anvil
from clients.generate import DESCRIPTION, JAVASCRIPT, javascript_types

pytestmark = pytest.mark.web

TABLES = Path(__file__).parents[1] / "client_libraries"
RETRIES, REQUESTS = TABLES / "retry_rules.json", TABLES / "request_rules.json"


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with Anvil() as anvil, cold_start(tmp_path_factory.mktemp("client"), anvil) as made:
        yield made


def test_the_javascript_client_retries_reads_refusals_and_verifies_by_the_rules_of_the_python_client(
    web_tools: Any,
) -> None:
    said = web_tools.run("js_client_rules.mjs", str(RETRIES), str(REQUESTS))
    assert (said["rows"], said["differ"]) == (len(json.loads(RETRIES.read_text())), [])
    assert said["seconds"] == [None, 5, 0, 30, None]
    assert said["again"] == {
        "keys": 1,
        "sent": 3,
        "pauses": [0.25, 2],
        "url": "https://svc.example/under/api/v2/world-model/signal",
    }
    assert said["asTheTable"] == [True] * sum(map(len, json.loads(REQUESTS.read_text()).values()))
    assert said["withPassword"].startswith("AddressInvalid") and "secret" not in said["withPassword"]
    assert said["unwritable"] == "TypeError"
    api = "/api/agent-access/plans"
    assert said["relative"] == [api, None, f"/under{api}", None, "AddressInvalid", "AddressInvalid"]
    classes = (value for value in vars(svc_client).values() if isinstance(value, type))
    errors = {error.__name__ for error in classes if issubclass(error, svc_client.ClientError)}
    assert {*said["errors"], "ClientError"} == errors
    assert {status: row[0] for status, row in said["kinds"].items()} == {
        "400": "BadRequest",
        "401": "Unauthorized",
        "402": "PaymentNeeded",
        "403": "Forbidden",
        "404": "NotFound",
        "409": "Conflict",
        "413": "BadRequest",
        "429": "TooManyRequests",
        "500": "ServerFault",
    }
    assert {tuple(row[1:]) for row in said["kinds"].values()} == {(True, "some_code", "https://x.example", 90)}
    assert said["unreachable"] == ["Unreachable", 1]
    assert said["canonical"] == '{"a":[true,null,"ä",1e+21],"b":1}'
    assert (said["altered"], said["waiting"]) == ("Altered", "Pending")
    assert said["claim"] == {"key": "svc_basic_new", "pauses": [5, 7], "keys": ["claim-q1"] * 3}
    assert said["proven"] == [2, "7", 9]
    for message, why in zip(
        said["lists"], ("sum up to 8", "not the file", "2 holders", "twice", "nothing"), strict=True
    ):
        assert why in message


def test_the_client_pays_for_an_answer_within_eight_requests_and_tries_without_paying(
    web_tools: Any, setting: Setting
) -> None:
    said = web_tools.run(
        "js_client.mjs", setting.base_url, setting.settings.rpc_urls[0], setting.wallet.key.to_0x_hex()
    )
    cold = said["cold"]
    assert (cold["tier"], cold["passed"]) == ("basic", False)
    assert cold["requests"] <= 8
    assert said["checked"]["holders"] > 0
    assert said["refused"][0] in ("Unauthorized", "PaymentNeeded")
    assert "trial" in said["refused"][3]
    assert said["trial"] == {"prefix": "svc_free_", "used": True}
    assert (said["written"], said["found"], said["history"]) == ("approved", ["A garden"], True)
    assert (said["design"], said["erased"], said["metrics"]) == ("preview", 1, True)
    assert said["built"] > 0
    assert (said["hash"], said["left"]) == ("task#1", ["task"]), "an id with `#` or `/` is one segment of the path"
    assert said["unknown"][:2] == ["NotFound", "node_unknown"]
    print(f"{cold['requests']} requests, {cold['ms'] / 1000:.2f} s")


def test_the_javascript_types_are_those_of_the_description(web_tools: Any) -> None:
    made = javascript_types(json.loads(DESCRIPTION.read_text()))
    assert sorted(made) == sorted(file.name for file in JAVASCRIPT.glob("*.d.ts"))
    for name, text in made.items():
        assert (JAVASCRIPT / name).read_text() == text, f"{name}: run `make contracts`"


def test_the_javascript_types_accept_exactly_what_the_service_accepts(web_tools: Any) -> None:
    options = ("--noEmit", "--strict", "--target", "ES2022", "--module", "NodeNext", "--moduleResolution", "NodeNext")
    done = web_tools.command("tsc", *options, "--skipLibCheck", "js_client_types.ts")
    assert done.returncode == 0, done.stdout
