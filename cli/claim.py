"""`svc claim`: redeem a paid quote; for the operator, claims and payments that matched nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from cli.environment import effective_settings, make_data_dir
from cli.output import AsJson, operator_problems, print_json, say
from cli.purchase import QuoteId, redeem
from contracts.commerce.claims import Claim
from contracts.commerce.matching import Match
from contracts.commerce.rail import rail_of
from contracts.errors import OperatorProblem
from contracts.settings import Settings
from warehouse.access import (
    UnmatchedPayment,
    claim_of_quote,
    find_claim,
    find_quote,
    settle_unmatched,
    unmatched_payment,
    unmatched_payments,
)
from warehouse.access_issue import Issued, Issuer, issue_claim
from warehouse.keys import alive_key_of_claim
from warehouse.ledger import Ledger, Transaction, open_ledger
from warehouse.secrets import load_secrets
from warehouse.signing_keys import SigningKeys

app = typer.Typer(help="Redeem a paid quote; show claims and settle payments that matched nothing.")

PaymentId = Annotated[str, typer.Argument(help="The payment's id, as `svc claim unmatched` shows it.")]


class PaymentNotSettled(OperatorProblem):
    """An unmatched payment that can't be settled so."""

    code = "payment_not_settled"


class ClaimNotHere(OperatorProblem):
    """No claim with this id in the ledger."""

    code = "claim_not_here"


@app.callback(invoke_without_command=True)
def claim(
    context: typer.Context,
    quote_id: QuoteId = None,
    transaction: Annotated[str | None, typer.Option(help="Hash of the payment; default that of `svc pay`.")] = None,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait while the payment is not settled.")] = 300.0,
    as_json: AsJson = False,
) -> None:
    """Redeem a paid quote: ask until the payment is settled, and print the API key."""
    if context.invoked_subcommand is None:
        with operator_problems(as_json):
            redeem(effective_settings(), quote_id, transaction, wait, as_json)


@app.command("show")
def show(
    claim_id: Annotated[str, typer.Argument(help="The claim's id, as its receipt has it.")], as_json: AsJson = False
) -> None:
    """Show a claim: its state, its payment and the state of its key."""
    with operator_problems(as_json), _opened() as (_, ledger), ledger.read() as reader:
        found = find_claim(reader, claim_id)
        if found is None:
            raise ClaimNotHere(f"No claim {claim_id} is in this ledger.", cure="A receipt names the id of its claim.")
        key = alive_key_of_claim(reader, claim_id)
    described = _described(found) | {
        "keyId": key and key.key_id,
        "keyHint": key and key.hint,
        "keyState": "revoked" if key is None else key.state,
    }
    if as_json:
        print_json({"ok": True, **described})
        return
    for name, value in described.items():
        say(f"{name:16} {value}")


@app.command("unmatched")
def unmatched(as_json: AsJson = False) -> None:
    """List payments that matched nothing and wait for somebody, newest first."""
    with operator_problems(as_json), _opened() as (_, ledger), ledger.read() as reader:
        waiting = unmatched_payments(reader)
    if as_json:
        print_json({"ok": True, "payments": [_payment(each) for each in waiting]})
        return
    for each in waiting:
        moved = each.transfer
        say(f"{each.payment_id}  {each.code}  {moved.amount} of {moved.asset} from {moved.sender}  {each.quote_id}")


@app.command("resolve")
def resolve(
    payment_id: PaymentId,
    issue: Annotated[bool, typer.Option("--issue", help="Accept it for its quote, and print the key.")] = False,
    refunded: Annotated[str | None, typer.Option(help="Hash of the transaction that sent the money back.")] = None,
    as_json: AsJson = False,
) -> None:
    """Settle an unmatched payment: issue the key of its quote, or note that it was sent back."""
    with operator_problems(as_json):
        if issue == (refunded is not None):
            raise PaymentNotSettled("Say one of two.", cure="Pass --issue, or --refunded TRANSACTION.")
        with _opened() as (settings, ledger):
            if refunded is None:
                issued = _issue(settings, ledger, payment_id)
            else:
                _refund(ledger, payment_id, refunded)
    if refunded is not None:
        if as_json:
            print_json({"ok": True, "paymentId": payment_id, "state": "refunded"})
        else:
            say(f"{payment_id} is refunded")
    elif as_json:
        print_json(
            {
                "ok": True,
                "paymentId": payment_id,
                "state": "issued",
                "claimId": issued.claim.claim_id,
                "keyId": issued.key_id,
                "apiKey": issued.key.reveal(),
            }
        )
    else:
        say(issued.key.reveal())
        say(f"{issued.claim.claim_id}, {issued.key_id}. The key is not shown again.")


