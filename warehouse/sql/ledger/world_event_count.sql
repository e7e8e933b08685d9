-- One row: how many events the graph has.
select count(*) as events from world_events
