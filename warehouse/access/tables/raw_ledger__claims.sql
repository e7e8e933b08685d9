-- One row per claim, in its current state, without address and transaction hash.
create table if not exists raw_ledger__claims (
    claim_id varchar primary key,  -- Id of the claim
    quote_id varchar not null,  -- The quote that it redeemed
    plan_id varchar not null,  -- The plan of the quote
    tier varchar not null,  -- Tier of the key that was issued
    chain_id bigint not null,  -- EIP-155 id of the chain that was paid on
    block_number bigint not null,  -- Block that holds the payment
    amount_units bigint not null,  -- What was paid, in the coin's smallest unit
    state varchar not null,  -- issued, or reversed while its payment is off the chain
    issued_at timestamp not null,  -- When claim and key were issued, UTC
    changed_at timestamp not null,  -- When its state changed last, UTC
    access_expires_at timestamp,  -- From when on the key has the free tier, UTC; null: never
    final_at timestamp  -- Since when nobody need look at the payment again, UTC; null: not yet
);
