-- At most one row: the ledger's seq up to which intakes are synced.
create table if not exists core_intake__state (
    only_row boolean primary key check (only_row),  -- Always true
    seq bigint not null  -- The ledger's seq up to which intakes are synced
);
