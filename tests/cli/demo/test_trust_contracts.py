"""The trust registry and the escrow on a real EVM: permissions, the weighting of scores, and no stuck funds."""

import random

import pytest
from eth_abi.abi import decode, encode
from eth_utils.crypto import keccak

from cli.demo.anvil import Anvil
from cli.demo.compile import compile_sources
from cli.demo.rpc import Rpc, RpcError, calldata
from cli.demo.write import deploy, deploy_code, mined_receipt

DAY_S = 86_400
HALF_LIFE_S = 7 * DAY_S
ETHER = 10**18
NATIVE = "0x" + "0" * 40
AGENT, OTHER = "0x" + "a1" * 20, "0x" + "a2" * 20

ATTACKER = """
// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IEscrow {
    function withdraw(address token, address to) external;
    function release(uint256 id) external;
    function deposit(address receiver, uint256 minScore, uint256 deadline) external payable returns (uint256);
}

/// Tries to come back while it is being paid: as the receiver of native coin, and as a token that is being moved.
contract Attacker {
    IEscrow immutable escrow;
    uint256 public tries;
    uint256 public successes;

    constructor(address escrow_) {
        escrow = IEscrow(escrow_);
    }

    function take() external {
        escrow.withdraw(address(0), address(this));
    }

    function takeTo(address to) external {
        escrow.withdraw(address(0), to);
    }

    function comeBack() private {
        ++tries;
        try escrow.withdraw(address(0), address(this)) { ++successes; } catch {}
        try escrow.release(1) { ++successes; } catch {}
        try escrow.deposit{value: 0}(address(this), 1, block.timestamp + 1) { ++successes; } catch {}
    }

    receive() external payable {
        comeBack();
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function transferFrom(address, address, uint256) external returns (bool) {
        comeBack();
        return true;
    }
}

/// Refuses every payment.
contract Refuser {
    function take(IEscrow escrow, address to) external {
        escrow.withdraw(address(0), to);
    }
}
"""


class Chain:
    """A registry with one attester, and an escrow that reads the registry."""

    def __init__(self, anvil: Anvil) -> None:
        self.rpc: Rpc = anvil.rpc
        self.owner, self.attester, self.payer, self.stranger, *_ = anvil.rpc.call("eth_accounts")
        self.registry = deploy(self.rpc, self.owner, "TrustRegistry", ["uint256"], [HALF_LIFE_S])
        self.escrow = deploy(self.rpc, self.owner, "Escrow", ["address"], [self.registry])
        self.jobs = 0
        self.send(self.owner, self.registry, "setAttester(address,bool)", self.attester, True)

    def send(self, sender: str, to: str, signature: str, *values, wei: int = 0) -> dict:
        data = calldata(signature, *values)
        transaction = {"from": sender, "to": to, "data": data, "value": hex(wei), "gas": hex(3_000_000)}
        return mined_receipt(self.rpc, self.rpc.call("eth_sendTransaction", transaction))

    def refusal(self, sender: str, to: str, signature: str, *values, wei: int = 0) -> str:
        """Returns the selector of the error that the call reverts with."""
        call = {"from": sender, "to": to, "data": calldata(signature, *values), "value": hex(wei)}
        with pytest.raises(RpcError) as refused:
            self.rpc.call("eth_call", call, "latest")
        return str(refused.value)

    def read(self, to: str, types: list[str], signature: str, *values) -> tuple:
        answer = self.rpc.call("eth_call", {"to": to, "data": calldata(signature, *values)}, "latest")
        return decode(types, bytes.fromhex(answer[2:]))

    def number(self, to: str, signature: str, *values) -> int:
        return self.read(to, ["uint256"], signature, *values)[0]

    def attest(self, score: int, agent: str = AGENT) -> dict:
        self.jobs += 1
        values = (agent, score, self.jobs.to_bytes(32), f"https://jobs.example/{self.jobs}")
        return self.send(self.attester, self.registry, "attest(address,uint256,bytes32,string)", *values)

    def wait(self, seconds: int) -> None:
        self.rpc.batch([("evm_increaseTime", [seconds]), ("evm_mine", [])])

    def now(self) -> int:
        return int(self.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)

    def scores(self, agent: str = AGENT) -> tuple[int, int]:
        names = ("weighted", "average")
        weighted, average = (self.number(self.registry, f"{name}Score(address)", agent) for name in names)
        return weighted, average

    def meets(self, least: int, agent: str = AGENT) -> tuple:
        types = ["bool", "uint256"]
        return self.read(self.registry, types, "meetsTrustThreshold(address,uint256)", agent, least)

    def deposit(self, receiver: str, wei: int = ETHER, least: int = 70, term_s: int = DAY_S) -> int:
        values = (receiver, least, self.now() + term_s)
        self.send(self.payer, self.escrow, "deposit(address,uint256,uint256)", *values, wei=wei)
        return self.number(self.escrow, "depositTotal()")

    def native(self, address: str) -> int:
        return int(self.rpc.call("eth_getBalance", address, "latest"), 16)


