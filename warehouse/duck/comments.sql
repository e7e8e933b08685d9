-- What each column of the feeds' table means, for whoever looks at it; applied to an empty copy of the schema.
comment on column raw_feeds__attempts.source is 'Short name of the source';
comment on column raw_feeds__attempts.asked_at is 'When it answered or was given up, UTC';
comment on column raw_feeds__attempts.latency_ms is 'Milliseconds until then, a second try included';
comment on column raw_feeds__attempts.ok is 'Whether the answer was of use';
comment on column raw_feeds__attempts.reason is 'Why it was not, as a stable code';
comment on column raw_feeds__attempts.quality is 'How far its numbers can be trusted; null where that is not said';
comment on column raw_feeds__attempts.ask_again_at is 'Not to be asked before this time, UTC; null where it did not ask for rest';
