-- One new issued claim.
insert into access_claims (
    claim_id, receipt_id, quote_id, payer, owner, tier, chain_id, transaction_hash, log_position, amount, block_number,
    block_hash, state, issued_at, changed_at, access_expires_at, idempotency_digest, request_digest, final_at
) values (
    :claim_id, :receipt_id, :quote_id, :payer, :owner, :tier, :chain_id, :transaction_hash, :log_position, :amount,
    :block_number, :block_hash, 'issued', :issued_at, :issued_at, :access_expires_at, :idempotency_digest,
    :request_digest, null
)
