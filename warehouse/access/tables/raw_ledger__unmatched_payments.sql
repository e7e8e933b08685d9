-- One row per transfer that a claim named and no claim used at that time. Amounts are text, since other tokens use all
-- of uint256.
create table if not exists raw_ledger__unmatched_payments (
    payment_id varchar primary key,  -- Id of its case
    quote_id varchar,  -- The sender's quote that it was meant for; null while no claim has named it
    chain_id bigint not null,  -- EIP-155 id of the chain
    asset varchar not null,  -- Contract of the transferred token
    amount_units varchar not null,  -- Amount of the transfer, in that token's smallest unit, decimal
    block_number bigint not null,  -- Block that contains the transfer
    paid_at timestamp not null,  -- Time of that block, UTC
    code varchar not null,  -- Reason why it pays nothing: the code in the answer to the claim
    state varchar not null,  -- open, supplement_offered, claimed, issued by the operator, refund_due or refunded
    recorded_at timestamp not null,  -- Time of recording, UTC
    changed_at timestamp not null,  -- Time of the last change of state, UTC
    refund_units varchar  -- Amount to refund or refunded to the sender, in that token's smallest unit; null: nothing
);

-- for files of versions before cases
alter table raw_ledger__unmatched_payments alter column quote_id drop not null;
