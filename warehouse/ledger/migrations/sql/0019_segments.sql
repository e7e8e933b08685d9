-- One row per segment: 0 is for ordinary writes; any other contains some hundred thousand rows of one large import, and
-- its number is the seq of the import's decision that began it.
create table world_segments (segment bigint not null primary key);

insert into world_segments (segment) values (0);

alter table world_events add column segment bigint not null default 0;

alter table world_edges add column segment bigint not null default 0;
