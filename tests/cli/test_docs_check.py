"""`svc docs check` on a whole service, and on many faults: each is put into what that service published and must be
found."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from addressed_service import addressed_service
from document_faults import FAULTS, WELL, Kept, Site
from patience import HANG_S
from rounds import ROUNDS, SOAK_ROUNDS
from typer.testing import CliRunner

from cli.app import app
from cli.docs import NothingToCheck, announced_sleep, gather, noted_progress
from contracts.discovery.checks.evidence import Defect
from contracts.discovery.checks.judge import defects_of

PREFIX = "/svc-here"


class Recorder(httpx.BaseTransport):
    """Forwards requests, and records the answers to those without conditions."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Kept] = {}
        self._inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self._inner.handle_request(request)
        response.read()
        headers = {name: value for name, value in response.headers.items() if name != "content-length"}
        if "if-none-match" not in request.headers and request.method != "HEAD":
            path = request.url.raw_path.decode()
            self.answers[request.method, path] = Kept(response.status_code, headers, response.content)
        return response

    def close(self) -> None:
        self._inner.close()


def read_service(base_url: str) -> tuple[list[Defect], Site]:
    """Returns the defects of a running service, and a copy of its answers."""
    recorder = Recorder()
    with httpx.Client(transport=recorder, timeout=HANG_S, headers={"accept-encoding": "identity"}) as client:
        defects = defects_of(gather(client, base_url))
    prefix = httpx.URL(base_url).path.rstrip("/")
    answers = {(method, path.removeprefix(prefix)): kept for (method, path), kept in recorder.answers.items()}
    return defects, Site(base_url, answers)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Defect], Site]]:
    settings = {"contact_email": "ops@svc.example", "app_url": "https://app.test", "rate_limit_per_minute": 500}
    with addressed_service(tmp_path_factory.mktemp("service"), PREFIX, **settings) as (_, base_url):
        yield read_service(base_url)


@pytest.fixture
def site(service: tuple[list[Defect], Site]) -> Site:
    """A copy of the service's answers to break."""
    return replace(service[1], answers=dict(service[1].answers), asked=[])


def test_nothing_is_wrong_with_a_whole_service_below_a_path_prefix(service: tuple[list[Defect], Site]):
    assert service[0] == []


def test_a_copy_of_the_service_is_as_sound(site: Site):
    assert site.defects() == []


def together() -> list[list[str]]:
    """Groups the names of faults that don't hide each other: one fault per document in a group. In a soak, each fault
    is on its own."""
    if ROUNDS >= SOAK_ROUNDS:
        return [[name] for name in FAULTS]
    groups: dict[int, list[str]] = {}
    counts: Counter[str] = Counter()
    for name, (_, document, _) in FAULTS.items():
        groups.setdefault(counts[document], []).append(name)
        counts[document] += 1
    return list(groups.values())


@pytest.mark.parametrize("names", together(), ids=lambda names: names[0])
def test_each_fault_is_found(site: Site, names: list[str]):
    for name in names:
        FAULTS[name][0](site)
    defects = site.defects()
    for name in names:
        _, document, what = FAULTS[name]
        found = [defect for defect in defects if defect.document == document and what in defect.what]
        assert found, (name, [(defect.document, defect.what) for defect in defects])
        assert all(each.cure for each in found)


SWITCHED_OFF = dict.fromkeys(
    ("usdc_address", "treasury_address", "token_address", "trust_registry_address", "bidwall_address")
)


def switched_off(site: Site) -> list[str]:
    off: list[str] = site.answers["GET", WELL + "svc-public-contract.json"].value["capabilities"]["off"]
    return off


def test_a_service_at_the_root_with_everything_switched_off_has_no_fault(tmp_path: Path, site: Site):
    with addressed_service(tmp_path, **SWITCHED_OFF) as (_, base_url):
        defects, bare = read_service(base_url)
    assert defects == []
    assert "paid_access" in switched_off(bare)
    assert "paid_access" not in switched_off(site)


