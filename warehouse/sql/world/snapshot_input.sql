-- What a snapshot is written from: the newest state of every node and edge, with its record.
create or replace temp view snapshot_input_nodes as
select id, type, domain, owner, live, body from out_world__nodes where newest;

create or replace temp view snapshot_input_edges as
select id, source, target, owner, live, body from out_world__edges where newest;
