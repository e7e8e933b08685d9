"""The connect page is complete without a script, loads nothing from elsewhere, and contains the facts of its Markdown
twin."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from html_pages import Read

from cli.demo.rpc import calldata
from contracts.access import plans
from contracts.access.rail import usd_of
from contracts.access.trial_plan import trial_plan
from contracts.canonical import canonical_json, sha256_hex
from contracts.connect.tools import TOOLS
from contracts.discovery.capabilities import capability_states
from contracts.discovery.connect_page import OUTCOMES
from contracts.discovery.installation import Installation, installation_of
from contracts.discovery.registry import registry
from contracts.discovery.service import CAPABILITIES_PATH
from contracts.publish.projection import ExpiringBody
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings
from contracts.site.markdown import page_in_markdown
from pipelines.publish.site import ASSETS, SITE, asset_path, filled

(PAGE,) = [row for row in PROJECTIONS if row.name == "page_connect"]
(ICON,) = [row for row in PROJECTIONS if row.name == "icon"]


def installation(base_url="https://svc.example/under/it", **settings) -> Installation:
    given = {
        "base_url": base_url,
        "rpc_urls": ("https://node.example",),
        "usdc_address": "0x" + "12" * 20,
        "treasury_address": "0x" + "13" * 20,
    }
    return installation_of(Settings(_env_file=None, **(given | settings)))


HERE = installation()
BARE = installation_of(Settings(_env_file=None, base_url="https://svc.example"))


def page_of(here: Installation) -> str:
    known = registry(here, {}).model_dump_json(by_alias=True).encode()
    page = filled(PAGE, PAGE.describe(here, {CAPABILITIES_PATH: known}))
    assert isinstance(page, ExpiringBody)
    return page.fresh.decode()


@pytest.fixture(scope="module")
def page() -> Read:
    return Read(page_of(HERE))


def test_the_page_is_well_formed_and_stays_as_it_is(page):
    assert page.open == []
    assert page_of(HERE).startswith("<!doctype html>\n")
    assert page_of(HERE) == page_of(installation())
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    pointed = [attributes["href"][1:] for attributes in page.all("a") if attributes["href"].startswith("#")]
    pointed += [attributes["data-copy"] for attributes in page.all("button") if "data-copy" in attributes]
    pointed += [attributes["for"] for attributes in page.all("label")]
    assert set(pointed) <= set(ids)


def test_without_a_script_nothing_is_missing(page):
    assert [form["id"] for form in page.all("form") if "hidden" in form] == ["buy", "check"]
    assert len(page.all("form")) == 2
    assert [each for each in page.all("button") if "data-copy" in each and "hidden" not in each] == []
    assert "Any program that has SHA-256 and RFC 8785 can do the same." in page.text
    assert "Without one, svc quote, svc pay and svc claim do the same." in page.text


@pytest.mark.parametrize("here", [HERE, BARE, installation(app_url="https://app.example", contact_email="a@b.example")])
def test_the_page_and_its_twin_say_the_same(here):
    page, twin = (
        " ".join(Read(page_of(here)).text.split()),
        " ".join(page_in_markdown(page_of(here).encode(), here.url("/connect/")).decode().split()),
    )
    facts = [here.base_url, here.network, here.url("/mcp"), here.url(plans.CLAIM_PATH)]
    facts += [fact for tool in TOOLS for fact in (tool.name, tool.title)]
    facts += [fact for plan in plans.load_plans().values() for fact in (plan.id, plan.name, plan.description)]
    facts += [fact for outcome in OUTCOMES for fact in (str(outcome.status), outcome.meaning, outcome.next)]
    facts += [fact for each in capability_states(here).values() for fact in (each.capability.title, *each.missing)]
    facts += [f"{usd_of(plan.price)} USD" for plan in plans.load_plans().values()]
    facts += ["nothing can be bought"] if here.rail.missing else ["in one transfer of exactly the quoted amount"]
    facts += [here.contact_email or "has given no address"]
    for fact in facts:
        assert fact in page, fact
        assert fact in twin, fact
    numbers = set(re.findall(r"\b[0-9a-f]{64}\b", page))
    assert numbers == set(re.findall(r"\b[0-9a-f]{64}\b", twin))


def test_a_price_is_the_plans_everywhere(monkeypatch):
    dearer = {id_: replace(plan, price=plan.price + 1_230_000) for id_, plan in plans.load_plans().items()}
    monkeypatch.setattr(plans, "load_plans", lambda: dearer)
    for price in ("6.23", "10.23", "50.23"):
        assert f'<span class="amount">{price}</span>' in page_of(HERE)


def test_the_quote_that_is_shown_hashes_as_it_says(page):
    shown = re.search(r'id="quote-answer">(.*?)</code>', page_of(HERE), re.DOTALL)
    answer = json.loads(Read(shown[1]).text)
    requirement = canonical_json(answer["data"]["paymentRequirement"])
    assert sha256_hex(requirement) == answer["paymentRequirementHash"]
    assert answer["data"]["paymentRequirement"]["payTo"].lower() == HERE.rail.treasury


def test_commands_are_what_a_shell_reads_and_the_payer_is_left_to_fill_in():
    read = Read(page_of(HERE))
    commands = re.findall(r"(?:PAYER=\S+  # .*\n)?curl [^\n]*", read.text)
    assert len(commands) == 5
    bodies = []
    for command in commands:
        script = command.replace("PAYER=0x…", "PAYER=0x12").replace("curl ", "printf '%s\\n' ", 1)
        ran = subprocess.run(["bash", "-uc", f"KEY=svc_key; {script}"], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        url, *arguments = ran.stdout.splitlines()
        assert url.startswith(HERE.base_url)
        bodies += [json.loads(arguments[arguments.index("-d") + 1])] if "-d" in arguments else []
    assert bodies[0] == {"planId": "api_basic_monthly", "payerAddress": "0x12"}
    claim = bodies[1]
    assert claim["quoteId"].startswith("quote_")
    assert f"-H 'Idempotency-Key: {claim['quoteId']}' -d" in read.text
    assert bodies[2]["action"]


def test_the_page_says_how_to_try_for_free_only_if_trial_keys_are_issued():
    text = " ".join(Read(page_of(HERE)).text.split())
    assert "Try it for free" in text
    assert f"GET {HERE.base_url}/api/agent-access/trials/{{address}}" in text
    assert f"{trial_plan().requests_per_day} requests a day for {trial_plan().days} days" in text
    off = page_of(installation(trial_keys_per_day=0))
    assert "Try it for free" not in off and "/trials/" not in off


def test_without_payments_there_is_no_quote_and_no_form():
    read = Read(page_of(BARE))
    assert read.all("form") == []
    assert 'id="quote-answer"' not in page_of(BARE)
    assert "There is no quote to check while payments are not set up." in read.text


def test_the_demo_is_called_one_only_where_it_is():
    assert "Demo chain" not in page_of(HERE)
    assert "Demo chain" in page_of(installation(demo=True))


def test_an_operators_settings_are_rendered_as_plain_text():
    odd = replace(installation(app_url="https://app.example/'\"<b>"), contact_email='"><script>alert(1)</script>@x')
    read = Read(page_of(odd))
    assert len(read.all("script")) == 3
    assert read.all("b") == []


def test_names_of_assets_follow_their_content_and_the_icon_is_a_picture():
    for name, folder in ASSETS.items():
        digest = sha256_hex((SITE / "assets" / name).read_bytes())[:12]
        stem, suffix = name.split(".")
        assert asset_path(name) == f"{folder}{stem}.{digest}.{suffix}"
    body = filled(ICON, {})
    assert isinstance(body, bytes)
    icon = body.decode()
    assert icon.startswith("<svg ") and "http" not in icon.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="Node is not installed")
def test_the_page_hashes_as_the_service_does():
    values = [
        {"b": 1, "a": [True, None, 'é\u2028"\\\n'], "\ue000": 1, "\U0001f600": 2, "nested": {"z": {}, "y": []}},
        {"amount": "9001843", "n": 1e21, "m": 0.1, "k": -0.0},
        json.loads(json.dumps({"long": "x" * 5000})),
    ]
    script = (
        "const { canonical, sha256 } = await import(process.argv[1]);"
        "const values = JSON.parse(await new Response(process.stdin).text());"
        "console.log(JSON.stringify(await Promise.all(values.map((value) => sha256(canonical(value))))))"
    )
    module = (SITE / "assets" / "canonical.js").as_uri()
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", script, module],
        input=json.dumps(values),
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == [sha256_hex(canonical_json(value)) for value in values]


@pytest.mark.skipif(shutil.which("node") is None and "CI" not in os.environ, reason="Node is not installed")
def test_the_page_writes_the_transfer_that_a_contract_reads():
    amounts = [("0x" + "13" * 20, "9001843"), ("0x" + "Ab" * 20, str(2**256 - 1)), ("0x" + "00" * 19 + "01", "0")]
    script = (
        "const { transferCall } = await import(process.argv[1]);"
        "console.log(JSON.stringify(JSON.parse(process.argv[2]).map(([to, units]) => transferCall(to, units))))"
    )
    module = (SITE / "assets" / "connect.js").as_uri()
    ran = subprocess.run(
        ["node", "--input-type=module", "-e", script, module, json.dumps(amounts)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    wanted = [calldata("transfer(address,uint256)", to, int(units)) for to, units in amounts]
    assert json.loads(ran.stdout) == wanted
