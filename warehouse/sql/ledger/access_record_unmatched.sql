-- One transfer that pays nothing, unless it is known.
insert into access_unmatched_payments (
    payment_id, chain_id, transaction_hash, log_position, asset, sender, recipient, amount, block_number, block_hash,
    block_time_s, code, quote_id, state, refund_transaction_hash, recorded_at, changed_at
) values (
    :payment_id, :chain_id, :transaction_hash, :log_position, :asset, :sender, :recipient, :amount, :block_number,
    :block_hash, :block_time_s, :code, :quote_id, 'open', null, :recorded_at, :recorded_at
)
on conflict (chain_id, transaction_hash, log_position) do nothing
