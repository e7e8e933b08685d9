-- One row per answer of a source about ETH, including failed ones.
-- public: eth_prices by day of fetched_at
create table if not exists raw_market__eth_prices (
    source varchar not null,  -- Short name of the source
    fetched_at timestamp not null,  -- Time of the answer or of giving up, UTC
    observed_at timestamp,  -- The source's own time, UTC; null where it gives none
    latency_ms bigint not null,  -- Milliseconds until then, including a retry
    quality varchar not null,  -- exact as in the source's answer, derived from it, estimated where something is amiss,
    -- or unavailable
    suspicious boolean not null,  -- Ten times the last sound price or more, or a tenth or less: stored, never served
    reason varchar,  -- Reason why the price is missing or degraded, as a stable code
    price_usd decimal(38, 24),  -- USD for one whole unit; null where the source gave none
    block bigint  -- Block of a price that was read on the chain
);
