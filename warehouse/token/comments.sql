-- What each column of the chain's tables means, for whoever looks at them; applied to an empty copy of the schema.
comment on column raw_chain__head.head_block is 'Newest block that the chain had';
comment on column raw_chain__head.head_hash is 'Its hash';
comment on column raw_chain__head.finalized_block is 'Newest block that can''t change any more: what reading aims at';
comment on column raw_chain__head.finalized_hash is 'Its hash';
comment on column raw_chain__head.level is 'How that block was chosen: the node''s finalized tag, or confirmations below head';
comment on column raw_chain__head.observed_at is 'When the chain answered, UTC';

comment on column raw_chain__transfers.block_number is 'Block of the event';
comment on column raw_chain__transfers.log_index is 'Place of the event among the logs of its block';
comment on column raw_chain__transfers.tx_hash is 'Transaction, 32 bytes';
comment on column raw_chain__transfers.from_address is 'Sender, 20 bytes; the zero address is a mint';
comment on column raw_chain__transfers.to_address is 'Recipient, 20 bytes; the zero address is a burn';
comment on column raw_chain__transfers.value_raw is 'Amount in the token''s smallest unit: four 64-bit limbs, most significant first';
comment on column raw_chain__transfers.block_time is 'Time of the block, UTC';
comment on column raw_chain__transfers.block_time_quality is 'exact from the node; estimated between two known blocks';

comment on column raw_chain__ranges.from_block is 'First block of the range';
comment on column raw_chain__ranges.to_block is 'Last block of the range; the next range begins one above';
comment on column raw_chain__ranges.to_block_hash is 'Hash of the last block: compared before reading goes on';
comment on column raw_chain__ranges.to_block_time is 'Time of the last block, UTC';
comment on column raw_chain__ranges.log_count is 'Transfer events in the range';
comment on column raw_chain__ranges.payload_sha256 is 'Digest of the answer that was read';
comment on column raw_chain__ranges.rpc_host is 'Node that answered, without path or key';
comment on column raw_chain__ranges.reasked is 'Whether the range was read a second time against silent gaps';
comment on column raw_chain__ranges.recorded_at is 'When the range was committed, UTC';

comment on column raw_chain__tip_transfers.block_number is 'Block of the event, above finality';
comment on column raw_chain__tip_transfers.log_index is 'Place of the event among the logs of its block';
comment on column raw_chain__tip_transfers.tx_hash is 'Transaction, 32 bytes';
comment on column raw_chain__tip_transfers.from_address is 'Sender, 20 bytes; the zero address is a mint';
comment on column raw_chain__tip_transfers.to_address is 'Recipient, 20 bytes; the zero address is a burn';
comment on column raw_chain__tip_transfers.value_raw is 'Amount in the token''s smallest unit: four 64-bit limbs, most significant first';
comment on column raw_chain__tip_transfers.block_time is 'Time of the block, UTC';
comment on column raw_chain__tip_transfers.block_time_quality is 'exact from the node; estimated between two known blocks';

comment on column raw_chain__subjects.rows_table is 'Table that holds the events';
comment on column raw_chain__subjects.address is 'Contract that they were read of, lower-case hex';
comment on column raw_chain__subjects.start_block is 'First block that was read';

comment on column raw_chain__contract_transfers.block_number is 'Block of the event';
comment on column raw_chain__contract_transfers.log_index is 'Place of the event among the logs of its block';
comment on column raw_chain__contract_transfers.tx_hash is 'Transaction, 32 bytes';
comment on column raw_chain__contract_transfers.token_address is 'ERC-20 that was moved, 20 bytes';
comment on column raw_chain__contract_transfers.from_address is 'Sender, 20 bytes';
comment on column raw_chain__contract_transfers.to_address is 'Recipient, 20 bytes';
comment on column raw_chain__contract_transfers.value_raw is 'Amount in the token''s smallest unit: four 64-bit limbs, most significant first';
comment on column raw_chain__contract_transfers.block_time is 'Time of the block, UTC';
comment on column raw_chain__contract_transfers.block_time_quality is 'exact from the node; estimated between two known blocks';

