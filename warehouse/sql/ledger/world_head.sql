-- At most one row: seq of the graph's newest event.
select seq from world_events order by seq desc limit 1
