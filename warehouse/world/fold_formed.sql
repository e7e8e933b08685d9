-- Inserts edges that follow from forms as rows, each the first state of its edge. Their common members are parsed as
-- JSON once per form. `arriving_formed` has one row per edge, `arriving_forms` one per form of these edges.
create or replace temp table arriving_common as
select
    *,
    state.validFrom <= state.recordedAt and coalesce(state.recordedAt < state.validTo, true) as live
from (
    select
        number,
        head || ',"revision":' as head,
        ',' || tail as tail,
        from_json('{' || head || ',' || tail, '{
            "type": "VARCHAR", "properties": "JSON", "visibility": "VARCHAR", "owner": "VARCHAR",
            "validFrom": "TIMESTAMP", "validTo": "TIMESTAMP", "recordedAt": "TIMESTAMP", "statedIn": "VARCHAR",
            "actor": "VARCHAR"
        }') as state
    from arriving_forms
);

insert into core_world__edges
select
    id, revision, source, target, state.type, state.properties, state.visibility, state.owner, live, state.validFrom,
    state.validTo, state.recordedAt, null, null, state.statedIn, state.actor
from arriving_formed
join arriving_common on number = form;

insert into out_world__edges
select
    id, revision, source, target, state.owner, live, true,
    '{"id":"' || id || '","source":"' || source || '","target":"' || target || '",' || head || revision || tail
from arriving_formed
join arriving_common on number = form;

drop table arriving_common
