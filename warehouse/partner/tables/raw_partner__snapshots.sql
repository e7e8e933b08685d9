-- One row per run of equal snapshots of the partner, the last 90 days.
create table if not exists raw_partner__snapshots (
    source varchar not null,  -- Host of the partner
    sha256 varchar not null,  -- SHA-256 of the object, keys sorted, without spaces
    first_fetched_at timestamp not null,  -- Time at which these bytes were first read, UTC
    last_fetched_at timestamp not null,  -- Time at which they were last read without others in between, UTC
    observed_at timestamp,  -- The partner's own time, UTC; null where it names none
    snapshot json not null  -- The object as the partner gave it
);
