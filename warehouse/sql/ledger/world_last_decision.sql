-- At most one row: the newest decision's number and link.
select number, link from world_decisions order by seq desc limit 1
