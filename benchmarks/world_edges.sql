-- One line per edge of a generated graph, as an import reads it: at most $edges edges among $nodes nodes, some of which
-- have many times the mean.
copy (
with ends as (
    select distinct
        hash(n) % $nodes as source,
        floor($nodes * pow(hash(n + 1000000000) / 18446744073709551616.0, 2))::bigint as target
    from range($edges) as numbers (n)
)
select
    '{"kind":"edge","source":"' || printf('node:%08d', source) || '","target":"' || printf('node:%08d', target)
    || '","type":"INFORMED_BY","validFrom":"2026-01-01T00:00:00.000000Z","statedIn":"bench"}' as line
from ends
where source <> target
order by source, target
) to '$path' (format csv, header false, quote '', escape '', delimiter '\t')
