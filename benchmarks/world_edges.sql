-- One row per edge of a generated graph: $edges edges among $nodes nodes, some of which have many times the mean.
insert into out_world__edges
with ends as (
    select
        n,
        printf('node:%08d', hash(n) % $nodes) as source,
        printf('node:%08d', floor($nodes * pow(hash(n + 1000000000) / 18446744073709551616.0, 2))::bigint) as target
    from range($edges) as numbers (n)
)
select
    'edge:' || n as id,
    $nodes + n + 1 as revision,
    source,
    target,
    null as owner,
    true as live,
    true as newest,
    '{"id":"edge:' || n || '","source":"' || source || '","target":"' || target
    || '","type":"INFORMED_BY","properties":{},"visibility":"public","owner":null,'
    || '"validFrom":"2026-01-01T00:00:00.000000Z","validTo":null,"recordedAt":"2026-01-01T00:00:00.000000Z",'
    || '"statedIn":"bench","actor":"pipeline","revision":' || $nodes + n + 1 || '}' as body
from ends
