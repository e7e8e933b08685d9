from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from object_stores import BUCKET, local_s3
from rounds import ROUNDS

from contracts.access.signing import key_text, new_private_key
from contracts.errors import GenerationBroken, GenerationUnknown, ObjectStoreAway, SettingsInvalid
from contracts.publish.pointers import Pointer, PointerFault, judge_pointer, signed_pointer
from contracts.settings import Settings
from warehouse.access.signing_keys import SigningKeys
from warehouse.publish.generations import Part, begin, build, current_generation
from warehouse.publish.object_store import ObjectStore
from warehouse.publish.stored_generations import (
    Origin,
    follow,
    forget_older,
    newest_pointer,
    prune,
    push,
    roll_back,
    valid_pointers,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
URL = "https://svc.example"


class Hosts:
    """Hosts with a disk each, one key file and one store. Each generation is created a minute after the last."""

    def __init__(self, directory: Path, store_url: str = "") -> None:
        self.directory = directory
        self.now = NOON
        key_file = directory / "signing.pem"
        key_file.write_text(key_text(new_private_key()))
        self.keys = SigningKeys(Settings(_env_file=None, data_dir=directory, signing_key_file=key_file))
        self.origin = Origin(ObjectStore(store_url or f"file://{directory}/store"), URL, self.keys)

    def disk(self, host: str) -> Path:
        return self.directory / host

    def publish(self, host: str, **contents: str) -> str:
        self.now += timedelta(minutes=1)
        parts = {f"public/{name}": Part.of_bytes(content.encode()) for name, content in contents.items()}
        built = build(self.disk(host), begin(self.disk(host), self.now), parts, {}, URL)
        assert built is not None
        return built.generation.id

    def push(self, host: str) -> int | None:
        pushed = push(self.origin, self.disk(host), self.now)
        return None if pushed is None else pushed.number

    def follow(self, host: str, after: int = 0) -> int | None:
        pointer = follow(self.origin, self.disk(host), after=after)
        return None if pointer is None else pointer.number

    def served(self, host: str) -> dict[str, str]:
        """Returns what a host serves, after comparing every byte with the manifest."""
        generation = current_generation(self.disk(host))
        if generation is None:
            return {}
        for path, component in generation.manifest.components.items():
            assert Part.of_bytes((generation.path / path).read_bytes()).version == component.sha256
            assert (generation.path / path).stat().st_mtime == component.mtime
        return {
            path.removeprefix("public/"): (generation.path / path).read_text()
            for path in generation.manifest.components
        }

    def object_path(self, content: str) -> Path:
        sha256 = Part.of_bytes(content.encode()).version
        return self.directory / "store" / "objects" / sha256[:2] / sha256


@pytest.fixture
def hosts(tmp_path: Path) -> Hosts:
    return Hosts(tmp_path)


def test_another_host_serves_what_was_published_with_the_same_times(hosts):
    hosts.publish("a", price="1", list="2")
    assert (hosts.push("a"), hosts.follow("b")) == (1, 1)
    assert hosts.served("b") == {"price": "1", "list": "2"}
    manifests = [(current_generation(hosts.disk(host)).path / "manifest.json").read_bytes() for host in "ab"]
    assert manifests[0] == manifests[1]


def test_only_what_changed_is_stored_and_fetched(hosts):
    hosts.publish("a", price="1", list="2")
    hosts.push("a")
    hosts.follow("b")
    before = current_generation(hosts.disk("b")).path
    hosts.publish("a", price="3", list="2")
    hosts.object_path("2").unlink()  # it must not be needed
    assert (hosts.push("a"), hosts.follow("b", 1)) == (2, 2)
    after = current_generation(hosts.disk("b")).path
    assert (after / "public/list").samefile(before / "public/list")
    assert hosts.served("b") == {"price": "3", "list": "2"}


def test_a_generation_is_stored_once_and_an_older_one_never(hosts):
    hosts.publish("a", price="old")
    hosts.publish("b", price="new")
    assert [hosts.push(host) for host in "bba"] == [1, None, None]
    assert hosts.push("nothing is published here") is None


def test_two_publishers_that_race_make_a_chain_without_a_gap(hosts):
    for host in "abcd":
        hosts.publish(host, price=host)
    with ThreadPoolExecutor(4) as publishers:
        list(publishers.map(hosts.push, "abcd"))
    pointers = valid_pointers(hosts.origin)
    assert [pointer.number for pointer in pointers] == list(range(1, len(pointers) + 1))
    assert sorted(pointer.generation for pointer in pointers) == [pointer.generation for pointer in pointers]
    hosts.follow("z")
    assert hosts.served("z") == {"price": "d"}


POINTER = Pointer(number=2, base_url=URL, generation="20300101T000000Z-000009", manifest="0" * 64, written_at=NOON)
WRONG: dict[PointerFault, Callable[[Hosts], bytes]] = {
    PointerFault.MALFORMED: lambda hosts: b'{"number":2',
    PointerFault.RENUMBERED: lambda hosts: signed(hosts, number=3),
    PointerFault.FOREIGN: lambda hosts: signed(hosts, base_url="https://other.example"),
    PointerFault.FORGED: lambda hosts: signed(hosts).replace(b"20300101", b"20310101"),
}


def signed(hosts: Hosts, **changes: Any) -> bytes:
    return signed_pointer(msgspec.structs.replace(POINTER, **changes), hosts.keys.current().signer(NOON))


@pytest.mark.parametrize("fault", WRONG)
def test_a_pointer_that_is_wrong_does_not_count_and_its_number_is_not_used_again(hosts, fault):
    hosts.publish("a", price="1")
    hosts.push("a")
    wrong = WRONG[fault](hosts)
    assert judge_pointer(wrong, 2, hosts.keys.current(), URL) is fault
    assert hosts.origin.store.create_pointer(2, wrong)
    assert newest_pointer(hosts.origin).number == 1
    hosts.publish("a", price="2")
    assert (hosts.push("a"), hosts.follow("b")) == (3, 3)


def test_a_pointer_of_another_key_is_forged(hosts, tmp_path):
    (tmp_path / "other").mkdir()
    assert judge_pointer(signed(Hosts(tmp_path / "other")), 2, hosts.keys.current(), URL) is PointerFault.FORGED


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_text("?")])
def test_a_generation_that_is_not_whole_is_passed_over_for_the_one_before(hosts, damage):
    hosts.publish("a", price="1")
    hosts.push("a")
    hosts.publish("a", price="2")
    hosts.push("a")
    damage(hosts.object_path("2"))
    assert hosts.follow("b") == 1
    assert hosts.served("b") == {"price": "1"}
    with pytest.raises(GenerationBroken, match="can't be taken over"):
        hosts.follow("b", 1)
    assert hosts.served("b") == {"price": "1"}


