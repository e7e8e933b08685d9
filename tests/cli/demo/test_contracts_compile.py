import json
import subprocess

import pytest

from cli.demo.anvil import Anvil, install
from cli.demo.compile import ARTIFACTS_DIR, CHAIN_DIR, artifacts_of, compile_contracts, load_artifact
from cli.demo.rpc import RpcError, calldata
from cli.demo.write import deploy, mined_receipt, move_calldata

ETHER = 10**18


def test_the_committed_artifacts_are_what_the_sources_compile_to():
    install()
    compiled = compile_contracts()
    assert set(compiled) == {path.stem for path in ARTIFACTS_DIR.glob("*.json")}
    assert {name: load_artifact(name) for name in compiled} == compiled


def test_a_complaint_of_the_compiler_is_an_error():
    output = {"errors": [{"formattedMessage": "Warning: unused variable"}], "contracts": {}}
    with pytest.raises(ValueError, match="unused variable"):
        artifacts_of(output, "0.8.37")


def test_the_lock_has_integrity_hashes_and_no_download_addresses():
    packages = json.loads((CHAIN_DIR / "package-lock.json").read_text())["packages"]
    installed = {name: package for name, package in packages.items() if name}
    assert installed
    assert all(package["integrity"].startswith("sha512-") for package in installed.values())
    assert not any("resolved" in package for package in installed.values())


def test_installed_packages_are_not_tracked():
    tracked = subprocess.run(["git", "ls-files", str(CHAIN_DIR)], capture_output=True, text=True, check=True).stdout
    assert "node_modules" not in tracked


def send(anvil: Anvil, sender: str, to: str, data: str = "0x", value: int = 0) -> dict:
    transaction = {"from": sender, "to": to, "data": data, "value": hex(value), "gas": hex(1_000_000)}
    return mined_receipt(anvil.rpc, anvil.rpc.call("eth_sendTransaction", transaction))


def uint(anvil: Anvil, to: str, data: str) -> int:
    return int(anvil.rpc.call("eth_call", {"to": to, "data": data}, "latest"), 16)


def balance_of(anvil: Anvil, token: str, address: str) -> int:
    return uint(anvil, token, calldata("balanceOf(address)", address))


def test_the_service_token_mints_transfers_and_burns(anvil):
    owner, alice, bob, *_ = anvil.rpc.call("eth_accounts")
    token = deploy(anvil.rpc, owner, "ServiceToken", ["string", "string"], ["Service", "SVC"])
    send(anvil, owner, token, calldata("mint(address,uint256)", alice, 2**256 - 1))
    send(anvil, alice, token, calldata("transfer(address,uint256)", bob, 7))
    send(anvil, alice, token, calldata("approve(address,uint256)", bob, 5))
    send(anvil, bob, token, calldata("transferFrom(address,address,uint256)", alice, owner, 5))
    send(anvil, bob, token, calldata("burn(uint256)", 2))
    assert uint(anvil, token, calldata("totalSupply()")) == 2**256 - 3
    assert [balance_of(anvil, token, who) for who in (owner, alice, bob)] == [5, 2**256 - 13, 5]
    for refused in (
        (alice, calldata("mint(address,uint256)", alice, 1)),
        (owner, calldata("mint(address,uint256)", alice, 3)),
        (bob, calldata("transfer(address,uint256)", alice, 6)),
        (bob, calldata("transferFrom(address,address,uint256)", alice, owner, 1)),
        (bob, calldata("burn(uint256)", 6)),
    ):
        with pytest.raises(RpcError):
            send(anvil, refused[0], token, refused[1])


def test_only_the_owner_of_the_demo_token_moves_what_others_hold(anvil):
    owner, stranger, *_ = anvil.rpc.call("eth_accounts")
    token = deploy(anvil.rpc, owner, "DemoToken", ["string", "string"], ["Demo", "DEMO"])
    send(anvil, owner, token, move_calldata([]))
    with pytest.raises(RpcError):
        send(anvil, stranger, token, move_calldata([]))


def test_only_its_owner_can_withdraw_everything_from_the_bidwall(anvil):
    owner, giver, taker, *_ = anvil.rpc.call("eth_accounts")
    bidwall = deploy(anvil.rpc, owner, "Bidwall")
    token = deploy(anvil.rpc, owner, "ServiceToken", ["string", "string"], ["Service", "SVC"])
    send(anvil, owner, token, calldata("mint(address,uint256)", bidwall, 50))
    received = send(anvil, giver, bidwall, value=3 * ETHER)["logs"][0]
    assert int(received["topics"][1], 16) == int(giver, 16)
    assert [int(received["data"][2:][start : start + 64], 16) for start in (0, 64)] == [3 * ETHER, 3 * ETHER]

    take_all = calldata("withdraw(address,uint256)", taker, 3 * ETHER)
    take_tokens = calldata("withdrawToken(address,address,uint256)", token, taker, 50)
    for refused in (take_all, take_tokens):
        with pytest.raises(RpcError):
            send(anvil, taker, bidwall, refused)
    with pytest.raises(RpcError):
        send(anvil, owner, bidwall, calldata("withdrawToken(address,address,uint256)", giver, taker, 1))
    send(anvil, owner, bidwall, take_all)
    send(anvil, owner, bidwall, take_tokens)
    assert int(anvil.rpc.call("eth_getBalance", bidwall, "latest"), 16) == 0
    assert balance_of(anvil, token, taker) == 50
