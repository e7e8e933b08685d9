-- One row per readable holder list: the state at one block, its files and its proof. The zero address is a row of the
-- list where its balance is not 0.
-- public: holder_lists
create table if not exists out_holders__lists (
    block bigint not null,  -- Block whose state the list is
    block_hash varchar not null,  -- Its hash
    block_time timestamp not null,  -- Its time, UTC
    level varchar not null,  -- Certainty of the block: finalized, or by confirmations
    taken_at timestamp not null,  -- Time at which the list was taken, UTC
    snapshot boolean not null,  -- True if it is kept as a snapshot for comparison
    holders bigint not null,  -- Addresses with a balance above zero
    sum_raw varchar not null,  -- Sum of the balances in the token's smallest unit, as decimal text
    zero_held_raw varchar not null,  -- Balance of the zero address, in the smallest unit, as decimal text
    csv_sha256 varchar not null,  -- SHA-256 of the compressed CSV that the proof names
    csv_bytes bigint not null,  -- Size of that file in bytes
    quality varchar not null,  -- Quality of the list as published
    proof json not null,  -- The proof as published
    concentration json not null  -- Top-10 share, Gini and HHI as published
);

-- checks (blocking) newest_list_is_of_the_balances: The newest list is that of the balances: taken at the block they
-- are folded to, with every holder and nobody else; no block is listed twice.
with newest as (
    select block, holders - (zero_held_raw <> '0')::bigint as holders
    from out_holders__lists
    order by block desc
    limit 1
)
select
    (select count(*) from out_holders__lists) as checked_lists,
    coalesce((select block from core_holders__state), 0)
    - coalesce((select block from newest), 0) as blocks_behind_balances,
    (select count(*) from core_holders__balances where balance_raw > 0::bignum)
    - coalesce((select holders from newest), 0) as holders_missing,
    (select count(*) - count(distinct block) from out_holders__lists) as doubled_blocks
