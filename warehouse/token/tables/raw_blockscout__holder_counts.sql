-- One row per answer of Blockscout, including failed ones, which have a reason instead of counts.
create table if not exists raw_blockscout__holder_counts (
    source varchar not null,  -- Host that was asked
    counters_holders bigint,  -- Holders by the token's counters
    token_holders bigint,  -- Holders by the token itself
    reason varchar,  -- Reason why counts are missing; null when they are not
    fetched_at timestamp not null  -- Time of the answer, UTC
);
