-- One row per attestation, the newest thousand; hashes and addresses as lower-case hex, times UTC.
select
    block_number,
    block_time,
    log_index,
    '0x' || lower(hex(tx_hash)) as tx_hash,
    '0x' || lower(hex(agent)) as agent,
    '0x' || lower(hex(attester)) as attester,
    score
from raw_chain__attestations
order by block_number desc, log_index desc
limit 1000
