-- One row per other source: its latest holder count.
create table if not exists out_holders__sources (
    source varchar not null,  -- Host that was queried
    theirs bigint,  -- Holders according to its latest answer
    reason varchar,  -- Reason why the count is missing; null if it is not
    fetched_at timestamp not null  -- Time of the answer, UTC
);
