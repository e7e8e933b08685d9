"""A list of a real EVM is proven to the last balance: with an RPC, offline from a site, and from just two files."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from eth_hash.auto import keccak
from ingest_helpers import pool_of

from cli.demo.anvil import PRUNED, Anvil
from cli.demo.history import Movement
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt, move_calldata
from cli.verify import NothingToVerify, run_checks, run_folder_checks, run_offline_checks, verify
from contracts.access.signing import SigningKey, new_private_key, thumbprint
from contracts.discovery.installation import Installation
from contracts.open_data.manifest import ManifestFile, signed_manifest
from contracts.open_data.names import MANIFEST_PATH
from contracts.publish.registry import PROJECTIONS
from contracts.publish.rendering import Origin, render
from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import ZERO_ADDRESS, csv_file_name, storage_file_name
from contracts.token.proof import Proof, Verdict
from contracts.token.storage_proof import ProofStep, StorageReason, StorageVerdict, pack, prove, unpack
from contracts.token.verification import Check, Outcome, verdict_of
from pipelines.token import holder_lists
from pipelines.token.engine import ingest
from pipelines.token.events import TokenTransfers
from pipelines.token.holder_lists import take_list
from pipelines.token.storage_proof import prove_storage
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import Warehouse
from warehouse.publish.readers import read
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import lists_dir, prune_lists
from warehouse.token.holder_status import record_status

NOW = datetime(2026, 2, 1, tzinfo=UTC)
HOLDERS, MAP = "/api/token/holders", "/api/token/holders-map"
HOLDER_COUNT = 150


@dataclass(frozen=True)
class Site:
    """A service's published files, by path, the node that it read, its data directory, and the proof of its list."""

    files: dict[str, bytes]
    rpc_url: str
    data_dir: Path
    proof: Proof

    @property
    def list_path(self) -> str:
        assert self.proof.holder_list is not None
        return self.proof.holder_list.path

    @property
    def storage_path(self) -> str:
        assert self.proof.storage is not None and self.proof.storage.file is not None
        return self.proof.storage.file.path


def live_token(anvil: Anvil) -> str:
    """Deploys a token with holders, some that left, a burn, and allowances, which are foreign words of its storage."""
    rpc, dice = anvil.rpc, random.Random(3)
    owner, *others = rpc.call("eth_accounts")
    token = deploy(rpc, owner, "DemoToken", ["string", "string"], ["Live", "LIVE"])
    accounts = [f"0x{dice.getrandbits(160):040x}" for _ in range(HOLDER_COUNT)]
    moves = [Movement(ZERO_ADDRESS, account, dice.randrange(10**18, 10**24)) for account in accounts]
    moves += [Movement(accounts[place], accounts[place + 1], 10**17 + place) for place in range(60)]
    moves += [Movement(moves[place].recipient, accounts[0], 0) for place in range(3)]
    moves += [Movement(accounts[140], ZERO_ADDRESS, moves[140].value_raw), Movement(accounts[2], ZERO_ADDRESS, 5)]
    calls = [(owner, move_calldata(moves))]
    allowance = calldata("approve(address,uint256)", accounts[0], 7)
    calls += [(other, allowance) for other in others]
    for sender, data in calls:
        transaction = {"from": sender, "to": token, "data": data, "gas": hex(100_000_000)}
        mined_receipt(rpc, rpc.call("eth_sendTransaction", transaction))
    for _ in range(3):
        rpc.call("evm_mine")
    return token


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data_dir = tmp_path_factory.mktemp("site")
    with Anvil(flags=PRUNED) as anvil:
        described = Token(address=live_token(anvil), name="Live", symbol="LIVE", decimals=18)
        with Warehouse(data_dir).connect() as connection:

            async def take() -> Proof:
                async with pool_of(anvil.url) as pool:
                    events = TokenTransfers(described.address)
                    await ingest(pool, connection, events, start_block=0, confirmations=None)
                    fold_balances(connection)
                    taken = await take_list(
                        connection,
                        pool,
                        data_dir,
                        token=described,
                        level=ConsistencyLevel.FINALIZED,
                        snapshot_reason=None,
                        now=NOW,
                    )
                assert taken is not None
                return taken.proof

            proof = asyncio.run(take())
            record_status(
                connection, chain_id=8453, token=described, start_block=0, finalized_block=proof.block, now=NOW
            )
            context = DocumentContext(connection, lists_dir(data_dir), Installation("http://site.example"))
            documents = {
                row.path: render(row, read(row, context), Origin("g1", NOW))
                for row in PROJECTIONS
                if row.path in (HOLDERS, MAP)
            }
        files = {f"/data/{path.name}": path.read_bytes() for path in lists_dir(data_dir).glob("*.gz")}
        yield Site({**documents, **files}, anvil.url, data_dir, proof)


