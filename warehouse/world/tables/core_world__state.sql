-- At most one row: the revision of the graph up to which events are folded, and their number.
create table if not exists core_world__state (
    revision bigint not null,  -- The graph's newest revision that is folded
    events bigint not null,  -- Events folded so far
    recorded_at timestamp not null  -- Time at which the newest of them was recorded, UTC
);
