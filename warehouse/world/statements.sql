-- name: count_graph
-- One row per domain in `$domains`: live public nodes, and live public edges from them, at the folded revision.
insert into out_world__counts
with nodes as (
    select id, domain from core_world__nodes where retired_revision is null and live and visibility = 'public'
),
edges as (
    select sources.domain
    from core_world__edges as edges
    join nodes as sources on sources.id = edges.source
    join nodes as targets on targets.id = edges.target
    where edges.retired_revision is null and edges.live and edges.visibility = 'public'
)
select
    names.domain,
    (select count(*) from nodes where nodes.domain = names.domain),
    (select count(*) from edges where edges.domain = names.domain),
    $revision
from (select unnest($domains::varchar[]) as domain) as names
order by names.domain

-- name: drop_positions
-- Deletes the positions of nodes that are no longer live and public.
delete from out_world__positions
where id not in (
    select id from out_world__nodes where newest and live and body->>'$.visibility' = 'public'
)

-- name: graph_counts
-- One row per domain of the graph: its public nodes, the edges from them, and the ledger's seq at which they were
-- counted.
select domain, node_count, edge_count, revision from out_world__counts order by domain

-- name: keep_positions
-- Inserts one row per node that is placed for the first time.
insert into out_world__positions
select unnest($ids::varchar[]), unnest($xs::double[]), unnest($ys::double[])

-- name: movers
-- One row per address whose balance changed between two lists by at least one percent of the later sum, the twenty
-- largest changes; change is a fraction of that sum.
with pairs as (
    select
        coalesce(b.address, a.address) as address,
        coalesce(a.balance_raw, '0')::double - coalesce(b.balance_raw, '0')::double as change
    from read_parquet($before) as b
    full join read_parquet($after) as a on b.address = a.address
    where a.balance_raw is distinct from b.balance_raw
)
select address, round(change / $sum::double, 6) as change
from pairs
where $sum::double > 0 and abs(change) >= 0.01 * $sum::double
order by abs(change) desc, address
limit 20

-- name: newest_folded
-- At most one row: the time at which the newest folded event was recorded, in the ledger's form.
select strftime(recorded_at, '%Y-%m-%dT%H:%M:%S.%fZ') from core_world__state

-- name: newest_snapshots
-- The two newest holder lists that are snapshots, newest first.
select block, block_time, sum_raw from out_holders__lists where snapshot order by block desc limit 2

-- name: noticed
-- One row per finding of a rule now: the rule (a pattern of the constitution), the node's type, the subject, the bucket
-- within which it counts once, a title, the time in UTC, the table it is from and properties as JSON.
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

-- name: past_following
-- One row per node of these ids: the next node from the same source, and the one after that.
with told as (
    select
        id,
        coalesce(body->>'$.owner', '') as owner,
        body->>'$.source' as source,
        body->>'$.validFrom' as valid_from,
        (body->>'$.revision')::bigint as revision
    from nodes_then
)
select id, next, after_next
from (
    select
        id,
        lead(id) over series as next,
        lead(id, 2) over series as after_next
    from told
    where (owner, source) in (select (owner, source) from told where id in (select unnest($ids::varchar[])))
    window series as (partition by owner, source order by valid_from, revision)
)
where id in (select unnest($ids::varchar[]))

-- name: past_edge_texts
-- One row per edge and end that belongs to the edge's owner, if the edge's type, properties or alias contain the
-- letters of one of the roots, without diacritics, or if the end is in $ids: the node, type, properties as JSON and the
-- alias's title.
with ends as (
    select unnest([source, target]) as id, source, target, body from edges_then
),
texts as (
    select
        ends.id,
        ends.body->>'$.type' as type,
        ends.body->>'$.properties' as properties,
        case when ends.body->>'$.type' = 'ALIAS_OF' and ends.id = ends.target then aliases.body->>'$.title' end as alias
    from ends
    join nodes_then as nodes on nodes.id = ends.id
    join nodes_then as aliases on aliases.id = ends.source
    where nodes.body->>'$.owner' is not distinct from ends.body->>'$.owner'
    qualify count(*) over (partition by ends.id) <= $most
)
select id, type, properties, alias
from texts
where list_contains($ids::varchar[], id) or len(list_filter(
    $roots::varchar[],
    lambda root: contains(strip_accents(lower(concat_ws(' ', type, properties, alias))), root)
)) > 0