def test_a_manifest_cannot_write_outside_of_its_generation(hosts):
    hosts.publish("a", price="1")
    content = (current_generation(hosts.disk("a")).path / "manifest.json").read_bytes()
    manifest = hosts.origin.store.put_bytes(content.replace(b"public/price", b"../../price"))
    assert hosts.origin.store.create_pointer(1, signed(hosts, number=1, manifest=manifest))
    with pytest.raises(GenerationBroken, match="not a path within it"):
        hosts.follow("b")


def test_a_rollback_reaches_every_host_and_lasts_until_something_newer_is_published(hosts):
    good = hosts.publish("a", price="good")
    hosts.push("a")
    bad = hosts.publish("a", price="bad")
    hosts.push("a")
    hosts.follow("b")
    pointer = roll_back(hosts.origin, good, hosts.now)
    assert (pointer.number, pointer.rolled_back_from) == (3, bad)
    assert (hosts.follow("b", 2), hosts.follow("c")) == (3, 3)
    assert (hosts.served("b"), hosts.served("c")) == ({"price": "good"}, {"price": "good"})
    assert hosts.push("a") is None
    hosts.publish("a", price="better")
    assert (hosts.push("a"), hosts.follow("b", 3)) == (4, 4)
    assert hosts.served("b") == {"price": "better"}