def error(signature: str) -> str:
    return keccak(text=signature)[:4].hex()


@pytest.fixture
def chain(anvil) -> Chain:
    return Chain(anvil)


def test_an_attestation_is_an_event_with_all_that_a_reader_needs(chain):
    receipt = chain.attest(80)
    (log,) = receipt["logs"]
    assert log["topics"] == [
        "0x" + keccak(text="Attested(address,address,bytes32,uint256,uint256,uint256,string)").hex(),
        "0x" + AGENT[2:].rjust(64, "0"),
        "0x" + chain.attester[2:].lower().rjust(64, "0"),
        "0x" + (1).to_bytes(32).hex(),
    ]
    said = decode(["uint256", "uint256", "uint256", "string"], bytes.fromhex(log["data"][2:]))
    assert said == (1, 80, chain.now(), "https://jobs.example/1")


def test_only_authorised_attesters_speak_and_only_the_owner_authorises(chain):
    attest = "attest(address,uint256,bytes32,string)"
    said = (AGENT, 80, b"\1" * 32, "")
    assert error("NotAttester(address)") in chain.refusal(chain.stranger, chain.registry, attest, *said)
    authorise = ("setAttester(address,bool)", chain.stranger, True)
    assert error("NotOwner()") in chain.refusal(chain.stranger, chain.registry, *authorise)
    chain.send(chain.owner, chain.registry, *authorise)
    chain.send(chain.stranger, chain.registry, attest, *said)
    chain.send(chain.owner, chain.registry, "setAttester(address,bool)", chain.stranger, False)
    later = (AGENT, 80, b"\2" * 32, "")
    assert error("NotAttester(address)") in chain.refusal(chain.stranger, chain.registry, attest, *later)
    assert chain.number(chain.registry, "attestationCount(address)", AGENT) == 1


def test_scores_are_1_to_100_and_a_job_is_attested_once_by_one_attester(chain):
    attest = "attest(address,uint256,bytes32,string)"

    def refusal(*said) -> str:
        return chain.refusal(chain.attester, chain.registry, attest, *said)

    for score in (0, 101, 2**255):
        assert error("ScoreOutOfRange(uint256)") in refusal(AGENT, score, b"\1" * 32, "")
    assert error("SelfAttestation()") in refusal(chain.attester, 80, b"\1" * 32, "")
    assert error("ZeroAddress()") in refusal(NATIVE, 80, b"\1" * 32, "")
    assert error("UriTooLong(uint256)") in refusal(AGENT, 80, b"\1" * 32, "u" * 513)
    for score in (1, 100):
        chain.attest(score)
    assert error("JobAttestedBefore(address,bytes32)") in refusal(AGENT, 80, (2).to_bytes(32), "")
    chain.send(chain.attester, chain.registry, attest, OTHER, 80, (2).to_bytes(32), "u" * 512)


