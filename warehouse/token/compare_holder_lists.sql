-- One row about two list files: churn, movers and cohorts as JSON. Amounts are smallest units as decimal text.
with before_list as materialized (
    select address, balance_raw, rank, cohort, first_seen_at from read_parquet($before)
),
after_list as materialized (
    select address, balance_raw, rank, cohort, first_seen_at from read_parquet($after)
),
pairs as materialized (
    select
        coalesce(b.address, a.address) as address,
        b.balance_raw as before_raw,
        a.balance_raw as after_raw,
        b.rank as rank_before,
        a.rank as rank_after
    from before_list as b
    full join after_list as a on b.address = a.address
),
changes as materialized (
    select
        *,
        coalesce(after_raw, '0')::bignum - coalesce(before_raw, '0')::bignum as change_raw
    from pairs
    where before_raw is distinct from after_raw
),
up as (
    from changes where change_raw > 0::bignum order by change_raw desc, address limit 20
),
down as (
    from changes where change_raw < 0::bignum order by change_raw, address limit 20
),
churned as (
    select
        count(*) filter (before_raw is null) as entered,
        count(*) filter (after_raw is null) as left_count,
        count(*) filter (before_raw is not null and after_raw is not null) as retained
    from pairs
),
ages as (
    select unnest($age_cohorts::varchar[]) as cohort, unnest($age_days::integer[]) as least_days,
        generate_subscripts($age_cohorts::varchar[], 1) as position
),
size_counts as (
    select cohort, count(*) filter (side = 0) as before_count, count(*) filter (side = 1) as after_count
    from (select cohort, 0 as side from before_list union all select cohort, 1 from after_list)
    group by cohort
),
seen as (
    select date_diff('second', first_seen_at, $before_time::timestamp) // 86400 as days, 0 as side from before_list
    union all
    select date_diff('second', first_seen_at, $after_time::timestamp) // 86400, 1 from after_list
),
age_days as (
    select days, count(*) filter (side = 0) as before_count, count(*) filter (side = 1) as after_count
    from seen
    group by days
),
age_counts as (
    select ages.cohort, sum(before_count)::bigint as before_count, sum(after_count)::bigint as after_count
    from age_days asof join ages on age_days.days >= ages.least_days
    group by ages.cohort
),
size_rows as (
    select names.cohort, names.position, coalesce(before_count, 0) as b, coalesce(after_count, 0) as a
    from (
        select unnest($size_cohorts::varchar[]) as cohort, generate_subscripts($size_cohorts::varchar[], 1) as position
    ) as names
    left join size_counts using (cohort)
),
age_rows as (
    select ages.cohort, ages.position, coalesce(before_count, 0) as b, coalesce(after_count, 0) as a
    from ages
    left join age_counts using (cohort)
)
select
    (
        select to_json({
            entered: entered, 'left': left_count, retained: retained,
            rate: if(left_count + retained = 0, null, left_count / (left_count + retained))
        })
        from churned
    ) as churn,
    to_json({
        up: (
            select coalesce(list({
                address: address, beforeRaw: coalesce(before_raw, '0'), afterRaw: coalesce(after_raw, '0'),
                changeRaw: change_raw::varchar, rankBefore: rank_before, rankAfter: rank_after
            } order by change_raw desc, address), []) from up
        ),
        down: (
            select coalesce(list({
                address: address, beforeRaw: coalesce(before_raw, '0'), afterRaw: coalesce(after_raw, '0'),
                changeRaw: change_raw::varchar, rankBefore: rank_before, rankAfter: rank_after
            } order by change_raw, address), []) from down
        )
    }) as movers,
    to_json({
        size: (select list({cohort: cohort, before: b, after: a, 'change': a - b} order by position) from size_rows),
        age: (select list({cohort: cohort, before: b, after: a, 'change': a - b} order by position) from age_rows)
    }) as cohorts