comment on column raw_chain__contract_tip_transfers.block_number is 'Block of the event, above finality';
comment on column raw_chain__contract_tip_transfers.log_index is 'Place of the event among the logs of its block';
comment on column raw_chain__contract_tip_transfers.tx_hash is 'Transaction, 32 bytes';
comment on column raw_chain__contract_tip_transfers.token_address is 'ERC-20 that was moved, 20 bytes';
comment on column raw_chain__contract_tip_transfers.from_address is 'Sender, 20 bytes';
comment on column raw_chain__contract_tip_transfers.to_address is 'Recipient, 20 bytes';
comment on column raw_chain__contract_tip_transfers.value_raw is 'Amount in the token''s smallest unit: four 64-bit limbs, most significant first';
comment on column raw_chain__contract_tip_transfers.block_time is 'Time of the block, UTC';
comment on column raw_chain__contract_tip_transfers.block_time_quality is 'exact from the node; estimated between two known blocks';

comment on column raw_chain__contract_ranges.from_block is 'First block of the range';
comment on column raw_chain__contract_ranges.to_block is 'Last block of the range; the next range begins one above';
comment on column raw_chain__contract_ranges.to_block_hash is 'Hash of the last block: compared before reading goes on';
comment on column raw_chain__contract_ranges.to_block_time is 'Time of the last block, UTC';
comment on column raw_chain__contract_ranges.log_count is 'Events in the range';
comment on column raw_chain__contract_ranges.payload_sha256 is 'Digest of the rows that were read';
comment on column raw_chain__contract_ranges.rpc_host is 'Node that answered, without path or key';
comment on column raw_chain__contract_ranges.reasked is 'Whether the range was read a second time against silent gaps';
comment on column raw_chain__contract_ranges.recorded_at is 'When the range was committed, UTC';

comment on column raw_chain__attestations.block_number is 'Block of the event';
comment on column raw_chain__attestations.log_index is 'Place of the event among the logs of its block';
comment on column raw_chain__attestations.tx_hash is 'Transaction, 32 bytes';
comment on column raw_chain__attestations.agent is 'Whose work is attested, 20 bytes';
comment on column raw_chain__attestations.attester is 'Who attests it, 20 bytes';
comment on column raw_chain__attestations.job_id is 'The job, 32 bytes; one attester attests it once for one agent';
comment on column raw_chain__attestations.number is 'Attestations of the agent so far, by the contract: the first is 1';
comment on column raw_chain__attestations.score is '1 to 100';
comment on column raw_chain__attestations.attested_at is 'The contract''s time of the attestation, UTC';
comment on column raw_chain__attestations.metadata_uri is 'Where the attester says more; at most 512 bytes';
comment on column raw_chain__attestations.block_time is 'Time of the block, UTC';
comment on column raw_chain__attestations.block_time_quality is 'exact from the node; estimated between two known blocks';

comment on column raw_chain__attestation_ranges.from_block is 'First block of the range';
comment on column raw_chain__attestation_ranges.to_block is 'Last block of the range; the next range begins one above';
comment on column raw_chain__attestation_ranges.to_block_hash is 'Hash of the last block: compared before reading goes on';
comment on column raw_chain__attestation_ranges.to_block_time is 'Time of the last block, UTC';
comment on column raw_chain__attestation_ranges.log_count is 'Events in the range';
comment on column raw_chain__attestation_ranges.payload_sha256 is 'Digest of the rows that were read';
comment on column raw_chain__attestation_ranges.rpc_host is 'Node that answered, without path or key';
comment on column raw_chain__attestation_ranges.reasked is 'Whether the range was read a second time against silent gaps';
comment on column raw_chain__attestation_ranges.recorded_at is 'When the range was committed, UTC';

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
