-- What of the settings is seen now.
insert or replace into out_intake__settings
values (true, $chain_id, $missing, $app_url, $checked_at)
