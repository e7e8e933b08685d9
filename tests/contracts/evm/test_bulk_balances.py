"""The single call that returns the digest of many balances, on a running chain."""

import pytest
from holder_rows import address

from cli.demo.anvil import Anvil
from cli.demo.rpc import RpcError
from cli.demo.write import deploy, mined_receipt
from contracts.evm.bulk_balances import (
    ADDRESSES_PER_CALL,
    balances_digest,
    balances_digest_call,
    read_balances_digest,
)
from contracts.evm.codec import selector

HOLDERS = [address(0x1000 + number) for number in range(4)]
HELD = [1, 10**30, 2**255, 77]


@pytest.fixture
def token(anvil: Anvil) -> str:
    deployer = anvil.rpc.call("eth_accounts")[0]
    token = deploy(anvil.rpc, deployer, "UsdcStandIn")
    for holder, units in zip(HOLDERS, HELD, strict=True):
        data = selector("mint(address,uint256)") + holder[2:].rjust(64, "0") + f"{units:064x}"
        sent = anvil.rpc.call("eth_sendTransaction", {"from": deployer, "to": token, "data": data, "gas": hex(200_000)})
        assert mined_receipt(anvil.rpc, sent)["status"] == "0x1"
    return token


def asked(anvil: Anvil, token: str, holders: list[str]) -> bytes | None:
    method, params = balances_digest_call(token, holders, int(anvil.rpc.call("eth_blockNumber"), 16))
    return read_balances_digest(anvil.rpc.call(method, *params))


def test_a_node_answers_with_the_digest_of_the_balances(anvil: Anvil, token: str):
    assert asked(anvil, token, HOLDERS) == balances_digest(HELD)
    assert asked(anvil, token, HOLDERS[:1]) == balances_digest(HELD[:1])
    assert asked(anvil, token, HOLDERS) != balances_digest([1, 10**30 - 1, 2**255, 77])


def test_a_full_call_fits_into_what_a_node_allows(anvil: Anvil, token: str):
    strangers = [address(0xABCDEF0000 + number) for number in range(ADDRESSES_PER_CALL - 4)]
    assert asked(anvil, token, [*strangers, *HOLDERS]) == balances_digest([0] * len(strangers) + HELD)


def test_a_digest_may_begin_as_no_code_may(anvil: Anvil, token: str):
    """Code that begins with 0xef is refused (EIP-3541), so the answer starts with an extra byte."""
    strangers = next(count for count in range(2000) if balances_digest([0] * count + HELD)[0] == 0xEF)
    holders = [*(address(0xABCDEF0000 + number) for number in range(strangers)), *HOLDERS]
    assert asked(anvil, token, holders) == balances_digest([0] * strangers + HELD)


@pytest.mark.parametrize("other", ["no contract", "another contract"])
def test_an_address_that_has_no_balances_is_an_error_and_no_digest(anvil: Anvil, token: str, other: str):
    stranger = address(5) if other == "no contract" else deploy(anvil.rpc, anvil.rpc.call("eth_accounts")[0], "Bidwall")
    with pytest.raises(RpcError):
        asked(anvil, stranger, HOLDERS)


@pytest.mark.parametrize("answer", [None, "0x", "0x" + "00" * 33, "0x70" + "zz" * 32, "0x70" + "11" * 31, 7])
def test_an_answer_of_another_form_is_no_digest(answer):
    assert read_balances_digest(answer) is None
