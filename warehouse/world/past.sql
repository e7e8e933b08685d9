-- The graph as it was, as two tables: nodes_then and edges_then, one row per node and edge that held and that the viewer
-- sees. Times are RFC 3339 text in UTC; as_of null asks for what was live. What was erased since then never was.
create or replace temp view known_revision as
select coalesce(max(revision), 0) as revision
from (select revision from out_world__nodes union all select revision from out_world__edges);

create or replace temp view node_states as
select id, revision, body from out_world__nodes
union all
select id, later.revision, body
from (
    select unnest(
        from_json(getvariable('later_nodes')::json, '[{"id": "VARCHAR", "revision": "BIGINT", "body": "VARCHAR"}]'),
        recursive := true
    )
) as later, known_revision
where later.revision > known_revision.revision;

create or replace temp view edge_states as
select id, revision, body from out_world__edges
union all
select id, later.revision, body
from (
    select unnest(
        from_json(getvariable('later_edges')::json, '[{"id": "VARCHAR", "revision": "BIGINT", "body": "VARCHAR"}]'),
        recursive := true
    )
) as later, known_revision
where later.revision > known_revision.revision;

create or replace temp macro holds(state, with_ended) as case
    when getvariable('as_of') is null
        then not coalesce(state.erased, false) and state.validFrom <= state.recordedAt
            and (with_ended or state.validTo is null or state.validTo > state.recordedAt)
    else state.validFrom <= getvariable('as_of')
        and (with_ended or state.validTo is null or getvariable('as_of') < state.validTo)
end;

create or replace temp macro sees(state) as
    state.visibility = 'public' or coalesce(state.owner = getvariable('viewer'), false);

create or replace temp table nodes_then as
with states as (
    select id, body, from_json(body, '{
        "type": "VARCHAR", "domain": "VARCHAR", "visibility": "VARCHAR", "owner": "VARCHAR", "validFrom": "VARCHAR",
        "validTo": "VARCHAR", "recordedAt": "VARCHAR", "erased": "BOOLEAN"
    }') as state
    from node_states
    where revision <= getvariable('at_revision')
    qualify row_number() over (partition by id order by revision desc) = 1
),
erased as (
    select id from node_states
    where revision > getvariable('at_revision') and body like '%"erased":true%'
        and from_json(body, '{"erased": "BOOLEAN"}').erased
)
select id, state.type, state.domain, body
from states
where holds(state, getvariable('include_ended')) and sees(state) and not coalesce(state.erased, false)
    and id not in (select id from erased);

create or replace temp table edges_then as
with states as (
    select id, body, from_json(body, '{
        "source": "VARCHAR", "target": "VARCHAR", "visibility": "VARCHAR", "owner": "VARCHAR", "validFrom": "VARCHAR",
        "validTo": "VARCHAR", "recordedAt": "VARCHAR", "erased": "BOOLEAN"
    }') as state
    from edge_states
    where revision <= getvariable('at_revision')
    qualify row_number() over (partition by id order by revision desc) = 1
),
forgotten as (
    select id from edge_states, known_revision
    where edge_states.revision > known_revision.revision
        and from_json(body, '{"actor": "VARCHAR"}').actor = 'forgotten'
)
select id, state.source, state.target, body
from states
where holds(state, getvariable('include_ended')) and sees(state) and id not in (select id from forgotten)
    and state.source in (select id from nodes_then) and state.target in (select id from nodes_then);