def client_of(files: dict[str, bytes]) -> httpx.Client:
    def answer(request: httpx.Request) -> httpx.Response:
        content = files.get(request.url.path)
        return httpx.Response(404) if content is None else httpx.Response(200, stream=httpx.ByteStream(content))

    return httpx.Client(transport=httpx.MockTransport(answer))


def offline(site: Site, block_hash: str | None) -> list[Check]:
    with client_of(site.files) as client:
        return list(run_offline_checks(client, "http://site.example", block_hash))


def failing(checks: list[Check]) -> set[str]:
    return {check.name for check in checks if check.outcome is Outcome.FAIL}


def with_list(site: Site, lines: list[str]) -> Site:
    """Returns the site with another list whose hash its document contains."""
    packed = gzip.compress("".join(line + "\n" for line in lines).encode())
    document = json.loads(site.files[HOLDERS])
    named = document["consistency"]["proof"]["holderList"]
    named |= {"sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)}
    files = {**site.files, site.list_path: packed, HOLDERS: json.dumps(document).encode()}
    return replace(site, files=files)


def later_by(blocks: int, site: Site) -> Site:
    """Returns the site with a list of a later block as its newest one; the manifest names the files of both."""
    block = site.proof.block + blocks
    document = json.loads(site.files[HOLDERS])
    document["consistency"] |= {"block": block, "blockHash": "0x" + "22" * 32}
    data = {path: body for path, body in site.files.items() if path.startswith("/data/")}
    data |= {f"/data/{csv_file_name(block)}": b"later", f"/data/{storage_file_name(block)}": b"later"}
    named = {path: ManifestFile(hashlib.sha256(body).hexdigest(), len(body)) for path, body in data.items()}
    private = new_private_key()
    key = SigningKey(thumbprint(private.public_key()), NOW, private)
    manifest = signed_manifest("http://site.example", "g2", 2, NOW, named, None, key)
    return replace(site, files={**site.files, **data, HOLDERS: json.dumps(document).encode(), MANIFEST_PATH: manifest})


def folder_of(site: Site, directory: Path) -> Path:
    for path in (site.list_path, site.storage_path):
        (directory / Path(path).name).write_bytes(site.files[path])
    return directory


def test_every_holder_of_a_real_token_is_proven_and_the_proof_says_how(site: Site) -> None:
    proof, storage = site.proof, site.proof.storage
    assert storage is not None and storage.balance_layout is not None and storage.supply_layout is not None
    assert (proof.verdict, storage.verdict, storage.reason) == (Verdict.PROVEN, StorageVerdict.PROVEN, None)
    assert (storage.proven, storage.unequal, storage.supply) == (HOLDER_COUNT - 1, 0, proof.total_supply)
    assert (int(storage.balance_layout.base, 16), int(storage.supply_layout.slot, 16)) == (3, 2)
    file = site.files[site.storage_path]
    assert storage.file is not None
    assert (storage.file.sha256, storage.file.bytes) == (hashlib.sha256(file).hexdigest(), len(file))
    assert len(file) <= 120 * storage.proven
    published = json.loads(site.files[HOLDERS])["consistency"]["proof"]["storage"]
    assert (published["verdict"], published["file"]["path"]) == ("proven", site.storage_path)


def test_with_an_rpc_every_balance_is_checked_too(site: Site) -> None:
    with client_of(site.files) as client:
        checks = list(run_checks(client, "http://site.example", [site.rpc_url]))
    assert verdict_of(checks) is Verdict.PROVEN
    assert [check.name for check in checks][-6:] == ["storage file", *ProofStep]


def test_offline_the_files_and_a_block_hash_are_enough(site: Site, tmp_path: Path) -> None:
    folder = folder_of(site, tmp_path)
    for checks in (offline(site, site.proof.block_hash), list(run_folder_checks(folder, site.proof.block_hash))):
        assert verdict_of(checks) is Verdict.PROVEN
        assert [check.name for check in checks][-5:] == [*ProofStep]
    for checks in (offline(site, None), list(run_folder_checks(folder, None))):
        assert verdict_of(checks) is Verdict.UNPROVEN
        open_checks = [check for check in checks if check.outcome is Outcome.UNKNOWN]
        assert [check.name for check in open_checks] == [ProofStep.HEADER]
        assert site.proof.block_hash in open_checks[0].detail


def test_a_changed_list_is_found_though_its_hash_and_its_sum_were_made_to_fit(site: Site, tmp_path: Path) -> None:
    lines = gzip.decompress(site.files[site.list_path]).decode().splitlines()
    (first, big), (last, small) = (line.split(",") for line in (lines[1], lines[-1]))
    moved = [lines[0], f"{first},{int(big) + 1}", *lines[2:-1], f"{last},{int(small) - 1}"]
    other = with_list(site, moved)
    assert failing(offline(other, site.proof.block_hash)) == {ProofStep.BALANCES}
    found = failing(list(run_folder_checks(folder_of(other, tmp_path), site.proof.block_hash)))
    assert found == {ProofStep.BALANCES}


def test_another_block_hash_and_a_changed_file_are_found(site: Site) -> None:
    document = json.loads(site.files[HOLDERS])
    document["consistency"]["blockHash"] = "0x" + "11" * 32
    claiming = replace(site, files={**site.files, HOLDERS: json.dumps(document).encode()})
    assert ProofStep.HEADER in failing(offline(claiming, "0x" + "11" * 32))
    cut = replace(site, files={**site.files, site.storage_path: site.files[site.storage_path][:-9]})
    assert failing(offline(cut, site.proof.block_hash)) == {"storage file", "storage proof"}
    gone = replace(site, files={path: body for path, body in site.files.items() if path != site.storage_path})
    assert failing(offline(gone, site.proof.block_hash)) == {"storage file", "storage proof"}


def test_a_folder_of_several_lists_is_searched_for_the_block(site: Site, tmp_path: Path) -> None:
    folder = folder_of(site, tmp_path)
    (folder / storage_file_name(site.proof.block + 9)).write_bytes(b"another")
    (folder / csv_file_name(site.proof.block + 9)).write_bytes(site.files[site.list_path])
    assert verdict_of(run_folder_checks(folder, site.proof.block_hash)) is Verdict.PROVEN
    with pytest.raises(NothingToVerify, match="no list with its storage proof of block"):
        list(run_folder_checks(folder, "0x" + "11" * 32))
    with pytest.raises(NothingToVerify):
        list(run_folder_checks(tmp_path / "..", None))


def test_a_list_of_a_site_is_proven_by_its_hash_after_newer_ones(site: Site) -> None:
    later = later_by(9, site)
    assert verdict_of(offline(later, site.proof.block_hash)) is Verdict.PROVEN
    with pytest.raises(
        NothingToVerify, match=f"no list .* for block 0x{'11' * 32}.* {site.proof.block + 9}, 0x{'22' * 32}"
    ):
        offline(later, "0x" + "11" * 32)
    lines = gzip.decompress(site.files[site.list_path]).decode().splitlines()
    changed = later_by(9, with_list(site, [*lines[:-1], lines[-1] + "0"]))
    assert ProofStep.BALANCES in failing(offline(changed, site.proof.block_hash))


def test_a_published_tree_is_a_folder_with_its_lists_in_data(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    folder_of(site, tmp_path / "data")
    assert verdict_of(run_folder_checks(tmp_path, site.proof.block_hash)) is Verdict.PROVEN


def test_a_site_without_a_storage_proof_says_why(site: Site) -> None:
    document = json.loads(site.files[HOLDERS])
    document["consistency"]["proof"]["storage"] |= {"verdict": "unproven", "reason": "no_state", "file": None}
    other = replace(site, files={**site.files, HOLDERS: json.dumps(document).encode()})
    with pytest.raises(NothingToVerify, match="no_state"):
        offline(other, site.proof.block_hash)
    with client_of(other.files) as client:
        checks = list(run_checks(client, "http://site.example", [site.rpc_url]))
    assert verdict_of(checks) is Verdict.PROVEN and "storage unproven (no_state)" in checks[0].detail


def test_the_command_proves_a_folder_and_refuses_what_is_no_hash(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(folder_of(site, tmp_path))
    verify(folder, None, as_json=True, offline=True, block_hash=site.proof.block_hash.upper().replace("0X", "0x"))
    assert json.loads(capsys.readouterr().out)["verdict"] == "proven"
    with pytest.raises(typer.Exit):
        verify(folder, None, as_json=True, offline=True)
    assert json.loads(capsys.readouterr().out)["verdict"] == "unproven"
    for arguments in ({"offline": True, "block_hash": "0x12"}, {"block_hash": site.proof.block_hash}):
        with pytest.raises(typer.Exit):
            verify(folder, None, as_json=True, **arguments)
        assert json.loads(capsys.readouterr().out)["code"] == "settings_invalid"


@pytest.mark.parametrize(
    ("named", "offline", "detail"),
    [
        ("nowhere", True, "There is no folder nowhere."),
        ("nowhere/", True, "There is no folder nowhere."),
        ("127.0.0.1:8000", True, "There is no folder 127.0.0.1:8000."),
        ("list.csv", True, "list.csv is a file, not a folder."),
        (".", False, ". is a folder, not a service."),
        (
            "nowhere",
            False,
            "URL is not an address: an address is http:// or https://, a host, and a port from 1 to 65535 if any.",
        ),
        (
            "ftp://svc.example",
            True,
            "URL is not an address: an address is http:// or https://, a host, and a port from 1 to 65535 if any.",
        ),
    ],
)
def test_a_target_that_is_neither_a_service_nor_a_folder_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    named: str,
    offline: bool,
    detail: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.csv").write_text("")
    with pytest.raises(typer.Exit) as left:
        verify(named, None, as_json=True, offline=offline)
    assert (left.value.exit_code, json.loads(capsys.readouterr().out)["detail"]) == (2, detail)


def test_retention_deletes_a_storage_proof_with_its_list(site: Site, tmp_path: Path) -> None:
    with Warehouse(tmp_path).connect() as connection:
        target = lists_dir(tmp_path)
        target.mkdir()
        for name in (csv_file_name(7), storage_file_name(7), storage_file_name(8) + ".partial"):
            (target / name).write_bytes(b"x")
        prune_lists(connection, tmp_path, NOW)
        assert not list(target.iterdir())
    assert (lists_dir(site.data_dir) / storage_file_name(site.proof.block)).is_file()


def test_a_long_list_is_proven_when_it_is_persisted(site: Site, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(holder_lists, "PROVEN_AT_ONCE", HOLDER_COUNT - 2)
    reasons = []
    with Anvil(flags=PRUNED) as anvil, Warehouse(tmp_path).connect() as connection:
        token = Token(address=live_token(anvil), name="Live", symbol="LIVE", decimals=18)

        async def take(snapshot: bool) -> None:
            async with pool_of(anvil.url) as pool:
                await ingest(pool, connection, TokenTransfers(token.address), start_block=0, confirmations=None)
                fold_balances(connection)
                taken = await take_list(
                    connection,
                    pool,
                    tmp_path,
                    token=token,
                    level=ConsistencyLevel.FINALIZED,
                    snapshot_reason="demand" if snapshot else None,
                    now=NOW,
                )
            assert taken is not None and taken.proof.storage is not None
            reasons.append(taken.proof.storage.reason)

        for snapshot in (False, False, True):  # the very first list is always persisted
            asyncio.run(take(snapshot))
            anvil.rpc.call("evm_mine")
    assert reasons == [None, StorageReason.BETWEEN_SNAPSHOTS, None]


# balanceOf(address) and totalSupply() of a Vyper contract: HashMap at slot 3, supply at slot 5.
VYPER_CODE = (
    "0x60003560e01c6318160ddd1460285760036000526004356020526040600020546000526020 6000f35b60055460005260206000f3"
).replace(" ", "")


def vyper_slot(address: str) -> int:
    return int.from_bytes(keccak((3).to_bytes(32) + bytes.fromhex(address[2:]).rjust(32, b"\0")))


def traced_or_not(url: str, traced: bool) -> Callable[..., Any]:
    class Untraced:
        """A pool whose nodes don't trace calls."""

        def __init__(self, pool: Any) -> None:
            self._pool = pool

        async def call(self, method: str, params: Any) -> Any:
            return await self._pool.call(method, params)

        async def batch(self, calls: Any) -> Any:
            return await self._pool.batch([("eth_untraced", params) for _, params in calls])

    async def run(block: dict[str, Any], token: str, rows: list[tuple[str, int]]) -> Any:
        async with pool_of(url) as pool:
            return await prove_storage(
                pool if traced else Untraced(pool),
                token=token,
                block=int(block["number"], 16),
                block_hash=block["hash"],
                rows=rows,
                total_supply=sum(balance for _, balance in rows),
            )

    return run


@pytest.mark.parametrize("traced", [True, False])
def test_a_vyper_token_on_a_real_evm_is_proven_with_and_without_traces(anvil: Anvil, traced: bool) -> None:
    token, rows = "0x" + "5e" * 20, [("0x" + f"{place:02x}" * 20, 10**20 - place) for place in range(1, 40)]
    words = {vyper_slot(address): balance for address, balance in rows} | {5: sum(balance for _, balance in rows)}
    anvil.rpc.call("anvil_setCode", token, VYPER_CODE)
    for slot, word in words.items():
        anvil.rpc.call("anvil_setStorageAt", token, f"0x{slot:064x}", f"0x{word:064x}")
    anvil.rpc.call("evm_mine")
    block = anvil.rpc.call("eth_getBlockByNumber", "latest", False)
    proof, multiproof = asyncio.run(traced_or_not(anvil.url, traced)(block, token, rows))
    assert (proof.verdict, proof.reason) == (StorageVerdict.PROVEN, None)
    assert proof.balance_layout.order == "vyper" and multiproof.siblings == []
    assert prove(unpack(pack(multiproof)), rows, block["hash"]).holders == 39
