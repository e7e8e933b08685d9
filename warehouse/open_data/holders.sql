-- One row per holder with a balance above zero, at the block of the file's name. The zero address is a row where its
-- balance is not 0.
-- public: holders
create table if not exists holders (
    rank bigint not null,  -- Place by balance, from 1
    address varchar not null,  -- Holder, lower-case hex
    balance_raw varchar not null,  -- Balance in the token's smallest unit, as decimal text
    share double not null,  -- Share of the sum of all balances, a fraction from 0 to 1
    first_seen_at timestamp,  -- Time of the first transfer, UTC
    last_active_at timestamp,  -- Time of the latest transfer, UTC
    kind varchar,  -- contract or wallet; null where it was not looked up
    cohort varchar  -- Class by share: whale, shark, dolphin, fish or shrimp
);
