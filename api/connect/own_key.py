"""Shows a key to whoever holds it: whose graph it writes, what it may do, and what is left of the day."""

from datetime import timedelta

from contracts.access.tiers import REQUESTS_A_DAY, Caller
from contracts.connect.key_results import KeyResult
from contracts.times import utc_text
from warehouse.access.keys import find_key
from warehouse.ledger.counters import Take
from warehouse.ledger.ledger import Ledger


def own_key(ledger: Ledger, caller: Caller, taken: Take | None) -> KeyResult:
    """Returns the fields of the caller's key. `taken` is what this request took of its day, if the tier has a limit."""
    with ledger.read() as reader:
        record = find_key(reader, caller.key_id)
    paid_until = None if record is None else record.paid_until
    resets_at = None if taken is None else utc_text(ledger.now() + timedelta(seconds=taken.reset_s))
    return KeyResult(
        key_id=caller.key_id,
        owner=caller.owner,
        tier=caller.tier,
        role=caller.role,
        claims_up_to=caller.max_class,
        requests_a_day=REQUESTS_A_DAY[caller.tier],
        left_today=None if taken is None else taken.remaining,
        resets_at=resets_at,
        paid_until=None if paid_until is None else utc_text(paid_until),
    )
