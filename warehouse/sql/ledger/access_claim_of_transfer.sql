-- The claim that uses the transfer at a place of the chain (amount in smallest units).
select
    c.claim_id, c.receipt_id, c.quote_id, q.plan_id, c.tier, c.payer, q.operator, c.owner, q.agent_id, q.user_id,
    c.chain_id, c.transaction_hash, c.log_position, c.amount, c.block_number, c.block_hash, c.state, c.issued_at,
    c.changed_at, c.access_expires_at, c.request_digest, c.final_at
from access_payments p
join access_claims c on c.claim_id = p.claim_id
join access_quotes q on q.quote_id = c.quote_id
where p.chain_id = :chain_id and p.transaction_hash = :transaction_hash and p.log_position = :log_position
