"""Settles stored authorizations: sends them, determines their outcome on the chain, and issues what they pay for.

Any process may settle any authorization, any number of times: its next step follows only from ledger and chain. A
lease in the ledger allows one sender at a time. If two overlap after all, the ledger's constraints still give a nonce
to only one authorization, and the coin still moves the money only once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from api.access.judging import record_unused
from api.access.rpc import Providers
from contracts.access.authorizations import domain_separator
from contracts.access.cases import Filing
from contracts.access.claims import (
    Claim,
    activation_packet,
    claim_fields,
    operator_of,
    receipt_fields,
)
from contracts.access.coin import COIN_DIFFERS, coin_calls, coin_decimals, coin_fault
from contracts.access.matching import Agreed, Match, Mismatch, Terms, settle, succeeded, verify
from contracts.access.plan_warnings import plan_active
from contracts.access.provider_views import Silence, View
from contracts.access.quotes import terms_of
from contracts.access.rail import PaymentRail
from contracts.access.settling import (
    CANCELED_TOPIC,
    GAS_LIMIT,
    USED_TOPIC,
    Fees,
    Head,
    domain_calls,
    domain_fits,
    event_calls,
    head_calls,
    read_events,
    read_head,
    read_worth,
    worth_calls,
)
from contracts.access.signing import KeySet
from contracts.access.tiers import Tier
from contracts.errors import OperatorProblem
from contracts.evm.codec import checksum_address
from contracts.sealing import seal
from contracts.secrets import DerivedSecrets
from warehouse.access import authorizations, claims
from warehouse.access.authorizations import Relay, RelayedTransaction, StoredAuthorization
from warehouse.access.issue import Issued, Issuer, issue_claim
from warehouse.ledger.ledger import Ledger, Reader, Transaction

REPLACED_AFTER = timedelta(seconds=12)
"""Time after which a transaction that is in no block is signed again with higher fees."""

LOST_AFTER = timedelta(seconds=30)
"""Time after which a nonce that the chain passed without a transaction of ours counts as used by someone else."""

SENT_AGAIN_AFTER_S = 2.0
CHECKED_EVERY_S = 20.0
CHECKED_AGAIN_AFTER_S = 3.0
"""Replaces `CHECKED_EVERY_S` while the rail does not work."""

ENDED_FOR_S = 12
"""Seconds by which the chain's clock must be past an authorization's end before it counts as expired."""

EXPIRED = "invalid_exact_evm_payload_authorization_valid_before"
CANCELED = "authorization_canceled"
MISMATCHED = "invalid_exact_evm_transfer_event_mismatch"
REVERTED = "transaction_failed"

_AT_ONCE = 8
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Condition:
    """The reason why no signed payment can be accepted now: a stable code and a text for the client."""

    code: str
    detail: str


SILENT = Condition("providers_unsure", "Too few RPC providers answer alike.")


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The answer that a payment buys, in the form in which it is sealed."""

    status: int
    body: str
    media_type: str

    def text(self) -> str:
        return json.dumps([self.status, self.media_type, self.body])


def kept_answer(text: str) -> KeptAnswer:
    """Parses the text that `KeptAnswer.text` wrote."""
    status, media_type, body = json.loads(text)
    return KeptAnswer(status, body, media_type)


