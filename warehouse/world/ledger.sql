-- name: world_alike
-- One row per live node of one owner, type and title: the oldest ten.
select id from world_nodes where dedupe_key = :dedupe_key and live = 1 order by revision limit 10

-- name: world_alike_by_keys
-- One row per live node of one owner, type and title, for the keys in a JSON array, oldest first.
select dedupe_key, id from world_nodes
where dedupe_key in (select value from json_each(:values)) and live = 1
order by dedupe_key, revision

-- name: world_alike_by_keys (postgresql)
select dedupe_key, id from world_nodes
where dedupe_key in (select jsonb_array_elements_text(cast(:values as jsonb))) and live = 1
order by dedupe_key, revision

-- name: world_any_node_of
-- At most one row: the id of a node of :owner.
select id from world_nodes where owner = :owner limit 1

-- name: world_begin_import
-- One row per import; its times in UTC.
insert into world_imports (id, owner, key_id, created_at, expires_at, result)
values (:id, :owner, :key_id, :created_at, :expires_at, null)

-- name: world_begin_segment
-- One row per segment of the rows of large imports.
insert into world_segments (segment) values (:segment) on conflict (segment) do nothing

-- name: world_blank_event
-- Replaces the state of the event :seq by a tombstone.
update world_events set body = :body, actor = :actor, source = :source where seq = :seq

-- name: world_capsule_of_request
-- At most one row: the capsule that a request with an idempotency key created.
select id, request_sha256, seq, public_seq, claimed_by, created_at from world_capsules where request_key = :request_key

-- name: world_capsules_of_owner
-- One row per capsule that :owner claimed.
select id from world_capsules where claimed_by = :owner

-- name: world_claim_capsule
-- Assigns the capsule :id to :owner if it is unclaimed.
update world_capsules set claimed_by = :owner where id = :id and claimed_by is null

-- name: world_decision
-- At most one row: the verdict of the decision :seq.
select verdict from world_decisions where seq = :seq

-- name: world_decisions_after
-- One row per decision above :seq, oldest first, at most :limit; salt and payload are null if it was forgotten.
select
    world_decisions.seq,
    world_decisions.number,
    world_decisions.decided_at,
    world_decisions.verdict,
    world_decisions.commitment,
    world_decisions.link,
    world_decision_payloads.salt,
    world_decision_payloads.payload
from world_decisions
left join world_decision_payloads on world_decision_payloads.seq = world_decisions.seq
where world_decisions.seq > :seq
order by world_decisions.seq
limit :limit

-- name: world_decisions_lost
-- One row per decision that the change feed names but the audit lacks.
select ledger_changes.seq
from ledger_changes
left join world_decisions on world_decisions.seq = ledger_changes.seq
where ledger_changes.kind = 'world_decision' and world_decisions.seq is null
order by ledger_changes.seq

-- name: world_drop_edge
-- Deletes the newest state of the edge :id, before its next one is put.
delete from world_edges
where revision in (select seq from world_events where {world_segmented} and kind = 'edge' and entity_id = :id)

-- name: world_drop_forms
-- Deletes forms without edges, because they name sources. The revisions of a form's edges lie between its number and
-- the last event of its decision.
delete from world_edge_forms
where not exists (
    select 1
    from world_edges
    where form = number
        and revision >= number
        and revision < (select max(seq) from world_events where world_events.decision_seq = world_edge_forms.decision_seq)
)

-- name: world_drop_import
-- Deletes the import :id with its chunks.
delete from world_imports where id = :id

-- name: world_drop_import_chunks
-- Deletes the chunks of an import.
delete from world_import_chunks where import_id = :import_id

-- name: world_due_edges
-- One row per edge that began or ceased to hold by :now since it was recorded, at most :limit: its newest state as
-- JSON.
{world_edge_states} where due is not null and due <= :now order by due, id limit :limit

-- name: world_due_nodes
-- One row per node that began or ceased to hold by :now since it was recorded, at most :limit: its newest state as
-- JSON.
select body from world_nodes where due is not null and due <= :now order by due, id limit :limit

-- name: world_edge
-- At most one row: the newest state of the edge :id as JSON. Only an edge without events has a form.
select body
from (
    select body
    from world_events
    where {world_segmented} and kind = 'edge' and entity_id = :id
    order by seq desc
    limit 1
) as newest
union all
{world_edge_states} where s.segment in (select segment from world_segments) and s.form is not null and s.id = :id

-- name: world_edge_between
-- At most one row: the edge of a type between two nodes that :owner states, among edges that may have had another
-- owner: its newest state as JSON.
{world_edge_states}
where s.owner = :owner and s.segment = 0 and s.source = :source and s.type = :type and s.target = :target
order by s.revision desc
limit 1

