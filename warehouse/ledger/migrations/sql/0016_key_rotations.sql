-- Rotations and revocations that keys request, and indexes for reading a family of keys and its use.

-- One row per rotation that a key requested. request_digest is an HMAC of the key and the request's Idempotency-Key: the
-- same request gets the key successor_id again while that is sealed. Times are RFC 3339 text in UTC.
create table api_key_rotations (
    request_digest text not null primary key,
    key_id text not null unique references api_keys (key_id),
    successor_id text not null references api_keys (key_id),
    rotated_at text not null
);

-- One row per key that revoked itself. The paid access does not end with it: the owner can replace the key by a
-- signature, which is not possible after an operator has revoked it.
create table api_key_revocations (
    key_id text not null primary key references api_keys (key_id),
    revoked_at text not null
);

create index api_keys_of_family on api_keys (family_id);

create index api_key_uses_of_day on api_key_uses (day);
