-- Pairing codes and the sessions opened with them. Times are RFC 3339 text in UTC.

-- One row per pairing code that we issued, or that a companion vouched for when it was used. code_digest is the HMAC of
-- the code; consumed_at is null until it opened a session.
create table connect_pairings (
    pairing_id text not null primary key,
    code_digest text not null unique,
    profile_id text not null,
    issued_at text not null,
    expires_at text not null,
    consumed_at text
);

create index connect_pairings_by_expiry on connect_pairings (expires_at);

-- One row per session, at most one per pairing. token_digest is the HMAC of its token. assistant, os and runtime_profile
-- are null until a plan is requested; progress_json is the progress in it, and revision counts the changes.
create table connect_sessions (
    session_id text not null primary key,
    token_digest text not null unique,
    pairing_id text not null unique references connect_pairings (pairing_id),
    profile_id text not null,
    agent text,
    created_at text not null,
    expires_at text not null,
    closed_at text,
    assistant text,
    os text,
    runtime_profile text,
    progress_json text,
    revision integer not null,
    intake_id text
);

create index connect_sessions_by_expiry on connect_sessions (expires_at);

create index connect_sessions_of_intake on connect_sessions (intake_id) where intake_id is not null;
