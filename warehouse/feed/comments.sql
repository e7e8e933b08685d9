-- What each column of the feed room's table means, for whoever looks at it; applied to an empty copy of the schema.
comment on column core_feed__events.id is 'Stable: found again, an event has the same id';
comment on column core_feed__events.kind is 'snapshot, large_mover, holder_milestone, threshold_crossed or attestation';
comment on column core_feed__events.occurred_at is 'Time of the event''s block, UTC';
comment on column core_feed__events.block is 'The block at which it holds';
comment on column core_feed__events.title is 'The event in a line';
comment on column core_feed__events.text is 'The event in a sentence';
comment on column core_feed__events.path is 'Path of this service that says more';
comment on column core_feed__events.facts is 'Its numbers and addresses, as JSON';
comment on column core_feed__events.recorded_at is 'When a run found it, UTC';
