"""Attacks on paid claims: strangers' money, races, swapped hashes, wrong coins and payers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from .registry import Outcome, attack
from .service import CLAIM, Service, claim_body

RACERS = 15


@attack("A4", "a stranger's overpayment is issued to whoever names it first")
def parked_payment(service: Service) -> Outcome:
    attacker, victim = service.wallet(), service.wallet()
    own, foreign = service.quote(victim), service.quote(attacker)
    transaction = service.pay(own, victim, more=1_000)
    parked = service.claim(foreign, transaction)
    honest = service.claim(own, transaction)
    broken = []
    if parked.status_code != 402:
        broken.append(f"the attacker's claim gave {parked.status_code}")
    if honest.status_code != 402 or honest.json().get("code") != "amount_mismatch":
        broken.append(f"the payer's claim gave {honest.status_code} {honest.json().get('code')}")
    elif "caseId" not in honest.text:
        broken.append("the payer's 402 names no case")
    listed = json.loads(service.svc("claim", "unmatched", "--json"))
    waiting = [entry for entry in listed.get("cases", listed.get("payments", [])) if transaction in json.dumps(entry)]
    if any(foreign["quoteId"] in json.dumps(entry) for entry in waiting):
        broken.append("the payment waits under the attacker's quote")
    for entry in waiting:
        service.svc("claim", "resolve", entry.get("caseId") or entry["paymentId"], "--issue", "--json", may_fail=True)
    after = service.claim(foreign, transaction)
    if after.status_code in (201, 409) and after.json().get("code") != "transfer_already_used":
        broken.append(f"the operator's resolve issued to the attacker ({after.status_code})")
    return Outcome(broken)


@attack("H4", "racing claims get more than one key for one payment")
def races(service: Service) -> Outcome:
    payer = service.wallet()
    quote, rival = service.quote(payer), service.quote(payer)
    transaction = service.pay(quote, payer)
    bodies = [claim_body(quote, transaction), claim_body(rival, transaction)] * RACERS
    with ThreadPoolExecutor(RACERS) as pool:
        answers = list(pool.map(lambda body: service.post(CLAIM, body), bodies))
    keys = {answer.json()["data"]["activationPacket"]["apiKey"] for answer in answers if answer.status_code == 201}
    broken = [] if len(keys) == 1 else [f"{len(keys)} keys for one payment"]
    odd = sorted({answer.status_code for answer in answers} - {201, 202, 402, 409, 503})
    if odd:
        broken.append(f"answers {odd}")
    return Outcome(broken, f"{len(bodies)} claims at once")


@attack("H5", "swapped or missing hashes redeem a quote")
def hashes(service: Service) -> Outcome:
    payer = service.wallet()
    quote, other = service.quote(payer), service.quote(payer)
    transaction = service.pay(quote, payer)
    body, foreign = claim_body(quote, transaction), claim_body(other, transaction)
    forged: list[dict[str, Any]] = [
        body | {"quoteHash": foreign["quoteHash"]},
        body | {"paymentRequirementHash": foreign["paymentRequirementHash"]},
        body | {"quoteHash": body["paymentRequirementHash"], "paymentRequirementHash": body["quoteHash"]},
        body | {"quoteId": foreign["quoteId"]},
        body | {"quoteHash": "0" * 64},
        body | {"quoteHash": body["quoteHash"].upper() + " "},
        {name: text for name, text in body.items() if name != "quoteHash"},
        {name: text for name, text in body.items() if name != "paymentRequirementHash"},
    ]
    broken = [f"forgery {place}: 201" for place, sent in enumerate(forged) if _status(service, sent) == 201]
    if _status(service, body) != 201:
        broken.append("the honest claim was refused")
    return Outcome(broken, f"{len(forged)} forgeries")


@attack("H6", "a false coin, another payer, or a wrong amount buys a key")
def wrong_money(service: Service) -> Outcome:
    payer, stranger = service.wallet(), service.wallet()
    fake = service.chain.deploy("UsdcStandIn")
    service.fund(payer)
    broken = []
    for name, sender, more, token in (
        ("a false coin", payer, 0, fake),
        ("another payer", stranger, 0, None),
        ("one unit too little", payer, -1, None),
        ("one unit too much", payer, 1, None),
    ):
        if token is not None:
            service.fund(sender, token)
        quote = service.quote(payer)
        answer = service.claim(quote, service.pay(quote, sender, more, token))
        if answer.status_code != 402:
            broken.append(f"{name}: {answer.status_code}")
    return Outcome(broken)


@attack("H7", "an unknown transaction or a mere address makes a claim")
def unpaid(service: Service) -> Outcome:
    payer = service.wallet()
    quote = service.quote(payer)
    used = service.quote(payer)
    spent = service.pay(used, payer)
    service.claim(used, spent)
    statuses = {
        "unknown": service.claim(quote, "0x" + "ab" * 32).status_code,
        "spent": service.claim(quote, spent).status_code,
        "short": service.claim(quote, "0x12").status_code,
    }
    allowed = {"unknown": (202,), "spent": (402, 409), "short": (400,)}
    return Outcome([f"{name}: {status}" for name, status in statuses.items() if status not in allowed[name]])


def _status(service: Service, body: dict[str, Any]) -> int:
    answer: httpx.Response = service.post(CLAIM, body)
    return answer.status_code