-- name: world_edge_body
-- The newest state of an edge as JSON: that of its newest event, or the one that follows from its form.
coalesce(e.body, (select formed.body from world_formed_states as formed where formed.seq = s.revision))

-- name: world_edge_states
-- One row per edge: its newest state as JSON.
select {world_edge_body} as body from {world_edges_with_states}

-- name: world_edge_writes
-- One row per state of the edge `s`: its author and the decision that accepted it.
select actor, decision_seq
from world_events
where {world_segmented} and kind = 'edge' and entity_id = s.id
union all
select actor, decision_seq from world_edge_forms where number = s.form

-- name: world_edges_at
-- One row per edge from or to a node: its newest state as JSON.
{world_edge_states}
where s.source = :node_id or (s.segment in (select segment from world_segments) and s.target = :node_id)
order by id

-- name: world_edges_by_ids
-- One row per edge whose id is in a JSON array: its newest state as JSON.
select body
from world_events
where seq in (
    select max(seq)
    from world_events
    where {world_segmented} and kind = 'edge' and entity_id in (select value from json_each(:values))
    group by entity_id
)
union all
select body from world_formed_states where {world_segmented} and entity_id in (select value from json_each(:values))

-- name: world_edges_by_ids (postgresql)
select body
from world_events
where seq in (
    select max(seq)
    from world_events
    where {world_segmented} and kind = 'edge' and entity_id in (select jsonb_array_elements_text(cast(:values as jsonb)))
    group by entity_id
)
union all
select body from world_formed_states where {world_segmented} and entity_id in (select jsonb_array_elements_text(cast(:values as jsonb)))

-- name: world_edges_by_source
-- One row per private edge of :owner of which :source stated some state: its newest state as JSON.
{world_edge_states}
where s.owner = :owner
    and (
        f.stated_in = :source
        or exists (
            select 1 from world_events as stated
            where stated.segment in (select segment from world_segments)
                and stated.entity_id = s.id
                and stated.kind = 'edge'
                and stated.source = :source
        )
    )
order by id

-- name: world_edges_from
-- One row per edge of a type from the node :source: its newest state as JSON.
{world_edge_states} where s.source = :source and s.type = :type order by s.revision

-- name: world_edges_given_up
-- One row per edge that is public or belongs to an owner other than :owner, and of which :actor wrote an earlier state:
-- its newest state as JSON. An edge with a form has no earlier state, and belongs to the owner who wrote it.
select e.body
from world_edges as s
join world_events as e on e.seq = s.revision
where s.owner not in (:owner, :forgotten)
    and e.segment in (select segment from world_segments)
    and e.entity_id in (select entity_id from world_events where actor = :actor and kind = 'edge')
order by id

-- name: world_edges_known
-- One row per edge whose id is in a JSON array.
select entity_id as id
from world_events
where {world_segmented} and kind = 'edge' and entity_id in (select value from json_each(:values))
union
select id from world_edges where {world_segmented} and form is not null and id in (select value from json_each(:values))

-- name: world_edges_known (postgresql)
select entity_id as id
from world_events
where {world_segmented} and kind = 'edge' and entity_id in (select jsonb_array_elements_text(cast(:values as jsonb)))
union
select id from world_edges where {world_segmented} and form is not null and id in (select jsonb_array_elements_text(cast(:values as jsonb)))

-- name: world_edges_of_constitution
-- One row per edge that the constitution wrote (imports never do): its newest state as JSON.
select e.body
from world_edges as s
join world_events as e on e.seq = s.revision
where e.segment in (select segment from world_segments)
    and e.entity_id in (select entity_id from world_events where actor = 'constitution' and kind = 'edge')
order by id

-- name: world_edges_of_owner
-- One row per private edge of :owner: its newest state as JSON.
{world_edge_states} where s.owner = :owner order by id

-- name: world_edges_of_type
-- One row per private edge of :owner of one type: its newest state as JSON.
{world_edge_states} where s.owner = :owner and s.type = :type order by id

-- name: world_edges_since
-- One row per edge of :owner that has a state above :seq.
select id, source, type, target from world_edges where revision > :seq and owner = :owner

-- name: world_edges_stated_in
-- One row per private edge of :owner whose newest state contains the text :like: the state as JSON.
{world_edge_states} where s.owner = :owner and (e.body like :like or f.head like :like) order by id

-- name: world_edges_with_states
-- Edges, each with its newest event or its form.
world_edges as s
left join world_events as e on e.seq = s.revision
left join world_edge_forms as f on f.number = s.form

