-- One row per API key, of a claim or of the operator, in its current state, without owner and digest.
create table if not exists raw_ledger__keys (
    key_id varchar primary key,  -- Id of the key, which tells nothing of its text
    family_id varchar not null,  -- The first key of those that followed one another by rotation
    claim_id varchar,  -- The claim that issued it; null for keys that the operator made
    tier varchar not null,  -- free, basic or pro
    state varchar not null,  -- active, suspended or revoked
    paid_until timestamp,  -- End of the time that is paid, UTC; null: without end
    created_at timestamp not null,  -- Time of creation, UTC
    changed_at timestamp not null  -- Time of the last change of state, UTC
);
