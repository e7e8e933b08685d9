-- name: advance_head
-- Takes the next seq; a rollback gives it back.
update ledger_head set seq = seq + 1 where only_row = 1 returning seq

-- name: advance_head_by
-- Takes the next :count seqs and returns the last of them; a rollback gives them back.
update ledger_head set seq = seq + :count where only_row = 1 returning seq

-- name: changes_after
-- One row per change after :seq, oldest first, at most :limit; recorded_at in UTC. An event of the graph is a change
-- without an entry in ledger_changes, which earlier versions also added.
select seq, kind, entity_id, recorded_at
from (
    select seq, kind, entity_id, recorded_at
    from (
        select seq, kind, entity_id, recorded_at from ledger_changes where seq > :seq order by seq limit :limit
    ) as noted
    union all
    select seq, kind, entity_id, recorded_at
    from (
        select e.seq, 'world_' || e.kind as kind, e.entity_id, e.recorded_at
        from world_events e
        where e.seq > :seq
            and e.seq <= (select seq from ledger_head)
            and not exists (select 1 from ledger_changes c where c.seq = e.seq)
        order by e.seq
        limit :limit
    ) as of_graph
) as changes
order by seq
limit :limit

-- name: head
-- One row: seq of the newest change, 0 before the first.
select seq from ledger_head where only_row = 1

-- name: identity
-- At most one row: the chain and token to which this ledger belongs.
select chain_id, genesis_hash, token_address from ledger_identity

-- name: lock_head (postgresql)
-- One row: the feed's head, locked until the transaction ends, as BEGIN IMMEDIATE does on SQLite.
select seq from ledger_head where only_row = 1 for update

-- name: record_change
-- Inserts a change of one entity; recorded_at in UTC.
insert into ledger_changes (seq, kind, entity_id, recorded_at) values (:seq, :kind, :entity_id, :recorded_at)

-- name: stamp
-- Inserts the chain and token to which this ledger belongs; stamped_at in UTC.
insert into ledger_identity (only_row, chain_id, genesis_hash, token_address, stamped_at)
values (1, :chain_id, :genesis_hash, :token_address, :stamped_at)

-- name: tables_with_texts (postgresql)
-- One row per table that contains, or has contained, people's texts. Only PostgreSQL rewrites its tables one by one.
select tablename as name
from pg_tables
where schemaname = current_schema()
    and (
        starts_with(tablename, 'world_') or starts_with(tablename, 'intake') or starts_with(tablename, 'connect_')
        or tablename = 'access_authorizations'
    )
order by tablename