-- name: world_erased_after
-- One row per node that an event above :seq erased.
select entity_id as id from world_events where seq > :seq and kind = 'node' and actor = 'forgotten'

-- name: world_erasure_of
-- At most one row: the newest erasure of a subject by :owner.
select id, scope, nodes, edges, requested_at, finished_at
from world_erasures
where owner = :owner and subject_sha256 = :subject_sha256
order by requested_at desc
limit 1

-- name: world_erasures_waiting
-- One row per erasure whose files are still to be rewritten, oldest first.
select id, owner, scope, requested_at from world_erasures where finished_at is null order by requested_at, id

-- name: world_event_count
-- One row: the number of the graph's events.
select (select count(*) from world_events) + (select count(*) from world_edges where form is not null) as events

-- name: world_event_recorded_at
-- At most one row: the time at which the event :seq was recorded, in UTC.
select recorded_at from world_states where seq = :seq

-- name: world_event_texts_between
-- One row per event above :after and up to :until, oldest first: the new state as JSON, and whether an earlier event
-- has a state of the same node or edge. Only events of the ordinary segment are looked up: large imports put only first
-- states into other segments, and a lookup takes several times as long as reading the row.
select
    seq,
    kind,
    body,
    segment = 0
    and exists (
        select 1
        from world_events as earlier
        where {world_segmented}
            and earlier.entity_id = world_events.entity_id
            and earlier.kind = world_events.kind
            and earlier.seq < world_events.seq
    ) as follows
from world_events
where seq > :after and seq <= :until
order by seq

-- name: world_events_after
-- One row per event of the graph above :seq, oldest first, at most :limit; body is the new state as JSON. Edges with
-- forms are only searched for within the range of the other events on the page.
select seq, kind, body
from (select seq, kind, body from world_events where seq > :seq order by seq limit :limit) as events
union all
select states.seq, states.kind, states.body
from (
    select revision
    from world_edges
    where form is not null
        and revision > :seq
        and revision < coalesce(
            (select max(seq) from (select seq from world_events where seq > :seq order by seq limit :limit) as read),
            0
        )
    order by revision
    limit :limit
) as formed
join world_formed_states as states on states.seq = formed.revision
order by seq
limit :limit

-- name: world_events_of_decision
-- One row per event that the decision :decision_seq accepted, oldest first; body is the new state as JSON.
select seq, kind, body from world_events where decision_seq = :decision_seq
union all
select seq, kind, body
from world_formed_states
where decision_seq = :decision_seq and seq > :decision_seq and seq < ({world_last_event_of})
order by seq

-- name: world_events_of_entity
-- One row per event of one node or edge, oldest first; body is the state as JSON. An edge with a form has no events.
select seq, kind, body
from world_events
where {world_segmented} and kind = :kind and entity_id = :entity_id
order by seq

-- name: world_events_without_decision
-- One row per event whose decision is not in the audit or did not approve.
select world_states.seq
from world_states
left join world_decisions on world_decisions.seq = world_states.decision_seq
where world_decisions.verdict is null or world_decisions.verdict <> 'approved'
order by world_states.seq

-- name: world_expire_imports
-- Deletes the imports that expired by :now (UTC), with their chunks.
delete from world_imports where expires_at <= :now

-- name: world_export_decision
-- At most one row: the decision :seq, with its payload if that was not forgotten.
select
    world_decisions.commitment,
    world_decisions.decided_at,
    world_decisions.verdict,
    world_decision_payloads.owner,
    world_decision_payloads.payload
from world_decisions
left join world_decision_payloads on world_decision_payloads.seq = world_decisions.seq
where world_decisions.seq = :seq

-- name: world_export_edges
-- One row per edge of :owner from a node whose id lacks the owner's prefix, in world_export_range.
select id, source, type, target from world_edges where owner = :owner and segment = 0 and {world_export_range}

-- name: world_export_nodes
-- One row per node of :owner with an id between :after and :before, both exclusive, in order; at most :limit.
select id from world_nodes where owner = :owner and id > :after and id < :before order by id limit :limit

-- name: world_export_nodes (postgresql)
select id from world_nodes
where owner = :owner and id collate "C" > :after and id collate "C" < :before
order by id collate "C"
limit :limit

-- name: world_export_own_edges
-- One row per edge of :owner from a node whose id has the owner's prefix, where nearly all edges are the owner's, in
-- world_export_range.
select id, source, type, target from world_edges indexed by world_edges_by_source
where owner = :owner and {world_export_range}

-- name: world_export_own_edges (postgresql)
select id, source, type, target from world_edges where owner = :owner and {world_export_range}

