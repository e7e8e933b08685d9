-- At most one row: the contract, its newest balance (wei as decimal text), how far its events are read. Times are UTC.
select
    chain_id, contract_address, service_token, trigger_wei, balance_wei, block, block_hash, block_time, is_final,
    reason, fetched_at, events_block, events_block_hash, events_block_time, events_complete, recorded_at
from out_bidwall__status