def test_recent_work_weighs_more_and_the_score_does_not_move_between_attestations(chain):
    chain.attest(20)
    chain.wait(HALF_LIFE_S)
    chain.attest(80)
    # The first score has half its weight: (20 * 0.5 + 80) / 1.5 = 60, slightly less for the second of its block.
    assert chain.scores() in ((60, 50), (59, 50))
    held = chain.scores()
    chain.wait(100 * HALF_LIFE_S)
    assert chain.scores() == held
    chain.attest(90)
    assert chain.scores() == (90, 63)
    chain.wait(300 * HALF_LIFE_S)
    chain.attest(10)
    assert chain.scores() == (10, 50)


def test_equal_scores_stay_what_they_are_however_they_are_spread(chain):
    rng = random.Random(7)
    for _ in range(25):
        chain.wait(rng.randint(1, 20 * DAY_S))
        chain.attest(70)
        assert chain.scores() == (70, 70)


def test_a_threshold_is_met_from_exactly_its_score_on_and_by_nobody_without_attestations(chain):
    assert chain.meets(0) == (False, 0)
    chain.attest(70)
    assert [chain.meets(least) for least in (69, 70, 71)] == [(True, 70), (True, 70), (False, 70)]
    assert chain.meets(1, OTHER) == (False, 0)
    assert chain.read(chain.registry, ["bool"], "registered(address)", AGENT) == (True,)
    assert chain.read(chain.registry, ["bool"], "registered(address)", OTHER) == (False,)


@pytest.mark.parametrize("half_life_s", [0, 3650 * DAY_S + 1])
def test_a_registry_with_an_absurd_half_life_can_not_be_created(anvil, half_life_s):
    with pytest.raises(RpcError):
        deploy(anvil.rpc, anvil.rpc.call("eth_accounts")[0], "TrustRegistry", ["uint256"], [half_life_s])


def test_funds_are_released_only_to_a_receiver_that_meets_its_threshold(chain):
    receiver = chain.stranger
    first = chain.deposit(receiver)
    release = ("release(uint256)", first)
    assert error("TrustTooLow(uint256,uint256)") in chain.refusal(receiver, chain.escrow, *release)
    chain.attest(69, receiver)
    assert error("TrustTooLow(uint256,uint256)") in chain.refusal(receiver, chain.escrow, *release)
    chain.wait(3600)
    chain.attest(75, receiver)
    chain.send(receiver, chain.escrow, *release)
    assert error("NotHeld(uint256)") in chain.refusal(receiver, chain.escrow, *release)
    chain.wait(2 * DAY_S)
    assert error("NotHeld(uint256)") in chain.refusal(chain.payer, chain.escrow, "refund(uint256)", first)
    assert error("NothingToDo()") in chain.refusal(
        chain.payer, chain.escrow, "withdraw(address,address)", NATIVE, OTHER
    )
    chain.send(receiver, chain.escrow, "withdraw(address,address)", NATIVE, OTHER)
    assert (chain.native(OTHER), chain.native(chain.escrow)) == (ETHER, 0)


def test_the_payer_can_take_funds_back_after_the_deadline_and_not_before(chain):
    chain.attest(99, chain.stranger)
    number = chain.deposit(chain.stranger)
    assert error("TooEarly(uint256)") in chain.refusal(chain.payer, chain.escrow, "refund(uint256)", number)
    chain.wait(DAY_S + 1)
    assert error("TooLate(uint256)") in chain.refusal(chain.stranger, chain.escrow, "release(uint256)", number)
    chain.send(chain.stranger, chain.escrow, "refund(uint256)", number)
    chain.send(chain.payer, chain.escrow, "withdraw(address,address)", NATIVE, OTHER)
    assert (chain.native(OTHER), chain.native(chain.escrow)) == (ETHER, 0)


def test_deposits_that_could_never_end_well_are_refused(chain):
    deposit, now = "deposit(address,uint256,uint256)", chain.now()

    def refusal(*values, wei: int = 1) -> str:
        return chain.refusal(chain.payer, chain.escrow, deposit, *values, wei=wei)

    assert error("NothingToDo()") in refusal(AGENT, 70, now + DAY_S, wei=0)
    assert error("ZeroAddress()") in refusal(NATIVE, 70, now + DAY_S)
    for least in (0, 101):
        assert error("ScoreOutOfRange(uint256)") in refusal(AGENT, least, now + DAY_S)
    for deadline in (0, now - 1, now + 400 * DAY_S, 2**256 - 1):
        assert error("DeadlineOutOfRange(uint256)") in refusal(AGENT, 70, deadline)
    for number in (0, 1):
        assert error("NotHeld(uint256)") in chain.refusal(chain.payer, chain.escrow, "release(uint256)", number)
    with pytest.raises(RpcError):
        transaction = {"from": chain.payer, "to": chain.escrow, "value": "0x1", "gas": hex(100_000)}
        mined_receipt(chain.rpc, chain.rpc.call("eth_sendTransaction", transaction))


