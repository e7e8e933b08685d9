-- Trial keys: one row per family of keys that a wallet got without a payment, until its graph is erased.

-- The first key's id is the family's. challenge_sha256 is that of the message that the wallet signed. wallet_digest and
-- network_digest are keyed digests for counting against limits; the network's includes its day, and is null after that.
-- day is the UTC day of issue. erased_at is when the owner's graph was erased. Times are RFC 3339 text in UTC.
create table access_trials (
    family_id text not null primary key references api_keys (key_id),
    challenge_sha256 text not null unique,
    wallet_digest text not null,
    network_digest text,
    day text not null,
    issued_at text not null,
    ends_at text not null,
    erased_at text
);

create index access_trials_of_wallet on access_trials (wallet_digest);

create index access_trials_of_day on access_trials (day, network_digest);

create index access_trials_by_end on access_trials (ends_at);