-- name: world_export_range
-- A source from :source to before :before, after an edge of :source by type and target, in the order of source, type,
-- and the target without :prefix; at most :limit.
source >= :source
    and source < :before
    and (
        source > :source
        or type > :type
        or (type = :type and replace(target, :prefix, '') > :target)
    )
order by source, type, replace(target, :prefix, '')
limit :limit

-- name: world_export_range (postgresql)
source collate "C" >= :source
    and source collate "C" < :before
    and (
        source collate "C" > :source
        or type collate "C" > :type
        or (type = :type and replace(target, :prefix, '') collate "C" > :target)
    )
order by source collate "C", type collate "C", replace(target, :prefix, '') collate "C"
limit :limit

-- name: world_export_states
-- One row per state up to :revision of the nodes or edges in a JSON array, each with the decision that accepted it.
select e.seq, e.entity_id, e.body, e.decision_seq, d.commitment
from world_states as e
join world_decisions as d on d.seq = e.decision_seq
where e.segment in (select segment from world_segments)
    and e.entity_id in (select value from json_each(:ids))
    and e.kind = :kind
    and e.seq <= :revision
order by e.seq

-- name: world_export_states (postgresql)
select e.seq, e.entity_id, e.body, e.decision_seq, d.commitment
from jsonb_array_elements_text(cast(:ids as jsonb)) as wanted (id)
join world_events as e on e.entity_id = wanted.id and e.segment in (select segment from world_segments)
join world_decisions as d on d.seq = e.decision_seq
where e.kind = :kind and e.seq <= :revision
union all
select e.seq, e.entity_id, e.body, e.decision_seq, d.commitment
from jsonb_array_elements_text(cast(:ids as jsonb)) as wanted (id)
join world_formed_states as e on e.entity_id = wanted.id and e.segment in (select segment from world_segments)
join world_decisions as d on d.seq = e.decision_seq
where e.kind = :kind and e.seq <= :revision
order by seq

-- name: world_facts
-- One row per node of one owner, subject and single-valued predicate: its newest state as JSON.
select body from world_nodes where fact_key = :fact_key order by revision

-- name: world_facts_by_keys
-- One row per node of the owners, subjects and single-valued predicates in a JSON array: its newest state as JSON.
select fact_key, body from world_nodes where fact_key in (select value from json_each(:values)) order by revision

-- name: world_facts_by_keys (postgresql)
select fact_key, body from world_nodes
where fact_key in (select jsonb_array_elements_text(cast(:values as jsonb)))
order by revision

-- name: world_facts_then
-- One row per node of one owner, subject and single-valued predicate: its newest state up to :revision as JSON, or
-- null.
select (
    select body from world_events
    where {world_segmented} and entity_id = world_nodes.id and kind = 'node' and seq <= :revision
    order by seq desc
    limit 1
) as body
from world_nodes
where fact_key = :fact_key

-- name: world_finish_erasure
-- Marks the erasure :id as finished in every file; an owner who erased everything is forgotten.
update world_erasures
set finished_at = :finished_at, owner = case when scope = 'everything' then :forgotten else owner end
where id = :id and finished_at is null

-- name: world_finish_import
-- Marks the import :id as applied, with its result as JSON.
update world_imports set result = :result where id = :id

-- name: world_forget_claims
-- Forgets who claimed the capsules of :owner. A capsule that is its own owner can no longer be claimed.
update world_capsules set claimed_by = :forgotten where claimed_by = :owner or 'capsule:' || id = :owner

-- name: world_forget_erasures
-- Forgets which erasures :owner requested; an erasure of everything only once it is finished in the files.
update world_erasures
set owner = :forgotten, subject_sha256 = ''
where owner = :owner and (scope <> 'everything' or finished_at is not null)

-- name: world_forget_imports
-- Deletes the imports of :owner with their chunks, including the results of applied ones.
delete from world_imports where owner = :owner

-- name: world_forget_ontologies
-- Deletes every version of the words of :owner.
delete from world_ontologies where owner = :owner

-- name: world_forget_origin_decision
-- Deletes the imported decision :id of :owner.
delete from world_origin_decisions where owner = :owner and id = :id

-- name: world_forget_origin_decisions
-- Deletes every imported decision of :owner.
delete from world_origin_decisions where owner = :owner

-- name: world_forget_payload_of_event
-- Deletes the payload, with its salt, of the decision that accepted the event :seq.
delete from world_decision_payloads where seq = (select decision_seq from world_events where seq = :seq)

-- name: world_forget_payloads
-- Deletes the payloads, with their salts, of decisions for :owner.
delete from world_decision_payloads where owner = :owner

