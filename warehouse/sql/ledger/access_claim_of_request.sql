-- The claim that a payer's request with an Idempotency-Key issued (amount in smallest units).
select
    c.claim_id, c.receipt_id, c.quote_id, q.plan_id, c.tier, c.payer, q.operator, c.owner, q.agent_id, q.user_id,
    c.chain_id, c.transaction_hash, c.log_position, c.amount, c.block_number, c.block_hash, c.state, c.issued_at,
    c.changed_at, c.access_expires_at, c.request_digest, c.final_at
from access_claims c
join access_quotes q on q.quote_id = c.quote_id
where c.payer = :payer and c.idempotency_digest = :idempotency_digest
