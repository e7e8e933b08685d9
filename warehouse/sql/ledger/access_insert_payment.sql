-- One transfer that a claim uses.
insert into access_payments (
    claim_id, quote_id, chain_id, transaction_hash, log_position, amount, block_number, block_hash, state, changed_at,
    final_at
) values (
    :claim_id, :quote_id, :chain_id, :transaction_hash, :log_position, :amount, :block_number, :block_hash, 'issued',
    :changed_at, null
)
