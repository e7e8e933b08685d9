-- What was found of the service's capabilities; each statement is idempotent. Times UTC.

-- One row per capability that was looked at.
create table if not exists out_discovery__probes (
    capability varchar primary key,
    status varchar not null,
    reason varchar,
    determined_by varchar not null,
    evidence varchar not null,
    checked_at timestamp not null
);
