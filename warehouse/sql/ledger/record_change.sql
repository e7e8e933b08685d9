-- One row per change of one entity; recorded_at in UTC.
insert into ledger_changes (seq, kind, entity_id, recorded_at) values (:seq, :kind, :entity_id, :recorded_at)
