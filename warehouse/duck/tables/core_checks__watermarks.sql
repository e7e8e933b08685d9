-- One row per suite: the last block whose rows passed it, so that rows are checked when they are new and not again.
create table if not exists core_checks__watermarks (
    suite varchar primary key,  -- Table whose rows were checked
    block bigint not null  -- Last block whose rows passed
);
