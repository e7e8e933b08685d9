-- What each column of discovery means; applied to an empty copy of the schema.
comment on column out_discovery__probes.capability is 'Its id in the capability registry';
comment on column out_discovery__probes.status is 'live, planned or off';
comment on column out_discovery__probes.reason is 'Why it is not live, or how it is impaired, as a stable code';
comment on column out_discovery__probes.determined_by is 'http: asked at its public address; warehouse: its data was read; settings: they alone';
comment on column out_discovery__probes.evidence is 'What was looked at';
comment on column out_discovery__probes.checked_at is 'When it was first found to stand so, said anew hourly (UTC)';
