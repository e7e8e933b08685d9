"""The text documents: each passes the readers of its own standard, and all contain the same facts."""

import re
import subprocess
import sys
import urllib.robotparser
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from xml.etree import ElementTree

import http_sf
import pytest
import robots as robotspy
import yaml
from llms_txt import parse_llms_file
from protego import Protego

from contracts.access import plans
from contracts.access.rail import usd_of
from contracts.connect.key_server import KEY_INSTRUCTIONS, KEY_MCP_PATH
from contracts.connect.server import FIRST_TOOL, MCP_PATH
from contracts.discovery.capabilities import Status, capability_states
from contracts.discovery.checks import texts as checks
from contracts.discovery.installation import Installation, installation_of
from contracts.discovery.texts import (
    MARKDOWN,
    PLAIN,
    SKILL_NAME,
    agents_txt,
    compatibility_md,
    llms_txt,
    robots_txt,
    security_txt,
    sitemap_xml,
    skill_md,
)
from contracts.problem_links import operations
from contracts.publish.deprecations import COMPATIBILITY_PATH, DEPRECATED
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings

AGENTS_SKILLS = Path(sys.executable).with_name("agentskills")
MADE = {row.name: row.make for row in PROJECTIONS if row.make is not None and row.media_type in (MARKDOWN, PLAIN)}
ADDRESS = re.compile(r"https?://[^\s)>\]`'\",;]+")


def made(name: str, here: Installation) -> bytes:
    text = MADE[name](here)
    assert isinstance(text, bytes)
    return text


def installation(base_url="https://svc.example/under/it", **settings) -> Installation:
    given = {
        "base_url": base_url,
        "rpc_urls": ("https://node.example",),
        "usdc_address": "0x" + "12" * 20,
        "treasury_address": "0x" + "13" * 20,
        "token_address": "0x" + "14" * 20,
    }
    return installation_of(Settings(_env_file=None, **(given | settings)))


HERE = installation()
BARE = installation_of(Settings(_env_file=None, base_url="https://svc.example"))


def addresses(text: str) -> set[str]:
    return {each.rstrip(".:") for each in ADDRESS.findall(text)}


@pytest.mark.parametrize("here", [HERE, BARE])
@pytest.mark.parametrize("name", MADE)
def test_every_address_lies_under_the_base_url_and_is_one_of_ours(name, here):
    described = {row.path for row in PROJECTIONS} | {alias.path for row in PROJECTIONS for alias in row.aliases}
    routes = {
        route.split(" ")[1].partition("{")[0]
        for state in capability_states(here).values()
        for route in state.capability.routes
    }
    for address in addresses(made(name, here).decode()):
        assert address == here.base_url or address.startswith(here.base_url + "/"), address
        path = address.removeprefix(here.base_url)
        known = path in {"", "/", MCP_PATH} | described or any(path.startswith(each) for each in routes)
        assert known, address


@pytest.mark.parametrize("name", MADE)
def test_a_text_document_has_the_same_bytes_for_the_same_facts(name):
    assert made(name, HERE) == made(name, installation())
    assert b"\r" not in made(name, HERE)
    assert made(name, HERE).endswith(b"\n")
    assert b"\n\n\n" not in made(name, HERE)


def test_llms_txt_says_of_a_402_when_money_is_in_a_case_and_when_none_came():
    assert (
        "402 means that the payment does not match (with caseId its money is in a case: links.case tells what to do, "
        "never pay again unasked; without it, the transaction contained no money for this quote)"
    ) in llms_txt(HERE).decode()


def test_every_text_about_the_server_by_key_says_the_same_of_its_limits():
    counting = (
        "Calls of tools and reads of resources count against the key's day. Other messages count against the address's "
        "limit per minute, and once that is used up against the key's day too."
    )
    described = operations()[KEY_MCP_PATH]["post"].description
    assert all(counting in text for text in (llms_txt(HERE).decode(), KEY_INSTRUCTIONS, described))


