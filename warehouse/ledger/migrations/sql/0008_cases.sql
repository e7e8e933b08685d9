-- Cases of unmatched payments, the supplementary quotes that they offer, and every transfer that a claim uses.
-- Amounts are in the coin's smallest unit, addresses and hashes in lower case, times RFC 3339 text in UTC.

-- One row per transfer to us that no claim used when it was reported. quote_id is a quote of the transfer's sender, null
-- until a claim of such a quote has named it; proven is 1 if the sender signed that claim. The amounts are decimal text,
-- since other tokens use all of uint256. refund_amount is the amount that is, or was, due to be refunded.
create table access_cases (
    case_id text not null primary key,
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
    quote_id text references access_quotes (quote_id),
    proven integer not null check (proven in (0, 1)),
    state text not null check (
        state in ('open', 'supplement_offered', 'claimed', 'issued', 'refund_due', 'refunded')
    ),
    refund_amount text,
    refund_transaction_hash text,
    recorded_at text not null,
    changed_at text not null,
    unique (chain_id, transaction_hash, log_position)
);

create index access_cases_of_quote on access_cases (quote_id);

create index access_cases_in_state on access_cases (state);

-- Unmatched payments become cases. A payment that was filed under another payer's quote is now filed under none.
insert into access_cases (
    case_id, chain_id, transaction_hash, log_position, asset, sender, recipient, amount, block_number, block_hash,
    block_time_s, code, quote_id, proven, state, refund_amount, refund_transaction_hash, recorded_at, changed_at
)
select
    p.payment_id, p.chain_id, p.transaction_hash, p.log_position, p.asset, p.sender, p.recipient, p.amount,
    p.block_number, p.block_hash, p.block_time_s, p.code, q.quote_id, 0, p.state,
    case when p.state = 'refunded' then p.amount end, p.refund_transaction_hash, p.recorded_at, p.changed_at
from access_unmatched_payments p
left join access_quotes q on q.quote_id = p.quote_id and q.payer = p.sender;

drop table access_unmatched_payments;

-- One row per quote that a case offered for the difference between the amount sent and the price.
create table access_supplements (
    quote_id text not null primary key references access_quotes (quote_id),
    case_id text not null references access_cases (case_id)
);

create index access_supplements_of_case on access_supplements (case_id);

-- One row per transfer that a claim uses: one, or two if a supplementary quote was paid with the rest. quote_id is the
-- quote for which the transfer was sent. state and block describe where the transfer is now; final_at is null while its
-- block may still leave the chain.
create table access_payments (
    claim_id text not null references access_claims (claim_id),
    quote_id text not null references access_quotes (quote_id),
    chain_id bigint not null,
    transaction_hash text not null,
    log_position integer not null,
    amount bigint not null,
    block_number bigint not null,
    block_hash text not null,
    state text not null check (state in ('issued', 'reversed')),
    changed_at text not null,
    final_at text,
    primary key (claim_id, transaction_hash, log_position)
);

create unique index access_payments_of_transfer on access_payments (chain_id, transaction_hash, log_position);

create index access_payments_not_final on access_payments (claim_id) where final_at is null;

insert into access_payments (
    claim_id, quote_id, chain_id, transaction_hash, log_position, amount, block_number, block_hash, state, changed_at,
    final_at
)
select
    claim_id, quote_id, chain_id, transaction_hash, log_position, amount, block_number, block_hash, state, changed_at,
    final_at
from access_claims;

drop index access_claims_of_transfer;
