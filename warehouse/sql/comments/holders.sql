-- What each column of the holders' tables means, for whoever looks at them; applied to an empty copy of the schema.
comment on column core_holders__balances.address is 'Holder, 20 bytes';
comment on column core_holders__balances.balance_raw is 'Received less sent, in the token''s smallest unit; exact over uint256';
comment on column core_holders__balances.first_seen_at is 'Time of the first transfer, UTC';
comment on column core_holders__balances.last_active_at is 'Time of the latest transfer, UTC';
comment on column core_holders__balances.first_block is 'Block of the first transfer';
comment on column core_holders__balances.last_block is 'Block of the latest transfer';

comment on column raw_blockscout__holder_counts.source is 'Host that was asked';
comment on column raw_blockscout__holder_counts.counters_holders is 'Holders by the token''s counters';
comment on column raw_blockscout__holder_counts.token_holders is 'Holders by the token itself';
comment on column raw_blockscout__holder_counts.reason is 'Why counts are missing; null when they are not';
comment on column raw_blockscout__holder_counts.fetched_at is 'When it answered, UTC';

comment on column out_holders__sources.source is 'Host that was asked';
comment on column out_holders__sources.theirs is 'Holders by its latest answer';
comment on column out_holders__sources.reason is 'Why the count is missing; null when it is not';
comment on column out_holders__sources.fetched_at is 'When it answered, UTC';

comment on column out_holders__status.chain_id is 'EIP-155 chain id';
comment on column out_holders__status.token_address is 'Token contract, lower-case hex; null where none is configured';
comment on column out_holders__status.name is 'name() of the contract';
comment on column out_holders__status.symbol is 'symbol() of the contract';
comment on column out_holders__status.decimals is 'decimals() of the contract: digits behind the point of one whole token';
comment on column out_holders__status.block is 'Block that balances are folded to';
comment on column out_holders__status.finalized_block is 'Block that reading aims at';
comment on column out_holders__status.backfill_percent is 'How much of the history is folded, 0..100';
comment on column out_holders__status.recorded_at is 'When this was found, UTC';

comment on column out_holders__lists.block is 'Block whose state the list is';
comment on column out_holders__lists.block_hash is 'Its hash';
comment on column out_holders__lists.block_time is 'Its time, UTC';
comment on column out_holders__lists.level is 'How certain the block is: finalized, or by confirmations';
comment on column out_holders__lists.taken_at is 'When the list was taken, UTC';
comment on column out_holders__lists.snapshot is 'Whether it is kept as a snapshot to compare';
comment on column out_holders__lists.holders is 'Addresses with a balance above zero';
comment on column out_holders__lists.sum_raw is 'Sum of the balances in the token''s smallest unit, as decimal text';
comment on column out_holders__lists.zero_held_raw is 'What the zero address holds, in the smallest unit, as decimal text';
comment on column out_holders__lists.csv_sha256 is 'SHA-256 of the compressed CSV that the proof names';
comment on column out_holders__lists.csv_bytes is 'Size of that file in bytes';
comment on column out_holders__lists.quality is 'What the published documents call this list';
comment on column out_holders__lists.proof is 'The proof as published';
comment on column out_holders__lists.concentration is 'Top-10 share, Gini and HHI as published';
