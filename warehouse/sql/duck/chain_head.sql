-- At most one row: the chain as the last run saw it. Reading aims at the finalized block; level says how it was chosen.
create table if not exists raw_chain__head (
    head_block bigint not null,
    head_hash varchar not null,
    finalized_block bigint not null,
    finalized_hash varchar not null,
    level varchar not null,
    observed_at timestamp not null
);