def _issue(settings: Settings, ledger: Ledger, payment_id: str) -> Issued:
    """Redeem the quote that the payment came for, by the operator's word."""
    now = datetime.now(UTC)
    rail = rail_of(settings)
    issuer = Issuer(rail, settings.public_base_url, load_secrets(settings), SigningKeys(settings).current().signer(now))
    with ledger.transaction() as tx:
        payment = _waiting(tx, payment_id)
        kept = find_quote(tx, payment.quote_id)
        if kept is None or claim_of_quote(tx, payment.quote_id) is not None:
            raise PaymentNotSettled(
                f"Quote {payment.quote_id} was claimed by another payment.", cure="Refund this one."
            )
        if payment.transfer.asset != rail.asset or payment.chain_id != rail.chain_id:
            raise PaymentNotSettled("It is not the coin that is sold for.", cure="Refund it.")
        match = Match(payment.transfer, payment.block, payment.block.number)
        return issue_claim(tx, issuer, kept.quote, match, payment.transaction_hash, now=now, unmatched_becomes="issued")


def _refund(ledger: Ledger, payment_id: str, transaction_hash: str) -> None:
    if re.fullmatch("0x[0-9a-fA-F]{64}", transaction_hash) is None:
        raise PaymentNotSettled("--refunded is no transaction hash.", cure="Give 0x and 64 hex digits.")
    with ledger.transaction() as tx:
        _waiting(tx, payment_id)
        settle_unmatched(
            tx, payment_id, "refunded", now=datetime.now(UTC), refund_transaction_hash=transaction_hash.lower()
        )


def _waiting(tx: Transaction, payment_id: str) -> UnmatchedPayment:
    payment = unmatched_payment(tx, payment_id)
    if payment.state != "open":
        raise PaymentNotSettled(f"{payment_id} is {payment.state} already.", cure="Nothing is left to do with it.")
    return payment


@contextmanager
def _opened() -> Iterator[tuple[Settings, Ledger]]:
    settings = effective_settings()
    make_data_dir(settings.data_dir)
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        yield settings, ledger


def _described(found: Claim) -> dict[str, Any]:
    return {
        "claimId": found.claim_id,
        "receiptId": found.receipt_id,
        "quoteId": found.quote_id,
        "planId": found.plan_id,
        "tier": found.tier,
        "state": found.state,
        "final": found.final,
        "payer": found.payer,
        "operator": found.operator,
        "owner": found.owner,
        "chainId": found.chain_id,
        "transactionHash": found.transaction_hash,
        "logPosition": found.log_position,
        "blockNumber": found.block_number,
        "amountUnits": str(found.amount),
        "issuedAt": found.issued_at,
        "changedAt": found.changed_at,
        "accessExpiresAt": found.access_expires_at,
    }


def _payment(each: UnmatchedPayment) -> dict[str, Any]:
    moved = asdict(each.transfer)
    return {
        "paymentId": each.payment_id,
        "code": each.code,
        "state": each.state,
        "quoteId": each.quote_id,
        "chainId": each.chain_id,
        "transactionHash": each.transaction_hash,
        "logPosition": moved["position"],
        "asset": moved["asset"],
        "from": moved["sender"],
        "to": moved["recipient"],
        "amountUnits": str(moved["amount"]),
        "blockNumber": each.block.number,
        "recordedAt": each.recorded_at,
    }