-- name: world_forget_payloads_like
-- Deletes the payloads, with their salts, of decisions for :owner about a text.
delete from world_decision_payloads where owner = :owner and payload like :like

-- name: world_forget_pending
-- Deletes the proposals of :owner that wait or waited for an operator.
delete from world_pending where owner = :owner

-- name: world_forget_pending_like
-- Deletes the proposals of :owner about a text that wait or waited for an operator.
delete from world_pending where owner = :owner and proposal like :like

-- name: world_forget_requests
-- Deletes the requests that :scope sent.
delete from world_requests where scope = :scope

-- name: world_formed_by_ids
-- One row per edge with a form whose id is in a JSON array.
select revision
from world_edges
where {world_segmented} and form is not null and id in (select value from json_each(:values))

-- name: world_formed_by_ids (postgresql)
select revision
from world_edges
where {world_segmented} and form is not null and id in (select jsonb_array_elements_text(cast(:values as jsonb)))

-- name: world_formed_edges_between
-- One row per edge with a form that was written above :after and up to :until, oldest first.
select revision, id, source, target, form
from world_edges
where form is not null and revision > :after and revision <= :until
order by revision

-- name: world_former_names
-- One row per owner to whom keys of :owner belonged before.
select payer as name from access_claims where owner = :owner and owner <> payer
union
select from_owner from access_moved_keys where to_owner = :owner
order by name

-- name: world_forms_between
-- One row per form with a number from :first to :last: the members that its edges share, before and after their
-- revisions, and the time at which they were recorded.
select number, head, tail, recorded_at from world_edge_forms where number >= :first and number <= :last order by number

-- name: world_head
-- At most one row: seq of the graph's newest event.
select seq from world_events order by seq desc limit 1

-- name: world_import
-- At most one row: the import :id of :owner; its times in UTC.
select created_at, expires_at, result from world_imports where id = :id and owner = :owner

-- name: world_import_chunk
-- At most one row: a chunk, compressed.
select body from world_import_chunks where import_id = :import_id and number = :number

-- name: world_import_chunk_digests
-- One row per chunk of an import that arrived, by number.
select number, bytes, sha256 from world_import_chunks where import_id = :import_id order by number

-- name: world_keep_capsule
-- One row per onboarding capsule; created_at in UTC.
insert into world_capsules (id, request_key, request_sha256, seq, public_seq, claimed_by, created_at)
values (:id, :request_key, :request_sha256, :seq, :public_seq, null, :created_at)

-- name: world_keep_formed
-- Stores the state of the edge with this revision, which follows from a form, as an event.
insert into world_events (seq, kind, entity_id, decision_seq, actor, source, recorded_at, body, segment)
select seq, kind, entity_id, decision_seq, actor, source, recorded_at, body, segment
from world_formed_states
where seq = :revision

-- name: world_keep_origin_decision
-- One row per decision of another installation that wrote an imported state.
insert into world_origin_decisions (owner, id, body) values (:owner, :id, :body) on conflict (owner, id) do nothing

-- name: world_keep_payload
-- One row per decision that is not forgotten: the payload of its commitment, its owner, and the key that requested it.
insert into world_decision_payloads (seq, owner, salt, payload, key_id) values (:seq, :owner, :salt, :payload, :key_id)

-- name: world_keep_repetition
-- At most one row per statement that was repeated after it had ended: `seq` is the decision after which it was last
-- repeated.
insert into world_requests (scope, key, request_sha256, seq) values (:scope, :key, '', :after)
on conflict (scope, key) do update set seq = excluded.seq

-- name: world_keep_request
-- One row per request that was approved or escalated.
insert into world_requests (scope, key, request_sha256, seq) values (:scope, :key, :request_sha256, :seq)

-- name: world_known_of
-- At most one row: present if :owner has a node or an edge, or if one has an id from :after to before :before.
select 1 as known
where exists (select 1 from world_nodes where owner = :owner or (id >= :after and id < :before))
    or exists (select 1 from world_edges where owner = :owner or (source >= :after and source < :before))

-- name: world_known_of (postgresql)
select 1 as known
where exists (
        select 1 from world_nodes
        where owner = :owner or (id collate "C" >= :after and id collate "C" < :before)
    )
    or exists (
        select 1 from world_edges
        where owner = :owner or (source collate "C" >= :after and source collate "C" < :before)
    )

-- name: world_last_decision
-- At most one row: the newest decision's number and link.
select number, link from world_decisions order by seq desc limit 1

