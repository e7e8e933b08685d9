-- One row per hour (UTC) of the last 90 days: what happened to the holders, excluding the zero address.
-- public: series_hourly
create table if not exists out_holders__hourly (
    start timestamp not null,  -- Start of the hour, UTC
    last_block bigint not null,  -- Block of the newest transfer up to the end of the hour; blocks without any may follow
    holders bigint not null,  -- Addresses with a balance above zero at the end of the hour
    new_holders bigint not null,  -- Of these, those that held nothing at its start and never before
    returned bigint not null,  -- Of these, those that held nothing at its start and had held before
    left_holders bigint not null,  -- Addresses that held at its start and not at its end
    transfers bigint not null,  -- Transfers, mints and burns included
    volume_raw varchar not null,  -- Sum of their amounts in the token's smallest unit, as decimal text
    price_open double,  -- First price of the hour, USD for one whole token; null where none is known
    price_high double,  -- Highest price, USD
    price_low double,  -- Lowest price, USD
    price_close double,  -- Last price, USD
    price_source varchar,  -- observed: answers of price sources; pool: reserves of the token's pool, before the first
    -- of them; pool_then_observed: both, where the first of them is; null without a price
    price_quality varchar,  -- Lowest quality of these prices: exact as a source gave it, derived, or estimated where
    -- something is amiss; null without a price
    price_reason varchar,  -- Why there is no price, as a stable code; null if there is one
    price_block bigint  -- Block of the last price: of the pool's event that it follows from, or at which a source read
    -- the chain; null where a source names none, and without a price
);
update out_holders__hourly set price_source = 'observed', price_quality = 'derived'
where price_close is not null and price_source is null;

-- checks (warning) hours_follow_one_another: No hour is missing or doubled; holders follow from those of the hour before.
with ordered as (
    select
        start,
        holders - new_holders - returned + left_holders as before,
        lag(holders) over (order by start) as previous_holders,
        lag(start) over (order by start) as previous_start
    from out_holders__hourly
)
select
    (select count(*) from ordered) as checked_rows,
    (select count(*) from ordered where start <> previous_start + interval 1 hour) as gaps,
    (select count(*) from ordered where before <> previous_holders) as holders_unlike_before
