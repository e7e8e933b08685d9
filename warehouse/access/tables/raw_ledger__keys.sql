-- One row per API key, of a claim or of the operator, in its current state, without owner and digest.
create table if not exists raw_ledger__keys (
    key_id varchar primary key,  -- Id of the key, which reveals nothing about its text
    family_id varchar not null,  -- The first key of those that followed one another by rotation
    claim_id varchar,  -- The claim that issued it; null for keys that the operator created
    tier varchar not null,  -- free, basic or pro
    state varchar not null,  -- active, suspended or revoked
    paid_until timestamp,  -- End of the paid time, UTC; null: no end
    created_at timestamp not null,  -- Time of creation, UTC
    changed_at timestamp not null  -- Time of the last change of state, UTC
);
