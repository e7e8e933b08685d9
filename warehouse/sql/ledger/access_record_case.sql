-- One transfer that pays nothing, unless it is known.
insert into access_cases (
    case_id, chain_id, transaction_hash, log_position, asset, sender, recipient, amount, block_number, block_hash,
    block_time_s, code, quote_id, proven, state, refund_amount, refund_transaction_hash, recorded_at, changed_at
) values (
    :case_id, :chain_id, :transaction_hash, :log_position, :asset, :sender, :recipient, :amount, :block_number,
    :block_hash, :block_time_s, :code, :quote_id, :proven, 'open', null, null, :recorded_at, :recorded_at
)
on conflict (chain_id, transaction_hash, log_position) do nothing
