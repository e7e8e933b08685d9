import pytest
from eth_account import Account
from eth_utils.crypto import keccak

from cli.demo.anvil import Anvil
from cli.demo.rpc import RpcError, calldata
from cli.demo.write import deploy, mined_receipt

PAYER = Account.from_key("0x" + "11" * 32)
NONCE = "0x" + "ab" * 32
FAR_AHEAD = 2**40
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141

TRANSFER_FIELDS = [
    {"name": "from", "type": "address"},
    {"name": "to", "type": "address"},
    {"name": "value", "type": "uint256"},
    {"name": "validAfter", "type": "uint256"},
    {"name": "validBefore", "type": "uint256"},
    {"name": "nonce", "type": "bytes32"},
]
CANCEL_FIELDS = [{"name": "authorizer", "type": "address"}, {"name": "nonce", "type": "bytes32"}]
WITH_AUTHORIZATION = "WithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
SPENT = keccak(text="AuthorizationSpent(address,bytes32)")[:4].hex()
INVALID = keccak(text="SignatureInvalid()")[:4].hex()


class Usdc:
    """The stand-in on an anvil, with the payer's signatures."""

    def __init__(self, anvil: Anvil) -> None:
        self.rpc = anvil.rpc
        self.owner, self.payee, self.relayer, *_ = anvil.rpc.call("eth_accounts")
        self.address = deploy(anvil.rpc, self.owner, "UsdcStandIn")
        self.send(self.owner, calldata("mint(address,uint256)", PAYER.address, 100))

    def send(self, sender: str, data: str) -> dict:
        transaction = {"from": sender, "to": self.address, "data": data, "gas": hex(1_000_000)}
        return mined_receipt(self.rpc, self.rpc.call("eth_sendTransaction", transaction))

    def refusal(self, sender: str, data: str) -> str:
        """Returns the error that the call reverts with."""
        with pytest.raises(RpcError) as refused:
            self.rpc.call("eth_call", {"from": sender, "to": self.address, "data": data}, "latest")
        return str(refused.value)

    def signed(self, kind: str, fields: list[dict], message: dict, chain_id: int = 8453) -> tuple[int, bytes, bytes]:
        domain = {"name": "USD Coin", "version": "2", "chainId": chain_id, "verifyingContract": self.address}
        signature = PAYER.sign_typed_data(domain, {kind: fields}, message)
        return signature.v, signature.r.to_bytes(32), signature.s.to_bytes(32)

    def authorization(
        self, verb: str = "transfer", value: int = 40, after: int = 0, before: int = FAR_AHEAD, **options
    ):
        message = {
            "from": PAYER.address,
            "to": self.payee,
            "value": value,
            "validAfter": after,
            "validBefore": before,
            "nonce": NONCE,
        }
        v, r, s = self.signed(f"{verb.capitalize()}WithAuthorization", TRANSFER_FIELDS, message, **options)
        values = (PAYER.address, self.payee, value, after, before, bytes.fromhex(NONCE[2:]))
        return lambda v=v, r=r, s=s, values=values: calldata(verb + WITH_AUTHORIZATION, *values, v, r, s)

    def balance_of(self, address: str) -> int:
        data = calldata("balanceOf(address)", address)
        return int(self.rpc.call("eth_call", {"to": self.address, "data": data}, "latest"), 16)

    def spent(self) -> bool:
        data = calldata("authorizationState(address,bytes32)", PAYER.address, bytes.fromhex(NONCE[2:]))
        return bool(int(self.rpc.call("eth_call", {"to": self.address, "data": data}, "latest"), 16))


@pytest.fixture
def usdc(anvil) -> Usdc:
    return Usdc(anvil)


def test_a_signed_transfer_is_executed_once_whoever_submits_it(usdc):
    data = usdc.authorization()()
    assert not usdc.spent()
    logs = usdc.send(usdc.relayer, data)["logs"]
    assert logs[0]["topics"] == [
        "0x" + keccak(text="AuthorizationUsed(address,bytes32)").hex(),
        "0x" + PAYER.address[2:].lower().rjust(64, "0"),
        NONCE,
    ]
    assert int(logs[1]["data"], 16) == 40
    assert (usdc.balance_of(PAYER.address), usdc.balance_of(usdc.payee), usdc.spent()) == (60, 40, True)
    assert SPENT in usdc.refusal(usdc.relayer, data)


def test_only_the_payee_can_use_an_authorization_to_receive(usdc):
    data = usdc.authorization("receive")()
    usdc.refusal(usdc.relayer, data)
    usdc.send(usdc.payee, data)
    assert usdc.balance_of(usdc.payee) == 40


def test_a_cancelled_authorization_is_refused(usdc):
    message = {"authorizer": PAYER.address, "nonce": NONCE}
    v, r, s = usdc.signed("CancelAuthorization", CANCEL_FIELDS, message)
    nonce = bytes.fromhex(NONCE[2:])
    usdc.send(
        usdc.relayer,
        calldata("cancelAuthorization(address,bytes32,uint8,bytes32,bytes32)", PAYER.address, nonce, v, r, s),
    )
    assert usdc.spent()
    assert SPENT in usdc.refusal(usdc.relayer, usdc.authorization()())
    assert usdc.balance_of(PAYER.address) == 100


def test_an_authorization_holds_only_between_its_two_instants(usdc):
    for early_or_late in ({"after": FAR_AHEAD}, {"before": 1}):
        usdc.refusal(usdc.relayer, usdc.authorization(**early_or_late)())


def test_a_signature_for_another_amount_chain_or_message_is_refused(usdc):
    good = usdc.authorization()
    raised = (PAYER.address, usdc.payee, 41, 0, FAR_AHEAD, bytes.fromhex(NONCE[2:]))
    assert INVALID in usdc.refusal(usdc.relayer, good(values=raised))
    assert INVALID in usdc.refusal(usdc.relayer, usdc.authorization(chain_id=1)())
    assert INVALID in usdc.refusal(usdc.relayer, good(v=26))
    _, _, s = usdc.signed(
        "TransferWithAuthorization",
        TRANSFER_FIELDS,
        {
            "from": PAYER.address,
            "to": usdc.payee,
            "value": 40,
            "validAfter": 0,
            "validBefore": FAR_AHEAD,
            "nonce": NONCE,
        },
    )
    mirrored = (ORDER - int.from_bytes(s)).to_bytes(32)
    for v in (27, 28):
        assert INVALID in usdc.refusal(usdc.relayer, good(v=v, s=mirrored))


def test_nobody_pays_more_than_they_hold(usdc):
    usdc.refusal(usdc.relayer, usdc.authorization(value=101)())
    usdc.send(usdc.relayer, usdc.authorization(value=100)())
