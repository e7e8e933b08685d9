-- One row per answer of Blockscout, including failed ones, which have a reason instead of counts.
create table if not exists raw_blockscout__holder_counts (
    source varchar not null,  -- Host that was queried
    counters_holders bigint,  -- Holders according to the token's counters
    token_holders bigint,  -- Holders according to the token's own information
    reason varchar,  -- Reason why counts are missing; null if they are not
    fetched_at timestamp not null  -- Time of the answer, UTC
);
