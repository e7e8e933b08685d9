-- One row per form: what many edges of an import have in common, which is all of their states except ids, ends and
-- revisions. Its number is the revision of the first of them.
create table world_edge_forms (
    number bigint not null primary key,
    decision_seq bigint not null,
    actor text not null,
    stated_in text not null,
    recorded_at text not null,
    head text not null,
    tail text not null
);

-- An edge with a form has exactly one state, and no event for it.
alter table world_edges add column form bigint;

create view world_formed_states as
select
    edges.revision as seq,
    cast('edge' as text) as kind,
    edges.id as entity_id,
    forms.decision_seq,
    forms.actor,
    forms.stated_in as source,
    forms.recorded_at,
    cast(
        '{"id":"' || edges.id || '","source":"' || edges.source || '","target":"' || edges.target || '",' || forms.head
        || ',"revision":' || edges.revision || ',' || forms.tail
        as text
    ) as body,
    edges.segment
from world_edges as edges
join world_edge_forms as forms on forms.number = edges.form
where edges.form is not null;

-- One row per state of a node or an edge. With columns of equal affinity in both parts, SQLite can use the indexes of each.
create view world_states as
select seq, kind, entity_id, decision_seq, actor, source, recorded_at, body, segment from world_events
union all
select seq, kind, entity_id, decision_seq, actor, source, recorded_at, body, segment from world_formed_states;
