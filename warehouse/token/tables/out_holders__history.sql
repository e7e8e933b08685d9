-- One row per file of the history of balances, from which the balance of any address at any block is read.
create table if not exists out_holders__history (
    kind varchar not null,  -- changes: transfers of contiguous blocks with the balances after them; state: all balances
    -- at the end of a block; addresses: every address up to the newest state
    name varchar not null,  -- Name of the file
    from_block bigint not null,  -- First block that it covers
    to_block bigint not null,  -- Last block that it covers
    to_time timestamp not null,  -- Time of that block, UTC
    rows bigint not null  -- Transfers of changes, addresses of a state and of addresses
);

-- checks (warning) changes_cover_the_chain: Changes cover the chain without gaps from the first block that was read on,
-- and contain every transfer up to their last block.
with changes as (
    select from_block, to_block, rows, lag(to_block) over (order by from_block) as previous_to_block
    from out_holders__history
    where kind = 'changes'
)
select
    (select count(*) from changes) as checked_files,
    (select count(*) from changes where from_block <> coalesce(previous_to_block, -1) + 1) as gaps,
    (
        select coalesce(sum(log_count), 0)::bigint from raw_chain__ranges
        where to_block <= (select max(to_block) from changes)
    ) - (select coalesce(sum(rows), 0)::bigint from changes) as transfers_missing
