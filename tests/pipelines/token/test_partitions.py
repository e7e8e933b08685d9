"""Partitions give what a single machine's ingestion gives: rows, ranges and balances, in any order and however
often."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_helpers import ALICE, BOB, TOKEN
from stored_partitions import FIRST, OTHER, SERVICE, ZERO, cut, read, store_at, store_partition

from cli.demo.log_index import Log
from cli.demo.recorded import transfer_log
from contracts.access.signing import key_text, new_private_key, parse_key_set
from contracts.errors import NodesDisagree, PartitionBroken, PartitionNotSigned, SettingsInvalid
from contracts.token.partitions import (
    Partition,
    PartitionManifest,
    ReadToken,
    partitions_within,
    read_tokens_file,
    signed_partition,
)
from pipelines.token.events import TokenTransfers
from warehouse.duck.connection import Connection, Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.partition_adoption import adopt, look_ahead
from warehouse.token.partition_store import PartitionStore
from warehouse.token.transfers import RangeAppender

TABLES = ("raw_chain__transfers", "raw_chain__ranges", "core_holders__balances", "core_holders__state")


def rows_of(connection: Connection) -> dict[str, list[Any]]:
    """Returns everything that ingestion and fold leave, except the time of recording."""
    rows = {}
    for table in TABLES:
        columns = "* exclude (recorded_at)" if table == "raw_chain__ranges" else "*"
        order = "order by 1" if table == "core_holders__balances" else ""
        rows[table] = connection.execute(f"select {columns} from {table} {order}").fetchall()
    return rows


def emptied(connection: Connection) -> Connection:
    for table in TABLES:
        connection.execute(f"delete from {table}")
    return connection


def on_one_machine(connection: Connection, logs: Sequence[Log], ranges: Sequence[tuple[int, int]]) -> dict[str, list]:
    appender = RangeAppender(emptied(connection))
    appender.append([read(TokenTransfers(TOKEN), logs, *blocks) for blocks in ranges])
    appender.commit()
    fold_balances(connection)
    return rows_of(connection)


def taken_over(connection: Connection, store: PartitionStore, directory: Path, final: int, blocks: int) -> dict:
    ahead = look_ahead(connection, store, SERVICE, final_block=final, blocks=blocks)
    adopt(connection, store, SERVICE, ahead.ready, directory)
    return rows_of(connection)


@pytest.fixture(scope="module")
def warehouses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Connection, Connection]]:
    with (
        Warehouse(tmp_path_factory.mktemp("one")).connect() as one,
        Warehouse(tmp_path_factory.mktemp("many")).connect() as many,
    ):
        yield one, many


@pytest.fixture
def store(tmp_path: Path) -> PartitionStore:
    return store_at(tmp_path)


LOGS = st.lists(
    st.tuples(
        st.sampled_from([TOKEN, OTHER]),
        st.integers(0, 59),
        st.sampled_from([ZERO, ALICE, BOB]),
        st.sampled_from([ZERO, ALICE, BOB]),
        st.one_of(st.integers(0, 5), st.integers(2**255, 2**256 - 1)),
    ),
    max_size=25,
)


@settings(max_examples=10, deadline=None)
@given(
    drawn=LOGS,
    ends=st.lists(st.integers(0, 59), max_size=6),
    blocks=st.sampled_from([7, 20, 60]),
    order=st.randoms(use_true_random=False),
)
def test_partitions_made_in_any_order_hold_what_one_machine_holds(
    warehouses, tmp_path_factory, drawn, ends, blocks, order
):
    directory = tmp_path_factory.mktemp("partitions")
    store = store_at(directory)
    logs = [transfer_log(token, block, place, *rest) for place, (token, block, *rest) in enumerate(drawn)]
    partitions = partitions_within(0, 59, blocks)
    ranges = [span for part in partitions for span in cut(part.first, part.last, ends)]
    own = [log for log in logs if log["address"] == TOKEN]
    for partition in order.sample(partitions, len(partitions)):
        assert store_partition(store, directory, partition, logs, (ReadToken(OTHER, 9), SERVICE), ends)
    one, many = warehouses
    assert taken_over(emptied(many), store, directory, 59, blocks) == on_one_machine(one, own, ranges)


ONE = [transfer_log(TOKEN, 3, 0, ZERO, ALICE, 5)]
OTHER_ROWS = [transfer_log(TOKEN, 3, 0, ZERO, ALICE, 6)]


def test_a_partition_that_is_written_twice_stays_the_first_one(store, tmp_path):
    assert store_partition(store, tmp_path, FIRST, ONE)
    assert not store_partition(store, tmp_path, FIRST, ONE, ends=[9])
    ((manifest,),) = [store.manifests(names) for names in store.names().values()]
    assert [(part.first, part.last) for part in manifest.ranges] == [(0, 19)]


def test_other_rows_for_a_partition_that_is_stored_are_refused_and_named(store, tmp_path):
    store_partition(store, tmp_path, FIRST, ONE)
    with pytest.raises(NodesDisagree, match=f"Blocks 0 to 19 were read twice, with different transfers of {TOKEN}"):
        store_partition(store, tmp_path, FIRST, OTHER_ROWS)
    assert store.manifests(store.names()[FIRST])[0].tokens[TOKEN].minted_raw == "5"


def test_a_token_that_is_added_later_is_all_that_is_read_again(store, tmp_path):
    store_partition(store, tmp_path, FIRST, ONE)
    both = (ReadToken(OTHER), SERVICE)
    assert store.missing([FIRST], both, names=store.names()) == {FIRST: (ReadToken(OTHER),)}
    assert store_partition(store, tmp_path, FIRST, ONE, (ReadToken(OTHER),))
    assert store.missing([FIRST], both, names=store_at(tmp_path).names()) == {}


def test_a_wrongly_stored_partition_is_named_and_imported_rows_stay(warehouses, store, tmp_path):
    connection = emptied(warehouses[1])
    for partition in (FIRST, Partition(20, 39)):
        store_partition(store, tmp_path, partition, [*ONE, transfer_log(TOKEN, 25, 0, ALICE, BOB, 2)])
    (manifest,) = store.manifests(store.names()[Partition(20, 39)])
    damaged = manifest.file_names()[manifest.deltas.sha256]
    (tmp_path / "store/files" / damaged).write_bytes(b"?")
    ahead = look_ahead(connection, store, SERVICE, final_block=39, blocks=20)
    adopt(connection, store, SERVICE, ahead.ready[:1], tmp_path)
    before = rows_of(connection)
    with pytest.raises(PartitionBroken, match=f"does not hold files/{damaged}"):
        adopt(connection, store, SERVICE, ahead.ready[1:], tmp_path)
    assert rows_of(connection) == before
    assert not list(tmp_path.glob("partitions-*"))


def test_an_invalid_manifest_is_named(store, tmp_path):
    store_partition(store, tmp_path, FIRST, ONE)
    (name,) = store.names()[FIRST]
    (tmp_path / "store/manifests" / name).write_text("{}")
    with pytest.raises(PartitionBroken, match="is not a manifest of its partition"):
        store_at(tmp_path).manifests([name])


def minting(manifest: PartitionManifest, minted_raw: str) -> bytes:
    """Returns the manifest with another amount minted by its token."""
    part = msgspec.structs.replace(manifest.tokens[TOKEN], minted_raw=minted_raw)
    return msgspec.json.encode(msgspec.structs.replace(manifest, tokens={TOKEN: part}))


NOT_OURS = {
    "unsigned": (
        lambda manifest: msgspec.json.encode(msgspec.structs.replace(manifest, signature={})),
        "is not signed: no worker of this service wrote it",
    ),
    "altered": (lambda manifest: minting(manifest, "6"), "is not signed by a key of this service"),
    "by another key": (
        lambda manifest: signed_partition(
            manifest, parse_key_set(key_text(new_private_key()), "another key").signer(datetime.now(UTC))
        ),
        "is not signed by a key of this service",
    ),
}


@pytest.mark.parametrize("fault", NOT_OURS)
def test_a_partition_that_someone_else_put_there_is_not_taken_over(warehouses, store, tmp_path, fault):
    connection = emptied(warehouses[1])
    store_partition(store, tmp_path, FIRST, ONE)
    (name,) = store.names()[FIRST]
    (manifest,) = store.manifests([name])
    path = tmp_path / "store/manifests" / name
    forge, what = NOT_OURS[fault]
    path.write_bytes(forge(manifest))
    with pytest.raises(PartitionNotSigned, match=what) as refused:
        look_ahead(connection, store_at(tmp_path), SERVICE, final_block=19, blocks=20)
    assert f"manifests/{name}" in refused.value.what and "elete it" in refused.value.cure
    with pytest.raises(PartitionNotSigned, match=what):
        store_partition(store_at(tmp_path), tmp_path, FIRST, ONE)
    path.unlink()
    assert store.missing([FIRST], [SERVICE], names=store.names()) == {FIRST: (SERVICE,)}


def test_a_manifest_under_another_manifests_name_is_invalid(store, tmp_path):
    store_partition(store, tmp_path, FIRST, ONE)
    (name,) = store.names()[FIRST]
    folder = tmp_path / "store/manifests"
    for other in ("000000000000-000000000019/0123456789abcdef.json", "000000000020-000000000039/0123456789abcdef.json"):
        (folder / other).parent.mkdir(exist_ok=True)
        (folder / other).write_bytes((folder / name).read_bytes())
        with pytest.raises(PartitionBroken, match="is not a manifest of its partition"):
            store_at(tmp_path).manifests([other])


def test_a_partition_of_a_key_that_was_rotated_out_of_signing_still_counts(store, tmp_path):
    store_partition(store, tmp_path, FIRST, ONE)
    file = tmp_path / "signing.pem"
    file.write_text(file.read_text() + key_text(new_private_key(), datetime(2026, 1, 1, tzinfo=UTC)))
    store_partition(store, tmp_path, Partition(20, 39), ONE)
    manifests = store_at(tmp_path).manifests(name for names in store.names().values() for name in names)
    assert len({manifest.signature["kid"] for manifest in manifests}) == 2


TOKENS_FILES = {
    "not YAML": "[",
    "wrong at its content": "tokens: 1",
    "wrong at 0.first_block": f"- address: '{OTHER}'",
    "wrong at 0.address": "- {address: '0x12', first_block: 0}",
    "it is the zero address": f"- {{address: '0x{'0' * 40}', first_block: 0}}",
    "it is mistyped": f"- {{address: '{OTHER.replace('0x', '0xAbCdEf', 1)[:42]}', first_block: 0}}",
    "occurs twice": f"- {{address: '{OTHER}', first_block: 0}}\n- {{address: '{OTHER}', first_block: 1}}",
    "is SVC_TOKEN_ADDRESS": f"- {{address: '{TOKEN}', first_block: 0}}",
}


@pytest.mark.parametrize("fault", TOKENS_FILES)
def test_a_tokens_file_that_is_wrong_is_refused_with_its_place(fault):
    with pytest.raises(SettingsInvalid, match=fault):
        read_tokens_file(TOKENS_FILES[fault], service_token=TOKEN)


def test_a_tokens_file_is_yaml_or_json_and_addresses_have_any_case():
    upper = "0x" + OTHER[2:].upper()
    for text in (
        f"- address: '{upper}'\n  first_block: 3\n  name: Other",
        json.dumps([{"address": upper, "first_block": 3, "name": "Other"}]),
    ):
        assert [token.read for token in read_tokens_file(text, service_token=TOKEN)] == [ReadToken(OTHER, 3)]
    assert read_tokens_file("", service_token=None) == ()