-- name: past_words
-- One row per word, in lower case and without diacritics, of the nodes and edges that held and that the viewer sees,
-- whose length differs from $length by at most $letters. It includes words of record fields that no search reads.
select distinct word
from (
    select unnest(regexp_extract_all(replace(letters, '\n', ' '), '[\p{L}\p{N}]+')) as word
    from (
        select strip_accents(lower(body)) as letters from nodes_then
        union all
        select replace(strip_accents(lower(body)), '_', ' ') from edges_then
    )
)
where abs(length(word) - $length) <= $letters

-- name: past_candidates
-- One row per node whose record contains the letters of one of the roots, without diacritics, by id.
select body from (select id, body, strip_accents(lower(body)) as letters from nodes_then)
where len(list_filter($roots::varchar[], lambda root: contains(letters, root))) > 0
order by id

-- name: past_counts
-- One row per type and visibility: the number of nodes in a scope (own, public, both).
select type, is_public, count(*) from (select *, body->>'$.visibility' = 'public' as is_public from nodes_then)
where $scope = 'both' or is_public = ($scope = 'public')
group by type, is_public

-- name: past_edges_among
-- One row per edge between two of these nodes, ordered by source, target and id: its record as JSON.
select body from edges_then
where source in (select unnest($ids::varchar[])) and target in (select unnest($ids::varchar[]))
order by source, target, id
limit $limit

