-- name: facts_out_bidwall__status
-- One row of facts about what is served of the watched contract; 0 is right everywhere.
select
    (
        select count(*) from out_bidwall__status
        where balance_wei is not null and (block is null or block_hash is null or block_time is null)
    ) as balances_without_block,
    (
        select count(*) from out_bidwall__events
        where finality = 'final' and block > coalesce((select events_block from out_bidwall__status), -1)
    ) as final_events_above_reach,
    (select count(*) - count(distinct (block, log_index)) from out_bidwall__events) as doubled_events
