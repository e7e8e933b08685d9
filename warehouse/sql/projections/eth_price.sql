-- One row: ETH in USD as served; `not_configured` where no source is.
select
    source,
    coalesce(quality, 'unavailable') as quality,
    case when quality is null then 'not_configured' else reason end as reason,
    coalesce(stale, false) as stale,
    observed_at,
    fetched_at,
    price,
    age_s,
    block,
    coalesce(sources, '[]'::json) as sources
from (select 1) left join out_market__eth_price on true
