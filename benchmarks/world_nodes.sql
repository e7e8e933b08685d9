-- One line per node of a generated graph of $nodes nodes, as an import reads it: words by Zipf's law, the same in every
-- run.
copy (
with syllables as (
    select ['ba', 'ko', 'ti', 'ren', 'mo', 'sal', 'vi', 'dor', 'ne', 'lu', 'gar', 'pe', 'shi', 'ta', 'wen', 'zo', 'qui',
        'fal', 'hu', 'cre'] as list
),
vocabulary as (
    select list_transform(range(50000), lambda n:
        list[1 + n % 20] || list[1 + (n // 20) % 20] || list[1 + (n // 400) % 20]
        || case when n >= 8000 then list[1 + n // 8000] else '' end) as words
    from syllables
),
texts as (
    select
        n,
        list_transform(range(12), lambda k:
            words[1 + floor(exp(hash(n * 100 + k) / 18446744073709551616.0 * ln(50000.0)))::integer - 1]) as picked
    from range($nodes) as numbers (n), vocabulary
)
select
    '{"kind":"node","id":"' || printf('node:%08d', n) || '","title":"' || array_to_string(picked[1:4], ' ')
    || '","type":"' || ['Goal', 'Task', 'Metric', 'Value', 'Decision'][1 + n % 5]
    || '","properties":{"description":"' || array_to_string(picked[5:12], ' ') || '","score":' || n % 1000
    || '},"validFrom":"2026-01-01T00:00:00.000000Z","source":"bench"}' as line
from texts
order by n
) to '$path' (format csv, header false, quote '', escape '', delimiter '\t')
