-- One row about the list file $path: share of the ten largest, Gini, Herfindahl-Hirschman index (all fractions 0..1).
-- Ranks run from the largest, so the ascending position of the Gini formula is n + 1 - rank.
select
    least(coalesce(sum(share) filter (rank <= 10), 0), 1)::double as top10_share,
    greatest(least(coalesce(sum((count_all + 1 - 2 * rank) * share) / any_value(count_all), 0), 1), 0)::double as gini,
    least(coalesce(sum(share * share), 0), 1)::double as hhi
from (
    select rank, share, count(*) over () as count_all
    from read_parquet($path)
)
