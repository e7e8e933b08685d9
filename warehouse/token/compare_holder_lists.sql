-- One row about two lists: churn, movers and cohorts as JSON. Amounts are smallest units as decimal text.
with before_list as materialized (
    select address, balance_raw, rank, cohort, first_seen_at, first_held_at from $before_rows
),
after_list as materialized (
    select address, balance_raw, rank, cohort, first_seen_at, first_held_at from $after_rows
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
spans as (
    select 'age' as since, date_diff('second', first_seen_at, $before_time::timestamp) // 86400 as days, 0 as side
    from before_list
    union all
    select 'age', date_diff('second', first_seen_at, $after_time::timestamp) // 86400, 1 from after_list
    union all
    select 'held', date_diff('second', first_held_at, $before_time::timestamp) // 86400, 0 from before_list
    union all
    select 'held', date_diff('second', first_held_at, $after_time::timestamp) // 86400, 1 from after_list
),
span_days as (
    select since, days, count(*) filter (side = 0) as before_count, count(*) filter (side = 1) as after_count
    from spans
    where days is not null
    group by since, days
),
span_counts as (
    select since, ages.cohort, sum(before_count)::bigint as before_count, sum(after_count)::bigint as after_count
    from span_days asof join ages on span_days.days >= ages.least_days
    group by since, ages.cohort
),
size_rows as (
    select names.cohort, names.position, coalesce(before_count, 0) as b, coalesce(after_count, 0) as a
    from (
        select unnest($size_cohorts::varchar[]) as cohort, generate_subscripts($size_cohorts::varchar[], 1) as position
    ) as names
    left join size_counts using (cohort)
),
span_rows as (
    select kinds.since, ages.cohort, ages.position, coalesce(before_count, 0) as b, coalesce(after_count, 0) as a
    from ages
    cross join (select unnest(['age', 'held']) as since) as kinds
    left join span_counts on span_counts.cohort = ages.cohort and span_counts.since = kinds.since
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
        age: (
            select list({cohort: cohort, before: b, after: a, 'change': a - b} order by position)
            from span_rows where since = 'age'
        ),
        held: (
            select list({cohort: cohort, before: b, after: a, 'change': a - b} order by position)
            from span_rows where since = 'held'
        )
    }) as cohorts
