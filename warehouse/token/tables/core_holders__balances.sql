-- One row per address that ever sent or received the token, except the zero address: its balance at the block of
-- core_holders__state. BIGNUM is exact over uint256 and its negatives, under +, -, < and order by only.
create table if not exists core_holders__balances (
    address blob using compression uncompressed not null,  -- Holder, 20 bytes
    balance_raw bignum using compression uncompressed not null,  -- Received less sent, in the token's smallest unit;
    -- exact over uint256
    first_seen_at timestamp not null,  -- Time of the first transfer, UTC
    last_active_at timestamp not null,  -- Time of the latest transfer, UTC
    first_block bigint not null,  -- Block of the first transfer
    last_block bigint not null  -- Block of the latest transfer
);

-- checks (blocking) balances_follow_from_transfers: Balances follow from the transfers only: they are folded up to
-- the last range, with one row per address and none for the zero address, and their sum is minted less burned. A
-- negative balance is the token's doing, and the proof reports it.
with supply as (
    select
        coalesce((select sum(balance_raw) from core_holders__balances), 0::bignum) as held,
        coalesce((select minted_raw - sent_to_zero_raw from core_holders__state), 0::bignum) as issued
)
select
    (select count(*) from core_holders__balances) as checked_addresses,
    coalesce((select max(to_block) from raw_chain__ranges), -1)
    - coalesce((select block from core_holders__state), -1) as blocks_not_folded,
    (select count(*) - count(distinct address) from core_holders__balances) as doubled_addresses,
    (
        select count(*) from core_holders__balances
        where address = '\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'::blob
    ) as zero_address_rows,
    (select held::varchar from supply) as checked_held_raw,
    (select issued::varchar from supply) as checked_supply_raw,
    (select (held <> issued)::integer from supply) as held_unlike_supply
