-- name: facts_out_access__funnel
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

-- name: facts_out_access__revenue_daily
-- One row of facts about the revenue by day against the claims that it sums up; 0 is right everywhere.
select
    (select count(*) from raw_ledger__claims)
    - (select coalesce(sum(claims + reversed_claims), 0)::bigint from out_access__revenue_daily) as claims_missing,
    (
        (select coalesce(sum(amount_units), 0) from raw_ledger__claims)
        - (select coalesce(sum(revenue_units + reversed_units), 0) from out_access__revenue_daily)
    )::bigint as units_missing,
    (select count(*) from raw_ledger__claims where state not in ('issued', 'reversed')) as unknown_states,
    (select count(*) from raw_ledger__claims where amount_units <= 0) as claims_of_nothing,
    (select count(*) - count(distinct quote_id) from raw_ledger__claims) as doubled_quotes,
    (
        select count(*) from raw_ledger__claims c
        where (
            select count(*) from raw_ledger__keys k where k.claim_id = c.claim_id and k.state <> 'revoked'
        ) > 1
    ) as claims_with_two_keys,
    (
        select count(*) from raw_ledger__claims c join raw_ledger__keys k using (claim_id)
        where c.state = 'reversed' and k.state = 'active'
    ) as reversed_with_active_key
