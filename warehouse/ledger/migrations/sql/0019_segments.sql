-- One row per segment: 0 is of ordinary writes, any other of some hundred thousand rows that one large import wrote, and
-- its number the seq of the import's decision that began it.
create table world_segments (segment bigint not null primary key);

insert into world_segments (segment) values (0);

alter table world_events add column segment bigint not null default 0;

alter table world_edges add column segment bigint not null default 0;
