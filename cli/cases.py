"""Implements `svc claim unmatched` and `svc claim resolve`: the operator's decisions about money that no claim uses."""

import re
from datetime import UTC, datetime
from typing import Any

from cli.environment import service_address
from cli.output import operator_problems, print_json, say
from cli.stores import existing_ledger
from contracts.access.case_access import case_answer
from contracts.access.cases import CaseStanding
from contracts.access.quote_answers import quote_answer
from contracts.access.rail import PaymentRail, rail_of
from contracts.access.signing import JWKS_PATH
from contracts.errors import PaymentNotSettled, SettingsInvalid
from contracts.settings import Settings
from warehouse.access.cases import cases_in, find_case
from warehouse.access.issue import Issuer
from warehouse.access.resolve import IssuedForCase, issue_for_case, mark_refund, mark_refunded
from warehouse.access.signing_keys import SigningKeys
from warehouse.access.supplements import offer_supplement, standing_of
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.master_secret import load_secrets

_SAY_ONE = "Pass one of --issue, --received CASE, --supplement, --refund and --refunded TRANSACTION."


def unmatched(as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (settings, ledger), ledger.read() as reader:
        rail, now = rail_of(settings), datetime.now(UTC)
        waiting = [standing_of(reader, case, rail, now=now) for case in cases_in(reader)]
    if as_json:
        print_json({"ok": True, "cases": [_case_fields(standing, settings) for standing in waiting]})
        return
    for standing in waiting:
        say(_line(standing))
    if not waiting:
        say("no unmatched money")


def resolve(
    case_id: str,
    *,
    issue: bool,
    received: str | None,
    supplement: bool,
    refund: bool,
    refunded: str | None,
    as_json: bool,
) -> None:
    with operator_problems(as_json):
        if [issue, received is not None, supplement, refund, refunded is not None].count(True) != 1:
            raise SettingsInvalid("Pass exactly one of the five options.", cure=_SAY_ONE)
        with existing_ledger() as (settings, ledger):
            settled: dict[str, Any] = {}
            if issue or received is not None:
                settled = _issued(_issue(settings, ledger, case_id, received))
            elif supplement:
                settled = {"supplement": _supplement(settings, ledger, case_id)}
            elif refunded is None:
                with ledger.transaction() as tx:
                    mark_refund(tx, case_id, now=datetime.now(UTC))
            else:
                _refunded(ledger, case_id, refunded)
            with ledger.read() as reader:
                standing = standing_of(reader, find_case(reader, case_id), rail_of(settings), now=datetime.now(UTC))
    if as_json:
        print_json({"ok": True, **_case_fields(standing, settings), **settled})
        return
    say(_line(standing))
    if "apiKey" in settled:
        say(settled["apiKey"])
        say(f"{settled['claimId']}, {settled['keyId']}. The key is not shown again.")
        if settled["restUnits"] != "0":
            say(f"{settled['restUnits']} units are too much and must go back: record that with --refunded TRANSACTION.")
    if "supplement" in settled:
        pay = settled["supplement"]["data"]["next"]["pay"]
        say(f"{settled['supplement']['quoteId']} asks for {pay['amount']} from {pay['from']} until {pay['notAfter']}")


def _issue(settings: Settings, ledger: Ledger, case_id: str, received: str | None) -> IssuedForCase:
    now = datetime.now(UTC)
    signer = SigningKeys(settings).current().signer(now)
    issuer = Issuer(rail_of(settings), service_address(settings), load_secrets(settings), signer)
    with ledger.transaction() as tx:
        return issue_for_case(tx, issuer, case_id, received, now=now)


def _issued(accepted: IssuedForCase) -> dict[str, Any]:
    issued = accepted.issued
    return {
        "claimId": issued.claim.claim_id,
        "keyId": issued.key_id,
        "apiKey": issued.key.reveal(),
        "restUnits": str(accepted.rest),
    }


def _supplement(settings: Settings, ledger: Ledger, case_id: str) -> dict[str, Any]:
    now, rail, base_url = datetime.now(UTC), rail_of(settings), service_address(settings)
    signer = SigningKeys(settings).current().signer(now)
    with ledger.transaction() as tx:
        standing = standing_of(tx, find_case(tx, case_id), rail, now=now)
        offered = offer_supplement(tx, standing, signer, now=now)
    if offered is None:
        raise PaymentNotSettled(
            "There is no missing amount to pay for this case.", cure=_answer(standing, rail, base_url)["next"]["detail"]
        )
    answer = quote_answer(offered.quote, offered.signature, rail, base_url, keys_url=base_url + JWKS_PATH)
    return answer.model_dump(mode="json", by_alias=True)


def _refunded(ledger: Ledger, case_id: str, transaction_hash: str) -> None:
    if re.fullmatch("0x[0-9a-fA-F]{64}", transaction_hash) is None:
        raise SettingsInvalid("--refunded is not a transaction hash.", cure="Pass 0x and 64 hex digits.")
    with ledger.transaction() as tx:
        mark_refunded(tx, case_id, transaction_hash.lower(), now=datetime.now(UTC))


def _case_fields(standing: CaseStanding, settings: Settings) -> dict[str, Any]:
    """Returns the case as its sender sees it, with the payer and the operator of its quote."""
    answer = _answer(standing, rail_of(settings), service_address(settings))
    quote = standing.quote
    return {name: value for name, value in answer.items() if name not in ("ok", "schema")} | {
        "quotePayer": None if quote is None else quote.payer,
        "quoteOperator": None if quote is None else quote.operator,
    }


def _answer(standing: CaseStanding, rail: PaymentRail, base_url: str) -> dict[str, Any]:
    return case_answer(standing, asset=rail.asset, base_url=base_url).model_dump(mode="json", by_alias=True)


def _line(standing: CaseStanding) -> str:
    case, quote = standing.case, standing.quote
    sent = f"{case.transfer.amount} of {case.transfer.asset} from {case.transfer.sender}"
    quote_text = (
        "no quote of the sender" if quote is None else f"{quote.quote_id} asks {quote.amount} from {quote.payer}"
    )
    back = "" if case.refund_amount is None else f"; {case.refund_amount} goes back"
    return f"{case.case_id}  {case.state}  {case.code}  {sent}; {quote_text}{back}"
