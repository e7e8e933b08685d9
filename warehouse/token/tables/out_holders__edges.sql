-- One row per pair of the 250 largest holders of the newest list with transfers from one to the other in the 30 days
-- before it, the 2,000 pairs with most transfers.
create table if not exists out_holders__edges (
    from_address varchar not null,  -- Sender, lower-case hex
    to_address varchar not null,  -- Recipient, lower-case hex
    from_rank bigint not null,  -- Rank of the sender in the list
    to_rank bigint not null,  -- Rank of the recipient in the list
    transfers bigint not null,  -- Transfers from the one to the other
    amount_raw varchar not null,  -- Sum of their amounts in the token's smallest unit, as decimal text
    first_at timestamp not null,  -- Time of the first of them, UTC
    last_at timestamp not null  -- Time of the last of them, UTC
);
