-- One row per UTC day of issue and plan.
create table if not exists out_access__revenue_daily (
    day date not null,  -- UTC day on which claims were issued
    plan_id varchar not null,  -- The plan that was bought
    claims bigint not null,  -- Claims issued that day whose payment holds
    revenue_units hugeint not null,  -- Sum of their payments, in the coin's smallest unit
    reversed_claims bigint not null,  -- Claims issued that day whose payment has left the chain
    reversed_units hugeint not null  -- Sum of the reversed payments, in the coin's smallest unit
);

-- rows: The number and sum of claims whose payment holds, and of those whose payment was reversed.
select
    issued_at::date as day, plan_id,
    count(*) filter (state = 'issued') as claims,
    coalesce(sum(amount_units) filter (state = 'issued'), 0) as revenue_units,
    count(*) filter (state = 'reversed') as reversed_claims,
    coalesce(sum(amount_units) filter (state = 'reversed'), 0) as reversed_units
from raw_ledger__claims
group by day, plan_id

-- checks (warning) days_sum_up_the_claims: The days sum up the claims, to the smallest unit: a quote has one claim, a
-- claim has one living key, and no key is active while its payment is off the chain.
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
