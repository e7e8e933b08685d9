-- One row per persisted snapshot. The id is the block number as decimal text; reason: first, hourly, daily or demand.
create table if not exists core_holders__snapshots (
    id varchar not null,  -- Block number as decimal text
    block bigint not null,  -- Block whose state the snapshot is
    block_time timestamp not null,  -- Its time, UTC
    reason varchar not null,  -- first, hourly, daily or demand
    recorded_at timestamp not null  -- Time at which the snapshot was taken, or last renewed without a newer block, UTC
);
