"""Stores cases (payments that a claim named but no claim uses) and the quotes for their missing amounts."""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from contracts.access.cases import WAITING, Case, CaseState, Filing, code_of, may_move, replaces
from contracts.access.matching import Transfer
from contracts.access.provider_views import BlockView
from contracts.access.quotes import Quote
from contracts.errors import PaymentUnknown
from warehouse.access.claims import KeptQuote, find_quote, keep_quote
from warehouse.ledger.ledger import Reader, Transaction, utc_text

CASE_CHANGED = "unmatched_payment"
"""The kind under which cases are on the change feed; the entity id is the case's id."""


def record_money(
    tx: Transaction,
    transfers: Sequence[Transfer],
    block: BlockView,
    code: str,
    filing: Filing,
    *,
    chain_id: int,
    transaction_hash: str,
    now: datetime,
) -> list[Case]:
    """Records the transfers that a claim found, once each, and returns their cases.

    A transfer is filed under the claim's quote only if that quote asks its sender to pay and no better claim has filed
    it (`replaces`). A case that somebody has acted on stays unchanged.
    """
    return [
        _record(tx, transfer, block, code, filing, chain_id=chain_id, transaction_hash=transaction_hash, now=now)
        for transfer in transfers
    ]


def _record(
    tx: Transaction,
    transfer: Transfer,
    block: BlockView,
    code: str,
    filing: Filing,
    *,
    chain_id: int,
    transaction_hash: str,
    now: datetime,
) -> Case:
    known = case_at(tx, chain_id, transaction_hash, transfer.position)
    files = replaces(filing, _filing_of(tx, known), transfer)
    due_code = code_of(transfer, filing.quote, code)
    if known is None:
        case_id = f"case_{secrets.token_hex(16)}"
        tx.run(
            "access_record_case",
            case_id=case_id,
            chain_id=chain_id,
            transaction_hash=transaction_hash,
            log_position=transfer.position,
            asset=transfer.asset,
            sender=transfer.sender,
            recipient=transfer.recipient,
            amount=str(transfer.amount),
            block_number=block.number,
            block_hash=block.hash,
            block_time_s=block.time_s,
            code=due_code,
            quote_id=filing.quote.quote_id if files else None,
            proven=int(files and filing.proven),
            recorded_at=utc_text(now),
        )
    elif known.state == "open" and files:
        case_id = known.case_id
        tx.run(
            "access_file_case",
            case_id=case_id,
            quote_id=filing.quote.quote_id,
            proven=int(filing.proven),
            code=due_code,
            changed_at=utc_text(now),
        )
    else:
        return known
    tx.changed(CASE_CHANGED, case_id)
    return find_case(tx, case_id)


def _filing_of(reader: Reader, case: Case | None) -> Filing | None:
    stored = None if case is None or case.quote_id is None else find_quote(reader, case.quote_id)
    return None if case is None or stored is None else Filing(stored.quote, case.proven)


def find_case(reader: Reader, case_id: str) -> Case:
    """Returns the case with this id. Raises `PaymentUnknown`."""
    row = None if "\0" in case_id else reader.row("access_case", case_id=case_id)
    if row is None:
        raise PaymentUnknown(f"No case {case_id}.", cure="`svc claim unmatched` shows them.")
    return _case(row)


def case_at(reader: Reader, chain_id: int, transaction_hash: str, position: int) -> Case | None:
    """Returns the case of the transfer at this position of the chain, or None if it has none."""
    row = reader.row("access_case_at", chain_id=chain_id, transaction_hash=transaction_hash, log_position=position)
    return None if row is None else _case(row)


def cases_in(reader: Reader, *states: CaseState) -> list[Case]:
    """Returns every case in one of the states, newest first; without states, the cases that wait for somebody."""
    cases = [_case(row) for state in states or WAITING for row in reader.rows("access_cases_in_state", state=state)]
    return sorted(cases, key=lambda case: case.recorded_at, reverse=True)


def cases_of_quote(reader: Reader, quote_id: str) -> list[Case]:
    """Returns the cases that are filed under a quote, oldest first."""
    return [_case(row) for row in reader.rows("access_cases_of_quote", quote_id=quote_id)]


def cases_of_transaction(reader: Reader, chain_id: int, transaction_hash: str) -> list[Case]:
    """Returns the cases of a transaction's transfers, in the order of its logs."""
    rows = reader.rows("access_cases_of_transaction", chain_id=chain_id, transaction_hash=transaction_hash)
    return [_case(row) for row in rows]


def move_case(
    tx: Transaction,
    case: Case,
    state: CaseState,
    *,
    now: datetime,
    refund_amount: int | None = None,
    refund_transaction_hash: str | None = None,
) -> bool:
    """Moves a case to a state. Returns False if its current state does not allow that or it moved since it was read."""
    if not may_move(case.state, state):
        return False
    moved = tx.run(
        "access_move_case",
        case_id=case.case_id,
        from_state=case.state,
        state=state,
        refund_amount=None if refund_amount is None else str(refund_amount),
        refund_transaction_hash=refund_transaction_hash,
        changed_at=utc_text(now),
    )
    if moved == 1:
        tx.changed(CASE_CHANGED, case.case_id)
    return moved == 1


def keep_supplement(tx: Transaction, case: Case, quote: Quote, signature: dict[str, str], *, now: datetime) -> None:
    keep_quote(tx, quote, signature)
    tx.run("access_insert_supplement", quote_id=quote.quote_id, case_id=case.case_id)
    move_case(tx, case, "supplement_offered", now=now)


def newest_supplement(reader: Reader, case: Case) -> KeptQuote | None:
    """Returns the last quote that a case offered, or None."""
    row = reader.row("access_newest_supplement", case_id=case.case_id)
    return None if row is None else find_quote(reader, row["quote_id"])


def case_of_supplement(reader: Reader, quote_id: str) -> Case | None:
    """Returns the case that offered a quote, or None for an ordinary quote."""
    row = reader.row("access_case_of_supplement", quote_id=quote_id)
    return None if row is None else _case(row)


def _case(row: Any) -> Case:
    return Case(
        case_id=row["case_id"],
        chain_id=int(row["chain_id"]),
        transaction_hash=row["transaction_hash"],
        transfer=Transfer(int(row["log_position"]), row["asset"], row["sender"], row["recipient"], int(row["amount"])),
        block=BlockView(int(row["block_number"]), row["block_hash"], int(row["block_time_s"])),
        code=row["code"],
        quote_id=row["quote_id"],
        proven=bool(row["proven"]),
        state=row["state"],
        refund_amount=None if row["refund_amount"] is None else int(row["refund_amount"]),
        refund_transaction_hash=row["refund_transaction_hash"],
        recorded_at=datetime.fromisoformat(row["recorded_at"]),
        changed_at=datetime.fromisoformat(row["changed_at"]),
    )