def test_a_rollback_to_what_is_not_stored_names_what_is(hosts):
    stored = hosts.publish("a", price="1")
    hosts.push("a")
    with pytest.raises(GenerationUnknown, match=stored):
        roll_back(hosts.origin, "20200101T000000Z-000001", hosts.now)


def test_pointers_are_kept_for_an_hour_and_objects_while_a_pointer_needs_them(hosts):
    for price in range(70):
        hosts.publish("a", price=str(price), list="always")
        hosts.push("a")
    assert prune(hosts.origin, hosts.now) == 10
    assert [pointer.number for pointer in valid_pointers(hosts.origin)] == list(range(11, 71))
    assert hosts.object_path("0").exists()  # too young: another publisher may be about to point to it
    # The objects were written just now; the generations are dated in another year.
    prune(hosts.origin, datetime.now(UTC) + timedelta(days=2))
    assert [pointer.number for pointer in valid_pointers(hosts.origin)] == [68, 69, 70]
    assert [hosts.object_path(content).exists() for content in ("0", "66", "67", "always")] == [
        False,
        False,
        True,
        True,
    ]
    hosts.follow("b")
    assert hosts.served("b") == {"price": "69", "list": "always"}


def test_after_an_erasure_neither_the_store_nor_any_host_holds_an_older_generation(hosts):
    for price in ("secret", "also secret"):
        hosts.publish("a", price=price)
        hosts.push("a")
        hosts.follow("b")
    hosts.publish("a", price="public")
    forget_older(hosts.origin, hosts.disk("a"), hosts.now)
    assert [pointer.number for pointer in valid_pointers(hosts.origin)] == [3]
    assert not hosts.object_path("secret").exists()
    hosts.publish("a", price="later")
    hosts.push("a")
    assert hosts.follow("b", 2) == 4  # this host was away when the third was written
    assert [path.name for path in sorted((hosts.disk("b") / "generations").iterdir())] == [
        newest_pointer(hosts.origin).generation
    ]
    with pytest.raises(GenerationUnknown, match="points to a newer generation"):
        hosts.publish("older", price="0", other="1")
        hosts.now += timedelta(minutes=1)
        hosts.publish("a", price="newest")
        hosts.push("a")
        forget_older(hosts.origin, hosts.disk("older"), hosts.now)


