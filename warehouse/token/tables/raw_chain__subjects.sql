-- One row per kind of event: the table of its rows, its contract and the first block.
create table if not exists raw_chain__subjects (
    rows_table varchar not null,  -- Table that contains the events
    address varchar not null,  -- Contract that emitted them, lower-case hex
    start_block bigint not null  -- First block that was read
);
