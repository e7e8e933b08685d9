-- Appends the registered rows `incoming` to $table, by the names of its columns: one per event, times UTC.
insert into $table by name
select * from incoming
