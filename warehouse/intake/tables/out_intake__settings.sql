-- At most one row: the settings that the documents of intake state.
create table if not exists out_intake__settings (
    only_row boolean primary key check (only_row),  -- Always true
    chain_id bigint not null,  -- EIP-155 id of the chain on which payments are made
    missing_payment_settings varchar[] not null,  -- Settings without which nothing can be bought
    app_url varchar,  -- The companion application; null where there is none
    checked_at timestamp not null  -- Time at which the settings were read, UTC
);
