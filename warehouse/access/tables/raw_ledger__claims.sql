-- One row per claim, in its current state, without address and transaction hash.
create table if not exists raw_ledger__claims (
    claim_id varchar primary key,  -- Id of the claim
    quote_id varchar not null,  -- The quote that it redeemed
    plan_id varchar not null,  -- The plan of the quote
    tier varchar not null,  -- Tier of the key that was issued
    chain_id bigint not null,  -- EIP-155 id of the chain of the payment
    block_number bigint not null,  -- Block that contains the payment
    amount_units bigint not null,  -- Amount paid, in the coin's smallest unit
    state varchar not null,  -- issued, or reversed while its payment is off the chain
    issued_at timestamp not null,  -- Time of issue of claim and key, UTC
    changed_at timestamp not null,  -- Time of the last change of state, UTC
    access_expires_at timestamp,  -- Time from which the key has the free tier, UTC; null: never
    final_at timestamp  -- Time at which the payment became final, UTC; null: not yet
);
