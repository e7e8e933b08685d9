"""`svc verify --mirror`: a copy of everything public is checked file by file against the signed manifest."""

import json
import threading
from datetime import timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from publishing import BASE_URL, ONE_LIST, House, mint, published_house
from typer.testing import CliRunner

from cli.app import app
from cli.verify_mirror import MOST_LAG, KeysUnknown, mirror_checks
from contracts.access.signing import JWKS_PATH, key_text, new_private_key
from contracts.open_data.manifest import VALID_FOR
from contracts.publish.routes import file_of
from contracts.token.verification import Outcome
from warehouse.access.signing_keys import SIGNING_KEY_FILE, SigningKeys
from warehouse.publish.generations import current_generation

MIRROR = "https://mirror.example"
LIST = "/data/holders-20.csv.gz"
HOLDERS = "/api/token/holders"

Site = dict[str, bytes]


class QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Logs nothing."""


def site_of(house: House) -> Site:
    """Returns what an address answers, by path."""
    generation = current_generation(house.data_dir)
    public = generation.path / "public"
    files = {f"/{path.relative_to(public)}": path.read_bytes() for path in public.rglob("*") if path.is_file()}
    return files | {path: (public / file_of(path)).read_bytes() for path in generation.manifest.documents}


@pytest.fixture(scope="module")
def house(tmp_path_factory) -> House:
    return published_house(tmp_path_factory.mktemp("mirrored"), ONE_LIST)


@pytest.fixture(scope="module")
def sites(house) -> list[Site]:
    """Returns the first site, and the site an hour and a few seconds later."""
    first = site_of(house)
    house.now += timedelta(hours=1)
    house.read_chain(mint(5, first=500, block=30), 40)
    house.publish()
    return [first, site_of(house)]


@pytest.fixture
def ask(house, tmp_path):
    """Checks a mirror of a site. The service answers as `origin`, or not at all if that is None."""
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps(SigningKeys(house.settings).current().jwks()))

    def asked(mirror: Site, *, origin: Site | None = None, late=timedelta(0), keys_file=keys, seen=None):
        def answer(request: httpx.Request) -> httpx.Response:
            site = mirror if request.url.host == "mirror.example" else origin
            if site is None:
                raise httpx.ConnectError("nobody")
            if request.url.path == JWKS_PATH and request.url.host != "mirror.example":
                return httpx.Response(200, stream=httpx.ByteStream(keys.read_bytes()))
            content = site.get(request.url.path)
            return httpx.Response(404) if content is None else httpx.Response(200, stream=httpx.ByteStream(content))

        with httpx.Client(transport=httpx.MockTransport(answer)) as client:
            checks = mirror_checks(client, MIRROR, BASE_URL, keys_file, seen, house.now + late)
        return [f"{check.name}: {check.detail}" for check in checks if check.outcome is not Outcome.OK]

    return asked


def test_a_true_mirror_has_no_fault(ask, sites):
    assert ask(sites[1]) == []
    assert ask(sites[1], origin=sites[1], keys_file=None) == []


def test_a_copy_of_the_files_needs_no_routes(ask, sites):
    assert ask({path: body for path, body in sites[1].items() if "." in path.rpartition("/")[2]}) == []


def test_a_copy_may_lead_from_documents_to_folders_of_the_same_name(house, sites, tmp_path):
    public = current_generation(house.data_dir).path / "public"
    handler = partial(QuietFiles, directory=str(public))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        keys = tmp_path / "jwks.json"
        keys.write_text(json.dumps(SigningKeys(house.settings).current().jwks()))
        address = f"http://127.0.0.1:{server.server_address[1]}"
        with httpx.Client() as client:
            checks = mirror_checks(client, address, BASE_URL, keys, None, house.now)
        server.shutdown()
    assert [check.detail for check in checks if check.outcome is not Outcome.OK] == []


def test_a_mirror_that_limits_requests_is_waited_for_and_then_not_checked(house, sites, tmp_path):
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps(SigningKeys(house.settings).current().jwks()))
    slept: list[float] = []

    def limited(refusals: int):
        left = [refusals]

        def answer(request: httpx.Request) -> httpx.Response:
            if request.url.path == LIST and left[0]:
                left[0] -= 1
                return httpx.Response(429, headers={"retry-after": "200"})
            content = sites[1].get(request.url.path)
            return httpx.Response(404) if content is None else httpx.Response(200, stream=httpx.ByteStream(content))

        with httpx.Client(transport=httpx.MockTransport(answer)) as client:
            checks = mirror_checks(client, MIRROR, BASE_URL, keys, None, house.now, sleep=slept.append)
        return [(check.outcome, check.detail) for check in checks if check.outcome is not Outcome.OK]

    assert (limited(1), slept) == ([], [200.0])
    assert limited(9) == [(Outcome.UNKNOWN, f"{LIST} is not checked: the mirror answers 429")]
    assert slept == [200.0, 200.0]


@pytest.mark.parametrize("path", [LIST, HOLDERS, "/llms.txt", "/data/svc.duckdb", "/data/index.json"])
def test_one_changed_byte_is_found_in_any_file(ask, sites, path):
    body = sites[1][path]
    changed = body[:-1] + bytes([body[-1] ^ 1])
    assert [fault.split()[1] for fault in ask(sites[1] | {path: changed})] == [path]


def test_missing_longer_and_old_files_are_found(ask, sites):
    site = {path: body for path, body in sites[1].items() if path != LIST}
    assert ask(site) == [f"file: {LIST} is missing"]
    assert "longer than" in ask(sites[1] | {LIST: sites[1][LIST] + b"!"})[0]
    assert [fault.split()[1] for fault in ask(sites[1] | {HOLDERS: sites[0][HOLDERS]})] == [HOLDERS]


def test_a_mirror_that_went_back_is_found(ask, sites, tmp_path):
    seen = tmp_path / "seen.json"
    assert ask(sites[1], seen=seen) == []
    assert list(json.loads(seen.read_text())) == [BASE_URL]
    assert ask(sites[0], seen=seen) == [
        "manifest: /data/manifest.json is older than one seen before: the mirror went back"
    ]


def test_a_mirror_behind_its_service_is_found_once_it_is_late(ask, sites):
    (fault,) = ask(sites[0], origin=sites[1])
    assert "older than one seen" in fault
    assert timedelta(hours=1) > MOST_LAG


def test_a_mirror_that_stands_still_is_found(ask, sites):
    (fault,) = ask(sites[1], late=VALID_FOR)
    assert "has expired" in fault


def test_a_mirror_signs_nothing_itself(ask, sites, tmp_path):
    theirs = House(tmp_path / "theirs")
    theirs.data_dir.mkdir()
    (theirs.data_dir / SIGNING_KEY_FILE).write_text(key_text(new_private_key()))
    theirs.read_chain(mint(70), 20)
    theirs.publish(HOLDERS)
    (fault,) = ask(site_of(theirs))
    assert "is not signed by a key of the service" in fault


def test_without_keys_a_mirror_can_not_be_checked(ask, sites):
    with pytest.raises(KeysUnknown):
        ask(sites[1], keys_file=None)


def test_the_command_exits_with_1_where_a_mirror_is_not_there(house, tmp_path):
    keys = tmp_path / "jwks.json"
    keys.write_text(json.dumps(SigningKeys(house.settings).current().jwks()))
    done = CliRunner().invoke(
        app,
        ["verify", "--mirror", "http://127.0.0.1:1", "--keys", str(keys), "--json"],
        env={"SVC_DATA_DIR": str(tmp_path)},
    )
    assert done.exit_code == 1
    assert json.loads(done.stdout)["verdict"] == "failed"
    assert CliRunner().invoke(app, ["verify", "--json"], env={"SVC_DATA_DIR": str(tmp_path)}).exit_code == 2
