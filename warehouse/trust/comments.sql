-- What each column of the trust tables means; applied to an empty copy of the schema.
comment on column core_trust__state.registry is 'Registry contract, lower-case hex';
comment on column core_trust__state.half_life_s is 'Seconds in which the weight of an attestation halves, read from the contract';
comment on column core_trust__state.block is 'Block up to which attestations are counted';
comment on column core_trust__state.block_hash is 'Its hash';
comment on column core_trust__state.block_time is 'Its time, UTC';

comment on column core_trust__scores.agent is 'Attested agent, lower-case hex';
comment on column core_trust__scores.attestation_count is 'Its attestations';
comment on column core_trust__scores.weighted_score is 'Mean in which recent work weighs more, rounded down';
comment on column core_trust__scores.average_score is 'Plain mean, rounded down';
comment on column core_trust__scores.score_sum is 'Sum of all scores';
comment on column core_trust__scores.weight_sum is 'Sum of weights at the last attestation, in units of 1e-18';
comment on column core_trust__scores.weighted_sum is 'Sum of weighted scores then, in units of 1e-18';
comment on column core_trust__scores.last_attested_at is 'Time of the last attestation, UTC';

comment on column core_trust__history.agent is 'Attested agent, lower-case hex';
comment on column core_trust__history.number is 'Attestations of the agent up to here, by our count';
comment on column core_trust__history.block is 'Block of the attestation';
comment on column core_trust__history.log_index is 'Place of the event among the logs of its block';
comment on column core_trust__history.attester is 'Who attests, lower-case hex';
comment on column core_trust__history.job_id is 'The job, lower-case hex';
comment on column core_trust__history.score is '1 to 100';
comment on column core_trust__history.weighted_score is 'The agent''s weighted score after it';
comment on column core_trust__history.average_score is 'The agent''s plain mean after it';
comment on column core_trust__history.attested_at is 'Time of the attestation, UTC';
comment on column core_trust__history.metadata_uri is 'Where the attester says more';

comment on column core_trust__checks.block is 'Block at which the contract was asked';
comment on column core_trust__checks.agent is 'About whom, lower-case hex';
comment on column core_trust__checks.min_score is 'The threshold that was asked about';
comment on column core_trust__checks.ours_meets is 'Whether we say that it is met';
comment on column core_trust__checks.ours_score is 'Our weighted score';
comment on column core_trust__checks.theirs_meets is 'Whether the contract says that it is met; null without an answer';
comment on column core_trust__checks.theirs_score is 'The contract''s score; null without an answer';
comment on column core_trust__checks.reason is 'Why there is no answer; null where there is one';
comment on column core_trust__checks.checked_at is 'When it was asked, UTC';

comment on column out_trust__scores.agent is 'Attested agent, lower-case hex';
comment on column out_trust__scores.attestation_count is 'Its attestations';
comment on column out_trust__scores.weighted_score is 'Mean in which recent work weighs more, rounded down';
comment on column out_trust__scores.average_score is 'Plain mean, rounded down';
comment on column out_trust__scores.last_attested_at is 'Time of the last attestation, UTC';

comment on column out_trust__status.chain_id is 'EIP-155 chain id';
comment on column out_trust__status.registry is 'Registry contract, lower-case hex; null where none is configured';
comment on column out_trust__status.escrow is 'Escrow contract, lower-case hex; null where none is configured';
comment on column out_trust__status.half_life_s is 'Seconds in which the weight of an attestation halves';
comment on column out_trust__status.block is 'Block up to which attestations are counted';
comment on column out_trust__status.block_hash is 'Its hash';
comment on column out_trust__status.block_time is 'Its time, UTC';
comment on column out_trust__status.level is 'How certain the block is: finalized, or by confirmations';
comment on column out_trust__status.complete is 'Whether that is the final block that reading aims at';
comment on column out_trust__status.attestations is 'Attestations counted';
comment on column out_trust__status.agents is 'Agents with an attestation';
comment on column out_trust__status.attesters is 'Who have attested';
comment on column out_trust__status.checked is 'Answers of the contract at the block';
comment on column out_trust__status.equal is 'Of these, how many say what we say';
comment on column out_trust__status.check_reason is 'Why answers are missing; null where none is';
comment on column out_trust__status.reason is 'Why there are no scores, or none up to date; null where there are';
comment on column out_trust__status.recorded_at is 'When this was found, UTC';
