-- What each column of intake means; applied to an empty copy of the schema.
comment on column raw_ledger__intakes.graph_key is 'What names the intake outside the ledger; its id can''t be worked out from it';
comment on column raw_ledger__intakes.lane is 'agent, human or enterprise';
comment on column raw_ledger__intakes.profile_id is 'Runtime profile that was chosen';
comment on column raw_ledger__intakes.day is 'UTC day of receipt';
comment on column raw_ledger__intakes.current_state is 'received, provisioned, awaiting_activation or active';
comment on column raw_ledger__intakes.review_state is 'pending_review, approved or changes_requested';
comment on column raw_ledger__intakes.activation_state is 'not_started, awaiting_payment, activated or suspended';
comment on column raw_ledger__intakes.repeats is 'Whether its sender had registered in this lane before';
comment on column raw_ledger__intakes.forgotten is 'Whether its sender asked to be forgotten';

comment on column core_intake__state.only_row is 'Always true';
comment on column core_intake__state.seq is 'The ledger''s seq up to which intakes are taken over';

comment on column out_intake__stats.day is 'UTC day of receipt';
comment on column out_intake__stats.lane is 'agent, human or enterprise';
comment on column out_intake__stats.registrations is 'Registrations of that day, forgotten ones too';
comment on column out_intake__stats.distinct_identities is 'Those whose sender had not registered in this lane before';
comment on column out_intake__stats.forgotten is 'Those whose sender asked to be forgotten';

comment on column out_intake__funnel.lane is 'agent, human or enterprise';
comment on column out_intake__funnel.profile_id is 'Runtime profile that was chosen';
comment on column out_intake__funnel.registrations is 'Registrations, forgotten ones too';
comment on column out_intake__funnel.provisioned is 'Those whose capsule was made';
comment on column out_intake__funnel.approved is 'Those that an operator has approved';
comment on column out_intake__funnel.paid is 'Those that a paid claim has named, whether its payment holds or not';
comment on column out_intake__funnel.active is 'Those of them whose payment holds';

comment on column out_intake__settings.only_row is 'Always true';
comment on column out_intake__settings.chain_id is 'EIP-155 id of the chain that is paid on';
comment on column out_intake__settings.missing_payment_settings is 'Settings without which nothing can be bought';
comment on column out_intake__settings.app_url is 'The companion application; null where there is none';
comment on column out_intake__settings.checked_at is 'When the settings were looked at, UTC';