@pytest.mark.parametrize("here", [HERE, BARE])
def test_llms_txt_is_read_by_its_own_parser(here):
    text = llms_txt(here).decode()
    read = parse_llms_file(text)
    assert read.title == "Agent runtime service"
    assert read.summary
    assert next(iter(read.sections)) == "Instructions for agents"
    assert list(read.sections)[-1] == "Optional"
    links = [link for section in read.sections.values() for link in section]
    assert len(links) >= 20
    assert all(link.url.startswith(here.base_url + "/") and link.desc for link in links)
    for said in (here.url(MCP_PATH), "X-Api-Key", "Authorization: Bearer", FIRST_TOOL, "x402"):
        assert said in text
    assert "$schema" not in text


def test_capabilities_that_are_off_or_planned_are_said_to_be():
    text = llms_txt(BARE).decode()
    states = capability_states(BARE).values()
    assert {each.status for each in states} == {Status.LIVE, Status.OFF}
    for state in states:
        said = f"(`{state.capability.id}`)" in text
        assert said == (state.status is not Status.LIVE), state.capability.id
        assert (f"Capability: {state.capability.id.replace('_', '-')}\n" in agents_txt(BARE).decode()) <= state.live


NO_TRIALS = installation(trial_keys_per_day=0)


@pytest.mark.parametrize("here", [HERE, BARE, NO_TRIALS])
@pytest.mark.parametrize("make, before", [(llms_txt, "- Authentication:"), (skill_md, "\n## Before anything")])
def test_five_lines_say_what_is_free_what_costs_and_how_to_try(make, before, here):
    text = make(here).decode()
    lines = text[text.index("- Free, without a key") : text.index(before)].strip().splitlines()
    free, blinks, trial, costs, how = lines
    assert "/api/token/holders" in free and here.url("/blink/guardrail?action=") in blinks
    assert here.url("/blink/worldmodel?search=") in blinks and "counted for the address" in blinks
    for plan in plans.load_plans().values():
        assert f"{plan.id} {usd_of(plan.price)} USD" in costs
    if here is NO_TRIALS:
        assert trial == "- No trial keys are issued here."
        assert "/trials/" not in text
    else:
        assert "20 requests a UTC day for 7 days" in trial and "100 private nodes" in trial
        assert here.url("/api/agent-access/trials/{address}") in how


def test_prices_are_those_of_the_plans(monkeypatch):
    dearer = {id_: replace(plan, price=plan.price + 1_230_000) for id_, plan in plans.load_plans().items()}
    before = {name: make(HERE) for name, make in MADE.items()}
    monkeypatch.setattr(plans, "load_plans", lambda: dearer)
    for name in ("llms_txt", "skill_md"):
        after = made(name, HERE).decode()
        assert after.encode() != before[name]
        for price in ("6.23", "10.23", "50.23"):
            assert price in after, name


class ReadAlone:
    """The part of the gathered answers that one text document needs."""

    def __init__(self, text: bytes) -> None:
        self.base_url = HERE.base_url
        self.documents = {}
        self._text = text.decode()

    def text(self, path: str) -> str:
        return self._text


def agents_defects(text: bytes) -> list:
    return list(checks.agents_defects("/agents.txt", ReadAlone(text)))


def test_agents_txt_fits_its_draft():
    assert agents_defects(agents_txt(HERE)) == []
    assert agents_defects(agents_txt(HERE).replace(b"Spec-Version: 1.0\n", b"")) != []
    assert agents_defects(agents_txt(HERE).replace(b"Protocol: MCP", b"Protocol: SOAP")) != []


def allowed_by(text: str, url: str) -> tuple[bool, bool, bool]:
    standard = urllib.robotparser.RobotFileParser()
    standard.parse(text.splitlines())
    rules = robotspy.RobotsParser.from_string(text)
    return (
        Protego.parse(text).can_fetch(url, "AnyBot"),
        rules.can_fetch("AnyBot", url),
        standard.can_fetch("AnyBot", url),
    )


@pytest.mark.parametrize("here", [HERE, BARE])
def test_three_parsers_of_robots_txt_agree(here):
    text = robots_txt(here).decode()
    for path, allowed in {
        "/": True,
        "/connect/": True,
        "/api/token/holders": True,
        "/api/intake": True,
        "/api/intake/int_123": False,
        "/api/intake/int_123/capsule": False,
        "/api/agent-access/plans": True,
        "/api/agent-access/claims/claim_1": False,
    }.items():
        assert allowed_by(text, here.url(path)) == (allowed, allowed, allowed), path
    assert Protego.parse(text).sitemaps is not None
    assert list(Protego.parse(text).sitemaps) == [here.url("/sitemap.xml")]
    assert "Content-Signal: search=yes, ai-input=yes, ai-train=no\n" in text
    assert "Content-Usage: train-ai=n\n" in text
    assert text.index("Disallow:") < text.index("Allow: ")


