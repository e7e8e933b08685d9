-- One row: holders with rank in ($after, $after + $limit] of the list file $path as a JSON array, by rank.
select coalesce(
    '[' || string_agg(
        '{"rank":' || rank
        || ',"address":"' || address
        || '","balanceRaw":"' || balance_raw
        || '","balance":' || coalesce('"' || balance || '"', 'null')
        || ',"share":' || share
        || ',"firstSeenAt":"' || strftime(first_seen_at, '%Y-%m-%dT%H:%M:%SZ')
        || '","lastActiveAt":"' || strftime(last_active_at, '%Y-%m-%dT%H:%M:%SZ')
        || '","kind":' || coalesce('"' || kind || '"', 'null')
        || ',"cohort":"' || cohort || '"}',
        ',' order by rank
    ) || ']',
    '[]'
)
from read_parquet($path)
where rank > $after and rank <= $after + $limit