def test_an_unreachable_store_is_reported_and_served_documents_stay(hosts, monkeypatch):
    hosts.publish("a", price="1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    away = Origin(ObjectStore("s3://generations/svc"), URL, hosts.keys)
    with pytest.raises(ObjectStoreAway, match="s3://generations/svc can't be used"):
        push(away, hosts.disk("a"), hosts.now)
    assert hosts.served("a") == {"price": "1"}


@pytest.mark.parametrize("url", ["s3://", "file:///proc/nothing/here"])
def test_an_address_that_is_no_store_is_refused_by_the_name_of_its_setting(url):
    with pytest.raises(SettingsInvalid, match="SVC_PUBLISH_URL can't be used"):
        ObjectStore(url)


class FailingStore(ObjectStore):
    """Fails from its n-th operation on, as after a `kill -9` of its host."""

    def __init__(self, url: str, operations: int) -> None:
        super().__init__(url)
        self._left = operations

    def _at_hand(self) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ObjectStoreAway("gone", cure="")
        return super()._at_hand()


STEP = st.tuples(st.sampled_from(["publish a", "publish b", "push a", "push b", "follow"]), st.integers(0, 8))


@given(st.lists(STEP, max_size=12))
@settings(max_examples=12 * ROUNDS, deadline=None)
def test_every_host_serves_whole_generations_and_catches_up_whatever_fails_where(tmp_path_factory, steps):
    hosts = Hosts(tmp_path_factory.mktemp("hosts"))
    numbers = itertools.count()
    whole: list[dict[str, str]] = [{}]
    for step, operations in steps:
        action, _, host = step.partition(" ")
        failing = Origin(FailingStore(hosts.origin.store.url, operations), URL, hosts.keys)
        if action == "publish":
            whole.append({"price": str(next(numbers)), "list": "same"})
            hosts.publish(host, **whole[-1])
        else:
            try:
                if action == "push":
                    push(failing, hosts.disk(host), hosts.now)
                else:
                    follow(failing, hosts.disk("reader"))
            except ObjectStoreAway:
                pass
        assert hosts.served("reader") in whole
    for host in "ab":
        hosts.push(host)
    hosts.follow("reader")
    assert hosts.served("reader") == whole[-1]


@pytest.fixture(scope="module")
def s3():
    with local_s3() as variables, pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield


def test_the_s3_of_these_tests_lets_one_of_many_create_an_object(s3):
    store = ObjectStore(f"s3://{BUCKET}/race")
    with ThreadPoolExecutor(8) as racers:
        for number in range(1, 21):
            bodies = [b"%d" % racer for racer in range(8)]
            created = list(racers.map(partial(store.create_pointer, number), bodies))
            assert [body for body, first in zip(bodies, created, strict=True) if first] == [store.pointer(number)]


def test_hosts_share_generations_over_s3(s3, tmp_path):
    hosts = Hosts(tmp_path, f"s3://{BUCKET}/svc")
    assert hosts.follow("b") is None
    first = hosts.publish("a", price="1", list="2")
    assert (hosts.push("a"), hosts.push("a"), hosts.follow("b")) == (1, None, 1)
    hosts.publish("a", price="3", list="2")
    assert (hosts.push("a"), hosts.follow("b", 1)) == (2, 2)
    assert hosts.served("b") == {"price": "3", "list": "2"}
    roll_back(hosts.origin, first, hosts.now)
    assert (hosts.follow("b", 2), hosts.served("b")) == (3, {"price": "1", "list": "2"})
    assert prune(hosts.origin, hosts.now + timedelta(hours=2)) == 0  # the newest three stay
    assert hosts.origin.store.bytes_of(newest_pointer(hosts.origin).manifest) is not None
    assert hosts.origin.store.bytes_of("0" * 64) is None


class OldListing(ObjectStore):
    """A store that lists only the first few of its pointers, as a lagging replica does."""

    listed = 1

    def pointer_numbers(self, *, above: int = 0) -> list[int]:
        return [number for number in super().pointer_numbers() if above < number <= self.listed]


def test_a_host_that_starts_again_does_not_go_back_to_an_old_pointer(hosts):
    for price in ("1", "2"):
        hosts.publish("a", price=price)
        hosts.push("a")
    hosts.follow("b")
    now = hosts.origin
    hosts.origin = Origin(OldListing(now.store.url), URL, hosts.keys)
    with pytest.raises(ObjectStoreAway, match="lists pointer 1 as its newest, but 2 was followed here"):
        hosts.follow("b")
    assert hosts.served("b") == {"price": "2"}
    assert (hosts.follow("c"), hosts.served("c")) == (1, {"price": "1"}), "a new host knows of nothing newer"
    hosts.origin = now
    assert (hosts.follow("b"), hosts.follow("c", 1)) == (2, 2)


def test_a_publisher_that_is_shown_old_pointers_stops_instead_of_trying_on(hosts):
    for price in ("1", "2"):
        hosts.publish("a", price=price)
        hosts.push("a")
    hosts.publish("a", price="3")
    hosts.origin = Origin(OldListing(hosts.origin.store.url), URL, hosts.keys)
    with pytest.raises(ObjectStoreAway, match="lists pointer 1 as its newest, but holds a newer one"):
        hosts.push("a")


def test_a_store_that_was_set_up_again_is_followed_from_its_first_pointer(hosts):
    for price in ("1", "2"):
        hosts.publish("a", price=price)
        hosts.push("a")
    hosts.follow("b")
    hosts.origin = Origin(ObjectStore(f"file://{hosts.directory}/another"), URL, hosts.keys)
    hosts.publish("a", price="3")
    assert (hosts.push("a"), hosts.follow("b"), hosts.served("b")) == (1, 1, {"price": "3"})
