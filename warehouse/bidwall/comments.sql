-- What each column of the contract-balance tables means; applied to an empty copy of the schema.
comment on column raw_bidwall__balances.contract_address is 'The watched contract, lower-case hex';
comment on column raw_bidwall__balances.block is 'Block at which the balance was read; null where reading failed';
comment on column raw_bidwall__balances.block_hash is 'Its hash';
comment on column raw_bidwall__balances.block_time is 'Its time, UTC';
comment on column raw_bidwall__balances.is_final is 'Whether the block was final; else it was the newest, for want of older state';
comment on column raw_bidwall__balances.balance_wei is 'Native balance in wei; exact over uint256';
comment on column raw_bidwall__balances.reason is 'Why there is no balance; null where there is one';
comment on column raw_bidwall__balances.fetched_at is 'When the chain answered, UTC';

comment on column out_bidwall__status.chain_id is 'EIP-155 chain id';
comment on column out_bidwall__status.contract_address is 'The watched contract, lower-case hex; null where none is configured';
comment on column out_bidwall__status.service_token is 'The service token, lower-case hex: what scope odai selects';
comment on column out_bidwall__status.trigger_wei is 'Balance at which the contract triggers, in wei as decimal text; null where none is configured';
comment on column out_bidwall__status.balance_wei is 'Newest balance that was read, in wei as decimal text';
comment on column out_bidwall__status.block is 'Block at which it was read';
comment on column out_bidwall__status.block_hash is 'Its hash';
comment on column out_bidwall__status.block_time is 'Its time, UTC';
comment on column out_bidwall__status.is_final is 'Whether that block was final';
comment on column out_bidwall__status.reason is 'Why the last reading failed; null where it did not';
comment on column out_bidwall__status.fetched_at is 'When the balance was read, UTC';
comment on column out_bidwall__status.events_block is 'Block up to which every transfer is held';
comment on column out_bidwall__status.events_block_hash is 'Its hash';
comment on column out_bidwall__status.events_block_time is 'Its time, UTC';
comment on column out_bidwall__status.events_complete is 'Whether that is the final block that reading aims at';
comment on column out_bidwall__status.recorded_at is 'When this was found, UTC';

comment on column out_bidwall__events.token is 'ERC-20 that was moved, lower-case hex';
comment on column out_bidwall__events.block is 'Block of the event';
comment on column out_bidwall__events.log_index is 'Place of the event among the logs of its block';
comment on column out_bidwall__events.transaction_hash is 'Transaction, lower-case hex';
comment on column out_bidwall__events.sender is 'Sender, lower-case hex';
comment on column out_bidwall__events.recipient is 'Recipient, lower-case hex';
comment on column out_bidwall__events.direction is 'in, out, or self where the contract sends to itself';
comment on column out_bidwall__events.value_raw is 'Amount in the token''s smallest unit: four 64-bit limbs, most significant first';
comment on column out_bidwall__events.block_time is 'Time of the block, UTC';
comment on column out_bidwall__events.time_quality is 'exact from the node; estimated between two known blocks';
comment on column out_bidwall__events.finality is 'final, or pending where the block may still leave the chain';
