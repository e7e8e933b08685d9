-- Builds the graph as it was in two tables: nodes_then and edges_then have one row per node and edge that held and that
-- the viewer sees. Times are RFC 3339 strings in UTC; if as_of is null, the states that were live count. Anything
-- erased since then is left out.
create or replace temp view known_revision as
select coalesce(max(revision), 0) as revision
from (select revision from out_world__nodes union all select revision from out_world__edges);

-- Rows of the states in a list, each as JSON, that the query copy lacks.
create or replace temp macro later(states) as table
select state.id, state.revision, state.owner, body
from (
    select body, from_json(body, '{"id": "VARCHAR", "revision": "BIGINT", "owner": "VARCHAR"}') as state
    from (select unnest(states::varchar[]) as body)
)
where state.revision > (select revision from known_revision);

-- The owner decides who sees a state before its record is parsed, because most states belong to others.
create or replace temp macro sees(owner) as owner is null or coalesce(owner = getvariable('viewer'), false);

-- Tables rather than views, because the statements below read them several times.
create or replace temp table later_nodes as from later(getvariable('later_nodes'));
create or replace temp table later_edges as from later(getvariable('later_edges'));

create or replace temp view node_states as
select id, revision, sees(owner) as is_seen, body from out_world__nodes
union all
select id, revision, sees(owner), body from later_nodes;

create or replace temp view edge_states as
select id, revision, sees(owner) as is_seen, body from out_world__edges
union all
select id, revision, sees(owner), body from later_edges;

create or replace temp macro holds(state, with_ended) as case
    when getvariable('as_of') is null
        then not coalesce(state.erased, false) and state.validFrom <= state.recordedAt
            and (with_ended or state.validTo is null or state.validTo > state.recordedAt)
    else state.validFrom <= getvariable('as_of')
        and (with_ended or state.validTo is null or getvariable('as_of') < state.validTo)
end;

create or replace temp table nodes_then as
with seen as (
    select id, revision, body from node_states
    where is_seen and revision <= getvariable('at_revision')
    qualify row_number() over (partition by id order by revision desc) = 1
),
states as (
    select id, body, from_json(body, '{
        "type": "VARCHAR", "domain": "VARCHAR", "validFrom": "VARCHAR", "validTo": "VARCHAR", "recordedAt": "VARCHAR",
        "erased": "BOOLEAN"
    }') as state
    from seen
    where id not in (
        select newer.id from seen join node_states as newer using (id)
        where not newer.is_seen and newer.revision > seen.revision and newer.revision <= getvariable('at_revision')
    )
),
erased as (
    select id from node_states
    where revision > getvariable('at_revision') and id in (select id from seen) and body like '%"erased":true%'
        and from_json(body, '{"erased": "BOOLEAN"}').erased
)
select id, state.type, state.domain, body
from states
where holds(state, getvariable('include_ended')) and not coalesce(state.erased, false)
    and id not in (select id from erased);

create or replace temp table edges_then as
with seen as (
    select id, revision, body from edge_states
    where is_seen and revision <= getvariable('at_revision')
    qualify row_number() over (partition by id order by revision desc) = 1
),
states as (
    select id, body, from_json(body, '{
        "source": "VARCHAR", "target": "VARCHAR", "validFrom": "VARCHAR", "validTo": "VARCHAR", "recordedAt": "VARCHAR",
        "erased": "BOOLEAN"
    }') as state
    from seen
    where id not in (
        select newer.id from seen join edge_states as newer using (id)
        where not newer.is_seen and newer.revision > seen.revision and newer.revision <= getvariable('at_revision')
    )
),
forgotten as (
    select id from edge_states, known_revision
    where edge_states.revision > known_revision.revision
        and from_json(body, '{"actor": "VARCHAR"}').actor = 'forgotten'
)
select id, state.source, state.target, body
from states
where holds(state, getvariable('include_ended')) and id not in (select id from forgotten)
    and state.source in (select id from nodes_then) and state.target in (select id from nodes_then);