-- name: past_facts
-- One row per node that names a predicate and held at the time of comparison: its record as JSON.
select body from nodes_then
where body like '%"predicate":%' and holds(from_json(body, '{
    "validFrom": "VARCHAR", "validTo": "VARCHAR", "recordedAt": "VARCHAR", "erased": "BOOLEAN"
}'), false)

-- name: past_ids
-- One row per node in a domain (null: any), of one of the types (empty: any) and in a scope (own, public, both), by id.
select id from nodes_then
where coalesce(domain = $domain, $domain is null)
    and (len($types) = 0 or list_contains($types, type))
    and ($scope = 'both' or (body->>'$.visibility' = 'public') = ($scope = 'public'))
order by id

-- name: past_neighbours
-- One row per node to which an edge from these leads (outbound) or from which one leads to these (inbound), by id.
select target as id from edges_then where $outbound and source in (select unnest($ids::varchar[]))
union
select source as id from edges_then where $inbound and target in (select unnest($ids::varchar[]))
order by id

-- name: past_nodes
-- One row per node of these ids: its record as JSON.
select id, body from nodes_then where id in (select unnest($ids::varchar[]))

-- name: past_recent
-- One row per node that meets the conditions of past_ids, newest revision first.
select id from nodes_then
where coalesce(domain = $domain, $domain is null)
    and (len($types) = 0 or list_contains($types, type))
    and ($scope = 'both' or (body->>'$.visibility' = 'public') = ($scope = 'public'))
order by (body->>'$.revision')::bigint desc, id
limit $limit offset $skip

-- name: snapshot_due
-- One row: folded revision, nodes, states above the revision $held, whether any of these is a tombstone, and whether
-- the state of that revision was recorded at $recorded_at.
select
    coalesce((select max(revision) from core_world__state), 0) as revision,
    (select count(*) from out_world__nodes where newest) as nodes,
    (select count(*) from core_world__nodes where revision > $held)
    + (select count(*) from core_world__edges where revision > $held) as later,
    exists (select 1 from core_world__nodes where revision > $held and (erased or actor = 'forgotten'))
    or exists (select 1 from core_world__edges where revision > $held and actor = 'forgotten') as forgets,
    exists (
        select 1 from core_world__nodes where revision = $held and recorded_at = cast($recorded_at as timestamp)
    )
    or exists (
        select 1 from core_world__edges where revision = $held and recorded_at = cast($recorded_at as timestamp)
    ) as continues

-- name: snapshot_edge_texts
-- One row per node with live edges of its own owner to live nodes, except nodes with more than $most edges: the types,
-- the properties and the titles of aliases. `snapshot_edge_numbers` has the numbers of all edges, and $types the names
-- of their types. Few edges have properties or are aliases ($texts: whether any does or is); only the records of these
-- are read.
create or replace temp table snapshot_edge_texts as
with edges as (
    select edges.source, edges.target, edge_type, edges.owner, sources.owner as source_owner, targets.owner as target_owner
    from snapshot_edge_numbers as edges
    join snapshot_nodes as sources on sources.num = edges.source
    join snapshot_nodes as targets on targets.num = edges.target
    where sources.owner < 4294967295 and targets.owner < 4294967295
),
typed as (
    select num, edge_type, sum(edges) as edges
    from (
        select source as num, edge_type, count(*) as edges from edges where source_owner = owner group by all
        union all
        select target as num, edge_type, count(*) as edges from edges where target_owner = owner group by all
    )
    group by num, edge_type
),
texts as materialized (
    select
        sources.num as source,
        targets.num as target,
        sources.owner as source_owner,
        targets.owner as target_owner,
        coalesce(code, 0) as owner,
        case when not contains(body, ',"properties":{},"visibility":"') then body->>'$.properties' end as properties,
        case when contains(body, '"type":"ALIAS_OF"') and body->>'$.type' = 'ALIAS_OF' then sources.id end as alias
    from snapshot_input_edges as edges
    join snapshot_nodes as sources on sources.id = edges.source
    join snapshot_nodes as targets on targets.id = edges.target
    left join snapshot_owners on snapshot_owners.owner = edges.owner
    where $texts
        and edges.live
        and (not contains(body, ',"properties":{},"visibility":"') or contains(body, '"type":"ALIAS_OF"'))
        and sources.owner < 4294967295
        and targets.owner < 4294967295
),
titles as (
    select id, body->>'$.title' as title from snapshot_input_nodes where id in (select alias from texts)
),
told as (
    select
        num,
        list(distinct properties) filter (properties is not null) as properties,
        list(distinct title) filter (title is not null) as aliases
    from (
        select source as num, properties, null as alias from texts where source_owner = owner
        union all
        select target as num, properties, alias from texts where target_owner = owner
    )
    left join titles on titles.id = alias
    where properties is not null or title is not null
    group by num
)
select num, types, properties, aliases
from (
    select num, list(list_extract($types::varchar[], edge_type + 1)) as types
    from typed
    group by num
    having sum(edges) <= $most
)
left join told using (num)

-- name: snapshot_edges
-- One row per live edge between known nodes, unordered. source and target are numbers of nodes; owner is 0 for public
-- edges, otherwise the owner's code; texts is true if the edge has properties or is an alias. A record begins with ids,
-- which contain no quotes, so its first type is the edge's; parsing millions of records as JSON would take half of the
-- time of a snapshot.
select
    sources.num as source,
    targets.num as target,
    coalesce(code, 0)::uinteger as owner,
    substr(behind_ids, 1, strpos(behind_ids, '"') - 1) as edge_type,
    not contains(body, ',"properties":{},"visibility":"') or edge_type = 'ALIAS_OF' as texts,
    body
from (
    select source, target, owner, body, substr(body, strpos(body, '"type":"') + 8, 80) as behind_ids
    from snapshot_input_edges
    where live
) as edges
join snapshot_nodes as sources on sources.id = edges.source
join snapshot_nodes as targets on targets.id = edges.target
left join snapshot_owners on snapshot_owners.owner = edges.owner

-- name: snapshot_input
-- The input of a snapshot: the newest state of every node and edge, with its record.
create or replace temp view snapshot_input_nodes as
select id, type, domain, owner, live, body from out_world__nodes where newest;

create or replace temp view snapshot_input_edges as
select id, source, target, owner, live, body from out_world__edges where newest;

-- name: snapshot_names
-- One row: the numbers of nodes and of live private nodes, and the types and domains that occur, sorted.
select
    count(*) as nodes,
    count(*) filter (owner between 1 and 4294967294) as private_nodes,
    coalesce(list_sort(list_distinct(list(type))), []) as types,
    coalesce(list_sort(list_distinct(list(domain))), []) as domains
from snapshot_nodes

-- name: snapshot_node_rows
-- One row per node, in order of numbers. next is the next node from the same source, by start of validity and order of
-- writing; 4294967295 if there is none. Of a state that is not live, only the numbers are stored. Records are large, so
-- they are not sorted by source as well.
with places as materialized (
    select
        num,
        (case when owner < 4294967295 then coalesce(lead(num) over series, 4294967295) else 4294967295 end)::uinteger
            as next
    from snapshot_nodes
    window series as (partition by owner, source order by valid_from, revision)
)
select
    num,
    id,
    nodes.type,
    nodes.domain,
    nodes.owner,
    case when nodes.owner < 4294967295 then body else '' end as body,
    revision,
    next,
    edge_texts.types as edge_types,
    edge_texts.properties as edge_properties,
    edge_texts.aliases as aliases
from snapshot_nodes as nodes
join snapshot_input_nodes using (id)
join places using (num)
left join snapshot_edge_texts as edge_texts using (num)
order by num

-- name: snapshot_nodes
-- One row per node, numbered from 0 in the order of ids (by bytes). owner is 0 for public nodes, otherwise the owner's
-- code; 4294967295 if the state is not live. Records are large, so they are not copied.
create or replace temp table snapshot_nodes as
select
    (row_number() over (order by id) - 1)::uinteger as num,
    id,
    type,
    domain,
    (case when not live then 4294967295 else coalesce(code, 0) end)::uinteger as owner,
    about[1] as source,
    about[2] as valid_from,
    coalesce(about[3]::ubigint, 0) as revision
from (select *, body->>['$.source', '$.validFrom', '$.revision'] as about from snapshot_input_nodes)
left join snapshot_owners using (owner);

-- name: snapshot_owner_rows
-- One row per owner of live private state, in order of codes.
select owner from snapshot_owners order by code

-- name: snapshot_owners
-- One row per owner of live private state; codes count from 1 in the order of owners.
create or replace temp table snapshot_owners as
select owner, row_number() over (order by owner)::uinteger as code
from (
    select owner from snapshot_input_nodes where owner is not null and live
    union
    select owner from snapshot_input_edges where owner is not null and live
);

-- name: world_public_changes
-- One row per decision that changed public nodes, the newest twenty, newest first. States that are written together
-- share time, source and author. A node with its first state counts as added, one that is no longer live as ended.
with states as (
    select
        id,
        revision,
        live,
        body->>'$.type' as type,
        body->>'$.title' as title,
        body->>'$.source' as source,
        body->>'$.actor' as actor,
        body->>'$.recordedAt' as recorded_at,
        row_number() over (partition by id order by revision) as number
    from out_world__nodes
    where body->>'$.visibility' = 'public'
)
select
    max(revision) as revision,
    recorded_at,
    source,
    actor,
    count(*) filter (live and number = 1) as added,
    count(*) filter (live and number > 1) as changed,
    count(*) filter (not live) as ended,
    list({type: type, title: title} order by id)[:3] as titles
from states
group by recorded_at, source, actor
order by revision desc
limit 20

-- name: world_shown_edges
-- One row per live public edge between two of the nodes $ids, by its ends.
select source, target, body->>'$.type' as type
from out_world__edges
where newest and live and body->>'$.visibility' = 'public'
    and source in (select unnest($ids::varchar[])) and target in (select unnest($ids::varchar[]))
order by source, target, type

-- name: world_shown_nodes
-- One row per live public node, those with the most public edges first, at most $limit. x and y are null until placed.
with nodes as (
    select id, type, domain, body from out_world__nodes where newest and live and body->>'$.visibility' = 'public'
),
edges as (
    select source, target
    from out_world__edges
    where newest and live and body->>'$.visibility' = 'public'
        and source in (select id from nodes) and target in (select id from nodes)
),
weights as (
    select id, count(*) as weight from (select source as id from edges union all select target from edges) group by id
)
select
    nodes.id,
    nodes.body->>'$.title' as title,
    nodes.type,
    nodes.domain,
    nodes.body->>'$.properties.description' as description,
    nodes.body->>'$.properties.url' as url,
    nodes.body->>'$.source' as source,
    nodes.body->>'$.actor' as actor,
    nodes.body->>'$.validFrom' as valid_from,
    nodes.body->>'$.recordedAt' as recorded_at,
    coalesce(weight, 0) as weight,
    x,
    y
from nodes
left join weights on weights.id = nodes.id
left join out_world__positions as positions on positions.id = nodes.id
order by coalesce(weight, 0) desc, nodes.id
limit $limit
