-- A key's owner is the address that paid, until the operator that its quote names has signed.

-- The former owner of a quote is the operator that it names, or the payer if it names no other address.
alter table access_quotes rename column owner to operator;

-- The owner of the claim's keys: its payer, or its quote's operator once that has signed.
alter table access_claims add column owner text not null default '';

update access_claims set owner = payer;

-- The key that requested the decision; null if no key did, and for decisions from before this was recorded.
alter table world_decision_payloads add column key_id text;

create index world_decision_payloads_by_key on world_decision_payloads (key_id);

create index api_keys_of_claim on api_keys (claim_id);

-- One row per key that an operator which had never signed owned, and that its payer has owned since moved_at. nodes and
-- edges count what moved from the operator to the payer with all keys of the two; left_behind counts what stayed, since
-- nobody can say which key wrote it. moved_at is null until the migrating version has moved the graph.
create table access_moved_keys (
    key_id text not null primary key references api_keys (key_id),
    from_owner text not null,
    to_owner text not null,
    nodes bigint not null,
    edges bigint not null,
    left_behind bigint not null,
    moved_at text
);

insert into access_moved_keys
select k.key_id, k.owner, c.payer, 0, 0, 0, null
from api_keys k
join access_claims c on c.claim_id = k.claim_id
where k.owner <> c.payer;

update api_keys
set owner = (select m.to_owner from access_moved_keys m where m.key_id = api_keys.key_id)
where key_id in (select key_id from access_moved_keys);
