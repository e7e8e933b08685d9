-- One row per other source: its latest holder count.
create table if not exists out_holders__sources (
    source varchar not null,  -- Host that was asked
    theirs bigint,  -- Holders by its latest answer
    reason varchar,  -- Reason why the count is missing; null when it is not
    fetched_at timestamp not null  -- Time of the answer, UTC
);
