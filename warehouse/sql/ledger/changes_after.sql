-- One row per change above :seq, oldest first, at most :limit; recorded_at in UTC.
select seq, kind, entity_id, recorded_at from ledger_changes where seq > :seq order by seq limit :limit
