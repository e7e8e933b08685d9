-- At most one row: the chain as the last run found it. It is read up to the finalized block.
create table if not exists raw_chain__head (
    head_block bigint not null,  -- Newest block that the chain had
    head_hash varchar not null,  -- Its hash
    finalized_block bigint not null,  -- Newest block that can't change any more, up to which to read
    finalized_hash varchar not null,  -- Its hash
    level varchar not null,  -- Way in which that block was chosen: the node's finalized tag, or confirmations below
    -- head
    observed_at timestamp not null  -- Time of the chain's answer, UTC
);
