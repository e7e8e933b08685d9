-- One row per thing that a rule notices now: the rule (a pattern of the constitution), the node's type, whose it is, the
-- bucket within which it is one, a title, the time in UTC, the table it is from and properties as JSON.
select 'proof-failure' as rule, 'Alert' as type, token_address as subject, block::varchar as bucket,
    'The holder list at block ' || block || ' is not proven' as title, block_time as observed_at,
    'out_holders__lists' as source, json_object('severity', 'high', 'block', block) as properties
from (select * from out_holders__lists order by block desc limit 1), (select token_address from out_holders__status)
where proof ->> '$.verdict' = 'failed'
union all
select 'stale-source', 'Alert', coalesce(source, token_address), strftime(fetched_at, '%Y-%m-%d'),
    'No source gives a price of the token now', fetched_at, 'out_market__token_price',
    json_object('severity', 'medium', 'reason', reason)
from out_market__token_price
where stale and fetched_at is not null
union all
select 'stale-source', 'Alert', coalesce(source, 'eth'), strftime(fetched_at, '%Y-%m-%d'),
    'No source gives a price of ETH now', fetched_at, 'out_market__eth_price',
    json_object('severity', 'medium', 'reason', reason)
from out_market__eth_price
where stale and fetched_at is not null
union all
select 'threshold', 'Alert', 'contract-balance', id, title, occurred_at, 'core_feed__events',
    json_object('severity', 'high', 'block', block)
from core_feed__events
where kind = 'threshold_crossed'