def test_limited_routes_are_asked_no_faster_than_their_policy_allows(site: Site):
    policy = {"ratelimit-policy": '"permin";q=20;w=60'}
    for (method, path), kept in site.answers.items():
        if path.startswith(("/api/", "/blink/")):
            site.answers[method, path] = replace(kept, headers=kept.headers | policy)
    now, limited_at = 0.0, []

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    class Clocked(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            path = site.path_of(request)
            if path.startswith(("/api/", "/mcp", "/blink/")) and path != "/mcp/server-card":
                limited_at.append(now)
            return site.handle_request(request)

    with httpx.Client(transport=Clocked()) as client:
        gather(client, site.base_url, sleep=sleep, clock=lambda: now)
    assert len(limited_at) > 40
    assert max(sum(start <= at < start + 60 for at in limited_at) for start in limited_at) <= 20


TWINS = ("/agents.txt", WELL + "agents.txt")
"""Two paths of one document."""


@pytest.mark.parametrize("requests_before", [1, 3, 4])
def test_a_generation_that_is_published_during_the_check_is_no_contradiction(site: Site, requests_before: int):
    earlier = replace(site, answers=dict(site.answers), asked=[])
    for path in TWINS:
        kept = site.answers["GET", path]
        earlier.answers["GET", path] = Kept(200, kept.headers | {"etag": '"earlier"'}, kept.body + b"# earlier\n")
    of_twins = 0

    class Publishing(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            nonlocal of_twins
            of_twins += site.path_of(request) in TWINS
            return (earlier if of_twins <= requests_before else site).handle_request(request)

    with httpx.Client(transport=Publishing()) as client:
        evidence = gather(client, site.base_url)
    assert {evidence.documents[path].body for path in TWINS} == {site.answers["GET", TWINS[0]].body}
    assert defects_of(evidence) == []


def test_an_address_that_keeps_refusing_is_reported_as_unread_and_not_as_a_fault(site: Site):
    refused = Kept(429, {"content-type": "application/problem+json", "retry-after": "7"}, b"{}")
    site.answers["GET", "/api/context"] = refused
    waited: list[float] = []
    with httpx.Client(transport=site) as client:
        evidence = gather(client, site.base_url, sleep=waited.append)
    assert evidence.unread == {f"{site.base_url}/api/context": "the rate limit"}
    assert waited == [7.0, 7.0, 7.0]
    assert [each for each in defects_of(evidence) if "/api/context" in each.what] == []


def test_an_endless_body_is_cut_and_a_silent_service_is_no_fault_of_its_documents(site: Site):
    site.answers["GET", "/llms.txt"] = Kept(200, {"content-type": "text/plain"}, b"x" * (9 << 20))
    assert [each.what for each in site.defects() if each.document == "/llms.txt"] == [
        "answers nothing (more than 8388608 bytes)"
    ]

    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with httpx.Client(transport=httpx.MockTransport(refuse)) as client, pytest.raises(NothingToCheck):
        gather(client, "http://127.0.0.1:9")


def test_the_command_prints_one_json_value_and_says_by_its_code_whether_all_is_well(
    service: tuple[list[Defect], Site],
):
    done = CliRunner().invoke(app, ["docs", "check", service[1].base_url, "--json"])
    said = json.loads(done.stdout)
    assert (done.exit_code, said["ok"], said["defects"], said["unread"]) == (0, True, [], {})
    assert said["documents"] > 50 and said["links"] > 40
    assert CliRunner().invoke(app, ["docs", "check", "http://127.0.0.1:9"]).exit_code == 1


def test_progress_is_on_stderr_even_without_a_terminal(service: tuple[list[Defect], Site]):
    done = CliRunner().invoke(app, ["docs", "check", service[1].base_url])
    assert re.search(r"^0 of \d+ documents and links read; next /\S*$", done.stderr, re.MULTILINE)
    assert "documents and links read;" not in done.stdout


def test_progress_is_a_line_at_once_and_then_every_five_seconds():
    now, lines = 0.0, []
    listen = noted_progress(lines.append, lambda: now)
    for number in range(13):
        now = float(number)
        listen(f"/{number}", number, 80)
    assert lines == [f"{number} of 80 documents and links read; next /{number}" for number in (0, 5, 10)]


def test_a_long_wait_for_the_rate_limit_is_announced():
    lines: list[str] = []
    waited: list[float] = []
    for seconds in (0.4, 2.9, 57.6):
        announced_sleep(seconds, write=lines.append, sleep=waited.append)
    assert lines == ["waiting 58 s: the service limits the requests of one address"]
    assert waited == [0.4, 2.9, 57.6]


@pytest.mark.parametrize(
    "text", ["127.0.0.1:8000", "ftp://svc.example", "http://", "http://[::1", "http://127.0.0.1:99999"]
)
def test_an_invalid_address_is_refused_before_any_request(text: str):
    done = CliRunner().invoke(app, ["docs", "check", text, "--json"])
    assert (done.exit_code, json.loads(done.stdout)["code"]) == (2, "settings_invalid")