-- name: world_last_erasure
-- At most one row: the time at which files were last rewritten for an erasure by an owner.
select finished_at from world_erasures where finished_at is not null order by finished_at desc limit 1

-- name: world_last_event_by
-- At most one row: the newest event up to :seq and its decision. Only edges with forms can lie between two other
-- events.
select seq, decision_seq
from (select seq, decision_seq from world_events where seq <= :seq order by seq desc limit 1) as event
union all
select states.seq, states.decision_seq
from (
    select revision
    from world_edges
    where form is not null
        and revision <= :seq
        and revision > coalesce((select max(seq) from world_events where seq <= :seq), 0)
    order by revision desc
    limit 1
) as formed
join world_formed_states as states on states.seq = formed.revision
order by seq desc
limit 1

-- name: world_last_event_of
-- One row: the newest event of a decision.
select max(seq) as seq from world_events where decision_seq = :decision_seq

-- name: world_last_recorded_by
-- One row: the newest event recorded by :instant (UTC); null if there is none. All events of a batch have one time, and
-- the last of them is in the ordinary segment.
select max(seq) as seq from world_events indexed by world_events_by_time where segment = 0 and recorded_at <= :instant

-- name: world_last_recorded_by (postgresql)
select max(seq) as seq from world_events where segment = 0 and recorded_at <= :instant

-- name: world_move_capsules
-- Moves capsules that :from_owner claimed to :to_owner, if :from_owner no longer has any of their nodes.
update world_capsules
set claimed_by = :to_owner
where claimed_by = :from_owner
    and not exists (
        select 1
        from world_events e
        join world_nodes n on n.id = e.entity_id
        where e.decision_seq = world_capsules.seq and e.kind = 'node' and n.owner = :from_owner
    )

-- name: world_move_payloads
-- Moves the payloads of decisions for :from_owner to :to_owner.
update world_decision_payloads set owner = :to_owner where owner = :from_owner

-- name: world_move_pending
-- Moves waiting proposals of :from_owner to :to_owner.
update world_pending set owner = :to_owner where owner = :from_owner

-- name: world_move_requests
-- Moves requests that :from_owner sent to :to_owner, unless :to_owner sent another one with the same key.
update world_requests
set scope = :to_owner
where scope = :from_owner
    and not exists (select 1 from world_requests as known where known.scope = :to_owner and known.key = world_requests.key)

-- name: world_newest_decisions
-- One row per decision, newest first, at most :limit; payload is null if it was forgotten.
select
    world_decisions.seq,
    world_decisions.number,
    world_decisions.decided_at,
    world_decisions.verdict,
    world_decisions.link,
    world_decision_payloads.payload
from world_decisions
left join world_decision_payloads on world_decision_payloads.seq = world_decisions.seq
order by world_decisions.seq desc
limit :limit

-- name: world_newest_of
-- One row: the newest revision of an owner's nodes and edges; null if there are none.
select max(revision) as revision
from (
    select max(revision) as revision from world_nodes where owner = :owner
    union all
    select max(revision) as revision from world_edges where owner = :owner
) as newest

-- name: world_newest_ontology
-- At most one row: the newest words of :owner.
select version, recorded_at, body from world_ontologies where owner = :owner order by version desc limit 1

-- name: world_next_due
-- One row: the next time at which a node or an edge begins or ceases to hold; null if none is known.
select min(due) as due
from (
    select min(due) as due from world_nodes where due is not null
    union all
    select min(due) as due from world_edges where due is not null
) as next

-- name: world_node
-- At most one row: the newest state of the node :id as JSON.
select body from world_nodes where id = :id

-- name: world_node_owner
-- At most one row: the owner of the node :id; empty for public ones.
select owner from world_nodes where id = :id

-- name: world_node_owners
-- One row per node whose id is in a JSON array: its owner; empty for public ones.
select id, owner from world_nodes where id in (select value from json_each(:values))

-- name: world_node_owners (postgresql)
select id, owner from world_nodes where id in (select jsonb_array_elements_text(cast(:values as jsonb)))

-- name: world_nodes_by_ids
-- One row per node whose id is in a JSON array: its newest state as JSON.
select body from world_nodes where id in (select value from json_each(:values))

-- name: world_nodes_by_ids (postgresql)
select body from world_nodes where id in (select jsonb_array_elements_text(cast(:values as jsonb)))

-- name: world_nodes_by_source
-- One row per private node of :owner of which :source stated some state: its newest state as JSON.
select body
from world_nodes
where owner = :owner
    and exists (
        select 1 from world_events
        where {world_segmented} and entity_id = world_nodes.id and kind = 'node' and source = :source
    )
order by id

