-- One row per dispute among the RPC nodes: a fact about which they gave different answers. Rows stay when a dispute is
-- settled; of the settled ones the newest thousand are kept.
create table if not exists out_chain__disputes (
    rows_table varchar not null,  -- Table whose rows the fact is about: raw_chain__transfers for holder lists
    fact varchar not null,  -- block_hash, total_supply, balance or transfers
    subject varchar,  -- Address of a balance, or first and last block of transfers; null for the other facts
    block bigint not null,  -- Block for which the nodes were last queried
    answers json not null,  -- Host and answer of each node that gave one
    first_seen_at timestamp not null,  -- Time of the first proof or range that found it, UTC
    last_seen_at timestamp not null,  -- Time of the latest one, UTC
    settled_at timestamp,  -- Time at which it ended, UTC; null while it is open
    settled_by varchar  -- nodes_agree or receipts; null while it is open
);

-- checks (warning) chain_and_list_agree: The RPC nodes agree: no dispute is open. A holder list with an open dispute is
-- published as disputed. And the chain does not contradict the newest list: its proof did not fail.
select
    (select count(*) from out_chain__disputes) as checked_disputes,
    (select count(*) from out_chain__disputes where settled_at is null) as open_disputes,
    (
        select count(*) from (select proof from out_holders__lists order by block desc limit 1)
        where proof->>'verdict' = 'failed'
    ) as failed_newest_lists
