"""Defines how a wallet gets a trial key: a challenge to sign, the answer, the limits, and the refusals.

The key's owner is the wallet, so everything that the key writes remains the wallet's when it buys a key. Limits are
stored under keyed digests, which reveal neither wallet nor network.
"""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any, ClassVar, Literal

from pydantic import Field

from contracts.access.matching import SKEW_S
from contracts.access.proofs import typed_data
from contracts.access.recovery import CHALLENGE_FOR, RecoveryRequest
from contracts.access.tiers import Tier
from contracts.access.trial_offer import TRIAL_PATH, TrialOffer, trial_offer
from contracts.access.trial_plan import trial_plan
from contracts.base import AddressText, Document, Timestamp
from contracts.canonical import canonical_sha256
from contracts.errors import Conflict, Leads, RequestProblem, StoreUnavailable

STATEMENT = "Issue a trial API key to this wallet. It costs nothing."
"""Part of the message, for the person who signs it."""


class TrialRefused(RequestProblem):
    status = 403
    code = "trial_refused"
    title = "The signature is not the wallet's, or its challenge is not from the last minutes"
    leads: ClassVar[Leads] = ("challenge", "docs")


class TrialTaken(Conflict):
    """The wallet already had its trial key, or has a better key."""

    code = "trial_taken"
    title = "The wallet has had a trial key in the last month, or has another key"
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class TrialAnswered(Conflict):
    code = "trial_answered"
    title = "The challenge was answered with a key that has been used or is no longer stored"
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class TrialsExhausted(RequestProblem):
    status = 429
    code = "trials_exhausted"
    title = "No more trial keys are issued today, to this network or to anybody"
    leads: ClassVar[Leads] = ("plans", "quote", "docs")
    retryable = True


class TrialsOff(StoreUnavailable):
    code = "trials_off"
    title = "This installation issues no trial keys"
    retryable = False


class TrialRequest(RecoveryRequest):
    """A signed challenge. A repeated request gets the same key, until that key is used."""


class TrialChallenge(Document):
    """The message that the wallet must sign, and the URL for the signature."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.trial_challenge.v1"] = Field(
        default="svc.agent_access.trial_challenge.v1", alias="schema"
    )
    signer: AddressText
    typed_data: dict[str, Any] = Field(description="EIP-712, in the form that wallets accept")
    issued_at: int = Field(description="Unix seconds; repeat it in the request")
    expires_at: Timestamp
    method: Literal["POST"] = "POST"
    url: str
    trial: TrialOffer


class TrialPacket(Document):
    """The trial key, and the times until which it and its data last."""

    api_key: str = Field(repr=False)
    key_id: str
    tier: Tier
    owner: AddressText
    requests_per_day: int
    private_nodes: int
    access_expires_at: Timestamp = Field(description="Time at which the key expires")
    erased_at: Timestamp = Field(
        description="Time at which everything it wrote is erased, unless its wallet has another key by then"
    )
    headers: dict[str, str] = Field(repr=False, description="Send one of these")
    base_url: str
    first_request: str


class TrialAnswer(Document):
    """A trial key."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.trial_response.v1"] = Field(
        default="svc.agent_access.trial_response.v1", alias="schema"
    )
    data: TrialPacket


def trial_url(base_url: str, address: str) -> str:
    return base_url + TRIAL_PATH.replace("{address}", address)


def trial_typed_data(wallet: str, issued_at: int, *, base_url: str, chain_id: int, pepper: bytes) -> dict[str, Any]:
    """Returns the EIP-712 message with which a wallet (lower case) requests a trial key; `issued_at` in Unix seconds.

    It names this installation, so that a signature made elsewhere gets no key here. Only this installation can create
    the nonce, so that nobody can sign a message ahead of its time.
    """
    fields = [
        ("statement", "string"),
        ("wallet", "address"),
        ("service", "string"),
        ("issuedAt", "uint256"),
        ("nonce", "bytes32"),
    ]
    message = {
        "statement": STATEMENT,
        "wallet": wallet,
        "service": base_url,
        "issuedAt": issued_at,
        "nonce": "0x" + _digest(pepper, "challenge", f"{wallet} {issued_at}"),
    }
    return typed_data("TrialKey", fields, message, chain_id)


def challenge_sha256(message: dict[str, Any]) -> str:
    """Returns the digest under which a challenge's answer is stored."""
    return canonical_sha256(message)


def trial_challenge(wallet: str, *, base_url: str, chain_id: int, pepper: bytes, now: datetime) -> TrialChallenge:
    issued_at = int(now.timestamp())
    return TrialChallenge(
        signer=wallet,
        typed_data=trial_typed_data(wallet, issued_at, base_url=base_url, chain_id=chain_id, pepper=pepper),
        issued_at=issued_at,
        expires_at=datetime.fromtimestamp(issued_at, UTC) + CHALLENGE_FOR,
        url=trial_url(base_url, wallet),
        trial=trial_offer(base_url),
    )


def is_recent(issued_at: int, now: datetime) -> bool:
    """Decides whether a challenge of that Unix second can still be exchanged for a new key."""
    return -SKEW_S <= now.timestamp() - issued_at <= CHALLENGE_FOR.total_seconds()


def trial_packet(*, key_text: str, key_id: str, owner: str, issued_at: datetime, base_url: str) -> TrialPacket:
    plan = trial_plan()
    ends_at = trial_end(issued_at)
    return TrialPacket(
        api_key=key_text,
        key_id=key_id,
        tier=plan.tier,
        owner=owner,
        requests_per_day=plan.requests_per_day,
        private_nodes=plan.private_nodes,
        access_expires_at=ends_at,
        erased_at=ends_at + timedelta(days=plan.erased_after_days),
        headers={"Authorization": f"Bearer {key_text}", "X-Api-Key": key_text},
        base_url=f"{base_url}/api/v2",
        first_request=f"GET {base_url}/api/v2/world-model/live",
    )


def trial_end(issued_at: datetime) -> datetime:
    return issued_at + timedelta(days=trial_plan().days)


def shared_network(client: str) -> str:
    """Returns the network that shares a limit: the IPv4 /24 or the IPv6 /64 of an address or network.

    Anything else, such as the name of a local socket, counts as its own network.
    """
    try:
        network = ip_network(client, strict=False)
    except ValueError:
        return client
    longest = 24 if network.version == 4 else 64
    return str(network if network.prefixlen <= longest else network.supernet(new_prefix=longest))


def wallet_digest(pepper: bytes, wallet: str) -> str:
    return _digest(pepper, "wallet", wallet)


def network_digest(pepper: bytes, network: str, day: str) -> str:
    """Returns the digest of a network on one UTC day (`YYYY-MM-DD`). Nobody can link it to that of another day."""
    return _digest(pepper, "network", f"{day} {network}")


def _digest(pepper: bytes, kind: str, text: str) -> str:
    return hmac.digest(pepper, f"trial {kind} {text}".encode(), hashlib.sha256).hex()
