-- One row per transfer that came with a claim and that no claim used then; its amounts as text, since other tokens use
-- all of uint256.
create table if not exists raw_ledger__unmatched_payments (
    payment_id varchar primary key,  -- Id of its case
    quote_id varchar,  -- The quote of its sender that it came for; null while no claim of one named it
    chain_id bigint not null,  -- EIP-155 id of the chain
    asset varchar not null,  -- Contract of the token that came
    amount_units varchar not null,  -- How much came, in that token's smallest unit, decimal
    block_number bigint not null,  -- Block that holds the transfer
    paid_at timestamp not null,  -- Time of that block, UTC
    code varchar not null,  -- Why it pays nothing, as the claim was answered
    state varchar not null,  -- open, supplement_offered, claimed, issued by the operator, refund_due or refunded
    recorded_at timestamp not null,  -- When it was recorded, UTC
    changed_at timestamp not null,  -- When its state changed last, UTC
    refund_units varchar  -- How much goes, or went, back to the sender, in that token's smallest unit; null: nothing
);

-- for files from before cases
alter table raw_ledger__unmatched_payments alter column quote_id drop not null;
alter table raw_ledger__unmatched_payments add column if not exists refund_units varchar;
