-- One row per UTC day of the quote and plan.
create table if not exists out_access__funnel (
    day date not null,  -- UTC day on which quotes were made
    plan_id varchar not null,  -- Plan that the quote is for
    quotes bigint not null,  -- Quotes made that day
    paid bigint not null,  -- Quotes among them for which money arrived, matching or not
    claimed bigint not null  -- Quotes among them for which a key was issued
);

-- rows: Quotes, those for which money arrived, those for which a key was issued.
select
    issued_at::date as day, plan_id, count(*) as quotes,
    count(*) filter (
        quote_id in (select quote_id from raw_ledger__claims)
        or quote_id in (select quote_id from raw_ledger__unmatched_payments)
    ) as paid,
    count(*) filter (quote_id in (select quote_id from raw_ledger__claims)) as claimed
from raw_ledger__quotes
group by day, plan_id

-- checks (warning) quotes_are_counted_once: Every quote is counted once, no step has more than the one before it, and
-- a quote is claimed exactly if a claim redeemed it.
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
