-- One row per key that the payer owns since a migration, by the operator that had it before and never signed.
select m.key_id, k.claim_id, m.from_owner, m.to_owner, m.nodes, m.edges, m.left_behind, m.moved_at
from access_moved_keys m
join api_keys k on k.key_id = m.key_id
order by m.from_owner, m.to_owner, m.key_id