class Settlements:
    """Settles authorizations. One object per process. `ledger`, `derived`, `key_set` and `relayer` may raise
    `OperatorProblem`."""

    def __init__(
        self,
        rail: PaymentRail,
        base_url: str,
        ledger: Callable[[], Ledger],
        derived: Callable[[], DerivedSecrets],
        key_set: Callable[[], KeySet],
        relayer: Callable[[], Any],
        requests_per_day: dict[Tier, int | None],
        providers: Providers,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rail = rail
        self.providers = providers
        self._base_url = base_url
        self._ledger = ledger
        self._derived = derived
        self._key_set = key_set
        self._load_relayer = relayer
        self._relayer: Any = None
        self._requests_per_day = requests_per_day
        self._clock = clock
        self._monotonic = monotonic
        self._checked: tuple[float, Condition | None] | None = None
        self._asking: asyncio.Future[Head | Condition] | None = None
        self._coin_fits = False
        self._sent: dict[str, float] = {}
        self._driving = False

    # Whether payments can be accepted.

    async def condition(self) -> Condition | None:
        """Returns why no signed payment can be accepted, or None, as of the last check some seconds ago.

        Only the first request waits for the chain. Later ones repeat the check in the background, so that silent
        providers delay nobody who has no key.
        """
        if self._checked is None:
            await self.ready()
        assert self._checked is not None
        checked_at, condition = self._checked
        every_s = CHECKED_EVERY_S if condition is None else CHECKED_AGAIN_AFTER_S
        if self._monotonic() - checked_at >= every_s and (self._asking is None or self._asking.done()):
            self._asking = asyncio.ensure_future(self.ready())
        return condition

    async def watch(self) -> None:
        """Checks whether payments can be accepted and settles those that nobody waits for. Raises `OperatorProblem`."""
        await self.ready()
        await self.drive()

    async def ready(self) -> Head | Condition:
        """Returns the head that the providers agree on if a payment can be accepted right now, or why it can't."""
        found = await self._check()
        condition = found if isinstance(found, Condition) else None
        if condition is not None and (self._checked is None or self._checked[1] != condition):
            _log.warning("No signed payment can be accepted: %s", condition.detail)
        self._checked = (self._monotonic(), condition)
        return found

    async def _check(self) -> Head | Condition:
        try:
            address = (await asyncio.to_thread(self._account)).address.lower()
            waiting = len(await asyncio.to_thread(self._due))
        except OperatorProblem as problem:
            _log.warning("%s", problem)
            return Condition("relayer_unusable", "The operator's relayer key or ledger can't be used.")
        if not self._coin_fits:
            separator = await asyncio.to_thread(domain_separator, self.rail)
            fits = domain_fits(self.rail, await self.providers.ask(domain_calls(self.rail)), separator)
            if fits is None:
                return SILENT
            if not fits:
                return Condition("asset_domain_differs", "The coin has another EIP-712 domain than payers sign for.")
            decimals = coin_decimals(self.rail, await self.providers.ask(coin_calls(self.rail)))
            if decimals is None:
                return SILENT
            if (fault := coin_fault(decimals)) is not None:
                return Condition(COIN_DIFFERS, f"The coin {fault}.")
            self._coin_fits = True
        head = read_head(self.rail, await self.providers.ask(head_calls(address)))
        return SILENT if head is None else self._gas_short(head, waiting + 1) or head

    def _gas_short(self, head: Head, transactions: int) -> Condition | None:
        if head.balance_wei >= transactions * GAS_LIMIT * head.fees.fee:
            return None
        return Condition("relayer_out_of_gas", "The operator's relayer has too little gas to send a payment.")

    def _account(self) -> Any:
        if self._relayer is None:
            self._relayer = self._load_relayer()
        return self._relayer

    # Settling.

    async def drive(self) -> None:
        """Takes every due authorization, and every nonce that is in no block yet, one step further.

        Does nothing while this or another process is already driving. Raises `OperatorProblem`.
        """
        if self._driving:
            return
        self._driving = True
        try:
            await self._drive()
        finally:
            self._driving = False

    async def _drive(self) -> None:
        account = await asyncio.to_thread(self._account)
        relayer = account.address.lower()
        name, owner = f"relayer {self.rail.chain_id} {relayer}", secrets.token_hex(16)
        if not await asyncio.to_thread(self._take_lease, name, owner):
            return
        try:
            due = await asyncio.to_thread(self._due)
            head = read_head(self.rail, await self.providers.ask(head_calls(relayer)))
            if head is None:
                return
            limit = asyncio.Semaphore(_AT_ONCE)

            async def judged(stored: StoredAuthorization) -> None:
                async with limit:
                    await self._judge(stored, head)

            await asyncio.gather(*map(judged, due))
            for stored in due:
                if stored.state == "stored":
                    await self._assign(stored, head, account)
            await self._send(head, account)
        finally:
            await asyncio.to_thread(self._release_lease, name, owner)

    def _take_lease(self, name: str, owner: str) -> bool:
        with self._ledger().transaction() as tx:
            return claims.take_lease(tx, name, owner, now=self._clock())

    def _release_lease(self, name: str, owner: str) -> None:
        with self._ledger().transaction() as tx:
            claims.release_lease(tx, name, owner)

    def _due(self) -> list[StoredAuthorization]:
        with self._ledger().read() as reader:
            return authorizations.authorizations_due(reader, self.rail.chain_id, now=self._clock())

    async def _judge(self, stored: StoredAuthorization, head: Head) -> None:
        """Decides the outcome of an authorization from the chain, if it is known yet."""
        hashes, terms = await asyncio.to_thread(self._sent_for, stored)
        seen = await asyncio.gather(*map(self.providers.views, hashes))
        for transaction_hash, views in zip(hashes, seen, strict=True):
            if await asyncio.to_thread(self._pay, stored, transaction_hash, views):
                return
        settled = [settle(terms, views) for views in seen]
        reverted = any(isinstance(each, Agreed) and not succeeded(each.receipt) for each in settled)
        ended = head.time_s >= stored.authorization.valid_before + ENDED_FOR_S
        if reverted or ended:
            await self._judge_unpaid(stored, ended=ended)
        elif hashes:
            await asyncio.to_thread(self._note_lost, stored, seen, head)

    def _sent_for(self, stored: StoredAuthorization) -> tuple[list[str], Terms]:
        with self._ledger().read() as reader:
            quote = claims.find_quote(reader, stored.quote_id)
            sent = authorizations.transactions_of_payment(reader, stored.payment_id)
        assert quote is not None
        return [transaction.transaction_hash for transaction in sent], terms_of(quote.quote, self.rail)

    async def _judge_unpaid(self, stored: StoredAuthorization, *, ended: bool) -> None:
        """Decides on an authorization that none of our transactions settled: someone else may have sent it, its payer
        may have cancelled it, or it can no longer move money."""
        worth = read_worth(self.rail, await self.providers.ask(worth_calls(stored.authorization)))
        if worth.used is None:
            return
        if worth.used:
            found = read_events(
                self.rail, await self.providers.ask(event_calls(stored.authorization, stored.from_block))
            )
            for topic, transaction_hash in found or ():
                views = await self.providers.views(transaction_hash)
                if topic == USED_TOPIC and await asyncio.to_thread(self._pay, stored, transaction_hash, views):
                    return
                buried = isinstance(settle((await asyncio.to_thread(self._sent_for, stored))[1], views), Agreed)
                if topic == CANCELED_TOPIC and buried:
                    await asyncio.to_thread(self._fail, stored, CANCELED, for_good=True)
        elif ended:
            await asyncio.to_thread(self._fail, stored, stored.code or EXPIRED, for_good=True)
        elif stored.state == "stored":
            code = worth.refusal(stored.authorization.value) or REVERTED
            await asyncio.to_thread(self._fail, stored, code, for_good=False)

    def _pay(self, stored: StoredAuthorization, transaction_hash: str, views: Sequence[View | Silence]) -> bool:
        """Issues what an authorization pays for if this transaction settled it. Returns True if that is decided."""
        with self._ledger().transaction() as tx:
            current = authorizations.find_authorization(tx, stored.payment_id)
            quote = claims.find_quote(tx, stored.quote_id)
            assert current is not None and quote is not None
            if current.state == "paid":
                return True
            now = self._clock()
            spent = claims.spent_positions(tx, self.rail.chain_id, transaction_hash)
            verdict = verify(terms_of(quote.quote, self.rail), views, now=now, used=spent)
            if isinstance(verdict, Match):
                has_key = claims.owns_key_of_plan(tx, quote.quote.payer, quote.quote.plan_id, now=now)
                issuer = Issuer(self.rail, self._base_url, self._derived(), self._key_set().signer(now))
                issued = issue_claim(tx, issuer, quote.quote, verdict, transaction_hash, now=now)
                answer = None if issued.issued_key is None else self._sealed_key(issued, stored.payment_id, has_key)
                authorizations.mark_paid(tx, stored.payment_id, answer, now=now)
                authorizations.forget_answers(tx, now=now)
                return True
            if isinstance(verdict, Mismatch) and verdict.code not in ("tx_failed", "transfer_already_used"):
                # It moved money, but not as signed, for example because the coin takes a fee. Its sender gets a case.
                filing = Filing(quote.quote, proven=True)
                record_unused(tx, self.rail, self._base_url, filing, transaction_hash, verdict, now=now)
                authorizations.mark_failed(tx, stored.payment_id, MISMATCHED, for_good=True, now=now)
                return True
            return False

    def _sealed_key(self, issued: Issued, payment_id: str, has_key: bool) -> str:
        claim = issued.claim
        fields = claim_fields(
            claim,
            self.receipt_fields(claim, issued.receipt),
            activation_packet(
                tier=claim.tier,
                access_expires_at=claim.access_expires_at,
                key_text=issued.key.reveal(),
                key_id=issued.key_id,
                requests_per_day=self._requests_per_day[claim.tier],
                base_url=self._base_url,
            ),
            operator_of(claim, self._base_url),
            [plan_active(self._base_url)] if has_key else (),
        )
        body = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return seal(self._derived().sealing_key, KeptAnswer(201, body, "application/json").text(), payment_id)

    def receipt_fields(self, claim: Claim, receipt: claims.KeptReceipt) -> dict[str, Any]:
        return receipt_fields(receipt.body_json, receipt.receipt_hash, receipt.signature, claim, self._base_url)

    def _fail(self, stored: StoredAuthorization, code: str, *, for_good: bool) -> None:
        with self._ledger().transaction() as tx:
            authorizations.mark_failed(tx, stored.payment_id, code, for_good=for_good, now=self._clock())

    def _note_lost(self, stored: StoredAuthorization, seen: Sequence[Sequence[View | Silence]], head: Head) -> None:
        """Withdraws an authorization's nonce if the chain has passed it without any of our transactions."""
        with self._ledger().transaction() as tx:
            relay = authorizations.relay_of(tx, stored.payment_id)
            if relay is None or relay.nonce >= head.nonces_used:
                return
            newest = authorizations.transactions_of_nonce(tx, relay)[0]
            if self._clock() - newest.signed_at < LOST_AFTER or not all(map(self._unknown, seen)):
                return
            authorizations.lose_relay(tx, relay)

    def _unknown(self, views: Sequence[View | Silence]) -> bool:
        """Decides whether enough providers answered about a transaction and none of them knows it."""
        answered = [view for view in views if isinstance(view, View)]
        return len(answered) >= max(self.rail.quorum, 1) and all(view.receipt is None for view in answered)

    # Sending.

    async def _assign(self, stored: StoredAuthorization, head: Head, account: Any) -> None:
        """Assigns an authorization a nonce and stores its signed transaction, if the transfer would succeed now."""
        if await asyncio.to_thread(self._has_relay, stored) or head.time_s >= stored.authorization.valid_before:
            return
        worth = read_worth(self.rail, await self.providers.ask(worth_calls(stored.authorization)))
        if worth.used:
            await self._judge_unpaid(stored, ended=False)
        elif worth.passes is False and head.time_s > stored.authorization.valid_after:
            code = worth.refusal(stored.authorization.value) or REVERTED
            await asyncio.to_thread(self._fail, stored, code, for_good=False)
        elif worth.passes:
            await asyncio.to_thread(self._give_nonce, stored, head, account)

    def _has_relay(self, stored: StoredAuthorization) -> bool:
        with self._ledger().read() as reader:
            return authorizations.relay_of(reader, stored.payment_id) is not None

    def _give_nonce(self, stored: StoredAuthorization, head: Head, account: Any) -> None:
        relayer = account.address.lower()
        with self._ledger().transaction() as tx:
            current = authorizations.find_authorization(tx, stored.payment_id)
            if current is None or current.state != "stored" or authorizations.relay_of(tx, stored.payment_id):
                return
            nonce = authorizations.next_nonce(tx, relayer, self.rail.chain_id, head.nonces_used)
            if self._gas_short(head, nonce - head.nonces_used + 1) is not None:
                _log.warning("The relayer %s has too little gas for what waits.", relayer)
                return
            relay = Relay(relayer, self.rail.chain_id, nonce, stored.payment_id)
            authorizations.keep_relay(tx, relay)
            self._sign(tx, relay, account, head.fees)

    async def _send(self, head: Head, account: Any) -> None:
        """Sends transactions that are in no block, also after a reorg; replaces stuck ones and fills nonce gaps."""
        now = self._monotonic()
        for transaction in await asyncio.to_thread(self._unmined, head, account):
            if now - self._sent.get(transaction.transaction_hash, -SENT_AGAIN_AFTER_S) >= SENT_AGAIN_AFTER_S:
                await self.providers.send(transaction.raw)
                self._sent[transaction.transaction_hash] = now
        if len(self._sent) > 10_000:
            self._sent.clear()

    def _unmined(self, head: Head, account: Any) -> list[RelayedTransaction]:
        """Returns the newest transaction of each nonce, in order, starting at the chain's next nonce."""
        relayer = account.address.lower()
        with self._ledger().read() as reader:
            relays = authorizations.relays_from(reader, relayer, self.rail.chain_id, head.nonces_used)
            newest = {relay.nonce: self._newest(reader, relay) for relay in relays}
        last = max(newest, default=-1)
        gaps = [nonce for nonce in range(head.nonces_used, last) if nonce not in newest]
        hanging = [
            transaction for transaction in newest.values() if self._clock() - transaction.signed_at >= REPLACED_AFTER
        ]
        if not gaps and not hanging:
            return [newest[nonce] for nonce in sorted(newest)]
        with self._ledger().transaction() as tx:
            for nonce in gaps:
                relay = Relay(relayer, self.rail.chain_id, nonce, None)
                authorizations.keep_relay(tx, relay)
                newest[nonce] = self._sign(tx, relay, account, head.fees)
            for relay in relays:
                held = self._newest(tx, relay)
                if self._clock() - held.signed_at >= REPLACED_AFTER:
                    fees = head.fees.replacing(Fees(held.fee, held.tip))
                    if fees.fee > held.fee:
                        held = self._sign(tx, relay, account, fees)
                newest[relay.nonce] = held
        return [newest[nonce] for nonce in sorted(newest)]

    def _newest(self, reader: Reader, relay: Relay) -> RelayedTransaction:
        return authorizations.transactions_of_nonce(reader, relay)[0]

    def _sign(self, tx: Transaction, relay: Relay, account: Any, fees: Fees) -> RelayedTransaction:
        """Signs and stores the transaction of a nonce. One that fills a gap transfers nothing to the relayer itself."""
        stored = None if relay.payment_id is None else authorizations.find_authorization(tx, relay.payment_id)
        to = account.address if stored is None else checksum_address(stored.authorization.asset)
        signed = account.sign_transaction(
            {
                "type": 2,
                "chainId": relay.chain_id,
                "nonce": relay.nonce,
                "to": to,
                "value": 0,
                "data": "0x" if stored is None else stored.authorization.call,
                "gas": GAS_LIMIT,
                "maxFeePerGas": fees.fee,
                "maxPriorityFeePerGas": fees.tip,
            }
        )
        transaction = RelayedTransaction(
            transaction_hash="0x" + bytes(signed.hash).hex(),
            relayer=relay.relayer,
            chain_id=relay.chain_id,
            nonce=relay.nonce,
            raw="0x" + bytes(signed.raw_transaction).hex(),
            fee=fees.fee,
            tip=fees.tip,
            signed_at=self._clock(),
        )
        authorizations.keep_transaction(tx, transaction)
        return transaction
