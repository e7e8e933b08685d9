"""Attacks on registration and capsules: squatted idempotency keys, contact data, secrets in texts, times in the
future."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from eth_account import Account

from .registry import Outcome, attack
from .service import Service

INTAKE = "/api/intake"
CAPSULE = "/api/worldmodel/create"


def human(**changed: Any) -> dict[str, Any]:
    person = {"lane": "human", "name": "Ada Example", "useCase": "Keep my goals together", "telegram": "@ada-example"}
    return person | {"consent": True} | changed


def register(service: Service, body: dict[str, Any]) -> httpx.Response:
    return service.post(INTAKE, body, Idempotency_Key=secrets.token_urlsafe(24))


@attack("A13", "a squatted idempotency key blocks others or hands out their tokens")
def squatted_keys(service: Service) -> Outcome:
    broken = []
    capsule = {"ownerId": "somebody", "name": "A capsule"}
    for path, body, secret in ((INTAKE, human(), "eraseToken"), (CAPSULE, capsule, "claimToken")):
        first = service.post(path, body, Idempotency_Key="1")
        if first.status_code != 400:
            broken.append(f"{path} takes the key `1` ({first.status_code})")
        stranger = service.post(path, body | {"name": "Bob Example"}, Idempotency_Key="1")
        if stranger.status_code == 409:
            broken.append(f"{path}: a stranger's key `1` is 409")
        again = service.post(path, body, Idempotency_Key="1")
        if first.status_code == again.status_code == 201 and _ids(first) & _ids(again):
            broken.append(f"{path}: the same body gets the first caller's intake, {secret} or capsule")
    return Outcome(broken)


def _ids(answer: httpx.Response) -> set[str]:
    found: dict[str, Any] = answer.json()
    found |= found.get("data") or {}
    return {str(found[name]) for name in ("intakeId", "eraseToken", "claimToken", "capsuleId") if found.get(name)}


@attack("P5a", "a seed phrase, a private key or a key of the service in a text is stored")
def pasted_secrets(service: Service) -> Outcome:
    Account.enable_unaudited_hdwallet_features()
    _, phrase = Account.create_with_mnemonic()
    pem = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "MC4CAQAwBQYDK2VwBCIEIJ"
        + secrets.token_hex(16)
        + "\n-----END PRIVATE KEY-----"
    )
    broken = []
    for name, text in (("a seed phrase", phrase), ("a private key", pem), ("a key of ours", service.other_key)):
        answer = register(service, human(useCase=f"My agent uses {text} for its work"))
        if answer.status_code != 400:
            broken.append(f"{name}: {answer.status_code}")
        if text.split("\n")[-1] in answer.text or text[-30:] in answer.text:
            broken.append(f"{name} is repeated in the answer")
        if _stored(service, text[-30:].encode()):
            broken.append(f"{name} is in a file")
    return Outcome(broken)


def _stored(service: Service, text: bytes) -> list[str]:
    files = [path for path in service.data_dir.glob("ledger.db*") if path.is_file()]
    return [path.name for path in files if text in path.read_bytes()]


@attack("P5b", "a consent of the future is accepted")
def future_consent(service: Service) -> Outcome:
    broken = []
    for name, at in (
        ("2099", "2099-01-01T00:00:00Z"),
        ("in an hour", _in(hours=1)),
        ("in two minutes", _in(minutes=2)),
    ):
        for body in (human(consentAt=at), human(consent={"accepted": True, "at": at})):
            status = register(service, body).status_code
            if status != 400:
                broken.append(f"{name} as {'consentAt' if 'consentAt' in body else 'consent.at'}: {status}")
    past = register(service, human(consentAt=_in(minutes=-5)))
    if past.status_code != 201:
        broken.append(f"an honest consent was refused: {past.text[:200]}")
    return Outcome(broken)


def _in(**delta: float) -> str:
    return (datetime.now(UTC) + timedelta(**delta)).strftime("%Y-%m-%dT%H:%M:%SZ")


@attack("P5c", "contact data comes back in an answer")
def contact_data(service: Service) -> Outcome:
    values = {name: f"{name}-{secrets.token_hex(4)}" for name in ("contact", "handle", "mail", "tweet", "full", "role")}
    enterprise = {
        "lane": "enterprise",
        "orgName": "Example Works",
        "contactFullName": values["full"],
        "contactName": values["contact"],
        "contactRole": values["role"],
        "contactEmail": f"{values['mail']}@reach.example",
        "telegram": f"@{values['handle']}",
        "useCase": "One graph of our contracts",
        "consent": True,
    }
    person = human(twitter=f"@{values['tweet']}", email=f"{values['mail']}@reach.example")
    broken = []
    for body in (enterprise, person):
        first = register(service, body)
        assert first.status_code == 201, first.text
        path = f"{INTAKE}/{first.json()['intakeId']}"
        pages = {
            "registration": first.text,
            "status": service.get(path).text,
            "capsule": service.get(path + "/capsule").text,
        }
        pages |= {name: service.get(f"{INTAKE}/{name}").text for name in ("recent", "stats")}
        for page, text in pages.items():
            shown = [name for name, value in values.items() if value in text]
            # The interface puts the full name into the summary, for whoever holds the id.
            allowed = {"full"} if page in ("registration", "status", "capsule") else set()
            broken += [f"{page} shows {name}" for name in shown if name not in allowed]
    return Outcome(broken)


@attack("P5d", "what is not recognised is used as if it were, or a person can't erase what they sent")
def unrecognised(service: Service) -> Outcome:
    agent = {"lane": "agent", "agentId": "agent-" + secrets.token_hex(4), "serviceOffer": "Summaries with sources"}
    agent |= {"endpoint": "https://a.example/", "wallet": "not a wallet"}
    consent = {"accepted": True, "at": _in(minutes=-1), "policyVersion": "1999-01-01"}
    answer = register(service, agent | {"consent": consent})
    broken = []
    if answer.status_code == 201 and "nverified" not in answer.text:
        broken.append("an unknown policy version and wallet are taken without a word")
    registered = answer.json()
    if answer.status_code == 201 and not registered.get("eraseToken"):
        return Outcome([*broken, "who registered gets no token to erase with"])
    erase = f"{INTAKE}/{registered['intakeId']}/erase"
    if service.post(erase, {"eraseToken": "x" * 40}).is_success:
        broken.append("a wrong token erases")
    if not service.post(erase, {"eraseToken": registered["eraseToken"]}).is_success:
        broken.append("the right token does not erase")
    return Outcome(broken)
