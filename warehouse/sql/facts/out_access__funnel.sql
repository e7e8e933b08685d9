-- One row of facts about the funnel against the quotes that it counts; 0 is right everywhere.
select
    (select count(*) from raw_ledger__quotes)
    - (select coalesce(sum(quotes), 0)::bigint from out_access__funnel) as quotes_missing,
    (select count(*) from out_access__funnel where claimed > paid or paid > quotes) as steps_out_of_order,
    (select count(*) from raw_ledger__claims where quote_id not in (select quote_id from raw_ledger__quotes))
        as claims_without_quote,
    (
        select count(*) from raw_ledger__quotes q
        where (q.state = 'claimed') <> (q.quote_id in (select quote_id from raw_ledger__claims))
    ) as states_unlike_claims
