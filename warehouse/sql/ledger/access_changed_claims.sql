-- One row per claim that changed above a seq, as it is now; without whose it is and which transaction paid.
select
    c.claim_id, c.quote_id, q.plan_id, c.tier, c.chain_id, c.block_number, c.amount as amount_units, c.state,
    c.issued_at, c.changed_at, c.access_expires_at, c.final_at
from access_claims c
join access_quotes q on q.quote_id = c.quote_id
where c.claim_id in (select entity_id from ledger_changes where seq > :seq and kind = 'claim')
