-- At most one row: the registry, the half-life and the block up to which attestations are counted.
create table if not exists core_trust__state (
    registry varchar not null,  -- Registry contract, lower-case hex
    half_life_s bigint not null,  -- Seconds in which the weight of an attestation halves, read from the contract
    block bigint not null,  -- Block up to which attestations are counted
    block_hash varchar not null,  -- Its hash
    block_time timestamp not null  -- Its time, UTC
);
