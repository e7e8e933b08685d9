-- Payments by signature (x402): authorizations, the nonces of relayers, and the transactions that were signed to send
-- them. Amounts are in the coin's smallest unit, fees in wei per gas, addresses, hashes and hex in lower case, times RFC
-- 3339 text in UTC, except valid_after and valid_before, which are Unix seconds.

-- One row per authorization, stored before anything is sent. Its quote names what is bought; its claim, once it is paid,
-- is that of the quote. request_digest is that of the request it pays for. from_block is the chain's head when it
-- arrived. answer is the sealed answer that the payment buys, null before it exists (a key is created with the claim) and
-- after it is deleted. code is why it failed. closed_at is null while anything can still happen to it on the chain.
create table access_authorizations (
    payment_id text not null primary key,
    quote_id text not null unique references access_quotes (quote_id),
    chain_id bigint not null,
    asset text not null,
    payer text not null,
    nonce text not null,
    pay_to text not null,
    value bigint not null check (value > 0),
    valid_after bigint not null,
    valid_before bigint not null,
    signature text not null,
    request_digest text not null,
    from_block bigint not null,
    state text not null check (state in ('stored', 'paid', 'failed')),
    code text,
    answer text,
    stored_at text not null,
    changed_at text not null,
    closed_at text,
    unique (chain_id, asset, payer, nonce)
);

create index access_authorizations_not_closed on access_authorizations (stored_at) where closed_at is null;

create index access_authorizations_of_payer on access_authorizations (payer);

-- One row per nonce of a relayer: the authorization that it is for, null if it only fills a gap. A lost nonce was used by
-- somebody else's transaction, and its authorization gets another one.
create table access_relays (
    relayer text not null,
    chain_id bigint not null,
    nonce bigint not null,
    payment_id text references access_authorizations (payment_id),
    lost integer not null check (lost in (0, 1)),
    primary key (relayer, chain_id, nonce)
);

create unique index access_relays_of_payment on access_relays (payment_id) where lost = 0;

-- One row per signed transaction of a nonce: the first, and those that replace it with a higher fee. Stored before it is
-- sent. raw is the transaction as sent, in hex.
create table access_relayed_transactions (
    transaction_hash text not null primary key,
    relayer text not null,
    chain_id bigint not null,
    nonce bigint not null,
    raw text not null,
    fee bigint not null,
    tip bigint not null,
    signed_at text not null
);

create index access_relayed_transactions_of_nonce on access_relayed_transactions (relayer, chain_id, nonce);
