-- One row per transfer from or to $contract (20 bytes), the newest $per_token of each token; pending ones as such.
with touching as (
    select *, 'final' as finality from raw_chain__contract_transfers
    union all by name
    select *, 'pending' as finality from raw_chain__contract_tip_transfers
)
insert into out_bidwall__events by name
select
    '0x' || lower(hex(token_address)) as token,
    block_number as block,
    log_index,
    '0x' || lower(hex(tx_hash)) as transaction_hash,
    '0x' || lower(hex(from_address)) as sender,
    '0x' || lower(hex(to_address)) as recipient,
    case when from_address = to_address then 'self' when to_address = $contract then 'in' else 'out' end as direction,
    value_raw,
    block_time,
    block_time_quality::varchar as time_quality,
    finality
from touching
qualify row_number() over (partition by token_address order by block_number desc, log_index desc) <= $per_token
