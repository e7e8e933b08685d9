-- One row of facts about raw_chain__attestations: counts of rows that break a rule; 0 is right everywhere.
select
    (select count(*) from raw_chain__attestations) as events,
    (select count(*) - count(distinct (block_number, log_index)) from raw_chain__attestations) as doubled_events,
    (
        select coalesce(sum(log_count), 0)::bigint from raw_chain__attestation_ranges
    ) - (select count(*) from raw_chain__attestations) as rows_missing_from_ranges,
    (
        select count(*) from (
            select from_block - lag(to_block) over (order by from_block) as step from raw_chain__attestation_ranges
        )
        where step <> 1
    ) as range_gaps,
    (select count(*) from raw_chain__attestations where score not between 1 and 100) as scores_out_of_range,
    (
        select count(*) from (
            select number - lag(number) over (partition by agent order by block_number, log_index) as step
            from raw_chain__attestations
        )
        where step <> 1
    ) as number_gaps
