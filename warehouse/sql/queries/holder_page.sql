-- One row: holders with rank in ($after, $after + $limit] of the list file $path as a JSON array, by rank.
select to_json(
    coalesce(
        list(
            {
                rank: rank,
                address: address,
                balanceRaw: balance_raw,
                balance: balance,
                share: share,
                firstSeenAt: strftime(first_seen_at, '%Y-%m-%dT%H:%M:%SZ'),
                lastActiveAt: strftime(last_active_at, '%Y-%m-%dT%H:%M:%SZ'),
                kind: kind,
                cohort: cohort
            }
            order by rank
        ),
        []
    )
)::varchar
from read_parquet($path)
where rank > $after and rank <= $after + $limit
