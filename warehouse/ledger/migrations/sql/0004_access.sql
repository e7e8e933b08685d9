-- Quotes, claims, receipts and unmatched payments. Amounts are in the coin's smallest unit, addresses and hashes in lower
-- case, times RFC 3339 text in UTC.

-- One row per quote. quote_json and requirement_json are the RFC 8785 bytes that are hashed; the other columns are for
-- queries only. While a quote is open, its payer can have no other quote with the same amount; a quote stays open for the
-- claim grace period after its expiry.
create table access_quotes (
    quote_id text not null primary key,
    plan_id text not null,
    payer text not null,
    owner text not null,
    amount bigint not null check (amount > 0),
    issued_at text not null,
    expires_at text not null,
    amount_held_until text not null,
    agent_id text,
    user_id text,
    quote_json text not null,
    requirement_json text not null,
    quote_hash text not null,
    requirement_hash text not null,
    signature_json text not null,
    state text not null check (state in ('open', 'claimed', 'expired'))
);

create unique index access_quotes_amount_of_payer on access_quotes (payer, amount) where state = 'open';

-- One row per issued claim: at most one for a quote and one for a transfer. log_position is the transfer's place among
-- its receipt's logs. idempotency_digest is the HMAC of the client's Idempotency-Key, request_digest that of its body.
-- final_at is null while the payment's block may still leave the chain.
create table access_claims (
    claim_id text not null primary key,
    receipt_id text not null unique,
    quote_id text not null references access_quotes (quote_id),
    payer text not null,
    tier text not null,
    chain_id bigint not null,
    transaction_hash text not null,
    log_position integer not null,
    amount bigint not null,
    block_number bigint not null,
    block_hash text not null,
    state text not null check (state in ('issued', 'reversed')),
    issued_at text not null,
    changed_at text not null,
    access_expires_at text,
    idempotency_digest text,
    request_digest text,
    final_at text
);

create unique index access_claims_of_quote on access_claims (quote_id);

create unique index access_claims_of_transfer on access_claims (chain_id, transaction_hash, log_position);

create unique index access_claims_of_request on access_claims (payer, idempotency_digest)
where idempotency_digest is not null;

create index access_claims_not_final on access_claims (issued_at) where final_at is null;

-- One row per claim: the RFC 8785 bytes whose hash is receipt_hash, and the signature over the hash. Never changed.
create table access_receipts (
    receipt_id text not null primary key,
    claim_id text not null unique references access_claims (claim_id),
    body_json text not null,
    receipt_hash text not null,
    signature_json text not null
);

-- One row per quote whose claim is being verified: who verifies it, and until when at most.
create table access_leases (
    quote_id text not null primary key,
    owner text not null,
    expires_at text not null
);

-- One row per transfer to us that a claim named but that pays for none; quote_id is the quote of the first such claim.
-- The amount is decimal text, since other tokens use all of uint256.
create table access_unmatched_payments (
    payment_id text not null primary key,
    chain_id bigint not null,
    transaction_hash text not null,
    log_position integer not null,
    asset text not null,
    sender text not null,
    recipient text not null,
    amount text not null,
    block_number bigint not null,
    block_hash text not null,
    block_time_s bigint not null,
    code text not null,
    quote_id text not null references access_quotes (quote_id),
    state text not null check (state in ('open', 'claimed', 'issued', 'refunded')),
    refund_transaction_hash text,
    recorded_at text not null,
    changed_at text not null,
    unique (chain_id, transaction_hash, log_position)
);
