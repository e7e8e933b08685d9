-- One row per answer of a source about the token, including failed ones, which have a reason instead of a price.
-- public: token_prices by day of fetched_at
create table if not exists raw_market__token_prices (
    token_address varchar not null,  -- The token, lower-case hex
    source varchar not null,  -- Short name of the source
    fetched_at timestamp not null,  -- Time of the answer or of giving up, UTC
    observed_at timestamp,  -- The source's own time, UTC; null where it gives none
    latency_ms bigint not null,  -- Milliseconds until then, including a retry
    quality varchar not null,  -- exact as in the source's answer, derived from it, estimated where something is amiss,
    -- or unavailable
    suspicious boolean not null,  -- Ten times the last sound price or more, or a tenth or less: stored, never served
    reason varchar,  -- Reason why the price is missing or degraded, as a stable code
    price_usd decimal(38, 24),  -- USD for one whole unit; null where the source gave none
    mcap_usd double,  -- Market capitalisation in USD, else fully diluted value
    volume_24h_usd double,  -- USD traded in 24 hours over all sound pools; of the source pool an estimate from transfers
    change_24h_percent double,  -- Change over 24 hours in percent
    change_1h_percent double,  -- Change over one hour in percent
    buys_24h bigint,  -- Buys in 24 hours over all sound pools, likewise
    sells_24h bigint,  -- Sells in 24 hours over all sound pools, likewise
    trades_block bigint,  -- Block up to which an estimate from transfers counts them; null without one
    liquidity_usd double,  -- USD in the pool that the price is from
    pool varchar,  -- The pool that the price is from
    pools bigint,  -- Sound pools that volume and trades are summed over
    block bigint  -- Block of a price that was read on the chain
);