-- name: world_nodes_given_up
-- One row per node that is public or belongs to an owner other than :owner, and of which :actor wrote an earlier state:
-- its newest state as JSON.
select body
from world_nodes
where owner not in (:owner, :forgotten)
    and id in (select entity_id from world_events where actor = :actor and kind = 'node')
order by id

-- name: world_nodes_of_constitution
-- One row per node that the constitution wrote: its newest state as JSON.
select body
from world_nodes
where id in (select entity_id from world_events where actor = 'constitution' and kind = 'node')
order by id

-- name: world_nodes_of_owner
-- One row per private node of :owner: its newest state as JSON.
select body from world_nodes where owner = :owner order by id

-- name: world_nodes_stated_in
-- One row per private node of :owner whose newest state contains the text :like: the state as JSON.
select body from world_nodes where owner = :owner and body like :like order by id

-- name: world_numbered_decision
-- At most one row: the link of the decision that has :number in the chain, and its time in UTC.
select link, decided_at from world_decisions where number = :number

-- name: world_ontologies_of
-- One row per version of the words of :owner, newest first, at most :limit.
select version, recorded_at, body from world_ontologies where owner = :owner order by version desc limit :limit

-- name: world_ontology_at
-- At most one row: the words that :owner had at :instant (UTC).
select version, recorded_at, body
from world_ontologies
where owner = :owner and recorded_at <= :instant
order by version desc
limit 1

-- name: world_ontology_by
-- At most one row: the words that :owner had at the revision :seq.
select version, recorded_at, body
from world_ontologies
where owner = :owner and seq <= :seq
order by version desc
limit 1

-- name: world_ontology_version
-- At most one row: one version of the words of :owner.
select version, recorded_at, body from world_ontologies where owner = :owner and version = :version

-- name: world_open_imports
-- One row per import of :owner that is neither applied nor expired by :now (UTC).
select id from world_imports where owner = :owner and result is null and expires_at > :now

-- name: world_ordinary_edges
-- One row per edge of :owner that no large import wrote as new. All edges that had another owner before are among them.
select id, source, type, target from world_edges indexed by world_edges_by_owner_and_ends
where owner = :owner and segment = 0

-- name: world_ordinary_edges (postgresql)
select id, source, type, target from world_edges where owner = :owner and segment = 0

-- name: world_origin_decision
-- At most one row: the imported decision :id of :owner, as a JSON record.
select body from world_origin_decisions where owner = :owner and id = :id

-- name: world_payload
-- At most one row: the payload of the decision :seq, as JSON.
select payload from world_decision_payloads where seq = :seq

-- name: world_payload_for
-- At most one row: the payload of the decision :seq, as JSON, if it is for :owner or the public part, and not longer
-- than :longest characters.
select payload
from world_decision_payloads
where seq = :seq and owner in ('', :owner) and length(payload) <= :longest

-- name: world_pend
-- One row per proposal that waits for an operator, as JSON, with its owner.
insert into world_pending (seq, owner, proposal, decided_seq) values (:seq, :owner, :proposal, null)

-- name: world_pending_of_owner
-- At most one row: the proposal :seq of :owner, which waits or waited, the time of its first judgement (UTC), and the
-- decision that settled it.
select world_pending.proposal, world_pending.decided_seq, world_decisions.decided_at
from world_pending
join world_decisions on world_decisions.seq = world_pending.seq
where world_pending.seq = :seq and world_pending.owner = :owner

-- name: world_public_edges
-- One row: the number of live public edges between live public nodes.
select count(*) as edges
from world_edges
join world_nodes as sources
    on sources.id = world_edges.source and sources.visibility = 'public' and sources.live = 1
join world_nodes as targets
    on targets.id = world_edges.target and targets.visibility = 'public' and targets.live = 1
where world_edges.visibility = 'public' and world_edges.live = 1

-- name: world_public_nodes
-- One row per domain that has live public nodes: their number.
select domain, count(*) as nodes from world_nodes where visibility = 'public' and live = 1 group by domain order by domain

-- name: world_put_edge
-- One row per edge: the indexed fields of its newest state. The earlier row has been dropped.
insert into world_edges (id, source, target, type, owner, visibility, live, due, revision)
values (:id, :source, :target, :type, :owner, :visibility, :live, :due, :revision)

-- name: world_put_erasure
-- One row per erasure that an owner requested.
insert into world_erasures (id, owner, scope, subject_sha256, nodes, edges, requested_at, finished_at)
values (:id, :owner, :scope, :subject_sha256, :nodes, :edges, :requested_at, null)