def test_tokens_are_held_and_paid_out_like_native_coin(chain):
    token = deploy(chain.rpc, chain.owner, "UsdcStandIn")
    chain.send(chain.owner, token, "mint(address,uint256)", chain.payer, 100)
    hold = ("depositToken(address,uint256,address,uint256,uint256)", token, 60, AGENT, 70, chain.now() + DAY_S)
    chain.refusal(chain.payer, chain.escrow, *hold)
    chain.send(chain.payer, token, "approve(address,uint256)", chain.escrow, 60)
    chain.send(chain.payer, chain.escrow, *hold)
    assert chain.number(token, "balanceOf(address)", chain.escrow) == 60
    chain.wait(DAY_S + 1)
    chain.send(chain.payer, chain.escrow, "refund(uint256)", 1)
    chain.send(chain.payer, chain.escrow, "withdraw(address,address)", token, OTHER)
    assert chain.number(token, "balanceOf(address)", OTHER) == 60
    assert chain.number(token, "balanceOf(address)", chain.escrow) == 0
    no_contract = ("depositToken(address,uint256,address,uint256,uint256)", OTHER, 1, AGENT, 70, chain.now() + DAY_S)
    assert error("TransferFailed()") in chain.refusal(chain.payer, chain.escrow, *no_contract)


def test_an_attacker_that_comes_back_while_it_is_paid_gets_what_is_its_own_once(chain):
    attackers = compile_sources({"Attacker.sol": ATTACKER})
    code = attackers["Attacker"]["bytecode"] + encode(["address"], [chain.escrow]).hex()
    attacker = deploy_code(chain.rpc, chain.stranger, code)
    chain.attest(90, attacker)
    theirs, others = chain.deposit(attacker), chain.deposit(AGENT, wei=5 * ETHER)
    second = chain.deposit(attacker, wei=3 * ETHER)
    chain.send(chain.stranger, chain.escrow, "release(uint256)", theirs)
    chain.send(chain.stranger, attacker, "take()")
    assert (chain.number(attacker, "tries()"), chain.number(attacker, "successes()")) == (1, 0)
    assert (chain.native(attacker), chain.native(chain.escrow)) == (ETHER, 8 * ETHER)

    as_token = ("depositToken(address,uint256,address,uint256,uint256)", attacker, 9, AGENT, 70, chain.now() + DAY_S)
    assert error("NothingToDo()") in chain.refusal(chain.stranger, chain.escrow, *as_token)
    chain.wait(DAY_S + 1)
    for number in (others, second):
        chain.send(chain.payer, chain.escrow, "refund(uint256)", number)
    chain.send(chain.payer, chain.escrow, "withdraw(address,address)", NATIVE, OTHER)
    assert (chain.native(OTHER), chain.native(chain.escrow)) == (8 * ETHER, 0)


def test_a_receiver_that_refuses_payments_sends_its_funds_elsewhere(chain):
    refuser = deploy_code(chain.rpc, chain.owner, compile_sources({"Attacker.sol": ATTACKER})["Refuser"]["bytecode"])
    chain.attest(90, refuser)
    chain.send(chain.payer, chain.escrow, "release(uint256)", chain.deposit(refuser))
    with pytest.raises(RpcError):
        chain.send(chain.owner, refuser, "take(address,address)", chain.escrow, refuser)
    chain.send(chain.owner, refuser, "take(address,address)", chain.escrow, OTHER)
    assert (chain.native(OTHER), chain.native(chain.escrow)) == (ETHER, 0)
