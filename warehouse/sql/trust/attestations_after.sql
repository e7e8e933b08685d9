-- One row per attestation above block $after, in the order of the chain. Addresses and job as hex, times as Unix seconds.
select
    '0x' || lower(hex(agent)) as agent,
    number,
    block_number,
    log_index,
    '0x' || lower(hex(attester)) as attester,
    '0x' || lower(hex(job_id)) as job_id,
    score,
    epoch(attested_at)::bigint as attested_at_s,
    metadata_uri
from raw_chain__attestations
where block_number > $after
order by block_number, log_index
