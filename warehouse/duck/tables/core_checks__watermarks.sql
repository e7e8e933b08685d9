-- One row per table: the last block whose rows passed its checks, so that rows are checked once, when they are new.
create table if not exists core_checks__watermarks (
    suite varchar primary key,  -- Table whose rows were checked
    block bigint not null  -- Last block whose rows passed
);
