-- API keys and their use.

-- One row per key; rows are never deleted. digest is the HMAC-SHA256 of the key under the pepper of pepper_version, and
-- hint its prefix and last four characters. A rotation adds a row of the same family, for which quotas are counted.
-- sealed is the encrypted key, so that a lost answer can be repeated; null from its first use on. After paid_until the
-- free tier applies. Times are RFC 3339 text in UTC.
create table api_keys (
    key_id text not null primary key,
    family_id text not null,
    digest text not null unique,
    pepper_version integer not null,
    hint text not null,
    tier text not null check (tier in ('free', 'basic', 'pro')),
    owner text not null,
    claim_id text,
    state text not null check (state in ('active', 'suspended', 'revoked')),
    paid_until text,
    sealed text,
    created_at text not null,
    changed_at text not null,
    first_used_at text
);

create unique index api_keys_one_alive_in_family on api_keys (family_id) where state <> 'revoked';

create unique index api_keys_one_alive_of_claim on api_keys (claim_id) where state <> 'revoked';

create index api_keys_of_owner on api_keys (owner);

-- One row per key and UTC day on which it was used: the number of admitted requests. Written in batches.
create table api_key_uses (
    key_id text not null references api_keys (key_id),
    day text not null,
    requests bigint not null,
    last_used_at text not null,
    primary key (key_id, day)
);
