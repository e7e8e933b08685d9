-- One row per quote, in its current state, without address, hash, signature and nonce.
create table if not exists raw_ledger__quotes (
    quote_id varchar primary key,  -- Id of the quote
    plan_id varchar not null,  -- Plan that the quote is for
    amount_units bigint not null,  -- Quoted amount, in the coin's smallest unit
    issued_at timestamp not null,  -- Time of creation, UTC
    expires_at timestamp not null,  -- Last time at which a payment counts, UTC
    state varchar not null  -- open, claimed or expired
);
