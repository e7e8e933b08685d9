-- At most one row: the block up to which transfers are folded, and the sums of transfers from and to the zero address.
create table if not exists core_holders__state (
    block bigint not null,  -- Last block whose transfers are in the balances
    block_hash varchar not null,  -- Its hash, 0x hex
    block_time timestamp not null,  -- Its time, UTC
    minted_raw bignum not null,  -- Sum of all transfers from the zero address, in the token's smallest unit
    sent_to_zero_raw bignum not null,  -- Sum of all transfers to the zero address, in the token's smallest unit
    zero_to_zero_raw bignum not null,  -- Sum of all transfers from the zero address to itself, which both other sums
    -- contain, in the smallest unit
    transfers bigint not null  -- Transfers in the balances
);