-- name: world_put_import_chunk
-- One row per chunk: the one that arrived last.
insert into world_import_chunks (import_id, number, sha256, bytes, body)
values (:import_id, :number, :sha256, :bytes, :body)
on conflict (import_id, number) do update set
    sha256 = excluded.sha256,
    bytes = excluded.bytes,
    body = excluded.body

-- name: world_put_node
-- One row per node: its newest state.
insert into world_nodes (id, owner, visibility, domain, live, dedupe_key, fact_key, due, revision, body)
values (:id, :owner, :visibility, :domain, :live, :dedupe_key, :fact_key, :due, :revision, :body)
on conflict (id) do update set
    owner = excluded.owner,
    visibility = excluded.visibility,
    domain = excluded.domain,
    live = excluded.live,
    dedupe_key = excluded.dedupe_key,
    fact_key = excluded.fact_key,
    due = excluded.due,
    revision = excluded.revision,
    body = excluded.body

-- name: world_put_ontology
-- One row per version of an owner's words; recorded_at in UTC.
insert into world_ontologies (owner, version, seq, recorded_at, body)
values (:owner, :version, :seq, :recorded_at, :body)

-- name: world_record_decision
-- One row per decision; decided_at in UTC.
insert into world_decisions (seq, number, decided_at, verdict, commitment, link)
values (:seq, :number, :decided_at, :verdict, :commitment, :link)

-- name: world_release_form
-- Detaches the edge with this revision from its form, because its state is now stored as an event.
update world_edges set form = null where revision = :revision

-- name: world_request
-- At most one row: the decision of the request :key of :scope.
select request_sha256, seq from world_requests where scope = :scope and key = :key

-- name: world_segmented
-- Any segment: an index whose first column is the segment is searched once per segment. There are few.
segment in (select segment from world_segments)

-- name: world_settle
-- Marks the proposal :seq as no longer waiting.
update world_pending set decided_seq = :decided_seq where seq = :seq and decided_seq is null

-- name: world_sources_of
-- One row per source that stated something for :owner.
select distinct source
from world_events
where {world_segmented} and entity_id in (
    select id from world_nodes where owner = :owner
    union
    select id from world_edges where owner = :owner
)
union
select forms.stated_in from world_edges join world_edge_forms as forms on forms.number = form where owner = :owner

-- name: world_states_of_node
-- One row per state of the node :id up to :revision, newest first, at most :limit: its record as JSON, and the decision
-- that accepted it.
select e.seq, e.kind, e.body, e.decision_seq, d.decided_at, d.verdict
from world_events e
join world_decisions d on d.seq = e.decision_seq
where e.segment in (select segment from world_segments) and e.entity_id = :id and e.kind = 'node' and e.seq <= :revision
order by e.seq desc
limit :limit

-- name: world_states_unlike_events
-- One row per node or edge whose newest state differs from its newest event, or that lacks an event or a state, or is
-- in an unknown segment.
with newest as (
    select kind, entity_id, max(seq) as seq from world_states group by kind, entity_id
),
states as (
    select 'node' as kind, id, revision from world_nodes
    union all
    select 'edge' as kind, id, revision from world_edges
)
select newest.entity_id as id
from newest
left join states on states.kind = newest.kind and states.id = newest.entity_id and states.revision = newest.seq
where states.id is null
union
select states.id
from states
left join newest on newest.kind = states.kind and newest.entity_id = states.id and newest.seq = states.revision
where newest.entity_id is null
union
select world_nodes.id
from world_nodes
join world_events on world_events.seq = world_nodes.revision
where world_events.body <> world_nodes.body
union
select entity_id from world_events where segment not in (select segment from world_segments)
union
select id from world_edges where segment not in (select segment from world_segments)
union
select id from world_edges where form is not null and revision in (select seq from world_events)
order by id

-- name: world_took_over
-- At most one row: present if :owner may have taken something over, with a capsule, by an operator's consent, or by the
-- migration that took keys from operators that never signed.
select 1 as took
where exists (select 1 from world_capsules where claimed_by = :owner)
    or exists (select 1 from access_claims where owner = :owner and owner <> payer)
    or exists (select 1 from access_moved_keys where to_owner = :owner)

-- name: world_waiting
-- One row per proposal that waits for an operator, oldest first, at most :limit.
select world_pending.seq, world_pending.proposal, world_decisions.decided_at
from world_pending
join world_decisions on world_decisions.seq = world_pending.seq
where world_pending.decided_seq is null
order by world_pending.seq
limit :limit

-- name: world_waiting_one
-- At most one row: the proposal :seq, if it waits for an operator.
select proposal from world_pending where seq = :seq and decided_seq is null
