-- One row per quote, in its current state, without address, hash, signature and nonce.
create table if not exists raw_ledger__quotes (
    quote_id varchar primary key,  -- Id of the quote
    plan_id varchar not null,  -- The plan that was asked for
    amount_units bigint not null,  -- What it asks for, in the coin's smallest unit
    issued_at timestamp not null,  -- When it was made, UTC
    expires_at timestamp not null,  -- Until when a payment counts, UTC
    state varchar not null  -- open, claimed or expired
);
