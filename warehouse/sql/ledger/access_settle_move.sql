-- What became of an operator's graph when its keys became a payer's.
update access_moved_keys
set nodes = :nodes, edges = :edges, left_behind = :left_behind, moved_at = :moved_at
where from_owner = :from_owner and to_owner = :to_owner and moved_at is null