@pytest.mark.parametrize("name", ["llms_txt", "skill_md", "agents_capabilities"])
def test_recommended_addresses_are_not_disallowed(name):
    for address in addresses(made(name, HERE).decode()):
        if "{" not in address:
            assert allowed_by(robots_txt(HERE).decode(), address) == (True, True, True), address


@pytest.mark.parametrize("here", [HERE, BARE])
def test_the_skill_is_valid_for_the_reference_validator(here, tmp_path):
    folder = tmp_path / SKILL_NAME
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(skill_md(here))
    ran = subprocess.run([AGENTS_SKILLS, "validate", folder], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    front = yaml.safe_load(skill_md(here).decode().split("---\n")[1])
    assert front["metadata"]["base-url"] == here.base_url
    (folder / "SKILL.md").write_bytes(skill_md(here).replace(b"name: svc-connect", b"name: Svc Connect"))
    assert subprocess.run([AGENTS_SKILLS, "validate", folder], capture_output=True).returncode == 1


@pytest.mark.parametrize("today", [date(2026, 1, 1), date(2026, 11, 21), date(2026, 12, 31), date(2028, 2, 29)])
def test_security_txt_has_its_fields_and_changes_once_a_quarter(today):
    here = installation(contact_email="security@svc.example")
    fields = dict(line.split(": ", 1) for line in security_txt(here, today).decode().splitlines())
    assert fields["Contact"] == "mailto:security@svc.example"
    assert fields["Canonical"] == "https://svc.example/under/it/.well-known/security.txt"
    expires = datetime.fromisoformat(fields["Expires"])
    left = expires - datetime(today.year, today.month, today.day, tzinfo=UTC)
    assert timedelta(days=180) < left < timedelta(days=280)
    texts = {security_txt(here, date(2027, 1, 1) + timedelta(days=days)) for days in range(365)}
    assert len(texts) == 4


def test_without_a_contact_security_txt_says_so():
    text = security_txt(BARE, date(2026, 11, 21)).decode()
    assert "Contact: https://svc.example/connect/\n" in text
    assert text.startswith("# The operator of this installation has named no address")
    app = installation(app_url="https://app.example")
    assert "Contact: https://app.example\n" in security_txt(app, date(2026, 11, 21)).decode()


def test_the_sitemap_is_xml_of_absolute_addresses():
    tree = ElementTree.fromstring(sitemap_xml(HERE, ["/b?a&b", "/connect/"]))
    assert [each.text for each in tree.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")] == [
        "https://svc.example/under/it/b?a&b",
        "https://svc.example/under/it/connect/",
    ]


def test_deprecated_operations_state_since_when_until_when_and_their_successor():
    for each in DEPRECATED:
        headers = {name: value.format(prefix="/under") for name, value in each.headers.items()}
        parsed = http_sf.parse(headers["Deprecation"].encode(), tltype="item")
        assert isinstance(parsed, tuple) and parsed[0] == datetime.combine(each.since, datetime.min.time(), UTC)
        assert parsedate_to_datetime(headers["Sunset"]).date() == each.until
        assert each.until - each.since >= timedelta(days=365)
        assert {rel: path for path, rel in re.findall(r'<([^>]*)>; rel="([^"]*)"', headers["Link"])} == {
            "successor-version": f"/under{each.successor}",
            "deprecation": f"/under{COMPATIBILITY_PATH}",
            "sunset": f"/under{COMPATIBILITY_PATH}",
        }
        row = f"| `{each.path}` | `{each.successor}` | {each.since} | {each.until} |"
        assert row in compatibility_md(HERE).decode()


def test_the_instructions_for_claiming_name_what_gives_the_key_again():
    for name in ("llms_txt", "skill_md"):
        assert "Idempotency-Key" in made(name, HERE).decode()


def test_without_payments_the_texts_say_that_nothing_can_be_bought():
    for name in ("llms_txt", "skill_md"):
        assert "nothing can be bought" in made(name, BARE).decode()
        assert "nothing can be bought" not in made(name, HERE).decode()
