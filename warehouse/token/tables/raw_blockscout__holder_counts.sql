-- One row per answer of Blockscout, also of a failed one: counts are holders, reason says why they are missing.
create table if not exists raw_blockscout__holder_counts (
    source varchar not null,  -- Host that was asked
    counters_holders bigint,  -- Holders by the token's counters
    token_holders bigint,  -- Holders by the token itself
    reason varchar,  -- Why counts are missing; null when they are not
    fetched_at timestamp not null  -- When it answered, UTC
);
