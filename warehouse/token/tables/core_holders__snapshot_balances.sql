-- One row per holder of a persisted snapshot.
create table if not exists core_holders__snapshot_balances (
    snapshot_id varchar not null,  -- Id of the snapshot
    address varchar not null,  -- Holder, lower-case hex
    balance_raw varchar not null,  -- Balance in the token's smallest unit, as decimal text
    rank bigint not null  -- Place by balance, from 1
);
