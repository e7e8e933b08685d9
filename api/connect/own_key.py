"""Shows a key to whoever holds it: whose graph it writes, what it may do, and what is left of the day."""

from api.access.account import KeyAccounts
from api.challenges import unauthorized
from contracts.access.tiers import Caller
from contracts.connect.key_results import KeyResult
from contracts.times import utc_text


def own_key(accounts: KeyAccounts, caller: Caller) -> KeyResult:
    """Returns the fields of the key of `caller`, from its account. Raises `Unauthorized` if it was revoked just now."""
    account = accounts.read(caller, days=1)
    if account is None:
        raise unauthorized()
    plan, quota = account.plan, account.quota
    return KeyResult(
        key_id=account.key_id,
        owner=account.owner,
        tier=plan.tier,
        role=account.role,
        claims_up_to=account.max_class,
        requests_a_day=quota.requests_per_day,
        left_today=quota.remaining,
        resets_at=utc_text(quota.resets_at),
        paid_until=None if plan.expires_at is None else utc_text(plan.expires_at),
    )
